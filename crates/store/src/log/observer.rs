//! Somebody who watches a log from inside its exclusive section: a door that keeps a projection of it, or
//! notes who is in the section. An observer changes nothing about an operation and cannot make it fail.

use holdfast_kernel::Fence;

use super::Log;
use super::scan::Cursor;
use crate::{Checked, CounterId, Record, Result};

/// Watches a log.
pub trait Observer: Send + Sync {
    /// Somebody else is in the section, and this process is about to wait for it.
    fn waits(&self) {}

    /// This process is in the section, and nothing has happened yet.
    fn entered(&self) {}

    /// Something became durable. Still inside the section, so observers of all processes see everything
    /// in one order; a process that dies before this leaves it to the next one to notice.
    fn recorded(&self, recorded: &Recorded<'_>) {
        let _ = recorded;
    }
}

/// What became durable.
pub struct Recorded<'a> {
    pub(super) log: &'a Log,
    pub(super) cursor: &'a Cursor,
    /// What this operation wrote, in order; nothing if it only answered.
    pub records: &'a [Record],
}

impl Recorded<'_> {
    /// The counter that numbers the records.
    #[must_use]
    pub const fn counter(&self) -> CounterId {
        self.cursor.log
    }

    /// The number of the last record that there is; none before the first.
    #[must_use]
    pub fn last(&self) -> Option<Fence> {
        Fence::new(self.cursor.sequence).ok()
    }

    /// Shows everything that ever happened to `visit`, for an observer that missed something.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn replay(&self, visit: &mut dyn FnMut(&Record)) -> Result<Checked> {
        self.log.replay(self.cursor, visit)
    }
}
