//! Claims on issues that are over: whoever finished them was killed before it could give the claim back.

use holdfast_kernel::Lease;

use super::finish::{Asked, finish};
use super::held_here;
use super::started::Started;
use crate::error::{Error, LandError, Result};
use crate::ids::IssueId;
use crate::issues::{Issues, Scope, Standing, State};
use crate::keep;
use crate::notice::Notice;
use crate::session::Session;

/// Gives a claim back that is held in this worktree, if its issue is over, and says whether it was. What waits on its
/// branch lands, if it can now; if not, it lands without the claim.
///
/// # Errors
/// When the issue cannot be read, or the claim not given back.
pub fn close_over(session: &Session, id: IssueId, lease: &Lease) -> Result<bool> {
    match Issues::new(session).see(id, Scope::All, |seen| seen.issue.state)? {
        State::Done => match finish(session, id, &Asked::default()) {
            Err(_) if is_held(session, lease)? => keep::release(session, &lease.id.to_string())?,
            _ => return Ok(true),
        },
        State::Rejected | State::Archived => keep::release(session, &lease.id.to_string())?,
        _ => return Ok(false),
    };
    Ok(true)
}

/// Gives a claim back that is held in this worktree, if its issue was finished under it and has landed, or was landed by
/// a clone with claims of its own: to begin that again, or to give it back to be done, would have it done twice. Says whether it was.
pub(super) fn close_landed(session: &Session, id: IssueId, lease: &Lease) -> Result<bool> {
    match landed(session, id, lease)? {
        None => return Ok(false),
        Some(By::Another) => give_to_another(session, id, lease)?,
        Some(By::This) => {
            close_over(session, id, lease)?;
            session.notice(&Notice::CutOff(Issues::new(session).handle(id)));
        }
    }
    Ok(true)
}

/// Who has landed what is held.
enum By {
    /// Whoever holds it.
    This,
    /// A clone with claims of its own.
    Another,
}

/// Who has landed what is held here, if it was finished under this very claim or elsewhere.
fn landed(session: &Session, id: IssueId, lease: &Lease) -> Result<Option<By>> {
    let issues = Issues::new(session);
    let log = session.claims().view()?.counter.map(|counter| counter.to_string());
    let (has_landed, is_elsewhere) = issues.see(id, Scope::All, |seen| {
        let is_mine = seen.issue.fence == Some(lease.fence.get());
        let by_another = seen.issue.fence_log.as_deref().is_some_and(|known| Some(known) != log.as_deref());
        let is_there = matches!(seen.standing, Standing::Landed | Standing::NotPushed);
        let is_waiting = matches!(seen.standing, Standing::OnBranch { .. });
        (
            seen.issue.state == State::Done && is_mine && !is_waiting,
            seen.issue.state.is_over() && by_another && is_there,
        )
    })?;
    Ok(is_elsewhere.then_some(By::Another).or(has_landed.then_some(By::This)))
}

fn give_to_another(session: &Session, id: IssueId, lease: &Lease) -> Result<()> {
    keep::release(session, &lease.id.to_string())?;
    Started::remove(session, id);
    session.notice(&Notice::LandedElsewhere(Issues::new(session).handle(id)));
    Ok(())
}

/// Goes on with landings that were cut off in this worktree. The issue that was asked for is not begun again.
///
/// # Errors
/// When that is what one of them was for, or something cannot be read.
pub(super) fn go_on(session: &Session, wanted: Option<IssueId>) -> Result<()> {
    for (id, lease) in held_here(session)? {
        let is_closed = match landed(session, id, &lease)? {
            None => false,
            Some(By::Another) => give_to_another(session, id, &lease).map(|()| true)?,
            Some(By::This) => close_whole(session, id, &lease)?,
        };
        if is_closed && wanted == Some(id) {
            return Err(LandError::Landed(Issues::new(session).handle(id)).into());
        }
    }
    Ok(())
}

/// Gives a claim back of what has landed, unless something was done since that cannot land as it is: whoever did it goes on
/// with that. Says whether it was given back.
fn close_whole(session: &Session, id: IssueId, lease: &Lease) -> Result<bool> {
    let handle = Issues::new(session).handle(id);
    match finish(session, id, &Asked::default()) {
        Err(Error::Land(why)) if is_held(session, lease)? => {
            session.notice(&Notice::NotAll { handle, why: why.to_string() });
            return Ok(false);
        }
        Err(_) if is_held(session, lease)? => drop(keep::release(session, &lease.id.to_string())?),
        _ => {}
    }
    session.notice(&Notice::CutOff(handle));
    Ok(true)
}

/// Whether the target has an issue as it is here.
///
/// # Errors
/// When it cannot be read.
pub(super) fn has_landed(issues: &Issues<'_>, id: IssueId) -> Result<bool> {
    issues.see(id, Scope::All, |seen| matches!(seen.standing, Standing::Landed | Standing::NotPushed))
}

/// Refuses to begin what is over: whoever wants it done again says so. What waits on its branch is gone on with.
///
/// # Errors
/// When it is over, or cannot be read.
pub(super) fn refuse(session: &Session, id: IssueId) -> Result<()> {
    let issues = Issues::new(session);
    let (state, standing) = issues.see(id, Scope::All, |seen| (seen.issue.state, seen.standing.clone()))?;
    match standing {
        Standing::Landed | Standing::NotPushed | Standing::NotCommitted if state.is_over() => {
            Err(LandError::Over { handle: issues.handle(id), state: state.to_string() }.into())
        }
        _ => Ok(()),
    }
}

/// Whether a lease is held in this worktree.
///
/// # Errors
/// When the claims cannot be read.
pub fn is_held(session: &Session, lease: &Lease) -> Result<bool> {
    Ok(held_here(session)?.iter().any(|(_, held)| held.id == lease.id))
}
