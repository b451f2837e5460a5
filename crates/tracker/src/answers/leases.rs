//! Leases as programs read them: with what their issues are called.

use holdfast_kernel::{Lease, Stamp};

use crate::claims::lease::Shown;
use crate::gone::is_gone;
use crate::ids::IssueId;
use crate::issues::{Issues, Scope};
use crate::session::Session;
use crate::worktree::Entry;

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

    /// A lease on it, for programs.
    #[must_use]
    pub fn shown(self, session: &Session, lease: &Lease, now: &Stamp) -> Shown {
        Shown { handle: Some(self.handle), title: self.title, ..Shown::new(session.sys(), lease, now) }
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
    Called::of(issues, lease).shown(issues.session(), lease, now)
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
