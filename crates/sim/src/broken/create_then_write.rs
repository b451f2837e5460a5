//! The lock is created exclusively and written afterwards. Whoever dies in between leaves an empty lock:
//! nobody owns it, so nobody may release it and nobody may steal it.

use holdfast_kernel::Millis;
use holdfast_store::{Medium, Result};
use holdfast_sys::{Handle, Open, Sys};

use crate::codec;
use crate::scaffold::{Follower, MODE, Protocol, Published, ROOT, State, at, damaged, read, replace};

/// How often a reader looks again at a lock that seems to be in the making.
const PATIENCE: u32 = 3;

/// Opens it.
///
/// # Errors
/// When the simulated machine fails.
pub fn open(sys: &Sys) -> Result<Box<dyn Medium>> {
    Follower::open(sys, CreateThenWrite)
}

struct CreateThenWrite;

impl Protocol for CreateThenWrite {
    fn enter(&self, _: &Sys) -> Result<Option<Box<dyn Handle>>> {
        Ok(None)
    }

    fn load(&self, sys: &Sys) -> Result<State> {
        let path = at("lock");
        for _ in 0..PATIENCE {
            match read(sys, &path)? {
                None => return Ok(State::EMPTY),
                Some(bytes) => match codec::state(&bytes) {
                    Some(state) => return Ok(state),
                    None => sys.clock.sleep(Millis::from_secs(60)),
                },
            }
        }
        Err(damaged(&path, "it names no owner"))
    }

    fn publish(&self, sys: &Sys, before: &State, after: &State) -> Result<Published> {
        let path = at("lock");
        if *before != State::EMPTY {
            replace(sys, &path, &codec::line(after))?;
            return Ok(Published::Done);
        }
        let handle = match sys.files.open(&path, Open::New { mode: MODE }) {
            Ok(handle) => handle,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(Published::Raced),
            Err(error) => return Err(error.into()),
        };
        handle.write_all_at(&codec::line(after), 0)?;
        handle.sync()?;
        sys.files.sync_dir(ROOT.as_ref())?;
        Ok(Published::Done)
    }
}
