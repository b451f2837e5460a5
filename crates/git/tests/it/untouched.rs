//! Whether a worktree is untouched, by our look and by git's: where we say so, git has nothing to tell.

use std::path::Path;

use holdfast_git::is_untouched;
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

fn ours(dir: &Path) -> bool {
    is_untouched(&OsFiles, dir, &dir.join(".git/index"), b".jit").unwrap()
}

fn gits(sandbox: &Sandbox, dir: &Path) -> String {
    let args = ["--no-optional-locks", "status", "--porcelain", "--untracked-files=all", "--", ":!.jit"];
    sandbox.git_text(dir, &args)
}

/// A repository with files in it, all of which were written before its index.
fn settled(sandbox: &Sandbox) -> std::path::PathBuf {
    let dir = sandbox.unborn("repo");
    for name in ["a", "src/b", "src/deep/c", ".jit/issues/x"] {
        sandbox.file(dir.join(name), "content of 1\n");
    }
    std::os::unix::fs::symlink("a", dir.join("link")).unwrap();
    sandbox.commit(&dir, "all");
    dir
}

/// Something that is done to a worktree.
type Deed = fn(&Sandbox, &Path);

/// What is done, and whether git has something to tell of it.
const DEEDS: [(&str, bool, Deed); 14] = [
    ("nothing", false, |_, _| ()),
    ("written by the tracker", false, |_, dir| {
        std::fs::write(dir.join(".jit/issues/x"), "other").unwrap();
        std::fs::write(dir.join(".jit/issues/y"), "other").unwrap();
    }),
    ("only touched", false, |_, dir| std::fs::write(dir.join("src/b"), "content of 1\n").unwrap()),
    ("of the same length", true, |_, dir| std::fs::write(dir.join("src/b"), "content of 2\n").unwrap()),
    ("of the same length and time", true, |_, dir| {
        let path = dir.join("src/deep/c");
        let before = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "content of 2\n").unwrap();
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(before).unwrap();
    }),
    ("longer", true, |_, dir| std::fs::write(dir.join("a"), "much longer than before\n").unwrap()),
    ("gone", true, |_, dir| std::fs::remove_file(dir.join("a")).unwrap()),
    ("more", true, |_, dir| std::fs::write(dir.join("src/deep/more"), "").unwrap()),
    ("ignored", false, |_, dir| {
        std::fs::write(dir.join(".git/info/exclude"), "*.o\n").unwrap();
        std::fs::write(dir.join("src/x.o"), "").unwrap();
    }),
    ("a link elsewhere", true, |_, dir| {
        std::fs::remove_file(dir.join("link")).unwrap();
        std::os::unix::fs::symlink("b", dir.join("link")).unwrap();
    }),
    ("executable", true, |_, dir| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(dir.join("a"), mode).unwrap();
    }),
    ("a directory behind a link", true, |_, dir| {
        std::fs::rename(dir.join("src"), dir.parent().unwrap().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("../elsewhere", dir.join("src")).unwrap();
    }),
    ("not looked at", false, |sandbox, dir| {
        drop(sandbox.git(dir, &["update-index", "--assume-unchanged", "a"]));
        std::fs::write(dir.join("a"), "unseen\n").unwrap();
    }),
    ("only intended", true, |sandbox, dir| {
        std::fs::write(dir.join("new"), "new\n").unwrap();
        drop(sandbox.git(dir, &["add", "-N", "new"]));
    }),
];

#[test]
fn where_we_say_untouched_git_has_nothing_to_tell() {
    for (name, is_told, deed) in DEEDS {
        let sandbox = Sandbox::new();
        let dir = settled(&sandbox);
        deed(&sandbox, &dir);
        let said = ours(&dir);
        assert_eq!(!gits(&sandbox, &dir).is_empty(), is_told, "{name}: {}", gits(&sandbox, &dir));
        assert!(!(said && is_told), "{name}: git says {}", gits(&sandbox, &dir));
    }
}

/// The usual cases need no git.
#[test]
fn a_settled_worktree_is_said_to_be_untouched() {
    for (name, _, deed) in DEEDS.into_iter().take(3) {
        let sandbox = Sandbox::new();
        let dir = settled(&sandbox);
        deed(&sandbox, &dir);
        assert!(ours(&dir), "{name}");
    }
    let sandbox = Sandbox::new();
    let outer = sandbox.with_submodule();
    assert!(!ours(&outer), "only git knows what a submodule has");
    assert!(!is_untouched(&OsFiles, &outer, &outer.join("no-index"), b".jit").unwrap());
}
