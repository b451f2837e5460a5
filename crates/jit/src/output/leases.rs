//! Leases as people read them.

use holdfast_door::{Cell, Clean, Colour, Paint, grid};
use holdfast_kernel::{Lease, Stamp};
use holdfast_sys::Sys;
use holdfast_tracker::Session;
pub use holdfast_tracker::answers::leases::{Called, all, shown};
use holdfast_tracker::claims::lease::{Shown, left_and_keeper};
use holdfast_tracker::gone::is_gone;
use holdfast_tracker::times::span;
use holdfast_tracker::worktree::Entry;

/// The worktree that a lease is held in, and whether it is gone.
#[must_use]
pub fn place(lease: &Lease, worktrees: &[Entry]) -> String {
    let gone = if is_gone(lease, worktrees) { " (gone)" } else { "" };
    format!("{}{gone}", lease.holder.place)
}

/// How old what is known of the claims is, where another machine may have changed them since; else nothing.
#[must_use]
pub fn as_of(session: &Session) -> String {
    let age = session.claims().shared.as_ref().and_then(|shared| shared.age());
    age.map_or_else(String::new, |age| format!("claims as of {} ago; --fresh asks the server\n", span(age)))
}

/// Leases as a table; `shown` are the same leases for programs.
#[must_use]
pub fn listing(
    sys: &Sys,
    paint: Paint,
    leases: &[&Lease],
    shown: &[Shown],
    now: &Stamp,
    worktrees: &[Entry],
) -> Clean {
    let row = |(lease, shown): (&&Lease, &Shown)| {
        [
            Cell::plain(shown.handle.as_deref().unwrap_or_default()),
            Cell::new(&shown.agent_id, Colour::Cyan),
            Cell::plain(&place(lease, worktrees)),
            Cell::plain(shown.branch.as_deref().unwrap_or_default()),
            Cell::plain(&left_and_keeper(sys, lease, now)),
            Cell::plain(shown.reason.as_deref().unwrap_or_default()),
            Cell::plain(shown.title.as_deref().unwrap_or_default()),
        ]
    };
    if leases.is_empty() {
        return "no claims\n".into();
    }
    let heading = ["ISSUE", "AGENT", "WORKTREE", "BRANCH", "TIME", "REASON", "TITLE"];
    grid(paint, heading, leases.iter().zip(shown).map(row).collect())
}
