//! Git at work for a command of ours in a worktree. A git that is killed together with its caller leaves the lock of the
//! index or of a ref, as does a command that moves refs itself, and every git after that would be refused, be the command typed again or not. So it is noted what is under way:
//! the next one to come waits for the end of that git, and takes away the locks that it left.

use std::path::{Path, PathBuf};

use holdfast_kernel::Millis;
use holdfast_sys::{Open, os};
use serde::{Deserialize, Serialize};

use super::plumbing::WORKING;
use crate::durable;
use crate::error::Result;
use crate::json;
use crate::leftovers::Leftovers;
use crate::session::Session;

/// Where it is noted, in the directory that git keeps for the worktree.
const FILE: &str = "jit-working.json";

/// How long a git whose caller is gone may take.
const PATIENCE: Millis = Millis::from_secs(30);
const AGAIN: Millis = Millis::new(20);

/// More than the note can be.
const LONGEST: usize = 1 << 16;

#[derive(Serialize, Deserialize)]
struct Note {
    mark: String,
    leftovers: Leftovers,
}

/// A command that has git work in its worktree. Dropping it says that it is done.
pub(super) struct Working<'a> {
    session: &'a Session,
    path: PathBuf,
    note: Note,
}

impl<'a> Working<'a> {
    /// Notes that git will be at work here, and clears away what one that was killed has left; nothing outside of git, or
    /// where this process has noted it before.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub(super) fn begin(session: &'a Session) -> Result<Option<Self>> {
        let (Some(repository), Some(_)) = (session.repository(), session.root()) else { return Ok(None) };
        if session.mark().is_some() {
            return Ok(None);
        }
        let (sys, path) = (session.sys(), repository.git_dir().join(FILE));
        Leftovers::remove_older_than_the_boot(sys, repository);
        settle(session, &path)?;
        let mark = format!("{:032x}", sys.entropy.nonce()?);
        session.set_mark(mark.clone());
        let note = Note { mark, leftovers: Leftovers::before(sys, repository) };
        let working = Self { session, path, note };
        working.write(&working.note)?;
        Ok(Some(working))
    }

    /// Notes that this process is about to make a branch: its lock is taken away too, if it is left.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub(super) fn makes(&self, branch: &str) -> Result<()> {
        let leftovers = self.note.leftovers.making(branch);
        self.write(&Note { mark: self.note.mark.clone(), leftovers })
    }

    fn write(&self, note: &Note) -> Result<()> {
        // Who is killed loses nothing of what it wrote: it need not be durable, and a half is none.
        let mode = self.session.access()?.file();
        let file = self.session.sys().files.open(&self.path, Open::Create { mode })?;
        file.truncate(0)?;
        Ok(file.write_all_at(&json::file(note), 0)?)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        // One that stays names no git that lives, and is taken away by whoever comes next.
        let _ = self.session.sys().files.remove_file(&self.path);
    }
}

/// Waits for the git of somebody who was killed, and takes away the locks that it left.
fn settle(session: &Session, path: &Path) -> Result<()> {
    let sys = session.sys();
    let Some(bytes) = durable::read(sys, path, LONGEST)? else { return Ok(()) };
    let Ok(note) = serde_json::from_slice::<Note>(&bytes) else { return Ok(()) };
    let mut waited = Millis::ZERO;
    while !os::marked(WORKING, &note.mark).is_empty() {
        // Whoever is at work for longer is alive, and git says so.
        if waited >= PATIENCE {
            return Ok(());
        }
        sys.clock.sleep(AGAIN);
        waited = waited.plus(AGAIN);
    }
    note.leftovers.remove(sys);
    Ok(())
}
