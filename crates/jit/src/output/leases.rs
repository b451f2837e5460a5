//! Leases as a table for people.

use holdfast_door::{Clean, table};
use holdfast_kernel::{Lease, Stamp};
use holdfast_sys::Sys;
use holdfast_tracker::claims::lease::left_and_keeper;
use holdfast_tracker::gone::is_gone;
use holdfast_tracker::worktree::Entry;

/// The worktree that a lease is held in, and whether it is gone.
#[must_use]
pub fn place(lease: &Lease, worktrees: &[Entry]) -> String {
    let gone = if is_gone(lease, worktrees) { " (gone)" } else { "" };
    format!("{}{gone}", lease.holder.place)
}

/// Leases as a table.
#[must_use]
pub fn listing<'a>(
    sys: &Sys,
    leases: impl Iterator<Item = &'a Lease>,
    now: &Stamp,
    worktrees: &[Entry],
) -> Clean {
    let rows: Vec<_> = leases
        .map(|lease| {
            let reason = lease.reason.as_ref().map(ToString::to_string).unwrap_or_default();
            let branch = lease.tags.get("branch").map(ToString::to_string).unwrap_or_default();
            [
                lease.resource.to_string(),
                lease.holder.agent.to_string(),
                place(lease, worktrees),
                branch,
                left_and_keeper(sys, lease, now),
                lease.id.to_string(),
                reason,
            ]
        })
        .collect();
    if rows.is_empty() {
        return "no claims\n".into();
    }
    table(["ISSUE", "AGENT", "WORKTREE", "BRANCH", "TIME", "LEASE", "REASON"], &rows)
}
