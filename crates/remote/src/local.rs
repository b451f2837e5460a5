//! What a clone remembers of a register, in files of its own: who it is, how far it has seen, and what it is about to
//! send. That is durable before it counts, and what cannot be read of it stops everything, because without this memory a
//! register that was set back cannot be told from one that is right. The head that was seen last is kept beside it, so
//! that nobody has to ask for it: it can be had again, so nobody waits until a disk has it.

mod kept;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_kernel::{Boot, BootId, LeaseId, Stamp};
use holdfast_store::{Damage, Error, Result, whole};
use holdfast_sys::{Open, Sys};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use kept::Kept;

use crate::head::{CloneId, LARGEST, OpId};
use crate::register::{Mark, Version};

/// The version of the files that are written and read.
const FORMAT: u64 = 1;

/// More than such a file is long.
const LONGEST: usize = 2 * LARGEST;

/// Who this clone is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    format: u64,
    /// Its id.
    pub clone: CloneId,
    /// The machine that it was made on.
    pub host: String,
    /// The id of that machine, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
}

/// A moment as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    wall_ms: u64,
    boot: Option<String>,
    boot_ms: Option<u64>,
}

impl Moment {
    /// The moment to keep.
    #[must_use]
    pub fn of(stamp: &Stamp) -> Self {
        let boot = stamp.boot();
        Self {
            wall_ms: stamp.wall_ms(),
            boot: boot.map(|boot| boot.id.to_string()),
            boot_ms: boot.map(|boot| boot.ms),
        }
    }

    /// The moment that was kept; none if no clock can have shown it.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        let boot = match (&self.boot, self.boot_ms) {
            (Some(id), Some(ms)) => Some(Boot { id: BootId::new(u128::from_str_radix(id, 16).ok()?), ms }),
            _ => None,
        };
        Stamp::new(i64::try_from(self.wall_ms).ok()?, boot).ok()
    }
}

/// When another clone's lease was first seen as it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watched {
    /// The lease.
    pub lease: String,
    /// Its last sign of life.
    pub sign: Moment,
    /// When it was first seen, at the end of the read.
    pub since: Moment,
}

impl Watched {
    /// Whether this is about that sign of that lease.
    #[must_use]
    pub fn is_of(&self, lease: LeaseId, sign: &Stamp) -> bool {
        self.lease == lease.to_string() && self.sign == Moment::of(sign)
    }
}

/// How far this clone has seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    format: u64,
    version: String,
    height: u64,
    chain: String,
    /// The last operation of this clone that is known to be done.
    pub last_op: Option<OpId>,
    /// When the read or the swap began that showed the head.
    pub asked: Moment,
    /// The leases of other clones, and since when they are watched.
    pub watched: Vec<Watched>,
    head: Box<RawValue>,
}

impl Seen {
    /// What is to be remembered of a head with these bytes.
    ///
    /// # Errors
    /// When the bytes are no head.
    pub fn of(mark: &Mark, head: &[u8], asked: &Stamp) -> Result<Self> {
        let text = String::from_utf8_lossy(head).trim_end().to_owned();
        let head = RawValue::from_string(text).map_err(|error| damaged(Path::new("the head"), &error))?;
        Ok(Self {
            format: FORMAT,
            version: mark.version.0.clone(),
            height: mark.height,
            chain: mark.chain.clone(),
            last_op: None,
            asked: Moment::of(asked),
            watched: Vec::new(),
            head,
        })
    }

    /// Where in the history it is.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { version: Version(self.version.clone()), height: self.height, chain: self.chain.clone() }
    }

    /// The bytes of the head.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        [self.head.get().as_bytes(), b"\n"].concat()
    }
}

/// What this clone is about to send, or has sent without hearing what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    format: u64,
    /// The operation.
    pub op: OpId,
    /// The value that it replaces.
    pub expected: String,
    /// What it is, for people.
    pub what: String,
    /// Operations on the same value that nobody heard of either.
    pub earlier: Vec<OpId>,
}

impl Intent {
    /// The intent to do `what`.
    #[must_use]
    pub fn new(op: OpId, expected: &Version, what: String, earlier: Vec<OpId>) -> Self {
        Self { format: FORMAT, op, expected: expected.0.clone(), what, earlier }
    }

    /// Whether this clone has sent that operation.
    #[must_use]
    pub fn has_sent(&self, op: OpId) -> bool {
        self.op == op || self.earlier.contains(&op)
    }
}

/// What a clone remembers of a register.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What it never forgets.
    pub kept: Kept,
    /// What it has seen last; none if that is not there any more, or behind what is kept.
    pub seen: Option<Seen>,
}

impl Memory {
    /// How far it has seen.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        self.seen.as_ref().map(Seen::mark).or_else(|| self.kept.mark.clone())
    }

    /// The last operation of this clone that is known to be done.
    #[must_use]
    pub fn last_op(&self) -> Option<OpId> {
        self.seen.as_ref().map_or(self.kept.done, |seen| seen.last_op)
    }

    /// Whether this clone has sent that operation.
    #[must_use]
    pub fn has_sent(&self, op: OpId) -> bool {
        self.last_op() == Some(op) || self.kept.intent.as_ref().is_some_and(|intent| intent.has_sent(op))
    }

    /// The last intent, if nobody knows what came of it: a value that was replaced since is replaced for good.
    #[must_use]
    pub fn open_intent(&self) -> Option<&Intent> {
        let (mark, last) = (self.mark(), self.last_op());
        let is_open = |intent: &&Intent| {
            mark.is_none_or(|mark| last != Some(intent.op) && mark.version.0 == intent.expected)
        };
        self.kept.intent.as_ref().filter(is_open)
    }
}

/// The files of a clone.
#[derive(Clone, Debug)]
pub struct Local {
    dir: PathBuf,
    mode: u32,
    /// What the names of the files end with that are about one register.
    about: String,
}

impl Local {
    /// The files in `dir`, which is there.
    #[must_use]
    pub const fn new(dir: PathBuf, mode: u32) -> Self {
        Self { dir, mode, about: String::new() }
    }

    /// This one, for the register that is called `about`: what was seen of another one says nothing about it.
    #[must_use]
    pub fn about(mut self, about: &str) -> Self {
        let hash = blake3::hash(about.as_bytes()).to_hex();
        self.about = format!("-{}", hash.get(..12).unwrap_or_default());
        self
    }

    /// The file whose lock allows one operation in flight.
    #[must_use]
    pub fn guard(&self) -> PathBuf {
        self.dir.join("engine.lock")
    }

    /// The permission bits of the files.
    #[must_use]
    pub const fn mode(&self) -> u32 {
        self.mode
    }

    fn identity_path(&self) -> PathBuf {
        self.dir.join("clone.json")
    }

    /// The file that changes whenever something new was seen.
    #[must_use]
    pub fn seen_path(&self) -> PathBuf {
        self.dir.join(format!("seen{}.json", self.about))
    }

    fn intent_path(&self) -> PathBuf {
        self.dir.join(format!("intent{}.json", self.about))
    }

    /// Who this clone is, if it has a name already.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn identity(&self, sys: &Sys) -> Result<Option<Identity>> {
        read(sys, &self.identity_path(), |identity: &Identity| identity.format)
    }

    /// Gives this clone an id that no other has.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rename(&self, sys: &Sys) -> Result<Identity> {
        let clone = CloneId(sys.entropy.nonce()?);
        let identity = Identity { format: FORMAT, clone, host: host(sys), machine: machine(sys) };
        self.write(sys, &self.identity_path(), &identity)?;
        Ok(identity)
    }

    /// Who this clone is; it gets an id if it has none, or if it stands on another machine than it was made on. Under
    /// the lock.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn named(&self, sys: &Sys) -> Result<Identity> {
        match self.identity(sys)? {
            Some(identity) if identity.host == host(sys) && is_on(&identity, machine(sys)) => Ok(identity),
            _ => self.rename(sys),
        }
    }

    /// What it remembers.
    ///
    /// # Errors
    /// When what must not be forgotten cannot be read.
    pub fn memory(&self, sys: &Sys) -> Result<Memory> {
        let kept = Kept::read(sys, &self.intent_path())?;
        let seen = match read(sys, &self.seen_path(), |seen: &Seen| seen.format) {
            // A power loss leaves anything of it; what counts is kept.
            Err(Error::Damaged { .. }) if kept.is_there() => None,
            seen => seen?,
        };
        let least = kept.mark.as_ref().map_or(0, |mark| mark.height);
        Ok(Memory { seen: seen.filter(|seen: &Seen| seen.height >= least), kept })
    }

    /// Whether it can tell a register that was set back by what it remembers alone: it has seen one, and knows what came of
    /// everything that it sent. What was answered shortly before a power loss may be forgotten, and is not known then.
    #[must_use]
    pub fn is_sure(&self, sys: &Sys) -> bool {
        self.memory(sys).is_ok_and(|memory| memory.seen.is_some() && memory.open_intent().is_none())
    }

    /// Has everybody see how far `clone` has seen. Before anything rests on it, it has to be kept.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn show(&self, sys: &Sys, clone: CloneId, memory: &mut Memory, seen: Seen) -> Result<()> {
        if !memory.kept.is_there() {
            // Until then this file alone says how far it has seen.
            self.keep(sys, clone, memory, None)?;
        }
        let path = self.seen_path();
        let shown = whole::show(sys, &path, &encoded(&path, &seen)?, self.mode);
        memory.seen = Some(seen);
        Ok(shown?)
    }

    /// Makes durable how far `clone` has seen, and what is about to be sent, if anything is.
    ///
    /// # Errors
    /// When it cannot be written; nothing may be sent then.
    pub fn keep(&self, sys: &Sys, clone: CloneId, memory: &mut Memory, intent: Option<Intent>) -> Result<()> {
        (memory.kept.mark, memory.kept.done) = (memory.mark(), memory.last_op());
        if intent.is_some() {
            memory.kept.intent = intent;
        }
        memory.kept.write(sys, &self.intent_path(), self.mode, clone)
    }

    /// Forgets how far it has seen, for a register that begins anew.
    ///
    /// # Errors
    /// When the files cannot be removed.
    pub fn forget(&self, sys: &Sys) -> Result<()> {
        for path in [self.seen_path(), self.intent_path()] {
            match sys.files.remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(sys.files.sync_dir(&self.dir)?)
    }

    fn write(&self, sys: &Sys, path: &Path, value: &impl Serialize) -> Result<()> {
        whole::replace(sys, path, &encoded(path, value)?, self.mode)
    }
}

fn encoded(path: &Path, value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value).map_err(|error| damaged(path, &error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The machine's name for this process.
fn host(sys: &Sys) -> String {
    sys.processes.me().map(|me| me.host).unwrap_or_default()
}

/// Where a machine says which one it is.
const MACHINE: &str = "/etc/machine-id";

/// The id of this machine; none if it has none.
fn machine(sys: &Sys) -> Option<String> {
    let bytes = sys.files.open(Path::new(MACHINE), Open::Read).and_then(|file| file.read_from(0, 64)).ok()?;
    let text = String::from_utf8(bytes).ok()?.trim().to_owned();
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(text)
}

/// Whether a clone is on the machine that it was made on, as far as both say.
fn is_on(identity: &Identity, machine: Option<String>) -> bool {
    identity.machine.is_none() || machine.is_none() || identity.machine == machine
}

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

fn read<T: DeserializeOwned>(sys: &Sys, path: &Path, format: impl Fn(&T) -> u64) -> Result<Option<T>> {
    let file = match sys.files.open(path, Open::Read) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let bytes = file.read_from(0, LONGEST)?;
    decode(path, &bytes, format).map(Some)
}

fn decode<T: DeserializeOwned>(path: &Path, bytes: &[u8], format: impl Fn(&T) -> u64) -> Result<T> {
    let Versioned { format: version } =
        serde_json::from_slice(bytes).map_err(|error| damaged(path, &error))?;
    if version > FORMAT {
        return Err(Error::Newer { path: path.to_path_buf(), version });
    }
    let value: T = serde_json::from_slice(bytes).map_err(|error| damaged(path, &error))?;
    if format(&value) == FORMAT { Ok(value) } else { Err(damaged(path, &"its format is unknown")) }
}

fn damaged(path: &Path, what: &dyn std::fmt::Display) -> Error {
    let damage = Damage { place: "the file".into(), what: what.to_string() };
    Error::Damaged { path: path.to_path_buf(), damage }
}
