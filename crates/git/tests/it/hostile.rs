//! What others may have left where we look: it is refused with a clear error or passed over, as git does,
//! and never followed.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use holdfast_git::error::GitFileFault;
use holdfast_git::{Error, Found, Head, discover};
use holdfast_sys::os::OsFiles;

use crate::machine::Machine;
use crate::sandbox::Sandbox;

/// What we say about `dir`; git must fail there too.
#[track_caller]
fn refused(sandbox: &Sandbox, dir: &Path) -> Error {
    let theirs = sandbox.ask(dir, &["rev-parse", "--git-dir"]);
    assert!(!theirs.status.success(), "git accepts it");
    let error = sandbox.discover(dir).unwrap_err();
    assert!(!error.hint().is_empty());
    error
}

#[test]
fn git_files_that_lead_nowhere() {
    let sandbox = Sandbox::new();
    sandbox.repository("main");
    let dir = sandbox.dir("main/trap");
    let fault = |content: &[u8]| {
        sandbox.file("main/trap/.git", content);
        match refused(&sandbox, &dir) {
            Error::GitFile { path, fault } if path == dir.join(".git") => fault,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(fault(b""), GitFileFault::Form);
    assert_eq!(fault(b"gitdir:x"), GitFileFault::Form);
    assert_eq!(fault(b"\xff\xfe\0garbage"), GitFileFault::Form);
    assert_eq!(fault(b"gitdir: \n\r\n"), GitFileFault::NoPath);
    assert_eq!(fault(b"gitdir: a\0b\n"), GitFileFault::Form);
    assert_eq!(fault(b"gitdir: nowhere\n"), GitFileFault::NotARepository(dir.join("nowhere")));
    assert_eq!(fault(b"gitdir: .git\n"), GitFileFault::NotARepository(dir.join(".git")));
    assert_eq!(fault(b"gitdir: .\n"), GitFileFault::NotARepository(dir.join(".")));
    let long = [b"gitdir: ", "x/".repeat(50_000).as_bytes()].concat();
    assert!(matches!(fault(&long), GitFileFault::NotARepository(_)));
}

#[test]
fn git_files_that_lead_to_each_other() {
    let sandbox = Sandbox::new();
    let a = sandbox.dir("a");
    sandbox.file("a/.git", "gitdir: ../b/.git\n");
    sandbox.file("b/.git", "gitdir: ../a/.git\n");
    assert!(matches!(refused(&sandbox, &a), Error::GitFile { fault: GitFileFault::NotARepository(_), .. }));
}

#[test]
fn a_huge_git_file_is_not_read() {
    let sandbox = Sandbox::new();
    let dir = sandbox.dir("dir");
    sandbox.file("dir/.git", [b"gitdir: ", "x".repeat(2 << 20).as_bytes()].concat());
    assert!(matches!(refused(&sandbox, &dir), Error::TooLarge { .. }));
}

#[test]
fn what_is_no_repository_is_passed_over() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let top = |dir: &Path| {
        let ours = sandbox.found(dir).work_tree().map(Path::to_path_buf);
        assert_eq!(ours, Some(sandbox.git_path(dir, &["rev-parse", "--show-toplevel"])));
        ours
    };
    let trap = |name: &str| sandbox.dir(main.join(name));
    sandbox.dir(trap("empty").join(".git"));
    symlink(".git", trap("loop").join(".git")).unwrap();
    symlink("nowhere", trap("dangling").join(".git")).unwrap();
    std::os::unix::net::UnixListener::bind(trap("socket").join(".git")).unwrap();
    for (name, head) in
        [("garbage", &b"\xff\xfe"[..]), ("blank", b""), ("short", b"0123456789"), ("out", b"ref: ../x")]
    {
        let git = sandbox.dir(trap(name).join(".git"));
        sandbox.dir(git.join("objects"));
        sandbox.dir(git.join("refs"));
        sandbox.file(git.join("HEAD"), head);
    }
    for (name, missing) in [("no-objects", "objects"), ("no-refs", "refs"), ("no-head", "HEAD")] {
        let git = sandbox.unborn(main.join(name).to_str().unwrap()).join(".git");
        std::fs::rename(git.join(missing), git.join("away")).unwrap();
    }
    sandbox.dir(trap("head-dir").join("HEAD"));
    for entry in std::fs::read_dir(&main).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(".git") {
            assert_eq!(top(&path), Some(main.clone()), "{}", path.display());
        }
    }
}

#[test]
fn a_common_directory_that_is_not_there() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    let linked = sandbox.root.join("linked");
    for content in ["nowhere\n", "../../../..\n", "commondir\n"] {
        sandbox.file("main/.git/worktrees/linked/commondir", content);
        assert!(matches!(refused(&sandbox, &linked), Error::GitFile { .. }), "{content}");
    }
}

#[test]
fn configurations_that_cannot_be_understood() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let said = |config: &str| {
        sandbox.file("main/.git/config", config);
        refused(&sandbox, &main)
    };
    assert!(matches!(said("[core]\n[broken\n"), Error::ConfigSyntax { line: 2, .. }));
    assert!(matches!(
        said("[core]\nbare = perhaps\nrepositoryformatversion = 0\n"),
        Error::ConfigValue { .. }
    ));
    assert!(matches!(said("[core]\nrepositoryformatversion = x\n"), Error::ConfigValue { .. }));
    let version = said("[core]\nrepositoryformatversion = 2\n");
    assert!(matches!(version, Error::FormatVersion { version: 2, .. }));
    let unknown = said("[core]\nrepositoryformatversion = 1\n[extensions]\nfrobnicate\n");
    assert!(matches!(unknown, Error::Extensions { names, .. } if names == ["frobnicate"]));
    let early = said("[core]\nrepositoryformatversion = 0\n[extensions]\nobjectFormat = sha256\n");
    assert!(matches!(early, Error::Extensions { names, .. } if names == ["objectformat"]));
}

#[test]
fn a_head_that_leads_out_of_the_repository() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.file("secret", "0123456789012345678901234567890123456789\n");
    for name in ["refs/heads/../../../../secret", "refs/../../../secret", "refs/heads/a\x1b[31m", "refs/"] {
        sandbox.file("main/.git/HEAD", format!("ref: {name}\n"));
        let repository = sandbox.found(&main);
        let error = repository.head(&OsFiles).unwrap_err();
        assert!(matches!(error, Error::BadRef { .. }), "{name}: {error:?}");
    }
}

#[test]
fn refs_that_lead_to_each_other() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.file("main/.git/HEAD", "ref: refs/heads/a\n");
    sandbox.file("main/.git/refs/heads/a", "ref: refs/heads/b\n");
    sandbox.file("main/.git/refs/heads/b", "ref: refs/heads/a\n");
    assert!(matches!(sandbox.found(&main).head(&OsFiles), Err(Error::RefLoop { .. })));
    sandbox.file("main/.git/refs/heads/b", "garbage\n");
    assert!(matches!(sandbox.found(&main).head(&OsFiles), Err(Error::BadRef { .. })));
    sandbox.file("main/.git/refs/heads/b", "");
    assert!(matches!(sandbox.found(&main).head(&OsFiles), Err(Error::BadRef { .. })));
    sandbox.file("main/.git/HEAD", "ref: refs/heads/c\n");
    assert!(matches!(sandbox.found(&main).head(&OsFiles), Ok(Head::Branch(_))));
}

#[test]
fn a_failing_disk_is_never_an_empty_place() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let git = main.join(".git");
    let paths = [git.clone(), git.join("HEAD"), git.join("objects"), git.join("refs"), git.join("commondir")];
    for broken in paths.into_iter().chain([git.join("config"), main.clone()]) {
        let machine = Machine { broken: Some(broken.clone()), ..Machine::default() };
        let found = discover(&machine, &main, &sandbox.env());
        assert!(matches!(found, Err(Error::Sys(_))), "{}: {found:?}", broken.display());
    }
    let machine = Machine::default();
    assert!(matches!(discover(&machine, &main, &sandbox.env()), Ok(Found::Repository(_))));
}

#[test]
fn a_start_that_is_not_there() {
    let sandbox = Sandbox::new();
    let missing: PathBuf = sandbox.root.join("missing");
    assert!(matches!(sandbox.discover(&missing), Err(Error::Sys(_))));
    symlink("self", sandbox.root.join("self")).unwrap();
    assert!(matches!(sandbox.discover(&sandbox.root.join("self")), Err(Error::LinkLoop { .. })));
}
