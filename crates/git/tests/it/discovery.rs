//! Where we are, in every kind of place.

use std::os::unix::fs::symlink;
use std::path::Path;

use holdfast_git::{Found, Place};
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

/// Asks git and us about `dir` and compares every answer.
#[track_caller]
fn agree(sandbox: &Sandbox, dir: &Path, place: Place) {
    let ours = sandbox.found(dir);
    let absolute = |what: &str| sandbox.git_path(dir, &["rev-parse", "--path-format=absolute", what]);
    assert_eq!(ours.git_dir(), sandbox.git_path(dir, &["rev-parse", "--absolute-git-dir"]), "git dir");
    assert_eq!(ours.common_dir(), absolute("--git-common-dir"), "common dir");
    let top = sandbox.ask(dir, &["rev-parse", "--show-toplevel"]);
    let top = top.status.success().then(|| sandbox.git_path(dir, &["rev-parse", "--show-toplevel"]));
    assert_eq!(ours.work_tree(), top.as_deref(), "worktree");
    assert_eq!(ours.place(), place);
    if place != Place::GitDir {
        let bare = sandbox.git_text(dir, &["rev-parse", "--is-bare-repository"]) == "true";
        assert_eq!(place == Place::Bare, bare, "bare");
    }
}

#[test]
fn in_the_main_worktree_and_below() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    agree(&sandbox, &main, Place::Main);
    agree(&sandbox, &sandbox.dir("main/a/b/c"), Place::Main);
}

#[test]
fn without_commits_and_on_no_branch() {
    let sandbox = Sandbox::new();
    agree(&sandbox, &sandbox.unborn("unborn"), Place::Main);
    let detached = sandbox.repository("detached");
    sandbox.git(&detached, &["checkout", "--quiet", "--detach"]);
    agree(&sandbox, &detached, Place::Main);
}

#[test]
fn in_a_linked_worktree() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    let linked = sandbox.root.join("linked");
    agree(&sandbox, &linked, Place::Linked);
    agree(&sandbox, &sandbox.dir("linked/deep/down"), Place::Linked);
    assert_eq!(sandbox.found(&linked).main_work_tree(&OsFiles).unwrap(), Some(main));
}

#[test]
fn a_linked_worktree_inside_the_main_one() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "worktrees/inner"]);
    agree(&sandbox, &main.join("worktrees/inner"), Place::Linked);
    agree(&sandbox, &main.join("worktrees"), Place::Main);
}

#[test]
fn in_a_bare_repository_and_its_worktrees() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("bare.git");
    agree(&sandbox, &bare, Place::Bare);
    agree(&sandbox, &bare.join("refs/heads"), Place::Bare);
    sandbox.git(&bare, &["worktree", "add", "--quiet", "../from-bare"]);
    let linked = sandbox.root.join("from-bare");
    agree(&sandbox, &linked, Place::Linked);
    assert_eq!(sandbox.found(&linked).main_work_tree(&OsFiles).unwrap(), None);
}

#[test]
fn a_bare_repository_beside_its_worktrees() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("project/.bare");
    sandbox.file("project/.git", "gitdir: ./.bare\n");
    agree(&sandbox, bare.parent().unwrap(), Place::Bare);
    sandbox.git(&bare, &["worktree", "add", "--quiet", "../work"]);
    agree(&sandbox, &sandbox.root.join("project/work"), Place::Linked);
}

#[test]
fn inside_the_git_directory() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    agree(&sandbox, &main.join(".git"), Place::GitDir);
    agree(&sandbox, &main.join(".git/refs/heads"), Place::GitDir);
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    agree(&sandbox, &main.join(".git/worktrees/linked"), Place::GitDir);
}

#[test]
fn in_a_submodule_and_its_worktrees() {
    let sandbox = Sandbox::new();
    let outer = sandbox.with_submodule();
    let sub = outer.join("sub");
    agree(&sandbox, &sub, Place::Main);
    sandbox.git(&sub, &["worktree", "add", "--quiet", "../../of-sub"]);
    let linked = sandbox.root.join("of-sub");
    agree(&sandbox, &linked, Place::Linked);
    let superproject = Some(outer.join(".git"));
    assert_eq!(sandbox.found(&sub).superproject(&OsFiles).unwrap(), superproject);
    assert_eq!(sandbox.found(&linked).superproject(&OsFiles).unwrap(), superproject);
    assert_eq!(sandbox.found(&outer).superproject(&OsFiles).unwrap(), None);
    assert_eq!(sandbox.found(&linked).main_work_tree(&OsFiles).unwrap(), Some(sub));
}

#[test]
fn a_git_directory_set_apart() {
    let sandbox = Sandbox::new();
    let work = sandbox.dir("work");
    sandbox.git(&work, &["init", "--quiet", "--separate-git-dir=../apart.git"]);
    sandbox.commit(&work, "first");
    agree(&sandbox, &work, Place::Main);
    // Relative, as people write it by hand.
    sandbox.file("work/.git", "gitdir: ../apart.git\r\n");
    agree(&sandbox, &work, Place::Main);
    sandbox.git(&work, &["worktree", "add", "--quiet", "../linked"]);
    agree(&sandbox, &sandbox.root.join("linked"), Place::Linked);
}

#[test]
fn through_symbolic_links() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("real/main");
    sandbox.dir("real/main/sub");
    symlink(&main, sandbox.root.join("to-main")).unwrap();
    agree(&sandbox, &sandbox.root.join("to-main"), Place::Main);
    agree(&sandbox, &sandbox.root.join("to-main/sub/../sub"), Place::Main);
    symlink("real/main/sub", sandbox.root.join("to-sub")).unwrap();
    agree(&sandbox, &sandbox.root.join("to-sub"), Place::Main);
}

#[test]
fn a_git_directory_that_is_a_symbolic_link() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let other = sandbox.dir("other");
    symlink(main.join(".git"), other.join(".git")).unwrap();
    agree(&sandbox, &other, Place::Main);
    // So does a tool that keeps one set of objects for many checkouts.
    let shared = sandbox.dir("shared/.git");
    for name in ["objects", "refs", "config", "hooks"] {
        symlink(main.join(".git").join(name), shared.join(name)).unwrap();
    }
    symlink("refs/heads/main", shared.join("HEAD")).unwrap();
    agree(&sandbox, shared.parent().unwrap(), Place::Main);
}

#[test]
fn a_configured_worktree() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.dir("elsewhere");
    sandbox.git(&main, &["config", "core.worktree", "../../elsewhere"]);
    agree(&sandbox, &main, Place::Main);
    agree(&sandbox, &main.join(".git"), Place::Main);
    sandbox.git(&main, &["config", "core.worktree", sandbox.root.join("elsewhere").to_str().unwrap()]);
    agree(&sandbox, &main, Place::Main);
}

#[test]
fn a_bare_repository_in_a_dot_git_directory() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["config", "core.bare", "true"]);
    agree(&sandbox, &main, Place::Bare);
    agree(&sandbox, &main.join(".git"), Place::Bare);
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    agree(&sandbox, &sandbox.root.join("linked"), Place::Linked);
}

#[test]
fn worktrees_with_a_configuration_of_their_own() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    let linked = sandbox.root.join("linked");
    sandbox.git(&main, &["config", "extensions.worktreeConfig", "true"]);
    agree(&sandbox, &main, Place::Main);
    agree(&sandbox, &linked, Place::Linked);
    let elsewhere = sandbox.dir("elsewhere");
    sandbox.git(&linked, &["config", "--worktree", "core.worktree", elsewhere.to_str().unwrap()]);
    agree(&sandbox, &main, Place::Main);
    agree(&sandbox, &linked, Place::Linked);
    sandbox.git(&main, &["config", "--worktree", "core.bare", "true"]);
    agree(&sandbox, &main, Place::Bare);
    agree(&sandbox, &linked, Place::Linked);
}

#[test]
fn a_repository_without_a_configuration() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    std::fs::remove_file(main.join(".git/config")).unwrap();
    agree(&sandbox, &main, Place::Main);
    agree(&sandbox, &main.join(".git"), Place::GitDir);
    // Without a version nothing in the file counts.
    sandbox.file("main/.git/config", "[core]\nbare = true\n");
    agree(&sandbox, &main, Place::Main);
}

#[test]
fn outside_of_git() {
    let sandbox = Sandbox::new();
    let outside = sandbox.dir("nothing/here");
    assert_eq!(sandbox.discover(&outside).unwrap(), Found::Nothing { boundary: None });
    assert!(!sandbox.ask(&outside, &["rev-parse", "--git-dir"]).status.success());
}

#[test]
fn names_that_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let odd = sandbox.root.join(std::ffi::OsStr::from_bytes(b"odd \xff\xfe\n name"));
    std::fs::create_dir(&odd).unwrap();
    sandbox.git(&odd, &["init", "--quiet"]);
    sandbox.commit(&odd, "first");
    agree(&sandbox, &odd, Place::Main);
    sandbox.git(&odd, &["worktree", "add", "--quiet", "linked"]);
    agree(&sandbox, &odd.join("linked"), Place::Linked);
}
