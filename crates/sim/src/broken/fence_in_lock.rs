//! The fence is kept only in the lock file, and releasing removes that file: the next holder starts at 1
//! again, and a write that was delayed since the first grant is as good as a fresh one.

use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Sys};

use crate::codec;
use crate::reference::whole;
use crate::scaffold::{Follower, Protocol, Published, ROOT, State, at, lock, replace};

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, FenceInLock)
}

struct FenceInLock;

impl Protocol for FenceInLock {
    fn enter(&self, sys: &Sys) -> Result<Option<Box<dyn Handle>>> {
        lock(sys, &at("guard"))
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        whole(sys)
    }

    fn publish(&self, sys: &Sys, _: &State, after: &State) -> Result<Published> {
        if after.table.is_empty() {
            sys.files.remove_file(&at("state"))?;
            sys.files.sync_dir(ROOT.as_ref())?;
        } else {
            replace(sys, &at("state"), &codec::line(after))?;
        }
        Ok(Published::Done)
    }
}
