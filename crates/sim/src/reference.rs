//! A medium that is as simple as a correct one can be: a guard that is never removed, and the whole state in
//! one file that is written beside, synced, renamed over and synced again. It shows that the checkers are
//! silent when nothing is wrong; nobody would want its cost.

use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Sys};

use crate::codec;
use crate::scaffold::{Follower, Protocol, Published, ROOT, State, at, damaged, lock, read, replace};

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, Reference)
}

struct Reference;

impl Protocol for Reference {
    fn enter(&self, sys: &Sys) -> Result<Option<Box<dyn Handle>>> {
        lock(sys, &at("guard"))
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        whole(sys)
    }

    fn publish(&self, sys: &Sys, _: &State, after: &State) -> Result<Published> {
        replace(sys, &at("state"), &codec::line(after))?;
        Ok(Published::Done)
    }

    /// Whoever died or failed between the rename and the sync left a state that a power loss may take back.
    fn settle(&self, sys: &Sys) -> Result<()> {
        Ok(sys.files.sync_dir(ROOT.as_ref())?)
    }
}

/// The state in the one file that has it.
pub(crate) fn whole(sys: &Sys) -> Result<State> {
    let path = at("state");
    match read(sys, &path)? {
        None => Ok(State::EMPTY),
        Some(bytes) => codec::state(&bytes).ok_or_else(|| damaged(&path, "it is no whole state")),
    }
}
