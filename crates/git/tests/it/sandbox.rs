//! A directory of its own for a test, and a git that knows nothing but it: no configuration of the machine
//! or the user, fixed names and dates.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use holdfast_git::{Environment, Found, Repository, discover};
use holdfast_sys::os::{OsFiles, effective_user};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config as ProptestConfig, TestCaseError, TestRunner};
use tempfile::TempDir;

pub(crate) struct Sandbox {
    _dir: TempDir,
    pub(crate) root: PathBuf,
    vars: Vec<(OsString, OsString)>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        let mut sandbox = Self { _dir: dir, root: root.clone(), vars: Vec::new() };
        sandbox.set("HOME", root.join("home"));
        sandbox.set("GIT_CONFIG_SYSTEM", root.join("system-config"));
        sandbox.set("GIT_CEILING_DIRECTORIES", &root);
        sandbox
    }

    /// Sets a variable for git and for us alike.
    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.vars.retain(|(known, _)| known != name);
        self.vars.push((name.into(), value.as_ref().into()));
    }

    /// What a variable was set to.
    pub(crate) fn var(&self, name: &str) -> Option<OsString> {
        self.vars.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// The environment as a door would read it.
    pub(crate) fn env(&self) -> Environment {
        Environment::read(effective_user(), |name| self.var(name))
    }

    pub(crate) fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new("git");
        command.current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("LC_ALL", "C").env("TZ", "UTC");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "A U Thor")
                .env(format!("GIT_{who}_EMAIL"), "a@example.org");
            command.env(format!("GIT_{who}_DATE"), "1700000000 +0000");
        }
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn ask(&self, dir: &Path, args: &[&str]) -> Output {
        self.command(dir).args(args).output().unwrap()
    }

    /// What git answers, without the end of the line; git must succeed.
    pub(crate) fn git(&self, dir: &Path, args: &[&str]) -> Vec<u8> {
        let output = self.ask(dir, args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let mut answer = output.stdout;
        if answer.ends_with(b"\n") {
            answer.pop();
        }
        answer
    }

    pub(crate) fn git_text(&self, dir: &Path, args: &[&str]) -> String {
        String::from_utf8(self.git(dir, args)).unwrap()
    }

    pub(crate) fn git_path(&self, dir: &Path, args: &[&str]) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.git(dir, args)))
    }

    pub(crate) fn dir(&self, path: impl AsRef<Path>) -> PathBuf {
        let dir = self.root.join(path);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    pub(crate) fn file(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A repository on `main` without commits.
    pub(crate) fn unborn(&self, name: &str) -> PathBuf {
        let dir = self.dir(name);
        self.git(&dir, &["init", "--quiet", "--initial-branch=main"]);
        dir
    }

    /// A repository on `main` with one commit.
    pub(crate) fn repository(&self, name: &str) -> PathBuf {
        let dir = self.unborn(name);
        self.file(dir.join("README"), "hello\n");
        self.commit(&dir, "first");
        dir
    }

    pub(crate) fn commit(&self, dir: &Path, message: &str) {
        self.git(dir, &["add", "--all"]);
        self.git(dir, &["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    pub(crate) fn bare(&self, name: &str) -> PathBuf {
        let origin = self.repository(&format!("{name}-origin"));
        self.git(&self.root, &["clone", "--quiet", "--bare", origin.to_str().unwrap(), name]);
        self.root.join(name)
    }

    /// A repository `outer` with the submodule `outer/sub`.
    pub(crate) fn with_submodule(&self) -> PathBuf {
        let inner = self.repository("inner");
        let outer = self.repository("outer");
        let url = inner.to_str().unwrap();
        self.git(&outer, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
        self.commit(&outer, "add a submodule");
        outer
    }

    pub(crate) fn discover(&self, dir: &Path) -> holdfast_git::Result<Found> {
        discover(&OsFiles, dir, &self.env())
    }

    /// The repository of `dir`, which must have one.
    pub(crate) fn found(&self, dir: &Path) -> Repository {
        match self.discover(dir) {
            Ok(Found::Repository(repository)) => *repository,
            other => panic!("no repository at {}: {other:?}", dir.display()),
        }
    }
}

/// Tries a property on this many values.
pub(crate) fn property<S: Strategy>(
    cases: u32,
    strategy: &S,
    holds: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    if let Err(failure) = TestRunner::new(config).run(strategy, holds) {
        panic!("{failure}");
    }
}
