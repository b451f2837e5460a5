//! Locks that git leaves in a worktree when it is killed. Nobody is left who could remove them, and every git after that
//! would be refused. Only a lock that was not there before the run can be of the run, and only one that stays: somebody
//! else may be at work in the same worktree, whose lock comes and goes.

use std::path::PathBuf;

use holdfast_git::Repository;
use holdfast_kernel::Millis;
use holdfast_sys::{Identity, Sys};
use serde::{Deserialize, Serialize};

use crate::durable;

/// How long a lock has to stay to be taken for one that nobody has.
const STAYS: Millis = Millis::from_secs(1);
const AGAIN: Millis = Millis::new(50);

/// The branches that only the worktree is worked on from which they are checked out in.
pub(crate) const OWN_BRANCHES: &str = "refs/heads/jit/";

/// More than the file can have that says which branch is checked out.
const LONGEST: usize = 1 << 12;

/// What the lock of an index begins with that is no git's: a worktree has to follow its branch.
const OURS: &[u8] = b"jit:";

/// A worktree, and the locks that it had before the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Leftovers {
    git_dir: PathBuf,
    common_dir: PathBuf,
    before: Vec<PathBuf>,
    /// The branch that the run is about to make: until it is there, HEAD does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    makes: Option<String>,
}

impl Leftovers {
    fn of(repository: &Repository) -> Self {
        let (git_dir, common_dir) =
            (repository.git_dir().to_path_buf(), repository.common_dir().to_path_buf());
        Self { git_dir, common_dir, before: Vec::new(), makes: None }
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

    /// Removes the locks that a killed git has left. Nothing of the run may be alive.
    pub(crate) fn remove(&self, sys: &Sys) {
        let mut left = self.locks(sys);
        let mut waited = Millis::ZERO;
        while !left.is_empty() && waited < STAYS {
            sys.clock.sleep(AGAIN);
            waited = waited.plus(AGAIN);
            let now = self.locks(sys);
            left.retain(|lock| now.contains(lock));
        }
        for (path, _) in left {
            // What cannot be removed is told of by the git that it refuses.
            let _ = sys.files.remove_file(&path);
        }
    }

    /// The locks that are there and were not before, each with the file that it is.
    fn locks(&self, sys: &Sys) -> Vec<(PathBuf, Identity)> {
        let mut paths = vec![self.git_dir.join("index.lock"), self.git_dir.join("HEAD.lock")];
        let head = durable::read(sys, &self.git_dir.join("HEAD"), LONGEST).ok().flatten().unwrap_or_default();
        let head = String::from_utf8_lossy(&head).into_owned();
        let branches = head.trim_end().strip_prefix("ref: ").into_iter().chain(self.makes.as_deref());
        let own = branches.filter(|name| name.starts_with(OWN_BRANCHES) && !name.contains(".."));
        paths.extend(own.map(|name| self.common_dir.join(format!("{name}.lock"))));
        paths.retain(|path| !self.before.contains(path));
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
