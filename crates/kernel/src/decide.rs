//! What a command causes, or why it is refused. The only place where anything about a lease is decided.

mod acquire;
mod grant;
mod keep;
mod limits;
mod transfer;
mod way;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::{
    Answer, Cause, Claim, Command, Decision, Event, Fence, Holder, Lease, LeaseId, Mode, Policy, Refusal,
    Stamp, Standing, Table, Text,
};

/// Decides `command` on `table` at `now`.
///
/// `next` is the position of the medium's counter that the first event will have; event *n* has
/// `next + n`, and a grant's fence is its own position. Whatever is decided leaves the counter a position
/// for the next event.
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
    let decision = match command {
        Command::Acquire(acquire) => acquire::acquire(table, policy, acquire, now, next),
        Command::Renew { lease, holder, ttl } => keep::renew(table, policy, *lease, holder, *ttl, now),
        Command::Beat { lease, holder } => keep::beat(table, *lease, holder, now),
        Command::Release { lease, holder } => keep::release(table, *lease, holder, now),
        Command::Transfer(transfer) => transfer::transfer(table, policy, transfer, now, next),
        Command::Evict { lease, by, reason } => evict(table, *lease, by, reason, now),
        Command::Sweep => Ok(sweep(table, now)),
        Command::Check(claim) => check(table, claim, now)
            .map(|lease| Decision { events: Vec::new(), answer: Answer::Valid(lease.clone()) }),
    }?;
    match next.plus(decision.events.len() as u64) {
        Some(_) => Ok(decision),
        None => Err(Refusal::FencesExhausted),
    }
}

fn evict(table: &Table, id: LeaseId, by: &Holder, reason: &Text, now: &Stamp) -> Result<Decision, Refusal> {
    let lease = known(table, id)?;
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
    let granted =
        table.get(claim.lease).filter(|held| held.resource == claim.resource && held.fence == claim.fence);
    if granted.is_none() {
        let held = |lease: &&Lease| !lease.standing(now).is_over();
        let current = table.overlapping(&claim.resource).filter(held).cloned().collect();
        return Err(Refusal::FencedOut { resource: claim.resource.clone(), presented: claim.fence, current });
    }
    let lease = in_force(table, claim.lease, &claim.holder, now)?;
    let shown = || Box::new(lease.clone());
    match lease.standing(now) {
        Standing::Stale { silent } => Err(Refusal::Stale { lease: shown(), silent }),
        // Many hold it at once, so none of them may write.
        _ if lease.mode == Mode::Shared => Err(Refusal::HeldShared { lease: shown() }),
        _ => Ok(lease),
    }
}

/// The lease with this id.
fn known(table: &Table, id: LeaseId) -> Result<&Lease, Refusal> {
    table.get(id).ok_or(Refusal::NotFound { lease: id })
}

/// The lease, if it is this holder's.
fn own<'a>(table: &'a Table, id: LeaseId, holder: &Holder) -> Result<&'a Lease, Refusal> {
    let lease = known(table, id)?;
    if lease.holder == *holder {
        Ok(lease)
    } else {
        Err(Refusal::NotHolder { lease: Box::new(lease.clone()) })
    }
}

/// The lease, if it is this holder's and not over.
fn in_force<'a>(table: &'a Table, id: LeaseId, holder: &Holder, now: &Stamp) -> Result<&'a Lease, Refusal> {
    let lease = own(table, id, holder)?;
    match lease.standing(now) {
        Standing::Lapsed { ago, .. } | Standing::Open { ago } => {
            Err(Refusal::Expired { lease: Box::new(lease.clone()), ago })
        }
        Standing::Live { .. } | Standing::Beating | Standing::Stale { .. } => Ok(lease),
    }
}

fn expired(lease: &Lease, now: &Stamp) -> Event {
    Event::Evicted { lease: lease.id, at: *now, cause: Cause::Expired }
}
