//! Handing a lease over: one end and one grant in a single step, so that nobody can come in between.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::way::Way;
use super::{grant, in_force, limits};
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
    receiver_has_none(table, old, wanted, now)?;
    if table.get(wanted.id).is_some() {
        return Err(Refusal::DuplicateId { lease: wanted.id });
    }
    let request = match old.term {
        Term::Finite { ttl, .. } => Request::Finite(ttl),
        Term::Indefinite { .. } => Request::Indefinite,
    };
    let term = grant::term(policy, &wanted.to, request, old.reason.is_some(), now)?;
    let near: Vec<&Lease> = table.overlapping(&old.resource).collect();
    let way = Way {
        near: &near,
        resource: &old.resource,
        mode: old.mode,
        holder: &wanted.to,
        dead: &[],
        leaving: Some(old.id),
    };
    let out_of_the_way = way.clear(now)?;
    let ended = out_of_the_way.iter().map(|(lease, _)| lease.id);
    let ending: BTreeSet<LeaseId> = [old.id].into_iter().chain(ended).collect();
    limits::check(table, policy, &wanted.to, request, now, &ending)?;

    let mut events: Vec<Event> = out_of_the_way.into_iter().map(|(_, eviction)| eviction).collect();
    let lease = Lease {
        id: wanted.id,
        holder: wanted.to.clone(),
        fence: grant::fence(&near, next, events.len())?,
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

/// Nobody is handed what it holds already. What it held and is over ends with the hand-over.
fn receiver_has_none(table: &Table, old: &Lease, wanted: &Transfer, now: &Stamp) -> Result<(), Refusal> {
    match table.held_by(&old.resource, &wanted.to) {
        Some(lease) if !lease.standing(now).is_over() => {
            Err(Refusal::SameHolder { lease: Box::new(lease.clone()) })
        }
        _ => Ok(()),
    }
}
