//! Leases as people and programs read them: with what their issues are called.

use holdfast_door::{Cell, Clean, Colour, Paint, grid};
use holdfast_kernel::{Lease, Stamp};
use holdfast_sys::Sys;
use holdfast_tracker::Session;
use holdfast_tracker::claims::lease::{Shown, left_and_keeper};
use holdfast_tracker::gone::is_gone;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Scope};
use holdfast_tracker::times::span;
use holdfast_tracker::worktree::Entry;

/// What an issue that is claimed is called.
pub struct Called {
    /// Its handle; the name of the resource if it is no issue.
    pub handle: String,
    /// Its title, if it can be read.
    pub title: Option<String>,
}

impl Called {
    /// What the issue of a lease is called.
    #[must_use]
    pub fn of(issues: &Issues<'_>, lease: &Lease) -> Self {
        let Some(id) = IssueId::of(&lease.resource) else {
            return Self { handle: lease.resource.to_string(), title: None };
        };
        let title = issues.see(id, Scope::Nearest, |seen| seen.issue.title.to_string()).ok();
        Self { handle: issues.handle(id), title }
    }

    /// Handle and title in one phrase.
    #[must_use]
    pub fn phrase(&self) -> String {
        match &self.title {
            Some(title) => format!("{} ({title})", self.handle),
            None => self.handle.clone(),
        }
    }
}

/// A lease for programs, with what its issue is called.
#[must_use]
pub fn shown(issues: &Issues<'_>, lease: &Lease, now: &Stamp) -> Shown {
    let Called { handle, title } = Called::of(issues, lease);
    Shown { handle: Some(handle), title, ..Shown::new(issues.session().sys(), lease, now) }
}

/// Leases for programs, with what their issues are called.
#[must_use]
pub fn all<'a>(
    issues: &Issues<'_>,
    leases: impl Iterator<Item = &'a Lease>,
    now: &Stamp,
    worktrees: &[Entry],
) -> Vec<Shown> {
    let one = |lease| Shown { worktree_gone: is_gone(lease, worktrees), ..shown(issues, lease, now) };
    leases.map(one).collect()
}

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
    age.map_or_else(String::new, |age| {
        format!("claims as of {} ago: jit engine status --fresh asks the server\n", span(age))
    })
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
