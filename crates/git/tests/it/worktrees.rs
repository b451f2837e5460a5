//! The list of worktrees.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use holdfast_git::worktrees::Prunable;
use holdfast_git::{Git, Head, ObjectId, Repository, Worktree};
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

type Record = BTreeMap<Vec<u8>, Vec<u8>>;

/// What `git worktree list` says, one map a worktree.
fn theirs(sandbox: &Sandbox, dir: &Path) -> Vec<Record> {
    let mut records = vec![Record::new()];
    let list = sandbox.git(dir, &["worktree", "list", "--porcelain", "-z"]);
    for line in list.strip_suffix(b"\0\0").unwrap().split(|byte| *byte == 0) {
        if line.is_empty() {
            records.push(Record::new());
            continue;
        }
        let space = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let value = line.get(space + 1..).unwrap_or_default();
        records.last_mut().unwrap().insert(line[..space].to_vec(), value.to_vec());
    }
    records
}

/// Ours in the same form.
fn ours(repository: &Repository, worktree: &Worktree) -> Record {
    let mut record = Record::new();
    let mut put = |key: &str, value: &[u8]| record.insert(key.as_bytes().to_vec(), value.to_vec());
    put("worktree", worktree.path.as_os_str().as_bytes());
    if let Some(reason) = &worktree.locked {
        put("locked", reason.as_bytes());
    }
    if let Some(reason) = &worktree.prunable {
        put("prunable", reason.to_string().as_bytes());
    }
    if worktree.bare {
        put("bare", b"");
        return record;
    }
    match worktree.head.as_ref().unwrap() {
        Head::Branch(name) => {
            put("branch", name.as_bytes());
            let commit = repository.resolve(&OsFiles, name).unwrap();
            put("HEAD", commit.map_or("0".repeat(40), |id| id.to_string()).as_bytes());
        }
        Head::Detached(id) => {
            put("detached", b"");
            put("HEAD", id.to_string().as_bytes());
        }
    }
    record
}

#[track_caller]
fn agree(sandbox: &Sandbox, dir: &Path) -> Vec<Worktree> {
    let repository = sandbox.found(dir);
    let list = repository.worktrees(&OsFiles).unwrap();
    let records: Vec<_> = list.iter().map(|worktree| ours(&repository, worktree)).collect();
    assert_eq!(records, theirs(sandbox, dir));
    assert!(list[0].is_main());
    assert!(list[1..].iter().all(|worktree| !worktree.is_main()));
    let current: Vec<_> = list.iter().filter(|worktree| worktree.current).collect();
    assert!(current.len() == 1 && current[0].git_dir == repository.git_dir());
    list
}

#[test]
fn all_kinds() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    agree(&sandbox, &main);
    for name in ["zeta", "alpha", "gone", "kept", "held"] {
        sandbox.git(&main, &["worktree", "add", "--quiet", &format!("../{name}")]);
    }
    sandbox.git(&main, &["worktree", "add", "--quiet", "--detach", "../detached"]);
    sandbox.git(&main, &["worktree", "lock", "--reason", "on a stick\nthat is away", "../kept"]);
    sandbox.git(&main, &["worktree", "lock", "../held"]);
    sandbox.git(&main, &["worktree", "move", "../alpha", "../beta"]);
    for name in ["gone", "kept"] {
        std::fs::remove_dir_all(sandbox.root.join(name)).unwrap();
    }
    for dir in ["main", "zeta", "detached", "beta"] {
        let list = agree(&sandbox, &sandbox.root.join(dir));
        let find =
            |name: &str| list.iter().find(|worktree| worktree.path == sandbox.root.join(name)).unwrap();
        assert_eq!(find("gone").prunable, Some(Prunable::Gone));
        assert_eq!(find("kept").locked.as_deref(), Some("on a stick\nthat is away"));
        assert_eq!((find("kept").prunable, find("held").locked.as_deref()), (None, Some("")));
        assert_eq!(list[0].path, main);
    }
}

#[test]
fn of_a_bare_repository() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("bare.git");
    sandbox.git(&bare, &["worktree", "add", "--quiet", "../linked"]);
    assert!(agree(&sandbox, &bare)[0].bare);
    // Asked from a linked worktree, git 2.47 says so too; earlier ones do not look at the shared file.
    let list = sandbox.found(&sandbox.root.join("linked")).worktrees(&OsFiles).unwrap();
    assert!(list[0].bare && !list[1].bare && list[1].current);
}

#[test]
fn without_commits_and_with_odd_names() {
    let sandbox = Sandbox::new();
    let unborn = sandbox.unborn("unborn");
    agree(&sandbox, &unborn);
    let main = sandbox.repository("main");
    let mut command = sandbox.command(&main);
    command.args(["worktree", "add", "--quiet", "-b", "odd"]).arg(OsStr::from_bytes(b"../odd \xff\n name"));
    assert!(command.status().unwrap().success());
    agree(&sandbox, &main);
}

#[test]
fn with_relative_paths_in_them() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    sandbox.file("main/.git/worktrees/linked/gitdir", "../../../../linked/.git\n");
    let list = sandbox.found(&main).worktrees(&OsFiles).unwrap();
    assert_eq!((&list[1].path, list[1].prunable), (&sandbox.root.join("linked"), None));
}

#[test]
fn of_a_submodule() {
    let sandbox = Sandbox::new();
    let sub = sandbox.with_submodule().join("sub");
    sandbox.git(&sub, &["worktree", "add", "--quiet", "../../of-sub"]);
    // Git itself lists the git directory in the place of the worktree here.
    for dir in [sub.clone(), sandbox.root.join("of-sub")] {
        let list = sandbox.found(&dir).worktrees(&OsFiles).unwrap();
        assert_eq!(
            list.iter().map(|worktree| &worktree.path).collect::<Vec<_>>(),
            [&sub, &sandbox.root.join("of-sub")]
        );
    }
}

#[test]
fn one_that_is_damaged_spoils_only_itself() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    for name in ["good", "bad-head", "no-gitdir", "blank-gitdir"] {
        sandbox.git(&main, &["worktree", "add", "--quiet", &format!("../{name}")]);
    }
    sandbox.file("main/.git/worktrees/bad-head/HEAD", "garbage");
    std::fs::remove_file(main.join(".git/worktrees/no-gitdir/gitdir")).unwrap();
    sandbox.file("main/.git/worktrees/blank-gitdir/gitdir", "\n");
    sandbox.file("main/.git/worktrees/a-file", "");
    let list = sandbox.found(&main).worktrees(&OsFiles).unwrap();
    let find = |id: &str| list.iter().find(|worktree| worktree.id.as_deref() == Some(OsStr::new(id)));
    assert!(find("good").unwrap().head.is_ok());
    assert!(find("bad-head").unwrap().head.is_err());
    assert!(find("no-gitdir").is_none() && find("a-file").is_none());
    assert_eq!(find("blank-gitdir").unwrap().prunable, Some(Prunable::NoPath));
}

/// Where only git can read refs, it says where every worktree is.
#[test]
fn git_says_where_every_worktree_is() {
    let sandbox = Sandbox::new();
    for format in ["files", "reftable"] {
        let main = sandbox.dir(format);
        let flag = format!("--ref-format={format}");
        if !sandbox.ask(&main, &["init", "--quiet", "-b", "main", &flag]).status.success() {
            continue;
        }
        sandbox.commit(&main, "first");
        let [topic, apart] = ["topic", "apart"].map(|name| sandbox.root.join(format!("{format} {name}")));
        sandbox.git(&main, &["worktree", "add", "--quiet", "-b", "topic", topic.to_str().unwrap()]);
        sandbox.git(&main, &["worktree", "add", "--quiet", "--detach", apart.to_str().unwrap()]);
        let heads = Git::in_dir(&main).heads().unwrap();
        let on = |dir: &Path| heads[dir].branch().map(ToString::to_string);
        assert_eq!((on(&main), on(&topic)), (Some("main".into()), Some("topic".into())), "{format}");
        let at = ObjectId::from_hex(&sandbox.git(&main, &["rev-parse", "HEAD"])).unwrap();
        assert_eq!((heads.len(), heads.get(&apart)), (3, Some(&Head::Detached(at))), "{format}");
    }
}
