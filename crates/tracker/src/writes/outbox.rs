//! The outbox: events that are about to be logged. A process can die between a change and its event, and the event
//! log would lack what everybody can see. So events are queued before the change begins, durably and beside the lock
//! that it is made under, each with the content that its file will have. After the change they are appended to the
//! log, and the outbox is emptied. Whoever holds the lock next and finds something in it logs those events whose change
//! was made and which no log has yet. An event is never logged for a change that was not made.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdfast_sys::{Guard, Handle, LockMode, Open, Sys};
use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::events::{Actor, Event, EventLog, Happened, QueuedEvent, logs, whole};
use super::locks::Locks;
use crate::durable;
use crate::error::Result;
use crate::json;
use crate::session::Session;

/// Longer than the events of any change.
const LONGEST: usize = 64 << 20;

/// The longest log that is searched for what it has already; behind that, an event may be there twice, which its
/// id shows.
const LONGEST_LOG: usize = 256 << 20;

/// What the file of an outbox ends in, beside `.lock`.
const SUFFIX: &str = ".outbox";

/// What it ended in before; what a crash left there is still logged.
const OLD_SUFFIX: &str = ".untold";

/// What is queued.
#[derive(Serialize, Deserialize)]
struct Note {
    /// The `.jit/` of the worktree that it is about; none if its name is no text.
    data: Option<PathBuf>,
    at: String,
    actor: Actor,
    events: Vec<QueuedEvent>,
}

/// Events in an outbox, of a change that is about to be made.
pub(super) struct Queued {
    path: PathBuf,
    note: Note,
    file: Box<dyn Handle>,
    /// Whether its file had no content before, and so perhaps no name that lasts.
    is_fresh: bool,
}

/// The outboxes of a session, one beside each lock.
pub(super) struct Outbox<'a> {
    pub(super) session: &'a Session,
    pub(super) locks: &'a Locks,
}

/// A change that is about to be made.
pub(super) struct Change<'a> {
    /// The lock that it is made under, and which is held.
    pub(super) lock: &'a str,
    pub(super) events: Vec<Event>,
    pub(super) actor: Actor,
    pub(super) at: &'a str,
}

impl Outbox<'_> {
    /// Makes a change and logs its events. If the change fails, they stay queued: some of it may have been made.
    pub(super) fn log<T>(&self, change: Change<'_>, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(queued) = self.queue(change)? else { return make() };
        queued.flush(self.sys())?;
        let made = make()?;
        self.log_all(&[queued])?;
        Ok(made)
    }

    /// Queues the events of a change that is about to be made; none if there are none. It must not be made before they are
    /// durable there.
    pub(super) fn queue(&self, change: Change<'_>) -> Result<Option<Queued>> {
        self.settle(change.lock)?;
        if change.events.is_empty() {
            return Ok(None);
        }
        let Change { lock, events, actor, at } = change;
        let data = self.session.own_data()?;
        let events =
            events.into_iter().map(|event| QueuedEvent::new(self.sys(), event)).collect::<Result<_>>()?;
        let data = Some(data).filter(|data| data.to_str().is_some());
        let note = Note { data, at: at.to_owned(), actor, events };
        let path = self.file(lock);
        let (file, is_fresh) = write(self.sys(), &path, &note, self.locks.access().file())?;
        Ok(Some(Queued { path, note, file, is_fresh }))
    }

    /// Logs the events of changes that were made, all with one flush, and takes them out of their outboxes.
    pub(super) fn log_all(&self, queued: &[Queued]) -> Result<()> {
        let happened: Vec<Happened<'_>> = queued.iter().map(|queued| queued.note.happened()).collect();
        self.append(&happened)?;
        queued.iter().for_each(|queued| empty(self.sys(), &queued.path));
        Ok(())
    }

    /// Logs what a process that died under this lock left queued; says how many events that were. The caller holds the
    /// lock.
    pub(super) fn settle(&self, lock: &str) -> Result<usize> {
        let mut logged = 0;
        for file in self.files(lock) {
            let Some(note) = self.left(&file)? else { continue };
            self.append(&[note.happened()])?;
            empty(self.sys(), &file);
            logged += note.events.len();
        }
        Ok(logged)
    }

    /// How many events are queued that should be in the log.
    fn pending(&self, lock: &str) -> Result<usize> {
        let mut pending = 0;
        for file in self.files(lock) {
            pending += self.left(&file)?.map_or(0, |note| note.events.len());
        }
        Ok(pending)
    }

    /// What is queued, was made and is in no log yet.
    fn left(&self, file: &Path) -> Result<Option<Note>> {
        let Some(mut note) = read(self.sys(), file)? else { return Ok(None) };
        let roots = self.roots(&note)?;
        let logs = self.logs(&roots)?;
        note.events.retain(|queued| queued.event.came(self.sys(), &roots) && !is_logged(&logs, &queued.id));
        Ok(Some(note))
    }

    /// What the logs have for good, those of earlier versions below these `.jit/` among them.
    pub(super) fn logs(&self, roots: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
        let logs = logs(self.sys(), self.session.control(), roots)?;
        Ok(logs.iter().filter_map(|log| self.event_log(log)).collect())
    }

    /// What a worktree's log has for good. It is flushed first, where that is allowed: whoever died may not have
    /// come to that, and a note is not given up for what the power can still take.
    fn event_log(&self, path: &Path) -> Option<Vec<u8>> {
        if let Ok(log) = self.sys().files.open(path, Open::Write) {
            log.sync().ok()?;
        }
        durable::read(self.sys(), path, LONGEST_LOG).ok().flatten().map(whole)
    }

    /// Where a change of that note can be seen: where it was made, here, in the main worktree, and where linked
    /// worktrees hand over what they write.
    fn roots(&self, note: &Note) -> Result<Vec<PathBuf>> {
        let main = self.session.main_data()?;
        let shared = self.session.shared_data().map(Path::to_path_buf);
        let mut roots: Vec<PathBuf> =
            [note.data.clone(), self.session.data(), main, shared].into_iter().flatten().collect();
        roots.sort();
        roots.dedup();
        Ok(roots)
    }

    /// Appends events of changes that were made to the log, durably.
    pub(super) fn append(&self, happened: &[Happened<'_>]) -> Result<()> {
        let worktree = &self.session.worktree()?.worktree_id;
        let (style, directory) = (&self.session.config().events, self.session.control().join("events"));
        let log = EventLog { sys: self.sys(), locks: self.locks, directory, worktree, style };
        log.append(happened)
    }

    fn file(&self, lock: &str) -> PathBuf {
        self.locks.directory().join(format!("{lock}{SUFFIX}"))
    }

    /// Every file that something can be queued in beside a lock.
    fn files(&self, lock: &str) -> [PathBuf; 2] {
        [OLD_SUFFIX, SUFFIX].map(|suffix| self.locks.directory().join(format!("{lock}{suffix}")))
    }

    pub(super) const fn sys(&self) -> &Sys {
        self.session.sys()
    }
}

/// Whether one of the logs has the event with this id.
pub(super) fn is_logged(logs: &[Vec<u8>], id: &str) -> bool {
    logs.iter().any(|log| memmem::find(log, id.as_bytes()).is_some())
}

/// Finds events that a process which died left queued beside its lock, and logs them if `repair`; says how many they are.
pub(super) fn pending(outbox: &Outbox<'_>, repair: bool) -> Result<usize> {
    let (sys, locks) = (outbox.sys(), outbox.locks);
    let names = sys.files.list(locks.directory())?;
    let lock = |name: &std::ffi::OsString| {
        let name = name.to_str()?;
        name.strip_suffix(SUFFIX).or_else(|| name.strip_suffix(OLD_SUFFIX)).map(ToOwned::to_owned)
    };
    let mut found = 0;
    for lock in names.iter().filter_map(lock).collect::<BTreeSet<String>>() {
        let path = locks.directory().join(format!("{lock}.lock"));
        let mode = if repair { LockMode::Exclusive } else { LockMode::Shared };
        // A look must not need what only writers may do.
        let guard = match mode {
            LockMode::Exclusive => Some(Guard::open(sys, &path, locks.access().file())?),
            LockMode::Shared => Guard::open_existing(sys, &path, locks.access().file())?,
        };
        let Some(mut guard) = guard else { continue };
        // Whoever is at it right now will log it.
        let _section = guard.enter(sys, mode)?;
        found += if repair { outbox.settle(&lock)? } else { outbox.pending(&lock)? };
    }
    Ok(found)
}

/// Queues events over whatever was there; says whether nobody had got as far as this.
fn write(sys: &Sys, path: &Path, note: &Note, mode: u32) -> Result<(Box<dyn Handle>, bool)> {
    let file = sys.files.open(path, Open::Create { mode })?;
    let is_fresh = file.stat()?.len == 0;
    let body = json::text(note);
    file.write_all_at(format!("{body} {}\n", digest(body.as_bytes())).as_bytes(), 0)?;
    Ok((file, is_fresh))
}

impl Note {
    fn happened(&self) -> Happened<'_> {
        Happened { events: &self.events, actor: &self.actor, at: &self.at }
    }
}

impl Queued {
    /// Makes durable what is queued.
    pub(super) fn flush(&self, sys: &Sys) -> Result<()> {
        if self.is_fresh {
            // The name may not be durable, whoever made it.
            sys.files.sync_dir(self.path.parent().unwrap_or(&self.path))?;
        }
        Ok(self.file.sync()?)
    }
}

/// What is queued. A note that is not whole was not durable, so its change was not begun.
fn read(sys: &Sys, path: &Path) -> Result<Option<Note>> {
    Ok(durable::read(sys, path, LONGEST)?.and_then(|bytes| parse(&bytes)))
}

fn parse(bytes: &[u8]) -> Option<Note> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let (body, hash) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
    if digest(body.as_bytes()) == hash { serde_json::from_str(body).ok() } else { None }
}

/// Empties a note, but for a byte that says that its name is durable. One that stays is found out by the ids in
/// the log.
fn empty(sys: &Sys, path: &Path) {
    if let Ok(file) = sys.files.open(path, Open::Write) {
        let _ = file.truncate(1);
    }
}

/// Enough of a hash to tell contents apart.
pub(super) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::{digest, parse};

    #[test]
    fn a_note_that_is_not_whole_is_none() {
        let body = r#"{"data":null,"at":"t","actor":{"agent_id":null,"worktree_id":null},"events":[]}"#;
        let whole = format!("{body} {}\n", digest(body.as_bytes()));
        assert!(parse(whole.as_bytes()).is_some());
        assert!(parse(format!("{whole}rest of a longer one").as_bytes()).is_some());
        for end in 0..whole.len() - 1 {
            assert!(parse(&whole.as_bytes()[..end]).is_none(), "{end}");
        }
        assert!(parse(whole.replace("\"t\"", "\"u\"").as_bytes()).is_none());
    }
}
