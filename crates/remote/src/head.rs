//! The value of the register, the *head*, and the step that leads from one head to the next. A head has one form:
//! whatever this program would not write byte for byte is refused, never rewritten.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use holdfast_kernel::{Answer, Event, Fence, Lease, LeaseId, Table};
use holdfast_store::{CounterId, Damage, Error, Result, Trouble, read_lease, write_event};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answers;

/// The version of what can be said with names alone.
pub const FORMAT: u64 = 1;

/// The version of what speaks of patterns.
const PATTERNS: u64 = 2;

/// The version of what speaks of branches that were pushed.
const NEWEST: u64 = 3;

/// The most bytes that a head may have.
pub const LARGEST: usize = 1 << 20;

/// The hash before the first step.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How long a session without leases is remembered.
const REMEMBERED_MS: u64 = 30 * 24 * 3_600 * 1_000;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct $name(pub u128);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
                if text.len() != 32 || !digits {
                    return Err("an id has 32 hex digits".into());
                }
                u128::from_str_radix(text, 16).map(Self).map_err(|error| error.to_string())
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// Which clone of the repository a step came from. Leases of another clone are judged by the wall clock and by
    /// having watched them, never by its boot-time clock.
    CloneId
}

id! {
    /// One operation, whatever becomes of the attempts to do it.
    OpId
}

/// Whether the register may grant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It may.
    Open,
    /// It may not: the leases are about to be kept elsewhere.
    Sealed,
    /// It may not: the leases are kept there.
    Moved(String),
}

/// What a step says beside its events. A note has no number; it is part of the chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Note {
    /// The register was made.
    Made,
    /// Work was published under these fences.
    Published {
        /// The branch that it went to.
        branch: String,
        /// The commit that it is on.
        commit: String,
        /// The fences that were in force.
        fences: Vec<u64>,
    },
    /// The landing branch has this commit.
    Landed {
        /// The commit.
        commit: String,
    },
    /// A branch that is not the landing branch has this commit.
    Pushed {
        /// The commit.
        commit: String,
    },
    /// No more grants: the leases move.
    Sealed,
    /// The leases have moved.
    Moved {
        /// Where to.
        to: String,
    },
    /// The history before this step is kept elsewhere.
    Cut {
        /// How many steps it had.
        height: u64,
        /// The hash over it.
        chain: String,
    },
    /// All leases were ended and numbers begin anew under another counter.
    Recovered {
        /// The counter before.
        counter: String,
        /// Why.
        reason: String,
    },
}

/// A lease, and whose clock stamped it last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The clone that granted or last renewed it.
    pub stamped_by: CloneId,
    /// The lease.
    pub lease: Lease,
}

/// What a clone did last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// The operation.
    pub op: OpId,
    /// When, by the wall clock of the clone.
    pub at_ms: u64,
    /// What came of it, by the place of the command in the operation.
    pub answers: Vec<(usize, Answer)>,
}

/// The value of the register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// Which counter numbers the grants.
    pub counter: CounterId,
    /// The number that the next event will have.
    pub next: Fence,
    /// How many steps led here.
    pub height: u64,
    /// How many steps led here when the history was last cut.
    pub cut: u64,
    /// The hash over them.
    pub chain: String,
    /// Whether it may grant.
    pub state: State,
    /// The commit that was landed last.
    pub tip: Option<String>,
    /// The commit that was pushed last to a branch beside the landing branch.
    pub pushed: Option<String>,
    /// What each clone did last.
    pub sessions: BTreeMap<CloneId, Session>,
    /// The leases.
    pub entries: BTreeMap<LeaseId, Entry>,
}

/// One step as it is sent.
#[derive(Clone, Debug)]
pub struct Step {
    /// The head after it.
    pub head: Head,
    /// The head's bytes.
    pub value: Vec<u8>,
    /// The bytes of the step itself.
    pub bytes: Vec<u8>,
    /// What happened, in few words.
    pub title: String,
}

/// Who makes a step, and when.
#[derive(Clone, Copy, Debug)]
pub struct Author {
    /// The clone.
    pub clone: CloneId,
    /// The operation.
    pub op: OpId,
    /// The time by its wall clock.
    pub at_ms: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: u64,
    counter: String,
    next: u64,
    height: u64,
    cut: u64,
    chain: String,
    state: String,
    moved_to: Option<String>,
    tip: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pushed: Option<String>,
    sessions: Vec<SessionWire>,
    leases: Vec<EntryWire>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionWire {
    clone: CloneId,
    op: OpId,
    at_ms: u64,
    answers: Vec<answers::Wire>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryWire {
    stamped_by: CloneId,
    lease: Box<RawValue>,
}

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

/// A step as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepWire {
    pub(crate) format: u64,
    pub(crate) height: u64,
    pub(crate) clone: CloneId,
    pub(crate) op: OpId,
    pub(crate) at_ms: u64,
    pub(crate) events: Vec<Box<RawValue>>,
    pub(crate) notes: Vec<Note>,
}

impl Head {
    /// The head of a register that grants nothing yet.
    #[must_use]
    pub fn first(counter: CounterId, next: Fence) -> Self {
        Self {
            counter,
            next,
            height: 0,
            cut: 0,
            chain: NOTHING.into(),
            state: State::Open,
            tip: None,
            pushed: None,
            sessions: BTreeMap::new(),
            entries: BTreeMap::new(),
        }
    }

    /// The first head of a register that goes on with the leases of this one: same counter, same next number.
    #[must_use]
    pub fn carried(&self) -> Self {
        let first = Self::first(self.counter, self.next);
        let (tip, pushed) = (self.tip.clone(), self.pushed.clone());
        Self { tip, pushed, entries: self.entries.clone(), ..first }
    }

    /// The head and the step after this one that end all leases, under another counter.
    ///
    /// # Errors
    /// As [`Head::then`].
    pub fn recovered(&self, author: &Author, counter: CounterId, reason: &str) -> Result<Step> {
        let note = Note::Recovered { counter: self.counter.to_string(), reason: reason.to_owned() };
        let base = Self {
            counter,
            state: State::Open,
            sessions: BTreeMap::new(),
            entries: BTreeMap::new(),
            ..self.clone()
        };
        base.then(author, &[], &[note], Vec::new())
    }

    /// The leases as the kernel takes them.
    ///
    /// # Errors
    /// When they exclude each other, which no head does that was read.
    pub fn table(&self) -> std::result::Result<Table, String> {
        let leases = self.entries.values().map(|entry| entry.lease.clone());
        Table::restore(leases).map_err(|error| error.to_string())
    }

    /// The head and the step after this one, with these events and notes.
    ///
    /// # Errors
    /// When the head has no room for more, or the events do not fit it.
    pub fn then(
        &self,
        author: &Author,
        events: &[Event],
        notes: &[Note],
        answers: Vec<(usize, Answer)>,
    ) -> Result<Step> {
        let mut head = self.clone();
        let mut table = self.table().map_err(impossible)?;
        for event in events {
            holdfast_kernel::apply(&mut table, event).map_err(|error| impossible(error.to_string()))?;
        }
        head.next = self.next.plus(events.len() as u64).ok_or(holdfast_kernel::Refusal::FencesExhausted)?;
        head.height += 1;
        let stamped = stamped(events);
        head.entries =
            table.iter().map(|lease| (lease.id, self.entry(lease, &stamped, author.clone))).collect();
        head.note(notes);
        let bytes = step_bytes(head.height, author, events, notes, self.next)?;
        head.chain = link(&self.chain, &bytes);
        head.forget(author);
        head.sessions.insert(author.clone, Session { op: author.op, at_ms: author.at_ms, answers });
        let value = head.encode()?;
        Ok(Step { title: title(events, notes), head, value, bytes })
    }

    fn entry(&self, lease: &Lease, stamped: &[LeaseId], clone: CloneId) -> Entry {
        let before = self.entries.get(&lease.id).filter(|_| !stamped.contains(&lease.id));
        let stamped_by = before.map_or(clone, |entry| entry.stamped_by);
        Entry { stamped_by, lease: lease.clone() }
    }

    fn note(&mut self, notes: &[Note]) {
        for note in notes {
            match note {
                Note::Made | Note::Recovered { .. } => {}
                Note::Published { .. } => {}
                Note::Landed { commit } => self.tip = Some(commit.clone()),
                Note::Pushed { commit } => self.pushed = Some(commit.clone()),
                Note::Sealed => self.state = State::Sealed,
                Note::Moved { to } => self.state = State::Moved(to.clone()),
                Note::Cut { height, .. } => self.cut = *height,
            }
        }
    }

    /// Drops the sessions of clones that hold nothing and were silent for too long.
    fn forget(&mut self, author: &Author) {
        let entries = &self.entries;
        let holds = |clone: &CloneId| entries.values().any(|entry| entry.stamped_by == *clone);
        self.sessions.retain(|clone, session| {
            author.at_ms.saturating_sub(session.at_ms) < REMEMBERED_MS || holds(clone)
        });
    }

    /// The bytes of this head.
    ///
    /// # Errors
    /// When they are too many.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let wire = self.wire().map_err(impossible)?;
        let mut bytes = serde_json::to_vec(&wire).map_err(|error| impossible(error.to_string()))?;
        bytes.push(b'\n');
        if bytes.len() > LARGEST {
            return Err(Trouble::Full.because(format!(
                "the register has no room for more: {} leases and {} machines need {} of {LARGEST} bytes",
                self.entries.len(),
                self.sessions.len(),
                bytes.len()
            )));
        }
        Ok(bytes)
    }

    fn wire(&self) -> std::result::Result<Wire, String> {
        let session = |(clone, session): (&CloneId, &Session)| {
            let answers = session.answers.iter().map(|(at, answer)| answers::Wire::of(*at, answer));
            let answers = answers.collect::<std::result::Result<_, _>>()?;
            Ok::<_, String>(SessionWire { clone: *clone, op: session.op, at_ms: session.at_ms, answers })
        };
        let entry = |entry: &Entry| {
            Ok::<_, String>(EntryWire { stamped_by: entry.stamped_by, lease: answers::raw(&entry.lease)? })
        };
        let (state, moved_to) = match &self.state {
            State::Open => ("open", None),
            State::Sealed => ("sealed", None),
            State::Moved(to) => ("moved", Some(to.clone())),
        };
        let answers = self.sessions.values().flat_map(|session| session.answers.iter());
        let answered = answers.flat_map(|(_, answer)| answer.leases());
        Ok(Wire {
            format: format_of(
                self.entries.values().map(|entry| &entry.lease).chain(answered),
                self.pushed.is_some(),
            ),
            counter: self.counter.to_string(),
            next: self.next.get(),
            height: self.height,
            cut: self.cut,
            chain: self.chain.clone(),
            state: state.into(),
            moved_to,
            tip: self.tip.clone(),
            pushed: self.pushed.clone(),
            sessions: self.sessions.iter().map(session).collect::<std::result::Result<_, _>>()?,
            leases: self.entries.values().map(entry).collect::<std::result::Result<_, _>>()?,
        })
    }

    /// The head that the bytes are; `place` is where somebody would look for them.
    ///
    /// # Errors
    /// When [`Head::encode`] cannot have written them.
    pub fn decode(bytes: &[u8], place: &Path) -> Result<Self> {
        let damaged = |what: String| Error::Damaged {
            path: place.to_path_buf(),
            damage: Damage { place: "the head".into(), what },
        };
        if bytes.len() > LARGEST {
            return Err(damaged(format!("it has more than {LARGEST} bytes")));
        }
        let Versioned { format } =
            serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if format > NEWEST {
            return Err(Error::Newer { path: place.to_path_buf(), version: format });
        }
        let wire: Wire = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        let head = Self::of(wire).map_err(damaged)?;
        if head.encode()? == bytes {
            Ok(head)
        } else {
            Err(damaged("it is not written the way this program writes it".into()))
        }
    }

    fn of(wire: Wire) -> std::result::Result<Self, String> {
        let state = match (wire.state.as_str(), wire.moved_to) {
            ("open", None) => State::Open,
            ("sealed", None) => State::Sealed,
            ("moved", Some(to)) => State::Moved(to),
            _ => return Err("`state` is none of open, sealed and moved".into()),
        };
        let mut sessions = BTreeMap::new();
        for session in wire.sessions {
            let answers = session.answers.iter().map(answers::Wire::read);
            let answers = answers.collect::<std::result::Result<_, _>>()?;
            let kept = Session { op: session.op, at_ms: session.at_ms, answers };
            sessions.insert(session.clone, kept);
        }
        let mut entries = BTreeMap::new();
        for entry in wire.leases {
            let lease = read_lease(entry.lease.get().as_bytes())?;
            entries.insert(lease.id, Entry { stamped_by: entry.stamped_by, lease });
        }
        let head = Self {
            counter: wire.counter.parse().map_err(|error| format!("`counter`: {error}"))?,
            next: Fence::new(wire.next).map_err(|error| format!("`next`: {error}"))?,
            height: wire.height,
            cut: wire.cut,
            chain: wire.chain,
            state,
            tip: wire.tip,
            pushed: wire.pushed,
            sessions,
            entries,
        };
        if let Some(entry) = head.entries.values().find(|entry| entry.lease.fence >= head.next) {
            return Err(format!("fence {} was never given out", entry.lease.fence));
        }
        head.table()?;
        Ok(head)
    }
}

/// The version that these leases can be written in, with or without a branch that was pushed.
fn format_of<'a>(mut leases: impl Iterator<Item = &'a Lease>, has_pushed: bool) -> u64 {
    match (has_pushed, leases.any(|lease| lease.resource.pattern().is_some())) {
        (true, _) => NEWEST,
        (false, true) => PATTERNS,
        (false, false) => FORMAT,
    }
}

/// The leases that an event stamps.
fn stamped(events: &[Event]) -> Vec<LeaseId> {
    let stamped = events.iter().filter_map(|event| match event {
        Event::Granted { lease } | Event::Transferred { lease, .. } => Some(lease.id),
        Event::Renewed { lease, .. } | Event::Beaten { lease, .. } => Some(*lease),
        Event::Released { .. } | Event::Evicted { .. } => None,
    });
    stamped.collect()
}

/// The hash over a history and one step more.
#[must_use]
pub fn link(chain: &str, step: &[u8]) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(chain.as_bytes());
    hash.update(step);
    hash.finalize().to_hex().to_string()
}

fn step_bytes(
    height: u64,
    author: &Author,
    events: &[Event],
    notes: &[Note],
    first: Fence,
) -> Result<Vec<u8>> {
    let mut raw = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        let number = first.plus(index as u64).ok_or(holdfast_kernel::Refusal::FencesExhausted)?;
        let text =
            String::from_utf8(write_event(event, number)).map_err(|error| impossible(error.to_string()))?;
        raw.push(RawValue::from_string(text).map_err(|error| impossible(error.to_string()))?);
    }
    let Author { clone, op, at_ms } = *author;
    let granted = events.iter().filter_map(|event| match event {
        Event::Granted { lease } | Event::Transferred { lease, .. } => Some(lease),
        Event::Renewed { .. } | Event::Beaten { .. } | Event::Released { .. } | Event::Evicted { .. } => None,
    });
    let format = format_of(granted, notes.iter().any(|note| matches!(note, Note::Pushed { .. })));
    let wire = StepWire { format, height, clone, op, at_ms, events: raw, notes: notes.to_vec() };
    let mut bytes = serde_json::to_vec(&wire).map_err(|error| impossible(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What a step is, in few words.
fn title(events: &[Event], notes: &[Note]) -> String {
    let word = |event: &Event| match event {
        Event::Granted { lease } => format!("grant {}", lease.resource),
        Event::Transferred { lease, .. } => format!("transfer {}", lease.resource),
        Event::Renewed { .. } => "renew".into(),
        Event::Beaten { .. } => "beat".into(),
        Event::Released { .. } => "release".into(),
        Event::Evicted { .. } => "evict".into(),
    };
    let noted = |note: &Note| match note {
        Note::Made => "make the register".to_owned(),
        Note::Published { branch, .. } => format!("publish {branch}"),
        Note::Landed { .. } => "land".into(),
        Note::Pushed { .. } => "push".into(),
        Note::Sealed => "seal".into(),
        Note::Moved { .. } => "move".into(),
        Note::Cut { .. } => "cut".into(),
        Note::Recovered { .. } => "recover".into(),
    };
    let mut words: Vec<String> = events.iter().map(word).chain(notes.iter().map(noted)).collect();
    let more = words.len().saturating_sub(3);
    words.truncate(3);
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join(", ")
}

fn impossible(what: String) -> Error {
    let damage = Damage { place: "the step".into(), what };
    Error::Damaged { path: "the next head".into(), damage }
}
