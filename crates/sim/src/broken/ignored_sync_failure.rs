//! A log that syncs before it answers, but takes a failed sync for a warning. The system has then dropped
//! what was to be written, and no later sync will bring it to the disk.

use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Open, Sys};

use super::early_acknowledgement::last_record;
use crate::codec;
use crate::scaffold::{Follower, MODE, Protocol, Published, ROOT, State, append, at, lock};

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, IgnoredSyncFailure)
}

struct IgnoredSyncFailure;

impl Protocol for IgnoredSyncFailure {
    fn enter(&self, sys: &Sys) -> Result<Option<Box<dyn Handle>>> {
        lock(sys, &at("guard"))
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        last_record(sys)
    }

    fn publish(&self, sys: &Sys, _: &State, after: &State) -> Result<Published> {
        let log = sys.files.open(&at("log"), Open::Append { mode: MODE })?;
        append(&*log, &codec::line(after))?;
        let _ = log.sync();
        sys.files.sync_dir(ROOT.as_ref())?;
        Ok(Published::Done)
    }
}
