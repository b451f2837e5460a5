//! The variables that change where git is.

use std::path::{Path, PathBuf};

use holdfast_git::{Environment, Error, Found, Place, discover};
use holdfast_sys::os::OsFiles;

use crate::machine::Machine;
use crate::sandbox::Sandbox;

/// Asks git and us about `dir`; both find the same or both find nothing.
#[track_caller]
fn agree(sandbox: &Sandbox, dir: &Path) -> Option<Place> {
    let top = |ask: &[&str]| {
        let answer = sandbox.ask(dir, ask);
        answer.status.success().then(|| sandbox.git_path(dir, ask))
    };
    let theirs = top(&["rev-parse", "--absolute-git-dir"]);
    let ours = match sandbox.discover(dir) {
        Ok(Found::Repository(repository)) => Some(repository),
        Ok(Found::Nothing { .. }) | Err(Error::NotARepository { .. }) => None,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(ours.as_ref().map(|ours| ours.git_dir().to_path_buf()), theirs, "git dir");
    let ours = ours?;
    assert_eq!(ours.work_tree().map(Path::to_path_buf), top(&["rev-parse", "--show-toplevel"]), "worktree");
    let common = sandbox.git_path(dir, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    assert_eq!(ours.common_dir(), common, "common dir");
    Some(ours.place())
}

#[test]
fn git_dir_relative_and_absolute() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let other = sandbox.dir("other");
    for named in [main.join(".git"), PathBuf::from("../main/.git"), PathBuf::from("../main/.git/")] {
        sandbox.set("GIT_DIR", &named);
        assert_eq!(agree(&sandbox, &other), Some(Place::Main), "{named:?}");
    }
    sandbox.set("GIT_DIR", ".git");
    assert_eq!(agree(&sandbox, &main), Some(Place::Main));
    assert_eq!(agree(&sandbox, &other), None);
    sandbox.set("GIT_DIR", "");
    assert_eq!(agree(&sandbox, &main), None);
}

#[test]
fn git_dir_of_a_bare_repository_and_of_a_linked_worktree() {
    let mut sandbox = Sandbox::new();
    let bare = sandbox.bare("bare.git");
    sandbox.git(&bare, &["worktree", "add", "--quiet", "../linked"]);
    let other = sandbox.dir("other");
    sandbox.set("GIT_DIR", &bare);
    assert_eq!(agree(&sandbox, &other), Some(Place::Bare));
    // As in a hook of a push.
    sandbox.set("GIT_DIR", ".");
    assert_eq!(agree(&sandbox, &bare), Some(Place::Bare));
    sandbox.set("GIT_DIR", bare.join("worktrees/linked"));
    assert_eq!(agree(&sandbox, &other), Some(Place::Linked));
    sandbox.set("GIT_DIR", sandbox.root.join("linked/.git"));
    assert_eq!(agree(&sandbox, &sandbox.root.join("linked")), Some(Place::Linked));
}

#[test]
fn a_hook_of_a_push_into_a_worktree_has_none() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.set("GIT_DIR", ".");
    sandbox.set("GIT_IMPLICIT_WORK_TREE", "0");
    assert_eq!(agree(&sandbox, &main.join(".git")), Some(Place::GitDir));
}

#[test]
fn git_work_tree_with_and_without_git_dir() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let deep = sandbox.dir("main/deep");
    let other = sandbox.dir("other");
    let bare = sandbox.bare("bare.git");
    sandbox.set("GIT_WORK_TREE", &other);
    assert_eq!(agree(&sandbox, &main), Some(Place::Main));
    sandbox.set("GIT_WORK_TREE", "../other");
    assert_eq!(agree(&sandbox, &main), Some(Place::Main));
    sandbox.set("GIT_DIR", main.join(".git"));
    assert_eq!(agree(&sandbox, &other), Some(Place::Main));
    sandbox.set("GIT_WORK_TREE", "..");
    assert_eq!(agree(&sandbox, &deep), Some(Place::Main));
    sandbox.set("GIT_DIR", &bare);
    sandbox.set("GIT_WORK_TREE", &other);
    assert_eq!(agree(&sandbox, &deep), Some(Place::Main));
}

#[test]
fn git_common_dir() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let own = sandbox.dir("own");
    sandbox.file("own/HEAD", "ref: refs/heads/main\n");
    sandbox.set("GIT_DIR", &own);
    assert_eq!(agree(&sandbox, &main), None);
    for named in [main.join(".git"), PathBuf::from(".git")] {
        sandbox.set("GIT_COMMON_DIR", &named);
        assert_eq!(agree(&sandbox, &main), Some(Place::Linked), "{named:?}");
    }
}

#[test]
fn ceilings() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let deep = sandbox.dir("main/a/b/c");
    std::os::unix::fs::symlink(main.join("a"), sandbox.root.join("link")).unwrap();
    let at = |path: &str| sandbox.root.join(path).to_str().unwrap().to_owned();
    let lists = [
        (at("main"), false),
        (at("main/a"), false),
        (at("main/a/"), false),
        (at("main/a/b/c"), true),
        (at("main/a/b/c/d"), true),
        (at("main/a/bb"), true),
        (at(""), true),
        ("/".into(), true),
        ("relative:a".into(), true),
        (at("link"), false),
        (format!(":{}", at("link")), true),
        (format!(":{}", at("main/a")), false),
        (format!("{}:{}", at(""), at("main/a")), false),
        (format!("{}:{}", at("main/a/b/c"), at("main/a")), false),
        (format!("{}:{}", at("nowhere"), at("main/a/b")), false),
    ];
    for (list, found) in lists {
        sandbox.set("GIT_CEILING_DIRECTORIES", &list);
        assert_eq!(agree(&sandbox, &deep).is_some(), found, "{list}");
    }
}

#[test]
fn a_mount_point_ends_the_search() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let deep = sandbox.dir("main/mounted/deep");
    let machine = Machine { mount: Some(main.join("mounted")), ..Machine::default() };
    let mut env = sandbox.env();
    let found = discover(&machine, &deep, &env).unwrap();
    assert_eq!(found, Found::Nothing { boundary: Some(main.join("mounted")) });
    env.across_filesystem = Some("true".into());
    assert!(matches!(discover(&machine, &deep, &env).unwrap(), Found::Repository(_)));
}

#[test]
fn an_empty_environment_changes_nothing() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let env = Environment::empty(holdfast_sys::os::effective_user());
    assert!(matches!(discover(&OsFiles, &main, &env).unwrap(), Found::Repository(_)));
}
