//! Which medium the claims are kept in. Nothing else in the tracker knows: a second kind is chosen here.

use std::path::Path;

use holdfast_store::JournaledMedium;
use holdfast_store::log::{Log, Paths, Settings, Words};
use holdfast_sys::Sys;

/// What things are called in the log.
const WORDS: Words =
    Words { resource: "issue_id", agent: "agent_id", place: "worktree_id", tags: &["branch"] };

/// Whoever writes to the log writes this one too.
const WITNESS: &str = "events/control.jsonl";

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
