//! The locks of the data plane. They lie in the control plane, so that all worktrees share them, and are
//! never removed: a waiter would hold the lock of a file that nobody else can open.
//!
//! Whoever takes several takes them in this order, so that nobody waits in a circle: the scope or the graph,
//! one issue, the claims, the events.

use std::path::{Path, PathBuf};

use holdfast_sys::{Guard, Sys};

use crate::control::Access;
use crate::error::Result;
use crate::ids::IssueId;
use crate::session::Session;

/// What the lock of what concerns everybody is called.
pub(super) const SCOPE: &str = "scope";

/// What the lock of the graph is called.
pub(super) const GRAPH: &str = "graph";

/// The locks of the data plane.
pub struct Locks {
    sys: Sys,
    directory: PathBuf,
    access: Access,
}

impl Locks {
    /// The locks of a workspace, whose control plane is made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(session: &Session) -> Result<Self> {
        let access = session.prepare()?;
        Ok(Self { sys: session.sys().clone(), directory: session.control().join("locks"), access })
    }

    /// Who may use what lies in the control plane.
    pub(super) const fn access(&self) -> Access {
        self.access
    }

    /// The lock of one issue. The last two characters of an id are random, so a thousand files are enough for
    /// any number of issues; two that share one wait for each other and lose nothing.
    pub(super) fn issue(&self, id: IssueId) -> Result<Guard> {
        self.guard(&format!("{}.lock", Self::of(id)))
    }

    /// As [`Locks::issue`], for somebody who only looks; none if nobody has written under it yet.
    pub(super) fn existing(&self, id: IssueId) -> Result<Option<Guard>> {
        let path = self.directory.join(format!("{}.lock", Self::of(id)));
        Ok(Guard::open_existing(&self.sys, &path, self.access.file())?)
    }

    /// What the lock of one issue is called.
    pub(super) fn of(id: IssueId) -> String {
        format!("issue-{}", id.to_string().get(24..).unwrap_or_default())
    }

    /// Where the locks lie.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The lock of the graph: whoever adds an edge has looked at all others, and whoever deletes an issue has
    /// looked for edges to it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn graph(&self) -> Result<Guard> {
        self.guard(&format!("{GRAPH}.lock"))
    }

    /// The lock of what concerns everybody.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn scope(&self) -> Result<Guard> {
        self.guard(&format!("{SCOPE}.lock"))
    }

    /// The lock of the events of the worktree with this name.
    pub(super) fn events(&self, worktree: &str) -> Result<Guard> {
        self.guard(&format!("events-{worktree}.lock"))
    }

    fn guard(&self, name: &str) -> Result<Guard> {
        Ok(Guard::open(&self.sys, &self.directory.join(name), self.access.file())?)
    }
}
