//! A clock for tests on real files: it shows what it was set to, and sleeping moves it.

use std::sync::{Mutex, PoisonError};

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::{Clock, Result};

/// A clock that stands still until somebody sleeps by it.
pub struct ManualClock {
    now: Mutex<Stamp>,
}

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub const fn new(now: Stamp) -> Self {
        Self { now: Mutex::new(now) }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Result<Stamp> {
        Ok(*self.now.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn sleep(&self, span: Millis) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.plus(span);
    }
}
