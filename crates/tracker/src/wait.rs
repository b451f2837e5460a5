//! How the tracker waits: it asks whoever called it, because only a door knows which signals end a wait.

use holdfast_kernel::Millis;

use crate::error::Result;

/// Somebody who can wait.
pub trait Waits {
    /// Waits that long.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted) when the wait is to end, at once, even if that was asked
    /// for before.
    fn wait(&self, span: Millis) -> Result<()>;
}
