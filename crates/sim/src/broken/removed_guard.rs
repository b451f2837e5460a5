//! The guard's file is removed when the section ends, "to clean up". Whoever waits for it then holds the
//! lock of a file without a name, and the next one makes a fresh file and locks that: two in the section.

use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Sys};

use crate::codec;
use crate::reference::whole;
use crate::scaffold::{Follower, Protocol, Published, State, at, lock, replace};

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, RemovedGuard)
}

struct RemovedGuard;

impl Protocol for RemovedGuard {
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

    fn leave(&self, sys: &Sys, section: Option<Box<dyn Handle>>) -> Result<()> {
        drop(section);
        match sys.files.remove_file(&at("guard")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}
