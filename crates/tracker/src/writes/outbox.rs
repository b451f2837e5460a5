//! The outbox: events that are about to be logged. A process can die between a change and its event, and the event
//! log would lack what everybody can see. So events are queued before the change begins, durably and beside the lock
//! that it is made under, each with the content that its file will have. After the change they are appended to the
//! log, and the outbox is emptied. Whoever holds the lock next and finds something in it logs those events whose change
//! was made and which no log has yet. An event is never logged for a change that was not made.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdfast_sys::{Guard, LockMode, Open, Sys};
use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::events::{Actor, Event, EventLog, QueuedEvent, logs, whole};
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
        self.settle(change.lock)?;
        if change.events.is_empty() {
            return make();
        }
        let Change { lock, events, actor, at } = change;
        let data = self.session.own_data()?;
        let events =
            events.into_iter().map(|event| QueuedEvent::new(self.sys(), event)).collect::<Result<_>>()?;
        let data = Some(data).filter(|data| data.to_str().is_some());
        let note = Note { data, at: at.to_owned(), actor, events };
        write(self.sys(), &self.file(lock), &note, self.locks.access().file())?;
        let made = make()?;
        self.append(&note)?;
        empty(self.sys(), &self.file(lock));
        Ok(made)
    }

    /// Logs what a process that died under this lock left queued; says how many events that were. The caller holds the
    /// lock.
    pub(super) fn settle(&self, lock: &str) -> Result<usize> {
        let mut logged = 0;
        for file in self.files(lock) {
            let Some(note) = self.left(&file)? else { continue };
            self.append(&note)?;
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
        let logs = logs(self.sys(), self.session.control(), &roots)?;
        let logs: Vec<Vec<u8>> = logs.iter().filter_map(|log| self.event_log(log)).collect();
        let is_logged = |id: &str| logs.iter().any(|log| memmem::find(log, id.as_bytes()).is_some());
        note.events.retain(|queued| queued.event.came(self.sys(), &roots) && !is_logged(&queued.id));
        Ok(Some(note))
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

    fn append(&self, note: &Note) -> Result<()> {
        let worktree = &self.session.worktree()?.worktree_id;
        let (style, directory) = (&self.session.config().events, self.session.control().join("events"));
        let log = EventLog { sys: self.sys(), locks: self.locks, directory, worktree, style };
        log.append(&note.events, &note.actor, &note.at)
    }

    fn file(&self, lock: &str) -> PathBuf {
        self.locks.directory().join(format!("{lock}{SUFFIX}"))
    }

    /// Every file that something can be queued in beside a lock.
    fn files(&self, lock: &str) -> [PathBuf; 2] {
        [OLD_SUFFIX, SUFFIX].map(|suffix| self.locks.directory().join(format!("{lock}{suffix}")))
    }

    const fn sys(&self) -> &Sys {
        self.session.sys()
    }
}

/// Finds events that a process which died left queued, and logs them if `repair`; says how many they are.
///
/// # Errors
/// When they cannot be read or logged.
pub fn pending_events(session: &Session, repair: bool) -> Result<usize> {
    let locks = Locks::open(session)?;
    let outbox = Outbox { session, locks: &locks };
    let (sys, names) = (session.sys(), session.sys().files.list(locks.directory())?);
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

/// Queues events over whatever was there, durably.
fn write(sys: &Sys, path: &Path, note: &Note, mode: u32) -> Result<()> {
    let file = sys.files.open(path, Open::Create { mode })?;
    if file.stat()?.len == 0 {
        // Nobody got as far as this: the name may not be durable, whoever made it.
        sys.files.sync_dir(path.parent().unwrap_or(path))?;
    }
    let body = json::text(note);
    file.write_all_at(format!("{body} {}\n", digest(body.as_bytes())).as_bytes(), 0)?;
    Ok(file.sync()?)
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
