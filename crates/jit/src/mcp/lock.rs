//! Locks whose owner may have died: nothing behind them is ever left half done.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is behind a lock.
pub(super) fn locked<T: ?Sized>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
