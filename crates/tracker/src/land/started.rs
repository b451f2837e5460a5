//! What was there when work on an issue was begun: the state to go back to, and the commit to compare with.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{STARTED, State};
use crate::json;
use crate::session::Session;

/// What was there when work on an issue was begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Started {
    /// The grant that it was begun under.
    pub(super) fence: u64,
    /// The state that the issue had.
    pub(super) state: State,
    /// The commit that the worktree was on; none outside of git and on a branch without one.
    pub(super) base: Option<String>,
}

impl Started {
    fn path(session: &Session, id: IssueId) -> PathBuf {
        session.control().join(STARTED).join(format!("{id}.json"))
    }

    /// What is noted of the work under this grant.
    pub(super) fn read(session: &Session, id: IssueId, fence: u64) -> Option<Self> {
        let bytes = durable::read(session.sys(), &Self::path(session, id), 1 << 16).ok().flatten()?;
        serde_json::from_slice(&bytes).ok().filter(|noted: &Self| noted.fence == fence)
    }

    /// Notes it. In a linked worktree it need not outlive a power loss: there it says no more than which state to give
    /// the issue back with.
    pub(super) fn write(&self, session: &Session, id: IssueId) -> Result<()> {
        let path = Self::path(session, id);
        let (directory, file) = session.prepare()?.places();
        durable::make_dirs(session.sys(), path.parent().unwrap_or(&path), directory)?;
        let write = if session.is_linked() { durable::put } else { durable::replace };
        Ok(write(session.sys(), &path, &json::file(self), file)?)
    }

    /// Takes it away.
    pub(super) fn remove(session: &Session, id: IssueId) {
        // One that stays is of a grant that is over, and says nothing.
        let _ = session.sys().files.remove_file(&Self::path(session, id));
    }
}
