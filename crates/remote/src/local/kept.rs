//! What a clone must not forget when the power goes: how far it has seen, and what it is about to send. One file with two
//! places for it, which are written in turn, so that one flush is enough: a place that was cut off while it was written is
//! known by its hash, and then the other one counts, because nothing is sent before the flush.
//!
//! A process that is killed leaves what everybody reads and no disk has: a place without its flush, or a file without its
//! name. Whoever overwrote the other place then could lose both. So the file says which place was flushed, after it was; one
//! that is not known to be flushed is never built on, and the file is replaced whole.

use std::io::ErrorKind;
use std::path::Path;

use holdfast_store::{Error, Result, whole};
use holdfast_sys::{Handle, Open, Sys};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Intent, damaged};
use crate::head::{CloneId, OpId};
use crate::register::{Mark, Version};

/// The version of the file that is written; one that has only the intent is read too.
const FORMAT: u64 = 2;

/// How long a place is: what no disk writes in part is at most that long.
const PLACE: usize = 4_096;

/// What the file begins with, up to the hash of the place that was flushed, and what follows it up to the first place. All
/// of it is one JSON document.
const BEGINNING: &str = "{\"format\":2,\"flushed\":\"";
const PLACES: &str = "\",\"places\":[\n";

/// How long a hash is in hex.
const HASH: usize = 2 * blake3::OUT_LEN;

/// The hash of no place.
const NONE: [u8; HASH] = [b'0'; HASH];

/// What is behind each place.
const ENDS: [&str; 2] = [",\n", "]}\n"];

/// How often a file is read that somebody may be writing to: of two places one is whole, unless both were written since the
/// first byte was read.
const LOOKS: u32 = 8;

/// What is kept, and where.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// How far this clone has seen at least.
    pub mark: Option<Mark>,
    /// The last operation of this clone that is known to be done by then.
    pub done: Option<OpId>,
    /// What was sent last.
    pub intent: Option<Intent>,
    /// The clone whose memory it is.
    clone: Option<CloneId>,
    turn: u64,
    /// Whether there is a file that has all of it.
    is_there: bool,
    /// The place that it is in, if a disk is known to have it there: only then the other place may be overwritten.
    flushed: Option<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    turn: u64,
    clone: CloneId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<MarkWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    done: Option<OpId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intent: Option<Intent>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkWire {
    version: String,
    height: u64,
    chain: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Placed {
    hash: String,
    kept: Box<RawValue>,
}

impl Kept {
    /// Whether there is a file that has all of it.
    pub(super) const fn is_there(&self) -> bool {
        self.is_there
    }

    /// What is kept in the file at `path`.
    pub(super) fn read(sys: &Sys, path: &Path) -> Result<Self> {
        for _ in 0..LOOKS {
            let file = match sys.files.open(path, Open::Read) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
                file => file?,
            };
            let bytes = file.read_from(0, super::LONGEST)?;
            let Some(flushed) = bytes.get(..PLACE).and_then(flushed) else {
                return Self::of_before(path, &bytes);
            };
            let place = |at: usize| bytes.get(PLACE * (at + 1)..PLACE * (at + 2));
            let found = [0, 1].map(|at| place(at).and_then(|place| Self::decode(place, at, flushed)));
            if let Some(latest) = found.into_iter().flatten().max_by_key(|kept| kept.turn) {
                return Ok(latest);
            }
        }
        Err(damaged(path, &"neither of its places is whole"))
    }

    /// What a file has that was written before there were places: the intent alone.
    fn of_before(path: &Path, bytes: &[u8]) -> Result<Self> {
        let super::Versioned { format } =
            serde_json::from_slice(bytes).map_err(|error| damaged(path, &error))?;
        match format {
            FORMAT => Err(damaged(path, &"its places are not where they belong")),
            later if later > FORMAT => Err(Error::Newer { path: path.to_path_buf(), version: later }),
            _ => {
                let intent = super::decode(path, bytes, |intent: &Intent| intent.format)?;
                Ok(Self { intent: Some(intent), ..Self::default() })
            }
        }
    }

    fn decode(place: &[u8], at: usize, flushed: &[u8]) -> Option<Self> {
        let text = place.strip_suffix(ENDS.get(at)?.as_bytes())?;
        let Placed { hash, kept } = serde_json::from_slice(text.trim_ascii_end()).ok()?;
        if hash != blake3::hash(kept.get().as_bytes()).to_hex().as_str() {
            return None;
        }
        let flushed = (hash.as_bytes() == flushed).then_some(at);
        let Wire { turn, clone, mark, done, intent } = serde_json::from_str(kept.get()).ok()?;
        let mark =
            mark.map(|MarkWire { version, height, chain }| Mark { version: Version(version), height, chain });
        Some(Self { mark, done, intent, clone: Some(clone), turn, is_there: true, flushed })
    }

    /// The bytes of a place with this in it, and their hash.
    fn encode(&self, path: &Path, clone: CloneId, at: usize) -> Result<(Vec<u8>, String)> {
        let mark = self.mark.clone().map(|Mark { version, height, chain }| MarkWire {
            version: version.0,
            height,
            chain,
        });
        let wire = Wire { turn: self.turn, clone, mark, done: self.done, intent: self.intent.clone() };
        let kept = serde_json::value::to_raw_value(&wire).map_err(|error| damaged(path, &error))?;
        let hash = blake3::hash(kept.get().as_bytes()).to_hex().to_string();
        let place = Placed { hash: hash.clone(), kept };
        let bytes = serde_json::to_vec(&place).map_err(|error| damaged(path, &error))?;
        Ok((placed(path, bytes, at)?, hash))
    }

    /// Makes this durable in the file at `path`, as the memory of `clone`, whose id is in the same directory.
    ///
    /// # Errors
    /// When that failed; what was kept before or this is there then.
    pub(super) fn write(&mut self, sys: &Sys, path: &Path, mode: u32, clone: CloneId) -> Result<()> {
        self.turn += 1;
        // Another id may have its name in the directory, and no disk knows of it.
        let last = self.flushed.take().filter(|_| self.clone == Some(clone));
        self.clone = Some(clone);
        if let Some(last) = last {
            let next = 1 - last.min(1);
            let (bytes, hash) = self.encode(path, clone, next)?;
            if overwrite(sys, path, &bytes, next, &hash).is_ok() {
                self.flushed = Some(next);
                return Ok(());
            }
            // What a failed flush left in a file is not known, and never will be.
        }
        let (bytes, hash) = self.encode(path, clone, 0)?;
        let mut all = beginning(&NONE);
        all.extend(bytes);
        all.extend(placed(path, b"null".to_vec(), 1)?);
        whole::replace(sys, path, &all, mode)?;
        (self.is_there, self.flushed) = (true, Some(0));
        if let Ok(file) = sys.files.open(path, Open::Write) {
            vouch(&*file, &hash);
        }
        Ok(())
    }
}

fn overwrite(sys: &Sys, path: &Path, bytes: &[u8], at: usize, hash: &str) -> holdfast_sys::Result<()> {
    let file = sys.files.open(path, Open::Write)?;
    file.write_all_at(bytes, (PLACE * (at + 1)) as u64)?;
    file.sync()?;
    vouch(&*file, hash);
    Ok(())
}

/// Says in the file that the place with this hash was flushed. Without it the next one to write only has more work.
fn vouch(file: &dyn Handle, hash: &str) {
    let _ = file.write_all_at(hash.as_bytes(), BEGINNING.len() as u64);
}

/// The first block of the file.
fn beginning(flushed: &[u8; HASH]) -> Vec<u8> {
    let mut bytes = [BEGINNING.as_bytes(), flushed, PLACES.as_bytes()].concat();
    bytes.resize(PLACE - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The hash that the first block names; none if it is no such block.
fn flushed(block: &[u8]) -> Option<&[u8]> {
    let (hash, rest) = block.strip_prefix(BEGINNING.as_bytes())?.split_at_checked(HASH)?;
    let is_rest = rest.strip_prefix(PLACES.as_bytes())?.iter().all(u8::is_ascii_whitespace);
    is_rest.then_some(hash)
}

/// A place with these bytes in it.
fn placed(path: &Path, mut bytes: Vec<u8>, at: usize) -> Result<Vec<u8>> {
    let end = ENDS.get(at).copied().unwrap_or("").as_bytes();
    let room = PLACE - end.len();
    if bytes.len() > room {
        return Err(damaged(path, &"what is to be kept is too long for its place"));
    }
    bytes.resize(room, b' ');
    bytes.extend_from_slice(end);
    Ok(bytes)
}
