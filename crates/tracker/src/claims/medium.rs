//! Which medium the claims are kept in. Nothing else in the tracker knows: the kind is chosen here.

use std::path::Path;
use std::sync::Arc;

use holdfast_store::JournaledMedium;
use holdfast_store::log::{Log, Paths, Settings, Words};
use holdfast_sys::Sys;

use super::believed;
use super::shared::{Handle, SharedClaims};
use super::watcher::Watcher;
use crate::caller::Caller;
use crate::workspace::Workspace;

/// What things are called in the log.
const WORDS: Words =
    Words { resource: "issue_id", agent: "agent_id", place: "worktree_id", tags: &["branch"] };

/// Whoever writes to the log writes this one too.
const WITNESS: &str = "events/control.jsonl";

/// The medium of a workspace, and what it is beyond that if all clones share it. Nothing is written yet, and
/// only read what says which.
pub(super) fn of(
    caller: &Caller,
    workspace: &Workspace,
    watcher: Watcher,
    mode: u32,
) -> (Box<dyn JournaledMedium>, Option<Arc<SharedClaims>>) {
    let control = &workspace.control;
    match believed::find(caller, workspace).transpose() {
        None => (Box::new(log_at(&caller.sys, control, mode).observed(watcher)), None),
        Some(place) => {
            let shared = Arc::new(SharedClaims::new(caller, workspace, place, mode));
            (Box::new(Handle(Arc::clone(&shared))), Some(shared))
        }
    }
}

/// The same claims once more, for somebody who only looks.
#[must_use]
pub fn handle_on(shared: &Arc<SharedClaims>) -> Box<dyn JournaledMedium> {
    Box::new(Handle(Arc::clone(shared)))
}

/// A handle on the log of a control plane. Nothing is read or written yet.
#[must_use]
pub fn log_at(sys: &Sys, control: &Path, mode: u32) -> Log {
    let paths = Paths {
        log: control.join("claims.jsonl"),
        index: control.join("claims.index.json"),
        guard: control.join("locks/claims.lock"),
    };
    Log::new(
        sys.clone(),
        paths,
        Settings { words: WORDS, mode, witness: Some(WITNESS), ..Settings::default() },
    )
}

/// The medium that the claims of a control plane are kept in, to look at.
#[must_use]
pub fn medium_at(sys: &Sys, control: &Path) -> Box<dyn JournaledMedium> {
    Box::new(log_at(sys, control, 0o600))
}
