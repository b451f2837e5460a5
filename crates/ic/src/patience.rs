//! How long to wait for the guards, which somebody who stands still may keep for ever: as long as a command may wait,
//! and no longer once it is called off.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_kernel::{Millis, Stamp};
use holdfast_store::Patience;
use holdfast_sys::{Error, Result, Sys};

use crate::cancel::Cancel;

/// How often a guard is looked at.
const PACE: Millis = Millis::new(1);
/// Guards are kept for microseconds. Whoever does not want to wait for a lock waits for those who look at it.
const LEAST: Millis = Millis::from_secs(1);

/// How long somebody with much to do may enter guards one after the other, and how long it leaves them alone then. Others
/// look every millisecond, so they never see one that is free for less than that.
const BUSY: Millis = Millis::new(25);
const REST: Millis = Millis::new(5);

/// Makes somebody who enters guards very often leave them to others now and then.
pub(crate) struct Pauses {
    sys: Sys,
    since: Stamp,
}

impl Pauses {
    pub(crate) fn new(sys: &Sys) -> Result<Self> {
        Ok(Self { sys: sys.clone(), since: sys.clock.now()? })
    }

    /// Rests if it is time; called where no guard is held.
    pub(crate) fn rest(&mut self) -> Result<()> {
        if self.sys.clock.now()?.since(&self.since).forward() >= BUSY {
            self.sys.clock.sleep(REST);
            self.since = self.sys.clock.now()?;
        }
        Ok(())
    }
}

/// How long to wait for the guards. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Limit(Arc<Mutex<Option<Until>>>);

#[derive(Clone)]
struct Until {
    from: Stamp,
    most: Millis,
    cancel: Cancel,
}

/// While this is there, the limit holds.
pub(crate) struct Limited<'a>(&'a Limit);

impl Drop for Limited<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Limit {
    /// From now on guards are waited for that long in all, and only until the token is used.
    pub(crate) fn set(&self, sys: &Sys, most: Millis, cancel: &Cancel) -> Result<Limited<'_>> {
        let until = Until { from: sys.clock.now()?, most: most.max(LEAST), cancel: cancel.clone() };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        Ok(Limited(self))
    }
}

impl Patience for Limit {
    fn rest(&self, sys: &Sys, guard: &Path) -> Result<()> {
        let until = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(Until { from, most, cancel }) = until {
            if cancel.check().is_err() {
                return Err(Error::new("wait for", guard, ErrorKind::Interrupted));
            }
            if sys.clock.now()?.since(&from).forward() >= most {
                return Err(Error::new("wait for", guard, ErrorKind::TimedOut));
            }
        }
        sys.clock.sleep(PACE);
        Ok(())
    }
}
