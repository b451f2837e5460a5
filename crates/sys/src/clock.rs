//! What time it is, and waiting.

use holdfast_kernel::{Millis, Stamp};

use crate::Result;

/// A clock that reads both the wall clock and the boot-time clock.
pub trait Clock: Send + Sync {
    /// The moment it is.
    ///
    /// # Errors
    /// When a clock cannot be read or shows no date that can be written.
    fn now(&self) -> Result<Stamp>;

    /// Waits at least that long.
    fn sleep(&self, span: Millis);
}
