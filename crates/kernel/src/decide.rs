//! What a command causes, or why it is refused. The only place where anything about a lease is decided.

mod acquire;
mod keep;
mod limits;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::{
    Answer, Cause, Claim, Command, Decision, Event, Fence, Holder, Lease, LeaseId, Policy, Refusal, Stamp,
    Standing, Table, Text,
};

/// Decides `command` on `table` at `now`.
///
/// `next` is the position of the medium's counter that the first event will have; event *n* has
/// `next + n`, and a grant's fence is its own position.
///
/// # Errors
/// The refusal, when the command is not allowed; nothing happens then.
pub fn decide(
    table: &Table,
    policy: &Policy,
    command: &Command,
    now: &Stamp,
    next: Fence,
) -> Result<Decision, Refusal> {
    match command {
        Command::Acquire(acquire) => acquire::acquire(table, policy, acquire, now, next),
        Command::Renew { lease, holder, ttl } => keep::renew(table, policy, *lease, holder, *ttl, now),
        Command::Beat { lease, holder } => keep::beat(table, *lease, holder, now),
        Command::Release { lease, holder } => keep::release(table, *lease, holder, now),
        Command::Transfer(transfer) => keep::transfer(table, policy, transfer, now, next),
        Command::Evict { lease, by, reason } => evict(table, *lease, by, reason, now),
        Command::Sweep => Ok(sweep(table, now)),
        Command::Check(claim) => check(table, claim, now)
            .map(|lease| Decision { events: Vec::new(), answer: Answer::Valid(lease.clone()) }),
    }
}

fn evict(table: &Table, id: LeaseId, by: &Holder, reason: &Text, now: &Stamp) -> Result<Decision, Refusal> {
    let lease = table.get(id).ok_or(Refusal::NotFound { lease: id })?;
    let cause = Cause::Forced { by: by.clone(), reason: reason.clone() };
    Ok(Decision {
        events: vec![Event::Evicted { lease: id, at: *now, cause }],
        answer: Answer::Evicted(lease.clone()),
    })
}

fn sweep(table: &Table, now: &Stamp) -> Decision {
    let over = |lease: &&Lease| matches!(lease.standing(now), Standing::Open { .. });
    let ended: Vec<Lease> = table.iter().filter(over).cloned().collect();
    let events = ended.iter().map(|lease| expired(lease, now)).collect();
    Decision { events, answer: Answer::Swept(ended) }
}

/// The lease that a guarded write presents, if it is in force. The write must happen in the same exclusive
/// section as this check.
///
/// # Errors
/// The refusal, when the claim is not in force.
pub fn check<'a>(table: &'a Table, claim: &Claim, now: &Stamp) -> Result<&'a Lease, Refusal> {
    let in_force =
        table.get(claim.lease).filter(|held| held.resource == claim.resource && held.fence == claim.fence);
    let Some(lease) = in_force else {
        let current = table.on(&claim.resource).cloned().collect();
        return Err(Refusal::FencedOut { presented: claim.fence, current });
    };
    let lease = own(lease, &claim.holder)?;
    match lease.standing(now) {
        Standing::Lapsed { ago, .. } | Standing::Open { ago } => {
            Err(Refusal::Expired { lease: Box::new(lease.clone()), ago })
        }
        Standing::Stale { silent } => Err(Refusal::Stale { lease: Box::new(lease.clone()), silent }),
        Standing::Live { .. } | Standing::Beating => Ok(lease),
    }
}

/// The lease, if it is this holder's.
fn own<'a>(lease: &'a Lease, holder: &Holder) -> Result<&'a Lease, Refusal> {
    if lease.holder == *holder {
        Ok(lease)
    } else {
        Err(Refusal::NotHolder { lease: Box::new(lease.clone()) })
    }
}

fn expired(lease: &Lease, now: &Stamp) -> Event {
    Event::Evicted { lease: lease.id, at: *now, cause: Cause::Expired }
}
