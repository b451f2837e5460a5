//! Taking a lock for a shell: the credentials are written down before the lock is asked for, so that a shell
//! that dies before it reads the answer is not locked out by itself.

use std::path::{Path, PathBuf};

use holdfast_kernel::Millis;

use super::session::{Session, Shell};
use super::{Granted, Lock};
use crate::error::{Class, Error, Result};
use crate::names::WorktreeName;
use crate::repo::Repo;
use crate::worktree::Worktree;

/// How often a lock that somebody else has is looked at.
const LOOK_AGAIN: Millis = Millis::new(50);

/// Takes the lock of a worktree for the session in the file at `path`, which is made if it is not there.
///
/// # Errors
/// When somebody else has it. A session that was made for this is gone then.
pub fn take(
    repo: &Repo,
    name: &WorktreeName,
    shell: &Shell,
    path: &dyn Fn(&Worktree) -> Result<PathBuf>,
    lease_ms: Option<u64>,
) -> Result<(Session, Granted)> {
    loop {
        let worktree = Worktree::named(repo, name)?;
        let done = repo.on_lock(&worktree.worktree_id, || {
            let is_the_same = Worktree::named(repo, name)?.worktree_id == worktree.worktree_id;
            let take = || take_here(repo, &worktree, shell, &path(&worktree)?, lease_ms);
            is_the_same.then(take).transpose()
        })?;
        // Otherwise another worktree got the name before the guard was entered.
        if let Some(done) = done {
            return Ok(done);
        }
    }
}

/// Takes the lock inside its guard.
fn take_here(
    repo: &Repo,
    worktree: &Worktree,
    shell: &Shell,
    path: &Path,
    lease_ms: Option<u64>,
) -> Result<(Session, Granted)> {
    let lock = Lock::to_take(repo, worktree)?;
    let (session, made) = session(repo, worktree, shell, path)?;
    match lock.acquire(&session, lease_ms) {
        Ok(granted) => {
            let told = session.clone().granted(&repo.sys, &granted.lease, granted.counter);
            told.map(|session| (session, granted))
                .map_err(|error| in_doubt(repo, &lock, session, made, error))
        }
        Err(error) => Err(in_doubt(repo, &lock, session, made, error)),
    }
}

/// What is left of an acquisition that failed. The lock may be in place all the same, if only the last flush
/// failed: then it is taken back, or the session stays, because without it nobody could give the lock back.
fn in_doubt(repo: &Repo, lock: &Lock, session: Session, made: bool, error: Error) -> Error {
    let is_ours = match lock.view() {
        Ok(view) => view.table.get(session.lock_id).is_some(),
        Err(_) => true,
    };
    if !is_ours || made && lock.release(&session).is_ok() {
        if made {
            session.forget(&repo.sys);
        }
        return error;
    }
    let path = session.path.to_string_lossy().into_owned();
    error
        .hint(format!(
            "the lock may be held all the same: run `jvs lock acquire --session-file {path}` again"
        ))
        .detail("session_file", path)
}

/// As [`take`], but waits for so long if somebody else has the lock, and says who has it.
///
/// # Errors
/// As [`take`], and when a signal asks to stop.
pub fn take_within(
    repo: &Repo,
    name: &WorktreeName,
    shell: &Shell,
    path: &dyn Fn(&Worktree) -> Result<PathBuf>,
    lease_ms: Option<u64>,
    limit: Millis,
) -> Result<(Session, Granted)> {
    let start = repo.sys.clock.now()?;
    let mut noted = false;
    loop {
        let refused = match take(repo, name, shell, path, lease_ms) {
            Err(error) if error.class() == Class::LockConflict => error,
            done => return done,
        };
        let waited = repo.sys.clock.now()?.since(&start).forward();
        if waited >= limit {
            return Err(match limit {
                Millis::ZERO => refused,
                _ => refused
                    .hint("it was waited for in vain; try again, or wait longer with --wait")
                    .detail("waited_ms", waited.get()),
            });
        }
        if !noted {
            (repo.waits.note)(&format!("waiting for '{name}': {refused}"));
            noted = true;
        }
        repo.waits.is_asked_to_stop().map_or(Ok(()), |signal| Err(Error::interrupted(signal)))?;
        repo.sys.clock.sleep(LOOK_AGAIN);
    }
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
