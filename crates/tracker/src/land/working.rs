//! Git at work for a command of ours in a worktree. A git that is killed together with its caller leaves the lock of the
//! index or of a ref, as does a command that moves refs itself, and every git after that would be refused, be the command
//! typed again or not. So it is noted what is under way: the next one to come waits for the end of that git, and takes away
//! the locks that it left. Where refs are in a reftable, anybody's lock keeps all worktrees out: there it is the next one
//! to come in any of them.

use std::path::{Path, PathBuf};

use holdfast_git::Repository;
use holdfast_kernel::Millis;
use holdfast_sys::{Open, os};
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::Result;
use crate::json;
use crate::leftovers::{Leftovers, NOTE, WORKING};
use crate::noted::Noted;
use crate::session::Session;
use crate::tracking;

/// Where it is noted in the control plane, if it concerns all worktrees: it outlives its own.
const SHARED: &str = "working";

/// How long a git whose caller is gone may take.
const PATIENCE: Millis = Millis::from_secs(30);
const AGAIN: Millis = Millis::new(20);

/// More than the note can be.
const LONGEST: usize = 1 << 16;

#[derive(Serialize, Deserialize)]
struct Note {
    mark: String,
    leftovers: Leftovers,
    /// Who is at work, where somebody in another worktree has to know.
    #[serde(flatten)]
    process: Option<Noted>,
}

/// What others have noted of theirs: a command in its worktree, or a run.
#[derive(Deserialize)]
struct Others {
    leftovers: Option<Leftovers>,
    #[serde(flatten)]
    process: Noted,
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
        let (sys, path) = (session.sys(), place(session, repository)?);
        Leftovers::remove_older_than_the_boot(sys, repository);
        settle(session, repository, &path)?;
        settle_others(session, repository)?;
        let mark = format!("{:032x}", sys.entropy.nonce()?);
        session.set_mark(mark.clone());
        let process = repository.has_reftable().then(|| Noted::me(sys)).transpose()?;
        let note = Note { mark, leftovers: Leftovers::before(sys, repository), process };
        let working = Self { session, path, note };
        working.write(&working.note)?;
        Ok(Some(working))
    }

    /// Notes that this process is about to make a branch: its lock is taken away too, if it is left.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub(super) fn makes(&self, branch: &str) -> Result<()> {
        let (mark, process) = (self.note.mark.clone(), self.note.process.clone());
        self.write(&Note { mark, leftovers: self.note.leftovers.making(branch), process })
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
        if self.note.leftovers.has_table_lock(self.session.sys()) {
            // It may be of a git of this command that was killed alone. If not, the note does no harm.
            let (mark, process) = (self.note.mark.clone(), self.note.process.clone());
            if self.write(&Note { mark, leftovers: self.note.leftovers.in_tables(), process }).is_ok() {
                return;
            }
        }
        // One that stays names no git that lives, and is taken away by whoever comes next.
        let _ = self.session.sys().files.remove_file(&self.path);
    }
}

/// Waits for the git of somebody who was killed, and takes away the locks that it left.
fn settle(session: &Session, repository: &Repository, path: &Path) -> Result<()> {
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
    tracking::settle(sys, repository, path);
    Ok(())
}

/// Takes away locks of refs in a reftable that nobody has, after a git of this command was refused. Says whether there were
/// any.
pub(super) fn clear_tables(session: &Session) -> bool {
    let (sys, Some(repository)) = (session.sys(), session.repository()) else { return false };
    let leftovers = Leftovers::before(sys, repository).in_tables();
    let was_locked = leftovers.has_table_lock(sys);
    leftovers.remove(sys);
    was_locked && !leftovers.has_table_lock(sys)
}

/// Where it is noted that git is at work in a worktree.
fn place(session: &Session, repository: &Repository) -> Result<PathBuf> {
    let git_dir = repository.git_dir();
    if !repository.has_reftable() {
        return Ok(git_dir.join(NOTE));
    }
    let folder = session.control().join(SHARED);
    durable::make_dirs(session.sys(), &folder, session.prepare()?.places().0)?;
    // No linked worktree is called like that.
    let main = ".main".into();
    let linked = git_dir.file_name().filter(|_| git_dir != repository.common_dir());
    let name = linked.map_or(main, |name| name.to_string_lossy());
    Ok(folder.join(format!("{name}.json")))
}

/// Takes away the lock of all worktrees, if somebody has left it who was killed in another one.
fn settle_others(session: &Session, repository: &Repository) -> Result<()> {
    let sys = session.sys();
    if !Leftovers::has_shared(sys, repository) {
        return Ok(());
    }
    let folders = [SHARED, "runs"].map(|name| session.control().join(name));
    for folder in folders {
        let names = match sys.files.list(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            names => names?,
        };
        let notes = names.iter().filter(|name| name.to_string_lossy().ends_with(".json"));
        for path in notes.map(|name| folder.join(name)) {
            // One that is gone meanwhile, or is a half, tells nothing; nor does one that only others may read.
            let Some(bytes) = durable::read(sys, &path, LONGEST).ok().flatten() else { continue };
            let Ok(others) = serde_json::from_slice::<Others>(&bytes) else { continue };
            if !others.process.is_dead(sys) {
                continue;
            }
            others.leftovers.iter().for_each(|leftovers| leftovers.remove_shared(sys));
            if folder.ends_with(SHARED) && others.leftovers.is_some_and(|leftovers| leftovers.is_gone(sys)) {
                // Nobody comes back to that worktree.
                let _ = sys.files.remove_file(&path);
            }
        }
    }
    Ok(())
}
