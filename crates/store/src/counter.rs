//! The fence file: which counter numbers the grants of a medium, and how far it has got.
//!
//! It is made with the first grant and never removed. It is replaced durably **before** a grant that uses
//! its number can be seen, so a number is never given out twice, whatever is lost with the power. A number
//! that was drawn and not used is gone; gaps are harmless.

use std::path::{Path, PathBuf};

use holdfast_kernel::{Fence, LeaseId};
use holdfast_sys::Sys;
use serde::Deserialize;

use crate::codec::Stored;
use crate::{CounterId, Error, Result, whole};

const FORMAT: u64 = 1;

/// A fence file.
pub(crate) struct Counter {
    path: PathBuf,
    mode: u32,
    floor: Option<Fence>,
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

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

impl Counter {
    /// The counter in the file at `path`. It never gives out `floor` or less.
    pub(crate) const fn new(path: PathBuf, mode: u32, floor: Option<Fence>) -> Self {
        Self { path, mode, floor }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it stands.
    pub(crate) fn read(&self, sys: &Sys) -> Result<Position> {
        let stored = whole::read(sys, &self.path)?.map(|bytes| self.parse(&bytes)).transpose()?;
        let above_floor = self.floor.map_or(Fence::FIRST, |floor| floor.plus(1).unwrap_or(Fence::LAST));
        Ok(match stored {
            Some((id, next)) => Position { id: Some(id), next: next.max(above_floor) },
            None => Position { id: None, next: above_floor },
        })
    }

    /// Makes it durable that the counter has given out `fence`.
    pub(crate) fn take(&self, sys: &Sys, id: CounterId, fence: Fence) -> Result<()> {
        whole::replace(sys, &self.path, &written(id, fence), self.mode)
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
        let next = last.plus(1).ok_or_else(|| wrong(&"last: the counter is used up"))?;
        // One position has one form, so whatever reads differently was not written here.
        if written(id, last) == bytes { Ok((id, next)) } else { Err(wrong(&"it is not written this way")) }
    }
}

fn written(id: CounterId, last: Fence) -> Vec<u8> {
    format!("{{\"format\":{FORMAT},\"counter\":\"{id}\",\"last\":{last}}}\n").into_bytes()
}
