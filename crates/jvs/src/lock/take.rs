//! Taking a lock for a shell: the credentials are written down before the lock is asked for, so that a shell
//! that dies before it reads the answer is not locked out by itself.

use std::path::Path;

use super::session::{Session, Shell};
use super::{Granted, Lock};
use crate::error::Result;
use crate::names::WorktreeName;
use crate::repo::Repo;
use crate::worktree::Worktree;

/// Takes the lock of a worktree for the session in the file at `path`, which is made if it is not there.
///
/// # Errors
/// When somebody else has it. A session that was made for this is gone then.
pub fn take(
    repo: &Repo,
    name: &WorktreeName,
    shell: &Shell,
    path: &dyn Fn(&Worktree) -> std::path::PathBuf,
    lease_ms: Option<u64>,
) -> Result<(Session, Granted)> {
    repo.together(|| {
        let worktree = Worktree::named(repo, name)?;
        let lock = Lock::of(repo, &worktree)?;
        let (session, made) = session(repo, &worktree, shell, &path(&worktree))?;
        match lock.acquire(&session, lease_ms) {
            Ok(granted) => Ok((session.granted(&repo.sys, &granted.lease, granted.counter)?, granted)),
            Err(error) => {
                if made {
                    session.forget(&repo.sys);
                }
                Err(error)
            }
        }
    })
}

/// The session in a file, asking for a lock of its own; says whether it was made for this.
fn session(repo: &Repo, worktree: &Worktree, shell: &Shell, path: &Path) -> Result<(Session, bool)> {
    loop {
        if let Some(session) = Session::load(repo, worktree, path)? {
            return Ok((session.asking(&repo.sys)?, false));
        }
        let fresh = Session::fresh(&repo.sys, worktree, shell, path.to_path_buf())?;
        if fresh.create(&repo.sys)? {
            return Ok((fresh, true));
        }
    }
}
