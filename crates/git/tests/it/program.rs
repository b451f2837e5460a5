//! The git program.

use std::ffi::OsString;
use std::path::Path;

use holdfast_git::{Error, Git, Head};
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

fn git(sandbox: &Sandbox, dir: &Path) -> Git {
    let home: OsString = sandbox.root.join("home").into();
    let git = Git::in_dir(dir).env("HOME", Some(home)).env("GIT_CONFIG_NOSYSTEM", Some("1".into()));
    // What a hook that runs these tests would leave in the environment.
    let names = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS", "XDG_CONFIG_HOME"];
    names.into_iter().fold(git, |git, name| git.env(name, None))
}

#[test]
fn answers_and_acts() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let git = git(&sandbox, &main);
    assert_eq!(git.run(&["rev-parse", "--is-inside-work-tree"]).unwrap(), b"true\n");
    git.run(&["config", "--local", "jit.test", "a b; c"]).unwrap();
    assert_eq!(sandbox.git(&main, &["config", "jit.test"]), b"a b; c");
}

#[test]
fn large_input_and_output_do_not_block_each_other() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let input = "README\n".repeat(300_000);
    let answer = git(&sandbox, &main).run_with(&["check-attr", "--stdin", "text"], input.as_bytes()).unwrap();
    assert_eq!(answer.iter().filter(|byte| **byte == b'\n').count(), 300_000);
}

#[test]
fn input_that_is_not_read_is_no_failure() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let answer = git(&sandbox, &main).run_with(&["rev-parse", "--git-dir"], &vec![b'x'; 4 << 20]).unwrap();
    assert_eq!(answer, b".git\n");
}

#[test]
fn failures_are_in_gits_words() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let error = git(&sandbox, &main).run(&["checkout", "--end-of-options", "no such"]).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("git checkout --end-of-options 'no such' failed (1"), "{text}");
    assert!(matches!(&error, Error::Failed { stderr, .. } if stderr.contains("no such")), "{text}");
    assert!(error.hint().contains("git checkout --end-of-options 'no such'"));
    assert_eq!(git(&sandbox, &main).ask(&["config", "no.such"], &[]).unwrap().code, Some(1));
}

#[test]
fn a_program_that_is_not_there() {
    let sandbox = Sandbox::new();
    let missing = git(&sandbox, &sandbox.root).program(Path::new("/nonexistent/git"));
    assert!(matches!(missing.run(&["version"]), Err(Error::Start { .. })));
}

#[test]
fn says_where_head_is() {
    let sandbox = Sandbox::new();
    let unborn = sandbox.unborn("unborn");
    let main = sandbox.repository("main");
    let detached = sandbox.repository("detached");
    sandbox.git(&detached, &["checkout", "--quiet", "--detach"]);
    for dir in [unborn, main, detached] {
        let (git, repository) = (git(&sandbox, &dir), sandbox.found(&dir));
        assert_eq!(git.head().unwrap(), repository.head(&OsFiles).unwrap());
        assert_eq!(git.head_commit().unwrap(), repository.head_commit(&OsFiles).unwrap());
    }
    let outside = sandbox.dir("outside");
    let alone = git(&sandbox, &outside).env("GIT_CEILING_DIRECTORIES", Some(sandbox.root.clone().into()));
    assert!(matches!(alone.head(), Err(Error::Failed { .. })));
}

#[test]
fn says_where_head_is_with_reftable() {
    let sandbox = Sandbox::new();
    let dir = sandbox.dir("reftable");
    let made = sandbox.ask(&dir, &["init", "--quiet", "--initial-branch=main", "--ref-format=reftable"]);
    if !made.status.success() {
        // Versions before 2.45 have no reftable to ask about, and say that they do not know the option.
        assert!(String::from_utf8_lossy(&made.stderr).contains("ref-format"));
        return;
    }
    sandbox.commit(&dir, "first");
    assert!(matches!(sandbox.found(&dir).head(&OsFiles), Err(Error::Reftable { .. })));
    let git = git(&sandbox, &dir);
    assert!(matches!(git.head().unwrap(), Head::Branch(name) if name.as_bytes() == b"refs/heads/main"));
    assert!(git.head_commit().unwrap().is_some());
}
