//! Somebody who must know of a transition before it happens: an audit log, a record of lock order.

use holdfast_kernel::{Event, Table};

/// Hears of every transition inside the exclusive section, before the state changes.
pub trait Witness: Send + Sync {
    /// Takes note, durably if it matters, that `events` are about to happen to the table `before`.
    ///
    /// What was noted may still not happen: the process may die, or the disk fail, right afterwards. The
    /// next note shows it, because it starts from the old table again. The medium must not be asked
    /// anything from here: its section is not re-entrant.
    ///
    /// # Errors
    /// When no note could be taken. The transition does not happen then.
    fn record(
        &self,
        before: &Table,
        events: &[Event],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}
