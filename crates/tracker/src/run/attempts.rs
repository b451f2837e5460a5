//! How often commands failed on an issue, in the control plane: a pool that is killed and started again goes on counting.
//! Only what a command did counts. A run that was killed, or lost its claim, says nothing about the issue.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::json;
use crate::session::Session;

/// More than a note can be.
const LONGEST: usize = 1 << 16;

/// How often commands failed on an issue since it was last finished, or since somebody took the label away.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Attempts {
    /// How often.
    pub failed: u32,
    /// The grant under which it failed last, so that no attempt counts twice.
    pub fence: u64,
    /// The grant under which a command did its work, which is still to land.
    #[serde(default)]
    pub worked: u64,
}

impl Attempts {
    fn path(session: &Session, issue: IssueId) -> PathBuf {
        session.control().join("attempts").join(format!("{issue}.json"))
    }

    /// What is noted of an issue.
    fn of(session: &Session, issue: IssueId) -> Result<Self> {
        let path = Self::path(session, issue);
        let Some(bytes) = durable::read(session.sys(), &path, LONGEST)? else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes).map_err(|error| Error::BadFile { path, why: error.to_string() })
    }

    /// Counts one more, under this grant.
    ///
    /// # Errors
    /// When that cannot be written, or what was counted before cannot be read: whoever began anew then would never come
    /// to an end.
    pub fn count(session: &Session, issue: IssueId, fence: u64) -> Result<Self> {
        let before = Self::of(session, issue)?;
        if before.fence == fence {
            return Ok(before);
        }
        let after = Self { failed: before.failed.saturating_add(1), fence, worked: 0 };
        after.write(session, issue)?;
        Ok(after)
    }

    fn write(&self, session: &Session, issue: IssueId) -> Result<()> {
        let path = Self::path(session, issue);
        let (directory, file) = session.prepare()?.places();
        durable::make_dirs(session.sys(), &session.control().join("attempts"), directory)?;
        Ok(durable::replace(session.sys(), &path, &json::file(self), file)?)
    }

    /// Notes that a command has done its work under this grant: whoever goes on with the claim after a death only has to
    /// land it.
    ///
    /// # Errors
    /// When that cannot be written, or what was counted before cannot be read.
    pub fn work(session: &Session, issue: IssueId, fence: u64) -> Result<()> {
        Self { worked: fence, ..Self::of(session, issue)? }.write(session, issue)
    }

    /// Whether a command has done its work under this grant.
    #[must_use]
    pub fn has_worked(session: &Session, issue: IssueId, fence: u64) -> bool {
        // Where nobody can tell, it is done again.
        Self::of(session, issue).is_ok_and(|noted| noted.worked == fence)
    }

    /// Forgets what was counted.
    pub fn forget(session: &Session, issue: IssueId) {
        // What stays is counted on: an attempt less, and no harm.
        let _ = session.sys().files.remove_file(&Self::path(session, issue));
    }
}
