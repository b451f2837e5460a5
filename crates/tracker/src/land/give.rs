//! Giving an issue back that is not finished: it stands as it did before, and what was done stays where it is.

use super::started::Started;
use super::{over, own_lease};
use crate::error::{LandError, Result};
use crate::ids::IssueId;
use crate::issues::{Issues, State};
use crate::keep;
use crate::notes;
use crate::session::Session;
use crate::writes::Writer;

/// An issue that was given back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// The issue.
    pub issue: IssueId,
    /// What it is called.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// Where it stands now.
    pub state: State,
}

/// Gives an issue back that is held here; the reason is left as a note for whoever takes it next.
///
/// # Errors
/// When it is not held, has landed, or something failed.
pub fn give_back(session: &Session, id: IssueId, reason: Option<&str>) -> Result<Dropped> {
    let lease = own_lease(session, id, "dropping")?;
    if over::close_landed(session, id, &lease)? {
        return Err(LandError::Landed(Issues::new(session).handle(id)).into());
    }
    if let Some(reason) = reason {
        notes::add(session, id, &format!("given back: {reason}"))?;
    }
    let before = Started::read(session, id, lease.fence.get()).map_or(State::Ready, |started| started.state);
    let writer = Writer::open(session)?;
    let changed = writer.change(id, "dropping", |draft| {
        draft.step(before, false);
        draft.edit().assignee = None;
        Ok(())
    })?;
    keep::release(session, &lease.id.to_string())?;
    Started::remove(session, id);
    let issue = changed.draft.issue();
    Ok(Dropped {
        issue: id,
        handle: writer.issues.handle(id),
        title: issue.title.clone(),
        state: issue.state,
    })
}
