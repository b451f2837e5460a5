//! Where the counter stands: after the last record of the history, which is only ever added to. It must never stand
//! at or before a fence that is known to have been granted, or that fence would be granted a second time.

use holdfast_kernel::Fence;
use holdfast_store::CounterId;
use rusqlite::Row;

/// The columns in the order in which [`Position::read`] takes them.
macro_rules! position {
    () => {
        "counter, granted, coalesce((SELECT max(sequence) FROM lineage_lock_events), 0)"
    };
}
pub(super) use position;

/// The counter alone.
pub(super) const POSITION: &str = concat!("SELECT ", position!(), " FROM vault");

/// How many columns of a row are the counter's.
pub(super) const WIDTH: usize = 3;

/// Where the counter stands.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Which counter.
    pub counter: CounterId,
    /// The number that the next event has.
    pub next: Fence,
}

impl Position {
    /// What a row begins with, as the counter and two numbers.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<(String, u64, u64)> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    }

    /// The position after record `last`, if that is not before a fence that was granted.
    pub(super) fn after((counter, granted, last): (String, u64, u64)) -> Result<Self, String> {
        let position = Self {
            counter: counter.parse().map_err(|error| format!("{error}"))?,
            next: Fence::new(last.saturating_add(1)).map_err(|error| error.to_string())?,
        };
        position.covers(granted).map(|()| position)
    }

    /// Whether the history goes as far as this fence.
    pub(super) fn covers(&self, fence: u64) -> Result<(), String> {
        let last = self.next.get() - 1;
        if fence <= last {
            Ok(())
        } else {
            Err(format!("fence {fence} was granted, and record {last} is the last one"))
        }
    }
}
