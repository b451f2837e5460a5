//! Leases as a table for people.

use holdfast_door::{Clean, table};
use holdfast_kernel::{Lease, Stamp};
use holdfast_tracker::claims::lease::left;

/// Leases as a table.
#[must_use]
pub fn listing<'a>(leases: impl Iterator<Item = &'a Lease>, now: &Stamp) -> Clean {
    let rows: Vec<_> = leases
        .map(|lease| {
            let reason = lease.reason.as_ref().map(ToString::to_string).unwrap_or_default();
            let branch = lease.tags.get("branch").map(ToString::to_string).unwrap_or_default();
            [
                lease.resource.to_string(),
                lease.holder.agent.to_string(),
                lease.holder.place.to_string(),
                branch,
                left(lease, now),
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
