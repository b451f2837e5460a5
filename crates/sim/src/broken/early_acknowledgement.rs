//! A log that answers as soon as the record is appended, and leaves the syncing to the system: fast, and a
//! power loss takes back what callers were told.

use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Open, Sys};

use crate::codec;
use crate::scaffold::{Follower, MODE, Protocol, Published, ROOT, State, append, at, lock, read};

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, EarlyAcknowledgement)
}

struct EarlyAcknowledgement;

impl Protocol for EarlyAcknowledgement {
    fn enter(&self, sys: &Sys) -> Result<Option<Box<dyn Handle>>> {
        lock(sys, &at("guard"))
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        last_record(sys)
    }

    fn publish(&self, sys: &Sys, _: &State, after: &State) -> Result<Published> {
        let log = sys.files.open(&at("log"), Open::Append { mode: MODE })?;
        append(&*log, &codec::line(after))?;
        sys.files.sync_dir(ROOT.as_ref())?;
        Ok(Published::Done)
    }
}

/// What the last whole record of the log says.
pub(crate) fn last_record(sys: &Sys) -> Result<State> {
    Ok(read(sys, &at("log"))?.as_deref().and_then(codec::last).unwrap_or(State::EMPTY))
}
