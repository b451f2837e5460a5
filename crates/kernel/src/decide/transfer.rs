//! Handing a lease over: one end and one grant in a single step, so that nobody can come in between.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{expired, grant, in_force, limits};
use crate::{
    Answer, Decision, Event, Fence, Lease, LeaseId, Millis, Policy, Refusal, Request, Stamp, Table, Term,
    Transfer,
};

pub(super) fn transfer(
    table: &Table,
    policy: &Policy,
    wanted: &Transfer,
    now: &Stamp,
    next: Fence,
) -> Result<Decision, Refusal> {
    let old = in_force(table, wanted.lease, &wanted.holder, now)?;
    let theirs = receivers(table, old, wanted, now)?;
    if table.get(wanted.id).is_some() {
        return Err(Refusal::DuplicateId { lease: wanted.id });
    }
    let request = match old.term {
        Term::Finite { ttl, .. } => Request::Finite(ttl),
        Term::Indefinite { .. } => Request::Indefinite,
    };
    let term = grant::term(policy, &wanted.to, request, old.reason.is_some(), now)?;
    let ending: BTreeSet<LeaseId> = [old.id].into_iter().chain(theirs.map(|lease| lease.id)).collect();
    limits::check(table, policy, &wanted.to, request, now, &ending)?;

    let mut events: Vec<Event> = theirs.map(|lease| expired(lease, now)).into_iter().collect();
    let lease = Lease {
        id: wanted.id,
        holder: wanted.to.clone(),
        fence: grant::fence(table, &old.resource, next, events.len())?,
        granted: *now,
        term,
        skew: policy.skew.min(Millis::LONGEST),
        grace: policy.grace.min(Millis::LONGEST),
        tags: wanted.tags.clone(),
        ..old.clone()
    };
    events.push(Event::Transferred { from: old.id, lease: lease.clone(), why: wanted.reason.clone() });
    Ok(Decision { events, answer: Answer::Transferred(lease) })
}

/// What the receiver has on the resource: only what is over may be there, and it ends with the hand-over.
fn receivers<'a>(
    table: &'a Table,
    old: &Lease,
    wanted: &Transfer,
    now: &Stamp,
) -> Result<Option<&'a Lease>, Refusal> {
    match table.held_by(&old.resource, &wanted.to) {
        Some(lease) if !lease.standing(now).is_over() => {
            Err(Refusal::SameHolder { lease: Box::new(lease.clone()) })
        }
        theirs => Ok(theirs),
    }
}
