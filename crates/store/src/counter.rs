//! The fence file: which counter numbers the grants of a medium, and how far it has got.
//!
//! It is made with the first grant and never removed. It is replaced durably **before** a grant that uses
//! its number can be seen, so a number is never given out twice, whatever is lost with the power. A number
//! that was drawn and not used is gone; gaps are harmless.
//!
//! A counter can also set numbers aside in blocks: the fence file then holds the last number of the block,
//! and a second file, which is never flushed, says how far the block is used up. That file is believed only
//! within the boot that wrote it; after a power loss the rest of the block is gone, and nothing comes twice.

use std::path::{Path, PathBuf};

use holdfast_kernel::{BootId, Fence, LeaseId};
use holdfast_sys::{Open, Sys};
use serde::Deserialize;

use crate::codec::Stored;
use crate::{CounterId, Error, Result, whole};

const FORMAT: u64 = 1;

/// A fence file.
pub(crate) struct Counter {
    path: PathBuf,
    mode: u32,
    floor: Option<Fence>,
    block: Option<Block>,
}

/// How numbers are set aside.
struct Block {
    /// The file that says how far the block is used up.
    path: PathBuf,
    /// How many there are in a block.
    size: u64,
}

/// Where a counter stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// Which counter; none before the first grant.
    pub(crate) id: Option<CounterId>,
    /// The number that the next event has.
    pub(crate) next: Fence,
}

impl Position {
    /// Which counter the next grant is numbered by; the first one of all gets a fresh id.
    pub(crate) fn counter(&self, sys: &Sys) -> Result<CounterId> {
        match self.id {
            Some(id) => Ok(id),
            None => Ok(CounterId::new(LeaseId::new(sys.entropy.nonce()?))),
        }
    }

    /// Whether this counter can have numbered a stored lease; otherwise what speaks against it.
    pub(crate) fn admits(&self, stored: &Stored) -> std::result::Result<(), String> {
        let fence = stored.lease.fence;
        if self.id.is_none() {
            return Err(format!("it has fence {fence}, but the file of the counter is missing"));
        }
        if stored.counter.is_some() && stored.counter != self.id {
            return Err("its fence was drawn from another counter".into());
        }
        if fence < self.next { Ok(()) } else { Err(format!("fence {fence} was never given out")) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(rename = "format")]
    _format: u64,
    counter: String,
    last: u64,
}

/// How far a block is used up.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    last: u64,
    counter: String,
    boot: String,
}

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

impl Counter {
    /// The counter in the file at `path`. It never gives out `floor` or less.
    pub(crate) const fn new(path: PathBuf, mode: u32, floor: Option<Fence>) -> Self {
        Self { path, mode, floor, block: None }
    }

    /// This counter, flushing once for `size` numbers. The file at `path` says how many of them are left.
    pub(crate) fn in_blocks(self, path: PathBuf, size: u64) -> Self {
        Self { block: Some(Block { path, size }), ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it stands.
    pub(crate) fn read(&self, sys: &Sys) -> Result<Position> {
        let stored = whole::read(sys, &self.path)?.map(|bytes| self.parse(&bytes)).transpose()?;
        let above_floor = self.floor.map_or(Fence::FIRST, |floor| floor.plus(1).unwrap_or(Fence::LAST));
        Ok(match stored {
            Some((id, last)) => {
                let next = match &self.block {
                    Some(block) => block.drawn(sys, id)?.filter(|drawn| *drawn < last).unwrap_or(last),
                    None => last,
                };
                // `parse` has seen that there is a number after the last one.
                let next = next.plus(1).unwrap_or(Fence::LAST);
                Position { id: Some(id), next: next.max(above_floor) }
            }
            None => Position { id: None, next: above_floor },
        })
    }

    /// Makes it durable that the counter has given out `fence`, or a whole block with it.
    pub(crate) fn take(&self, sys: &Sys, id: CounterId, fence: Fence) -> Result<()> {
        let Some(block) = &self.block else {
            return whole::replace(sys, &self.path, &written(id, fence), self.mode);
        };
        let set_aside = whole::read(sys, &self.path)?.map(|bytes| self.parse(&bytes)).transpose()?;
        if set_aside.is_none_or(|(_, last)| fence > last) {
            // The very last number must stay free, so the last block is a short one.
            let last = fence.plus(block.size).filter(|last| *last < Fence::LAST).unwrap_or(fence);
            whole::replace(sys, &self.path, &written(id, last), self.mode)?;
        }
        block.draw(sys, id, fence, self.mode)
    }

    /// Ends a damaged counter: its file is renamed, and the next grant starts another one.
    pub(crate) fn set_aside(&self, sys: &Sys) -> Result<Option<PathBuf>> {
        match self.read(sys) {
            Err(Error::Damaged { .. }) => whole::set_aside(sys, &self.path).map(Some),
            read => read.map(|_| None),
        }
    }

    fn parse(&self, bytes: &[u8]) -> Result<(CounterId, Fence)> {
        let wrong = |what: &dyn std::fmt::Display| Error::damaged(&self.path, "the fence", what);
        let Versioned { format } = serde_json::from_slice(bytes).map_err(|error| wrong(&error))?;
        if format > FORMAT {
            return Err(Error::Newer { path: self.path.clone(), version: format });
        }
        let wire: Wire = serde_json::from_slice(bytes).map_err(|error| wrong(&error))?;
        let id = wire.counter.parse().map_err(|error| wrong(&format_args!("counter: {error}")))?;
        let last = Fence::new(wire.last).map_err(|error| wrong(&format_args!("last: {error}")))?;
        last.plus(1).ok_or_else(|| wrong(&"last: the counter is used up"))?;
        // One position has one form, so whatever reads differently was not written here.
        if written(id, last) == bytes { Ok((id, last)) } else { Err(wrong(&"it is not written this way")) }
    }
}

impl Block {
    /// The last number that was given out, if this boot knows.
    fn drawn(&self, sys: &Sys, id: CounterId) -> Result<Option<Fence>> {
        let Some(boot) = boot(sys)? else { return Ok(None) };
        // Whatever is wrong with the file only costs the rest of the block.
        let Ok(Some(bytes)) = whole::read(sys, &self.path) else { return Ok(None) };
        let drawn = serde_json::from_slice::<Drawn>(&bytes).ok();
        let ours = drawn.filter(|drawn| drawn.boot == boot.to_string() && drawn.counter == id.to_string());
        Ok(ours.and_then(|drawn| Fence::new(drawn.last).ok()))
    }

    /// Writes in place, under the guard. All lines are equally long and the number comes first: whatever a
    /// killed writer leaves is the old line, a larger number that nobody has, or not of this boot.
    fn draw(&self, sys: &Sys, id: CounterId, fence: Fence, mode: u32) -> Result<()> {
        let Some(boot) = boot(sys)? else { return Ok(()) };
        let last = fence.get();
        let line = format!("{{\"last\":{last:>20},\"counter\":\"{id}\",\"boot\":\"{boot}\"}}\n");
        Ok(sys.files.open(&self.path, Open::Create { mode })?.write_all_at(line.as_bytes(), 0)?)
    }
}

fn boot(sys: &Sys) -> Result<Option<BootId>> {
    Ok(sys.clock.now()?.boot().map(|boot| boot.id))
}

fn written(id: CounterId, last: Fence) -> Vec<u8> {
    format!("{{\"format\":{FORMAT},\"counter\":\"{id}\",\"last\":{last}}}\n").into_bytes()
}
