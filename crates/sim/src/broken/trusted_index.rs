//! A log and an index beside it, where the index is believed as it is and a missing one means that nothing
//! is held. The name of a fresh index is not durable when the caller is told, so a power loss brings the
//! last one back, or none, and with it the leases of yesterday.

use holdfast_store::{Medium, Result, View};
use holdfast_sys::{Handle, Open, Sys};

use super::early_acknowledgement::last_record;
use crate::codec;
use crate::scaffold::{
    Follower, MODE, Protocol, Published, ROOT, State, append, at, damaged, lock, read, write,
};

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, TrustedIndex)
}

/// What the log says.
///
/// # Errors
/// When the simulated machine fails.
pub fn replay(sys: &Sys) -> Result<View> {
    Ok(last_record(sys)?.view(sys.clock.now()?))
}

struct TrustedIndex;

impl Protocol for TrustedIndex {
    fn enter(&self, sys: &Sys) -> Result<Option<Box<dyn Handle>>> {
        lock(sys, &at("guard"))
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        let path = at("index");
        match read(sys, &path)? {
            None => Ok(State::EMPTY),
            Some(bytes) => codec::state(&bytes).ok_or_else(|| damaged(&path, "it is no whole index")),
        }
    }

    fn publish(&self, sys: &Sys, _: &State, after: &State) -> Result<Published> {
        let log = sys.files.open(&at("log"), Open::Append { mode: MODE })?;
        append(&*log, &codec::line(after))?;
        log.sync()?;
        sys.files.sync_dir(ROOT.as_ref())?;
        write(sys, &at("index.tmp"), &codec::line(after))?;
        sys.files.rename(&at("index.tmp"), &at("index"))?;
        Ok(Published::Done)
    }
}
