//! A root of its own for each test, and ways to be somebody there.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use holdfast_ic::locks::Locks;
use holdfast_ic::names::LockName;
use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use tempfile::TempDir;

pub(crate) const IC: &str = env!("CARGO_BIN_EXE_ic");

/// The shell library.
pub(crate) fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("shell/lib-intercore.sh")
}

/// A root, and what is around it.
pub(crate) struct Site {
    pub(crate) around: TempDir,
}

/// What a program said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let signal = || output.status.signal().map(|signal| -signal);
        Self {
            code: output.status.code().or_else(signal).unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Site {
    pub(crate) fn new() -> Self {
        Self { around: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.around.path().join("locks")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.around.path().join(name)
    }

    /// A program that finds these locks, and `ic`.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("IC_LOCK_ROOT", self.root()).env_remove("IC_LOCK_WITHIN").env("INTERCORE_BIN", IC);
        command.current_dir(self.around.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn start(&self, words: &[&str]) -> Child {
        self.program(IC).args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs `ic`.
    pub(crate) fn ic(&self, words: &[&str]) -> Said {
        self.program(IC).args(words).output().unwrap().into()
    }

    /// Runs `ic lock`, which must end with this code.
    pub(crate) fn lock(&self, code: i32, words: &[&str]) -> Said {
        let all: Vec<&str> = std::iter::once("lock").chain(words.iter().copied()).collect();
        let said = self.ic(&all);
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        said
    }

    /// The locks, as a program sees them that uses the library.
    pub(crate) fn locks(&self, stale_after: Millis) -> Locks {
        fs::create_dir_all(self.root()).unwrap();
        Locks::with_stale_after(&Sys::os(), &self.root(), stale_after)
    }

    /// The names of all locks that are there.
    pub(crate) fn list(&self) -> Vec<String> {
        let said = self.lock(0, &["list"]);
        said.out.lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join("/")).collect()
    }

    /// The path of everything in the root.
    pub(crate) fn everything(&self) -> Vec<String> {
        let said =
            self.program("find").arg(self.root()).args(["-mindepth", "1", "-printf", "%P\\n"]).output();
        let mut all: Vec<String> = Said::from(said.unwrap()).out.lines().map(ToOwned::to_owned).collect();
        all.sort();
        all
    }

    /// Lets a lock's directory look old.
    pub(crate) fn age(&self, lock: &str, seconds: u64) {
        let then = std::time::SystemTime::now() - Duration::from_secs(seconds);
        fs::File::open(self.root().join(lock)).unwrap().set_modified(then).unwrap();
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        let notes = fs::read_dir(self.root().join(".order/waiting")).into_iter().flatten();
        notes.filter(|note| !note.as_ref().unwrap().file_name().to_string_lossy().starts_with('.')).count()
    }
}

pub(crate) fn lock(name: &str, scope: &str) -> LockName {
    LockName::new(name, scope).unwrap()
}

/// The end of a process that was started with its output caught.
pub(crate) fn end(child: Child) -> Said {
    child.wait_with_output().unwrap().into()
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A process that was there and is gone, and whose number nobody else has had since: it was waited for a
/// moment ago. A number that somebody thought up may be anybody's.
pub(crate) struct Dead;

impl Dead {
    /// Has a shell take a lock and end.
    pub(crate) fn holds(site: &Site, name: &str, scope: &str) -> u32 {
        let script = format!("\"$INTERCORE_BIN\" lock acquire {name} {scope} --pid $$ || exit 9");
        let mut shell = site.program("sh").args(["-c", &script]).spawn().unwrap();
        let pid = shell.id();
        assert!(shell.wait().unwrap().success());
        pid
    }
}
