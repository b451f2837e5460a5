//! Warnings of the tracker as they are printed, with handles in place of ids.

use std::sync::Arc;

pub use holdfast_tracker::names::Names;
use holdfast_tracker::{Listener, Notice};

use super::Printer;

/// Somebody who prints what the tracker lets know.
pub struct Speaker {
    /// Where it goes.
    pub printer: Printer,
    /// What issues are called.
    pub names: Arc<Names>,
}

impl Listener for Speaker {
    fn hear(&self, notice: &Notice) {
        if matches!(notice, Notice::Progress { .. }) && !self.printer.is_watched() {
            return;
        }
        let text = self.names.put(&notice.to_string());
        if notice.is_progress() {
            self.printer.progress(&text);
        } else {
            self.printer.warn(&text);
        }
    }
}
