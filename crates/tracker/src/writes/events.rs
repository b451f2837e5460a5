//! `events/<worktree>.jsonl` in the control plane: what happened to issues in one worktree, in the envelope that all
//! events share.
//!
//! The file is not versioned: two branches would both add to its end, and a server that merges them knows of no way to
//! keep both. Every event has an id of its own; its sequence orders the events of one worktree. An event is written
//! after the change that it tells of; what it takes that none is missing is in [`super::outbox`].

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use holdfast_sys::{Handle, LockMode, Open, Sys};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::locks::Locks;
use super::outbox::digest;
use crate::config::keys;
use crate::durable;
use crate::error::Result;
use crate::issues::LONGEST;
use crate::json;

/// How much of the end of the file is read to find the last sequence.
const TAIL: u64 = 64 << 10;

/// A log that is longer is put aside, and a new one is begun.
const LONGEST_LOG: u64 = 8 << 20;

/// What happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Event {
    kind: Cow<'static, str>,
    payload: Map<String, Value>,
    /// What is to be seen once it has happened.
    witnesses: Vec<Witness>,
}

/// A file below `.jit/` that says whether something has happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Witness {
    file: String,
    /// The digest of what it holds; none if it is gone.
    digest: Option<String>,
}

/// An event that has its id, which stays the same however often it is logged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct QueuedEvent {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) event: Event,
}

/// Who did it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Actor {
    pub(super) agent_id: Option<String>,
    pub(super) worktree_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lease_id: Option<String>,
}

/// Events of one change.
pub(super) struct Happened<'a> {
    pub(super) events: &'a [QueuedEvent],
    pub(super) actor: &'a Actor,
    pub(super) at: &'a str,
}

#[derive(Serialize)]
struct Envelope<'a> {
    schema_version: u32,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    event_type: &'a str,
    timestamp: &'a str,
    actor: &'a Actor,
    payload: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct Flat<'a> {
    schema_version: u32,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    op: &'a str,
    at: &'a str,
    by: Option<&'a str>,
    #[serde(flatten)]
    payload: &'a Map<String, Value>,
}

impl Event {
    /// An event that is about no single issue.
    pub(super) fn new(kind: &'static str, payload: Value, witnesses: Vec<Witness>) -> Self {
        let payload = if let Value::Object(payload) = payload { payload } else { Map::new() };
        Self { kind: kind.into(), payload, witnesses }
    }

    /// An event that is about one issue.
    pub(super) fn about(kind: &'static str, issue: &str, more: Value, witnesses: Vec<Witness>) -> Self {
        let mut event = Self::new(kind, more, witnesses);
        event.payload.insert("issue_id".into(), issue.into());
        event
    }

    /// Whether it has happened, as far as one of these places shows.
    pub(super) fn came(&self, sys: &Sys, roots: &[PathBuf]) -> bool {
        roots.iter().any(|root| self.witnesses.iter().all(|witness| witness.holds(sys, root)))
    }
}

impl Witness {
    /// The file holds this.
    pub(super) fn is(file: impl Into<String>, content: &[u8]) -> Self {
        Self { file: file.into(), digest: Some(digest(content)) }
    }

    /// There is no such file.
    pub(super) fn gone(file: impl Into<String>) -> Self {
        Self { file: file.into(), digest: None }
    }

    fn holds(&self, sys: &Sys, root: &Path) -> bool {
        let content = durable::read(sys, &root.join(&self.file), LONGEST);
        content.is_ok_and(|content| content.map(|content| digest(&content)) == self.digest)
    }
}

impl QueuedEvent {
    pub(super) fn new(sys: &Sys, event: Event) -> Result<Self> {
        Ok(Self { id: sys.entropy.lease_id(&sys.clock.now()?)?.to_string(), event })
    }
}

/// Where earlier versions kept the events of the worktree with this `.jit/`: versioned, and not written any more.
const FROZEN: &str = "events/local.jsonl";

/// The events of claims, which lie beside those of the worktrees.
const CLAIMS: &str = "control.";

/// Every event log of a repository: those of all worktrees, and those of earlier versions below these `.jit/`.
///
/// # Errors
/// When they cannot be listed.
pub fn logs(sys: &Sys, control: &Path, data: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let directory = control.join("events");
    let names = match sys.files.list(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let is_log = |name: &str| name.ends_with(".jsonl") && !name.starts_with(CLAIMS) && !name.starts_with('.');
    let mut logs: Vec<PathBuf> = data.iter().map(|data| data.join(FROZEN)).collect();
    logs.extend(
        names.iter().filter(|name| name.to_str().is_some_and(is_log)).map(|name| directory.join(name)),
    );
    logs.sort();
    logs.dedup();
    Ok(logs)
}

/// The event log of one worktree.
pub(super) struct EventLog<'a> {
    pub(super) sys: &'a Sys,
    pub(super) locks: &'a Locks,
    /// Where the logs of all worktrees are.
    pub(super) directory: PathBuf,
    /// What the worktree is called.
    pub(super) worktree: &'a str,
    pub(super) style: &'a keys::Events,
}

impl EventLog<'_> {
    /// Appends events, durably.
    pub(super) fn append(&self, happened: &[Happened<'_>]) -> Result<()> {
        if happened.iter().all(|happened| happened.events.is_empty()) {
            return Ok(());
        }
        let name = self.worktree.replace(':', "-");
        let path = self.directory.join(format!("{name}.jsonl"));
        let mut guard = self.locks.events(&name)?;
        let _section = guard.enter(self.sys, LockMode::Exclusive)?;
        let before = self.rotate(&name, &path)?;
        let file = self.sys.files.open(&path, Open::Create { mode: self.locks.access().file() })?;
        if file.stat()?.len == 0 {
            // First: whoever made it may have died before its name was durable, and nobody asks again once it holds something.
            self.sys.files.sync_dir(&self.directory)?;
        }
        let mut end = End::find(&*file)?;
        end.sequence = end.sequence.max(before);
        let mut text = end.mend;
        let events = happened.iter().flat_map(|it| it.events.iter().map(move |event| (it, event)));
        for (number, (it, event)) in (end.sequence + 1..).zip(events) {
            let number = self.style.enable_sequences.then_some(number);
            text.extend(self.line(event, it.actor, it.at, number));
        }
        if end.length < file.stat()?.len {
            file.truncate(end.length)?;
        }
        file.write_all_at(&text, end.length)?;
        Ok(file.sync()?)
    }

    /// Puts a log that has become long aside, under a number. Says what the last sequence before this log is; 0 if
    /// nothing was ever put aside, or if the log knows better.
    fn rotate(&self, name: &str, path: &Path) -> Result<u64> {
        let length = match self.sys.files.stat(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            stat => stat?.len,
        };
        if (1..LONGEST_LOG).contains(&length) {
            return Ok(0);
        }
        let number = |file: &std::ffi::OsString| {
            let middle = file.to_str()?.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".jsonl")?;
            middle.parse::<u32>().ok()
        };
        let mut last = self.sys.files.list(&self.directory)?.iter().filter_map(number).max();
        if length > 0 {
            let next = last.map_or(1, |last| last.saturating_add(1));
            self.sys.files.rename(path, &self.aside(name, next))?;
            last = Some(next);
        }
        let Some(last) = last else { return Ok(0) };
        let file = self.sys.files.open(&self.aside(name, last), Open::Read)?;
        Ok(End::find(&*file)?.sequence)
    }

    /// What a log is called that was put aside.
    fn aside(&self, name: &str, number: u32) -> PathBuf {
        self.directory.join(format!("{name}.{number:06}.jsonl"))
    }

    fn line(&self, queued: &QueuedEvent, actor: &Actor, at: &str, sequence: Option<u64>) -> Vec<u8> {
        let QueuedEvent { id, event } = queued;
        let (schema_version, payload) = (1, &event.payload);
        if self.style.use_unified_envelope {
            let event_type = &event.kind;
            json::line(&Envelope { schema_version, id, sequence, event_type, timestamp: at, actor, payload })
        } else {
            let by = actor.agent_id.as_deref();
            json::line(&Flat { schema_version, id, sequence, op: &event.kind, at, by, payload })
        }
    }
}

/// Where the file ends as far as it is good.
#[derive(PartialEq, Eq, Debug)]
struct End {
    length: u64,
    sequence: u64,
    /// The end of a line that somebody left out.
    mend: Vec<u8>,
}

impl End {
    fn find(file: &dyn Handle) -> Result<Self> {
        let length = file.stat()?.len;
        let from = length.saturating_sub(TAIL);
        let tail = file.read_from(from, usize::try_from(TAIL).unwrap_or(usize::MAX))?;
        Ok(Self::of(&tail, length))
    }

    /// What is behind the last line's end was left by a writer that died and told nobody, unless it is a
    /// whole event: then somebody edited the file by hand. So was everything from the first hole on that the
    /// power left where bytes should be, even if lines end behind it.
    fn of(tail: &[u8], length: u64) -> Self {
        let (tail, length) = match memchr::memchr(0, tail).and_then(|hole| tail.split_at_checked(hole)) {
            Some((whole, lost)) => (whole, length - lost.len() as u64),
            None => (tail, length),
        };
        let last = tail.iter().rposition(|byte| *byte == b'\n');
        let rest = tail.get(last.map_or(0, |at| at + 1)..).unwrap_or_default();
        // A line that began before the tail is none of ours.
        let foreign = last.is_none() && (tail.len() as u64) < length;
        let whole = foreign || sequence(rest).is_some();
        let lines = tail.split(|byte| *byte == b'\n');
        let sequence = lines.filter_map(sequence).max().unwrap_or(0);
        let cut = if whole { 0 } else { rest.len() as u64 };
        Self { length: length - cut, sequence, mend: if whole { b"\n".to_vec() } else { Vec::new() } }
    }
}

/// As much of a log as is good; the next append cuts the rest off.
pub(super) fn whole(mut log: Vec<u8>) -> Vec<u8> {
    let end = End::of(&log, log.len() as u64);
    log.truncate(usize::try_from(end.length).unwrap_or(usize::MAX));
    log
}

/// The sequence of an event, 0 if it has none; nothing if the line is no event.
fn sequence(line: &[u8]) -> Option<u64> {
    let event: Map<String, Value> = serde_json::from_slice(line).ok()?;
    Some(event.get("sequence").and_then(Value::as_u64).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::End;

    #[test]
    fn the_next_event_comes_behind_the_last_whole_one() {
        let cases: [(&[u8], u64, u64, &[u8]); 7] = [
            (b"", 0, 0, b""),
            (b"{\"sequence\":7}\n{\"sequence\":3}\n", 30, 7, b""),
            (b"{\"sequence\":7}\n{\"sequ", 15, 7, b""),
            (b"{\"sequence\":7}\n{\"sequence\":8}", 29, 8, b"\n"),
            (b"{\"seq", 0, 0, b""),
            (b"{\"sequence\":7}\n\0\0\0\0", 15, 7, b""),
            (b"{\"sequence\":7}\n{\"seq\0\0\0}\n{\"sequence\":9}\n", 15, 7, b""),
        ];
        for (tail, length, sequence, mend) in cases {
            let end = End::of(tail, tail.len() as u64);
            assert_eq!(
                end,
                End { length, sequence, mend: mend.to_vec() },
                "{}",
                String::from_utf8_lossy(tail)
            );
        }
        let long = End::of(b"no end of a line", 1 << 20);
        assert_eq!(long, End { length: 1 << 20, sequence: 0, mend: b"\n".to_vec() });
    }
}
