//! A target that is being moved. Whoever is killed while it moves a branch leaves the branch's lock, and nobody could land
//! any more; a git whose caller is killed moves it all the same, a moment later. So it is noted what is under way: the
//! next one to come waits for the end of that git, and takes away the lock that it left.

use std::path::PathBuf;

use holdfast_git::{ObjectId, RefName};
use holdfast_kernel::Millis;
use holdfast_sys::{Open, os};
use serde::{Deserialize, Serialize};

use super::plumbing::{FLUSHING, Plumbing};
use crate::durable;
use crate::error::{Error, Result};
use crate::json;
use crate::session::Session;

/// The variable that marks the git that moves a target.
const MARKER: &str = "JIT_MOVING";

/// How long a git whose caller is gone may take.
const PATIENCE: Millis = Millis::from_secs(30);

/// How long an empty lock has to stay to be taken for one that nobody has: whoever takes one writes at once.
const STAYS: Millis = Millis::from_secs(1);
const AGAIN: Millis = Millis::new(20);

/// More than the note, or the lock of a branch, can be.
const LONGEST: usize = 1 << 12;

/// That a target is being moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Moving {
    branch: String,
    new: String,
    mark: String,
}

/// Where it is noted.
pub(super) fn path(session: &Session) -> PathBuf {
    session.control().join("locks/moving.json")
}

impl Moving {
    /// Notes that a target is about to be moved. Only under the lock of whoever moves it.
    pub(super) fn begin(session: &Session, branch: &str, new: &ObjectId) -> Result<Self> {
        if !settle(session)? {
            let why = format!("git has been moving {branch} for longer than {} s", PATIENCE.get() / 1_000);
            return Err(Error::Internal(why));
        }
        clear_before_boot(session, branch)?;
        let mark = format!("{:032x}", session.sys().entropy.nonce()?);
        let moving = Self { branch: branch.to_owned(), new: new.to_string(), mark };
        // Who is killed loses nothing of what it wrote: it need not be durable, and a half is none.
        let mode = session.prepare()?.file();
        let file = session.sys().files.open(&path(session), Open::Create { mode })?;
        file.truncate(0)?;
        file.write_all_at(&json::file(&moving), 0)?;
        Ok(moving)
    }

    /// Moves it, if it is where it is thought to be; says whether it was.
    pub(super) fn swap(
        &self,
        session: &Session,
        plumbing: &Plumbing<'_>,
        old: Option<&ObjectId>,
        why: &str,
    ) -> Result<bool> {
        let (git, name) = (plumbing.git(), format!("refs/heads/{}", self.branch));
        if self.swap_here(plumbing, old, why) {
            self.flush(session)?;
            return Ok(true);
        }
        let old = old.map_or_else(|| "0".repeat(40), ToString::to_string);
        let marked = git.clone().env(MARKER, Some(self.mark.clone().into()));
        let args = [&FLUSHING[..], &["update-ref", "-m", why, &name, &self.new, &old]].concat();
        let said = marked.ask(&args, &[])?;
        if said.code == Some(0) {
            self.flush(session)?;
            return Ok(true);
        }
        let now = git.ask(&["rev-parse", "--quiet", "--verify", &name], &[])?;
        let now = ObjectId::from_hex(now.stdout.trim_ascii());
        let now = now.map_or_else(|| "0".repeat(40), |now| now.to_string());
        if now == old && now != self.new {
            let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
            let command = "git update-ref".into();
            return Err(holdfast_git::Error::Failed { command, code: said.code, stderr }.into());
        }
        Ok(now == self.new)
    }

    /// Moves it in this process, where git would do no more than that; says whether it did. If not, git knows why.
    fn swap_here(&self, plumbing: &Plumbing<'_>, old: Option<&ObjectId>, why: &str) -> bool {
        let name = RefName::new(format!("refs/heads/{}", self.branch).as_bytes());
        let (Some(name), Some(new), Some(old)) = (name, ObjectId::from_hex(self.new.as_bytes()), old) else {
            return false;
        };
        plumbing.mover().is_some_and(|mover| mover.advance(&name, old, &new, why).unwrap_or(false))
    }

    /// Makes durable that it has moved, before any file follows it: after a power loss no worktree has what its branch has
    /// not. Where refs are kept otherwise, git has flushed them.
    fn flush(&self, session: &Session) -> Result<()> {
        if let Some(folder) = self.lock(session).as_deref().and_then(std::path::Path::parent)
            && durable::is_dir(session.sys(), folder)?
        {
            session.sys().files.sync_dir(folder)?;
        }
        Ok(())
    }

    /// It has moved, or has not.
    pub(super) fn end(&self, session: &Session) {
        // One that stays names a git that is gone, and is taken away by whoever comes next.
        let _ = session.sys().files.remove_file(&path(session));
    }

    /// The lock that git takes to move the branch.
    fn lock(&self, session: &Session) -> Option<PathBuf> {
        let common = session.repository()?.common_dir();
        Some(common.join(format!("refs/heads/{}.lock", self.branch)))
    }

    /// Whether the lock of the branch is what a git has left that is gone.
    fn is_left(&self, session: &Session, lock: &std::path::Path) -> Result<bool> {
        let sys = session.sys();
        let mut waited = Millis::ZERO;
        let Ok(first) = sys.files.stat(lock) else { return Ok(false) };
        loop {
            let Some(held) = durable::read(sys, lock, LONGEST)? else { return Ok(false) };
            match String::from_utf8_lossy(&held).trim() {
                "" if waited < STAYS => {}
                "" => return Ok(sys.files.stat(lock).is_ok_and(|now| now.identity == first.identity)),
                held => return Ok(held == self.new),
            }
            sys.clock.sleep(AGAIN);
            waited = waited.plus(AGAIN);
        }
    }
}

/// Takes away the lock of a branch that is older than the machine's last start: a power loss may leave that one, and not
/// the note.
fn clear_before_boot(session: &Session, branch: &str) -> Result<()> {
    let (sys, Some(repository)) = (session.sys(), session.repository()) else { return Ok(()) };
    let lock = repository.common_dir().join(format!("refs/heads/{branch}.lock"));
    let Ok(stat) = sys.files.stat(&lock) else { return Ok(()) };
    let now = sys.clock.now()?;
    let Some(boot) = now.boot() else { return Ok(()) };
    let started = now.wall_ms().saturating_sub(boot.ms);
    if u64::try_from(stat.modified_ms).is_ok_and(|modified| modified < started) {
        sys.files.remove_file(&lock)?;
    }
    Ok(())
}

/// Waits for the git of somebody who was killed while it moved a target, and takes away the lock that it left. Says
/// whether nothing is under way. Only under the lock of whoever moves it.
pub(super) fn settle(session: &Session) -> Result<bool> {
    let (sys, path) = (session.sys(), path(session));
    let Some(bytes) = durable::read(sys, &path, LONGEST)? else { return Ok(true) };
    if let Ok(moving) = serde_json::from_slice::<Moving>(&bytes) {
        let mut waited = Millis::ZERO;
        while !os::marked(MARKER, &moving.mark).is_empty() {
            if waited >= PATIENCE {
                return Ok(false);
            }
            sys.clock.sleep(AGAIN);
            waited = waited.plus(AGAIN);
        }
        if let Some(lock) = moving.lock(session)
            && moving.is_left(session, &lock)?
        {
            sys.files.remove_file(&lock)?;
        }
    }
    sys.files.remove_file(&path)?;
    Ok(true)
}
