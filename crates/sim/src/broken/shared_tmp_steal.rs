//! Stealing an expired lock by renaming over it, through a temporary file whose name everybody shares: "if
//! `rename()` succeeds, that stealer wins". Both renames succeed, and both stealers compute the same fence.

use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Sys};

use crate::codec;
use crate::scaffold::{Follower, Protocol, Published, ROOT, State, at, beside, damaged, read, write};

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, SharedTmpSteal)
}

struct SharedTmpSteal;

impl Protocol for SharedTmpSteal {
    fn enter(&self, _: &Sys) -> Result<Option<Box<dyn Handle>>> {
        Ok(None)
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        let path = at("lock");
        match read(sys, &path)? {
            None => Ok(State::EMPTY),
            Some(bytes) => codec::state(&bytes).ok_or_else(|| damaged(&path, "it is no whole record")),
        }
    }

    fn publish(&self, sys: &Sys, before: &State, after: &State) -> Result<Published> {
        if before.table.is_empty() && *before == State::EMPTY {
            return create(sys, after);
        }
        // The document's steal, step by step.
        let tmp = at("lock.tmp");
        write(sys, &tmp, &codec::line(after))?;
        sys.files.rename(&tmp, &at("lock"))?;
        sys.files.sync_dir(ROOT.as_ref())?;
        Ok(Published::Done)
    }
}

/// The first lock is made whole and without replacing another, so that only the steal is at fault here.
fn create(sys: &Sys, after: &State) -> Result<Published> {
    let path = at("lock");
    let fresh = beside(sys, &path)?;
    write(sys, &fresh, &codec::line(after))?;
    match sys.files.rename_new(&fresh, &path) {
        Ok(()) => {
            sys.files.sync_dir(ROOT.as_ref())?;
            Ok(Published::Done)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(Published::Raced),
        Err(error) => Err(error.into()),
    }
}
