//! Claims on issues that are over: whoever finished them was killed before it could give the claim back.

use holdfast_kernel::Lease;

use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{Issues, Scope, State};
use crate::session::Session;
use crate::{keep, land};

/// Gives a claim back that is held in this worktree, if its issue is over, and says whether it was. What waits on its
/// branch lands, if it can now; if not, it lands without the claim.
///
/// # Errors
/// When the issue cannot be read, or the claim not given back.
pub fn close_over(session: &Session, id: IssueId, lease: &Lease) -> Result<bool> {
    match Issues::new(session).see(id, Scope::All, |seen| seen.issue.state)? {
        State::Done => match land::finish(session, id, &land::Asked::default()) {
            Err(_) if is_held(session, lease)? => keep::release(session, &lease.id.to_string())?,
            _ => return Ok(true),
        },
        State::Rejected | State::Archived => keep::release(session, &lease.id.to_string())?,
        _ => return Ok(false),
    };
    Ok(true)
}

/// Whether a lease is held in this worktree.
///
/// # Errors
/// When the claims cannot be read.
pub fn is_held(session: &Session, lease: &Lease) -> Result<bool> {
    Ok(land::held_here(session)?.iter().any(|(_, held)| held.id == lease.id))
}
