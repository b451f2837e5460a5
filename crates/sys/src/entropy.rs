//! Numbers that nobody can guess and nobody gets twice.

use holdfast_kernel::{LeaseId, Stamp};

use crate::Result;

/// A source of randomness.
pub trait Entropy: Send + Sync {
    /// 128 random bits.
    ///
    /// # Errors
    /// When the system has none to give.
    fn nonce(&self) -> Result<u128>;
}

impl dyn Entropy + '_ {
    /// A fresh lease id that sorts by `now`.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    pub fn lease_id(&self, now: &Stamp) -> Result<LeaseId> {
        Ok(LeaseId::from_parts(now.wall_ms(), self.nonce()?))
    }
}
