//! The audit log of a repository: one line for every transition of a lock and for everything that is
//! published, restored, renamed, removed or repaired, written **before** it happens.
//!
//! A line holds the hash of the one before it, so that none can be changed, added or taken out unnoticed, and an
//! anchor beside the log says where it ends. It must never be written without its guard, and nothing may happen
//! whose line could not be made durable.

mod anchor;
mod check;
mod entry;
mod granted;
mod repair;
mod tail;

use std::path::PathBuf;

use holdfast_store::{rfc3339, whole};
use holdfast_sys::{Guard, Handle, LockMode, Open, Sys};
use serde_json::{Map, Value};

pub use anchor::Anchor;
use anchor::Anchored;
pub use check::{Break, Chain};
pub use entry::Entry;

use crate::error::{Class, Error, Result};
use crate::repo::{AUDIT_GUARD, Repo};
use tail::Tail;

const CURRENT: &str = "audit.jsonl";
/// From this length on a segment is archived and another one begun.
const LONGEST_SEGMENT: u64 = 1 << 20;
/// The longest line; what is written here is far shorter.
const LONGEST_LINE: usize = 16 * 1_024;

/// What a line carries from which on the log has an anchor.
const ANCHORED: &str = "anchored";

fn marked() -> Map<String, Value> {
    Map::from_iter([(ANCHORED.to_owned(), Value::Bool(true))])
}

/// The audit log.
#[derive(Clone)]
pub struct Audit {
    sys: Sys,
    directory: PathBuf,
    actor: String,
}

impl Audit {
    /// The audit log of a repository.
    #[must_use]
    pub fn of(repo: &Repo) -> Self {
        Self::at(&repo.sys, repo.control("audit"), &repo.actor.name)
    }

    /// The audit log in a directory.
    #[must_use]
    pub fn at(sys: &Sys, directory: PathBuf, actor: &str) -> Self {
        Self { sys: sys.clone(), directory, actor: actor.to_owned() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a line about something that is about to happen, durably.
    ///
    /// # Errors
    /// When it could not be written, or the log is broken. What was to be recorded must not happen then.
    pub fn append(&self, event: &str, worktree_id: Option<&str>, data: Map<String, Value>) -> Result<()> {
        self.alone(|| {
            if self.anchored()? == Anchored::Absent {
                self.anchor_an_old_log()?;
            }
            self.add(event, worktree_id, data)
        })
    }

    /// Writes the first line of all.
    ///
    /// # Errors
    /// When it could not be written.
    pub fn begin(&self, event: &str, worktree_id: &str) -> Result<()> {
        self.alone(|| self.add(event, Some(worktree_id), marked()))
    }

    /// A log that an earlier version wrote gets its anchor with the first line that this one adds.
    fn anchor_an_old_log(&self) -> Result<()> {
        let chain = self.chain(&mut |_| {})?;
        if chain.broken.as_ref().is_some_and(|found| !found.torn) {
            chain.whole()?;
        }
        self.add("audit.anchored", None, marked())
    }

    /// Adds a line and says where the log ends.
    fn add(&self, event: &str, worktree_id: Option<&str>, data: Map<String, Value>) -> Result<()> {
        let tail = self.mended_tail()?;
        self.reaches_its_anchor(&tail)?;
        let entry = Entry {
            seq: tail.seq + 1,
            prev: tail.hash.clone(),
            at: rfc3339(&self.sys.clock.now()?),
            actor: self.actor.clone(),
            event: event.to_owned(),
            worktree_id: worktree_id.map(ToOwned::to_owned),
            data,
        };
        let broken = |why: String| Error::new(Class::AuditChainBroken, why);
        let (line, hash) = entry.line().map_err(|why| broken(format!("a line about {event}: {why}")))?;
        if line.len() > LONGEST_LINE {
            return Err(broken(format!("a line about {event} is too long")));
        }
        self.write(&self.rotated(tail)?, &line)?;
        self.anchor_at(entry.seq, hash)
    }

    /// That the log does not end before the place where it is known to have ended. Nothing is added to one that
    /// does: the next line would cover up what is missing.
    fn reaches_its_anchor(&self, tail: &Tail) -> Result<()> {
        match self.anchored()? {
            Anchored::Spoilt => Err(self.broken(anchor::NAME, anchor::SPOILT)),
            Anchored::At(anchor) if anchor.seq > tail.seq => {
                Err(self.broken(CURRENT, check::cut(tail.seq, anchor.seq)))
            }
            Anchored::At(anchor) if anchor.seq == tail.seq && anchor.hash != tail.hash => {
                Err(self.broken(CURRENT, "its last line is not the one that was written"))
            }
            Anchored::At(_) | Anchored::Absent => Ok(()),
        }
    }

    fn alone<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut guard = Guard::open(&self.sys, &self.file(AUDIT_GUARD), 0o600)?;
        let _section = guard.enter(&self.sys, LockMode::Exclusive)?;
        act()
    }

    /// The end of the log, after a torn line was set aside: nobody was told that it is there.
    fn mended_tail(&self) -> Result<Tail> {
        let tail = self.tail()?;
        if let Some(torn) = &tail.torn {
            let aside = self.file(&format!("torn-{:032x}.jsonl", self.sys.entropy.nonce()?));
            whole::replace(&self.sys, &aside, torn, 0o600)?;
            self.sys.files.open(&self.file(CURRENT), Open::Write)?.truncate(tail.end)?;
        }
        Ok(Tail { torn: None, ..tail })
    }

    /// The end of the segment to write to: of a fresh one, if this one is long enough.
    fn rotated(&self, tail: Tail) -> Result<Tail> {
        if tail.end < LONGEST_SEGMENT {
            return Ok(tail);
        }
        let archived = format!("audit-{:012}.jsonl", self.first_of_current()?);
        // Nobody writes to it any more, so its last line has to be safe before the next one hangs on it.
        let file = self.sys.files.open(&self.file(CURRENT), Open::Write)?;
        file.write_all_at(&tail.last, tail.at)?;
        file.sync()?;
        self.sys.files.rename_new(&self.file(CURRENT), &self.file(&archived))?;
        self.sys.files.sync_dir(&self.directory)?;
        Ok(Tail { at: 0, end: 0, last: Vec::new(), ..tail })
    }

    /// Adds a line behind `tail`. The line before it is written once more: if its flush failed, only a
    /// fresh write brings it to the disk, and this line is worth nothing without it.
    fn write(&self, tail: &Tail, line: &[u8]) -> Result<()> {
        let path = self.file(CURRENT);
        let file = self.sys.files.open(&path, Open::Create { mode: 0o600 })?;
        let bytes = [tail.last.as_slice(), line].concat();
        let written = file.write_all_at(&bytes, tail.at).and_then(|()| file.sync());
        if let Err(error) = written {
            // Nobody may build on a line that failed; if this fails too, the next writer writes it again.
            let _ = file.truncate(tail.end).and_then(|()| file.sync());
            return Err(error.into());
        }
        if tail.at == 0 {
            // Whoever wrote the first line may have died before its file had a name for good.
            self.sys.files.sync_dir(&self.directory)?;
        }
        Ok(())
    }

    /// The segments, the oldest first.
    fn segments(&self) -> Result<Vec<String>> {
        let names = match self.sys.files.list(&self.directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            names => names?,
        };
        let is_archived = |name: &&str| {
            let number = name.strip_prefix("audit-").and_then(|name| name.strip_suffix(".jsonl"));
            number
                .is_some_and(|number| number.len() == 12 && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let names: Vec<&str> = names.iter().filter_map(|name| name.to_str()).collect();
        let mut segments: Vec<String> =
            names.iter().copied().filter(is_archived).map(str::to_owned).collect();
        segments.sort();
        segments.extend(names.iter().find(|name| **name == CURRENT).map(|name| (*name).to_owned()));
        Ok(segments)
    }

    fn open(&self, name: &str) -> Result<Option<Box<dyn Handle>>> {
        match self.sys.files.open(&self.file(name), Open::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            opened => Ok(Some(opened?)),
        }
    }

    fn broken(&self, name: &str, why: impl std::fmt::Display) -> Error {
        let said = format!("the audit log is broken: {}: {why}", self.file(name).display());
        Error::new(Class::AuditChainBroken, said)
            .hint("run `jvs audit verify`; `jvs doctor --repair` sets the broken part aside and begins anew")
    }
}
