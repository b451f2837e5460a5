//! Branches, commits and refs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use holdfast_git::{Error, Head, ObjectId, RefName};
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

/// Asks git and us where HEAD is, and compares.
#[track_caller]
fn agree(sandbox: &Sandbox, dir: &Path) -> Head {
    let repository = sandbox.found(dir);
    let ours = repository.head(&OsFiles).unwrap();
    let branch = sandbox.ask(dir, &["symbolic-ref", "--quiet", "HEAD"]);
    let branch = branch.status.success().then(|| sandbox.git(dir, &["symbolic-ref", "HEAD"]));
    assert_eq!(ours.branch().map(RefName::as_bytes), branch.as_deref(), "branch");
    let commit = sandbox.ask(dir, &["rev-parse", "--quiet", "--verify", "HEAD"]);
    let commit = ObjectId::from_hex(commit.stdout.trim_ascii_end());
    assert_eq!(repository.head_commit(&OsFiles).unwrap(), commit, "commit");
    ours
}

#[test]
fn on_a_branch() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    assert_eq!(agree(&sandbox, &main).branch().unwrap().branch(), Some(&b"main"[..]));
    sandbox.git(&main, &["checkout", "--quiet", "-b", "agents/copilot-1/fix.it"]);
    let head = agree(&sandbox, &main);
    assert_eq!(head.branch().unwrap().to_string(), "agents/copilot-1/fix.it");
}

#[test]
fn on_a_branch_without_commits() {
    let sandbox = Sandbox::new();
    let unborn = sandbox.unborn("unborn");
    agree(&sandbox, &unborn);
    assert_eq!(sandbox.found(&unborn).head_commit(&OsFiles).unwrap(), None);
}

#[test]
fn on_no_branch() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["checkout", "--quiet", "--detach"]);
    assert!(matches!(agree(&sandbox, &main), Head::Detached(_)));
}

#[test]
fn packed_refs_and_loose_ones_over_them() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    for n in 0..50 {
        sandbox.git(&main, &["branch", &format!("b{n}/x")]);
        sandbox.git(&main, &["tag", "-m", "annotated", &format!("t{n}")]);
    }
    sandbox.git(&main, &["pack-refs", "--all"]);
    assert!(!main.join(".git/refs/heads/main").exists());
    agree(&sandbox, &main);
    // A directory that was left behind is not the ref.
    sandbox.dir("main/.git/refs/heads/main");
    agree(&sandbox, &main);
    std::fs::remove_dir(main.join(".git/refs/heads/main")).unwrap();
    sandbox.commit(&main, "second");
    assert!(main.join(".git/refs/heads/main").exists());
    agree(&sandbox, &main);
    let repository = sandbox.found(&main);
    for name in ["refs/heads/b7/x", "refs/tags/t9", "refs/heads/b7", "refs/heads/x", "refs/heads/nothing"] {
        let theirs = sandbox.ask(&main, &["rev-parse", "--quiet", "--verify", name]);
        let theirs = ObjectId::from_hex(theirs.stdout.trim_ascii_end());
        assert_eq!(
            repository.resolve(&OsFiles, &RefName::new(name.as_bytes()).unwrap()).unwrap(),
            theirs,
            "{name}"
        );
    }
}

#[test]
fn a_branch_that_is_another_name_of_a_branch() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    sandbox.git(&main, &["symbolic-ref", "HEAD", "refs/heads/alias"]);
    assert_eq!(agree(&sandbox, &main).branch().unwrap().to_string(), "main");
    sandbox.git(&main, &["pack-refs", "--all"]);
    agree(&sandbox, &main);
}

#[test]
fn a_head_that_is_a_symbolic_link() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    std::fs::remove_file(main.join(".git/HEAD")).unwrap();
    std::os::unix::fs::symlink("refs/heads/main", main.join(".git/HEAD")).unwrap();
    agree(&sandbox, &main);
}

#[test]
fn names_that_are_not_text() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let odd = OsStr::from_bytes(b"odd-\xff-\xc3\xa9");
    let mut command = sandbox.command(&main);
    assert!(command.args(["checkout", "--quiet", "-b"]).arg(odd).status().unwrap().success());
    let head = agree(&sandbox, &main);
    assert_eq!(head.branch().unwrap().branch(), Some(odd.as_bytes()));
    let file = OsString::from_vec([b"main/.git/refs/heads/", odd.as_bytes()].concat());
    assert!(sandbox.root.join(file).exists());
}

#[test]
fn each_worktree_has_its_own() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "-b", "other", "../linked"]);
    let linked = sandbox.root.join("linked");
    sandbox.commit(&linked, "second");
    sandbox.git(&linked, &["update-ref", "refs/worktree/mine", "HEAD"]);
    assert_ne!(agree(&sandbox, &main), agree(&sandbox, &linked));
    let mine = RefName::new(b"refs/worktree/mine").unwrap();
    let seen = |dir: &Path| sandbox.found(dir).resolve(&OsFiles, &mine).unwrap();
    assert_eq!(seen(&main), None);
    assert_eq!(seen(&linked), sandbox.found(&linked).head_commit(&OsFiles).unwrap());
}

#[test]
fn with_long_object_names() {
    let sandbox = Sandbox::new();
    let dir = sandbox.dir("sha256");
    sandbox.git(&dir, &["init", "--quiet", "--object-format=sha256"]);
    sandbox.commit(&dir, "first");
    agree(&sandbox, &dir);
    sandbox.git(&dir, &["checkout", "--quiet", "--detach"]);
    assert!(matches!(agree(&sandbox, &dir), Head::Detached(id) if id.to_string().len() == 64));
}

#[test]
fn refs_that_only_git_can_read() {
    let sandbox = Sandbox::new();
    let dir = sandbox.unborn("reftable");
    sandbox.file("reftable/.git/HEAD", "ref: refs/heads/.invalid\n");
    let config = "[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n";
    sandbox.file("reftable/.git/config", config);
    let repository = sandbox.found(&dir);
    assert!(repository.has_reftable());
    let error = repository.head(&OsFiles).unwrap_err();
    assert!(matches!(error, Error::Reftable { .. }));
    assert!(error.hint().contains("git refs migrate"));
    assert!(matches!(repository.head_commit(&OsFiles), Err(Error::Reftable { .. })));
}
