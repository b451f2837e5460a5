//! A lock is a directory; a stale one is renamed away before a fresh one is made. The rename acts on the path
//! and not on the incarnation that was judged: two who judged the same stale lock both break it, and the
//! second one moves the first one's fresh lock away.

use std::path::PathBuf;

use holdfast_kernel::Millis;
use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Sys};

use crate::codec;
use crate::scaffold::{Follower, Protocol, Published, State, at, beside, damaged, read, write};

/// How often a reader looks again at a lock that seems to be in the making.
const PATIENCE: u32 = 3;

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, RenameThenMkdir)
}

struct RenameThenMkdir;

fn owner() -> PathBuf {
    at("lock").join("owner")
}

impl Protocol for RenameThenMkdir {
    fn enter(&self, _: &Sys) -> Result<Option<Box<dyn Handle>>> {
        Ok(None)
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        for _ in 0..PATIENCE {
            if let Some(state) = read(sys, &owner())?.as_deref().and_then(codec::state) {
                return Ok(state);
            }
            if is_free(sys)? {
                return Ok(State::EMPTY);
            }
            sys.clock.sleep(Millis::from_secs(60));
        }
        Err(damaged(&owner(), "it names no owner"))
    }

    fn publish(&self, sys: &Sys, before: &State, after: &State) -> Result<Published> {
        let lock = at("lock");
        if !before.table.is_empty() && replaced(before, after) {
            let broken = beside(sys, &lock)?;
            sys.files.rename(&lock, &broken)?;
            sys.files.remove_file(&broken.join("owner"))?;
            sys.files.remove_dir(&broken)?;
        }
        if before.table.is_empty() || replaced(before, after) {
            match sys.files.create_dir(&lock, 0o755) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    return Ok(Published::Raced);
                }
                made => made?,
            }
        }
        if after.table.is_empty() {
            sys.files.remove_file(&owner())?;
            sys.files.remove_dir(&lock)?;
        } else {
            write(sys, &owner(), &codec::line(after))?;
        }
        Ok(Published::Done)
    }
}

fn is_free(sys: &Sys) -> Result<bool> {
    match sys.files.stat(&at("lock")) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Whether the lock changes hands in this step.
fn replaced(before: &State, after: &State) -> bool {
    !after.table.is_empty() && after.table.iter().all(|lease| before.table.get(lease.id).is_none())
}
