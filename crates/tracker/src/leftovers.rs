//! Locks that git leaves in a worktree when it is killed. Nobody is left who could remove them, and every git after that
//! would be refused. Only a lock that was not there before the run can be of the run, and only one that stays: somebody
//! else may be at work in the same worktree, whose lock comes and goes.
//!
//! Where refs are in a reftable, one lock is of all worktrees, and anybody's may have been there before the run. Whoever has
//! it keeps it open to the end, and would make whatever is in its place then the list of all refs: it is removed only
//! where nobody has it open. A git in another container or on another machine is not seen here; its lock is safe as long as
//! it is gone within a second, or no command of ours has died or been refused meanwhile.

use std::path::{Path, PathBuf};

use holdfast_git::Repository;
use holdfast_kernel::Millis;
use holdfast_sys::{Identity, Sys, os};
use serde::{Deserialize, Serialize};

use crate::durable;

/// The variable that marks the gits of a command that is at work in a worktree.
pub(crate) const WORKING: &str = "JIT_WORKING";

/// Where such a command notes that, in the directory that git keeps for the worktree.
pub(crate) const NOTE: &str = "jit-working.json";

/// How long a lock has to stay to be taken for one that nobody has.
const STAYS: Millis = Millis::from_secs(1);
const AGAIN: Millis = Millis::new(50);

/// The branches that only the worktree is worked on from which they are checked out in.
pub(crate) const OWN_BRANCHES: &str = "refs/heads/jit/";

/// More than the file can have that says which branch is checked out.
const LONGEST: usize = 1 << 12;

/// The lock of refs in a reftable, in git's directory of a worktree for HEAD, in the common one for branches.
const TABLE: &str = "reftable/tables.list.lock";

/// What the lock of an index begins with that is no git's: a worktree has to follow its branch.
const OURS: &[u8] = b"jit:";

/// Removes the locks that stay for a while. One that `is_shared` by all worktrees is left alone while anybody has it open.
/// Says whether any was removed.
pub(crate) fn remove_those_that_stay(
    sys: &Sys,
    locks: impl Fn() -> Vec<(PathBuf, Identity)>,
    is_shared: impl Fn(&Path) -> bool,
) -> bool {
    let mut left = locks();
    let mut waited = Millis::ZERO;
    while !left.is_empty() && waited < STAYS {
        sys.clock.sleep(AGAIN);
        waited = waited.plus(AGAIN);
        let now = locks();
        left.retain(|lock| now.contains(lock));
    }
    let mut removed = false;
    for (path, file) in left {
        if is_shared(&path) && os::is_open(&path, file) {
            continue;
        }
        // What cannot be removed is told of by the git that it refuses.
        removed |= sys.files.remove_file(&path).is_ok();
    }
    removed
}

fn is_of_all(path: &Path) -> bool {
    path.ends_with(TABLE)
}

/// A worktree, and the locks that it had before the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Leftovers {
    git_dir: PathBuf,
    common_dir: PathBuf,
    before: Vec<PathBuf>,
    /// The branch that the run is about to make: until it is there, HEAD does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    makes: Option<String>,
    /// Whether refs are in a reftable.
    #[serde(default)]
    has_tables: bool,
    /// Whether the locks of refs in a reftable are all that may be left.
    #[serde(default)]
    only_tables: bool,
}

impl Leftovers {
    fn of(repository: &Repository) -> Self {
        let (git_dir, common_dir) =
            (repository.git_dir().to_path_buf(), repository.common_dir().to_path_buf());
        let has_tables = repository.has_reftable();
        Self { git_dir, common_dir, before: Vec::new(), makes: None, has_tables, only_tables: false }
    }

    /// Looks at a worktree before anything is started in it.
    pub(crate) fn before(sys: &Sys, repository: &Repository) -> Self {
        let empty = Self::of(repository);
        let before = empty.locks(sys).into_iter().map(|(path, _)| path).collect();
        Self { before, ..empty }
    }

    /// The same for a run that makes a branch of this name, of which the lock may be left too.
    pub(crate) fn making(&self, branch: &str) -> Self {
        Self { makes: Some(branch.to_owned()), ..self.clone() }
    }

    /// The same for a run that is over, but for locks of refs in a reftable that one of its gits may have left.
    pub(crate) fn in_tables(&self) -> Self {
        Self { only_tables: true, ..self.clone() }
    }

    /// Removes the locks that a killed git has left. Nothing of the run may be alive.
    pub(crate) fn remove(&self, sys: &Sys) {
        remove_those_that_stay(sys, || self.locks(sys), is_of_all);
    }

    /// Removes the lock of all worktrees alone, for somebody in another one.
    pub(crate) fn remove_shared(&self, sys: &Sys) {
        let is_shared = |(path, _): &(PathBuf, Identity)| *path == self.common_dir.join(TABLE);
        let locks = || self.locks(sys).into_iter().filter(is_shared).collect();
        remove_those_that_stay(sys, locks, is_of_all);
    }

    /// Whether refs of the worktree are locked, where they are in a reftable.
    pub(crate) fn has_table_lock(&self, sys: &Sys) -> bool {
        let folders = [&self.git_dir, &self.common_dir];
        self.has_tables && folders.iter().any(|folder| sys.files.stat(&folder.join(TABLE)).is_ok())
    }

    /// Whether the worktree is gone.
    pub(crate) fn is_gone(&self, sys: &Sys) -> bool {
        sys.files.stat(&self.git_dir).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    }

    /// Whether somebody has the lock of all worktrees, or has left it: where refs are in a reftable.
    pub(crate) fn has_shared(sys: &Sys, repository: &Repository) -> bool {
        repository.has_reftable() && sys.files.stat(&repository.common_dir().join(TABLE)).is_ok()
    }

    /// The locks that are there and were not before, each with the file that it is.
    fn locks(&self, sys: &Sys) -> Vec<(PathBuf, Identity)> {
        let mut paths = vec![self.git_dir.join("index.lock"), self.git_dir.join("HEAD.lock")];
        let head = durable::read(sys, &self.git_dir.join("HEAD"), LONGEST).ok().flatten().unwrap_or_default();
        let head = String::from_utf8_lossy(&head).into_owned();
        let branches = head.trim_end().strip_prefix("ref: ").into_iter().chain(self.makes.as_deref());
        let own = branches.filter(|name| name.starts_with(OWN_BRANCHES) && !name.contains(".."));
        paths.extend(own.map(|name| self.common_dir.join(format!("{name}.lock"))));
        paths.retain(|path| !self.only_tables && !self.before.contains(path));
        if self.has_tables {
            paths.extend([self.git_dir.join(TABLE), self.common_dir.join(TABLE)]);
            paths.dedup();
        }
        let found = |path: PathBuf| sys.files.stat(&path).ok().map(|stat| (path, stat.identity));
        let is_gits = |(path, _): &(PathBuf, Identity)| {
            // One that cannot be read is longer than any of ours.
            !durable::read(sys, path, LONGEST).ok().flatten().is_some_and(|held| held.starts_with(OURS))
        };
        paths.into_iter().filter_map(found).filter(is_gits).collect()
    }

    /// Removes the locks that are older than the machine's last start: a power loss leaves them to nobody.
    pub(crate) fn remove_older_than_the_boot(sys: &Sys, repository: &Repository) {
        let Ok(now) = sys.clock.now() else { return };
        let Some(boot) = now.boot() else { return };
        let started = now.wall_ms().saturating_sub(boot.ms);
        let all = Self::of(repository);
        for (path, _) in all.locks(sys) {
            let modified = sys.files.stat(&path).ok().and_then(|stat| u64::try_from(stat.modified_ms).ok());
            if modified.is_some_and(|modified| modified < started) {
                let _ = sys.files.remove_file(&path);
            }
        }
    }
}
