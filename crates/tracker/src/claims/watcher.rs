//! Watches the log while this process writes to it: keeps the event log a true projection, and notes who is
//! in the exclusive section. Neither can make an operation fail.

use std::sync::{Arc, OnceLock};

use holdfast_store::log::{Observer, Recorded};

use super::lock::LockNote;
use super::projection::Projection;
use crate::agent::AgentId;
use crate::caller::Caller;
use crate::notice::Listener;
use crate::workspace::Workspace;

/// Watches the log.
pub(super) struct Watcher {
    listener: Arc<dyn Listener>,
    projection: Projection,
    note: LockNote,
    notes: bool,
}

impl Watcher {
    pub(super) fn new(
        caller: &Caller,
        workspace: &Workspace,
        writer: &Arc<OnceLock<AgentId>>,
        mode: u32,
    ) -> Self {
        let config = &workspace.config;
        Self {
            listener: Arc::clone(&caller.listener),
            projection: Projection::new(&caller.sys, &workspace.control, config.events.clone(), mode),
            note: LockNote::new(&caller.sys, &workspace.control, writer, config.locks.max_age_secs, mode),
            notes: config.locks.enable_metadata,
        }
    }
}

impl Observer for Watcher {
    fn waits(&self) {
        if self.notes
            && let Some(warning) = self.note.suspicion()
        {
            self.listener.hear(&warning);
        }
    }

    fn entered(&self) {
        if self.notes {
            self.note.write();
        }
    }

    fn recorded(&self, recorded: &Recorded<'_>) {
        // What is missed here is noticed and made up for by whoever comes next.
        let _ = self.projection.catch_up(recorded);
    }
}
