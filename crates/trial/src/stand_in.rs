//! A script in the place of a program, which is told at which of its calls to do something, and what.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A stand-in for git. Its script finds the real one in `CUT_GIT`, a folder to note things in in `CUT_DIR`, the number of
/// the call at which it strikes in `CUT_AT` and what it does then in `CUT_HOW`.
pub struct StandIn {
    dir: tempfile::TempDir,
    git: PathBuf,
}

impl StandIn {
    /// One that does what a shell script says.
    #[must_use]
    pub fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        let stand_in = dir.path().join("bin/git");
        std::fs::write(&stand_in, script).unwrap();
        std::fs::set_permissions(&stand_in, PermissionsExt::from_mode(0o755)).unwrap();
        Self { dir, git: git.unwrap() }
    }

    /// Where it notes things.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// What it has noted under a name.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Forgets what was noted.
    pub fn forget(&self, names: &[&str]) {
        for name in names {
            let _ = std::fs::remove_file(self.file(name));
        }
    }

    /// Has a command find it instead of git.
    pub fn dress(&self, command: &mut Command, at: u32, how: &str) {
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::iter::once(self.file("bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap());
        command.env("CUT_DIR", self.dir()).env("CUT_GIT", &self.git);
        command.env("CUT_AT", at.to_string()).env("CUT_HOW", how);
    }
}
