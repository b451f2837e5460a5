//! What the holder of a claim does with it, and what an operator does to it.

use holdfast_kernel::{Answer, Command, Holder, Lease, Millis, Name, Stamp, Text, Transfer};

use crate::agent::AgentId;
use crate::approvals;
use crate::claims::branch_tags;
use crate::error::{Error, Result};
use crate::heartbeat;
use crate::ids::IssueId;
use crate::issues::{FinishedNote, Issues, Scope, Standing};
use crate::notes;
use crate::notice::Notice;
use crate::session::Session;

/// A claim after a change.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The lease as it was changed.
    pub lease: Lease,
    /// Whether it is still there.
    pub is_there: bool,
    /// When it was looked at.
    pub now: Stamp,
}

/// Prolongs a claim.
///
/// # Errors
/// The refusal, or what failed.
pub fn renew(session: &Session, lease: &str, ttl: Option<Millis>) -> Result<Kept> {
    let (lease, holder) = meant(session, lease)?;
    carry_out(session, &Command::Renew { lease: lease.id, holder, ttl })
}

/// Beats for a claim without a deadline.
///
/// # Errors
/// The refusal, or what failed.
pub fn beat(session: &Session, lease: &str) -> Result<Kept> {
    let (lease, holder) = meant(session, lease)?;
    let kept = carry_out(session, &Command::Beat { lease: lease.id, holder })?;
    heartbeat::write(session, session.config().coordination.heartbeat_interval_secs)?;
    Ok(kept)
}

/// Gives a claim back.
///
/// # Errors
/// The refusal, or what failed.
pub fn release(session: &Session, lease: &str) -> Result<Kept> {
    let (lease, holder) = meant(session, lease)?;
    if lease.holder == holder {
        give_up_finished(session, &lease)?;
    }
    if let Some(id) = IssueId::of(&lease.resource) {
        notes::forget_landed(session, id);
    }
    carry_out(session, &Command::Release { lease: lease.id, holder })
}

/// Notes that finished work is given back by its holder and not left behind by one that is gone. That comes first:
/// whoever is cut off in between meant to.
fn give_up_finished(session: &Session, lease: &Lease) -> Result<()> {
    let Some(id) = IssueId::of(&lease.resource) else { return Ok(()) };
    let noted = FinishedNote::read(session, id).filter(|note| note.fence == lease.fence.get());
    let Some(note) = noted else { return Ok(()) };
    let issues = Issues::new(session);
    // An issue that is gone has no work.
    if let Ok(Standing::NotCommitted) = issues.see(id, Scope::All, |seen| seen.standing.clone()) {
        session.notice(&Notice::NotCommitted(issues.handle(id)));
    }
    FinishedNote { released: true, ..note }.write(session, id)
}

/// Takes a claim away from its holder, if nobody else has to approve that or enough have.
///
/// # Errors
/// That it needs approval, the refusal, or what failed.
pub fn evict(session: &Session, lease: &str, reason: &Text) -> Result<Kept> {
    let (lease, by) = meant(session, lease)?;
    let kept = seen(session, approvals::evict(session, &lease, &by, reason)?)?;
    session
        .notice(&Notice::Evicted { holder: kept.lease.holder.clone(), issue: kept.lease.resource.clone() });
    Ok(kept)
}

/// Hands a claim to another agent, in a worktree that is there.
///
/// # Errors
/// The refusal, or what failed.
pub fn transfer(
    session: &Session,
    lease: &str,
    to_agent: &AgentId,
    to_worktree: &str,
    reason: Text,
) -> Result<Kept> {
    let known = session.worktrees()?;
    let target = known.iter().find(|entry| entry.worktree_id.as_deref() == Some(to_worktree));
    let target = target.ok_or_else(|| Error::NoSuchWorktree(to_worktree.to_owned()))?;
    let place = Name::new(to_worktree).map_err(|_| Error::NoSuchWorktree(to_worktree.to_owned()))?;
    let (lease, holder) = meant(session, lease)?;
    let command = Command::Transfer(Transfer {
        lease: lease.id,
        holder,
        id: session.claims().fresh_id()?,
        to: Holder { agent: to_agent.name().clone(), place },
        reason,
        tags: branch_tags(target.branch.as_deref()),
    });
    carry_out(session, &command)
}

/// The lease that was meant, and who asks.
fn meant(session: &Session, lease: &str) -> Result<(Lease, Holder)> {
    let claims = session.claims_to_change()?;
    let holder = session.holder()?.clone();
    Ok((claims.resolve(lease)?, holder))
}

fn carry_out(session: &Session, command: &Command) -> Result<Kept> {
    let lease = match session.claims().command(command)? {
        Answer::Renewed(lease)
        | Answer::Beaten(lease)
        | Answer::Released(lease)
        | Answer::Transferred(lease) => lease,
        other @ (Answer::Granted(_)
        | Answer::AlreadyHeld(_)
        | Answer::Evicted(_)
        | Answer::Swept(_)
        | Answer::Valid(_)) => {
            return Err(Error::unexpected("change a lease", &other));
        }
    };
    seen(session, lease)
}

/// A lease after a change, and whether it is still there.
fn seen(session: &Session, lease: Lease) -> Result<Kept> {
    let view = session.claims().view()?;
    session.used(&view);
    Ok(Kept { is_there: view.table.get(lease.id).is_some(), lease, now: view.now })
}
