//! Taking a resource: whether the caller has it already, and what is granted once the way is clear.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::way::Way;
use super::{grant, limits};
use crate::{Acquire, Again, Answer, Decision, Event, Fence, Lease, Millis, Policy, Refusal, Stamp, Table};

pub(super) fn acquire(
    table: &Table,
    policy: &Policy,
    wanted: &Acquire,
    now: &Stamp,
    next: Fence,
) -> Result<Decision, Refusal> {
    let near: Vec<&Lease> = table.overlapping(&wanted.resource).collect();
    let is_mine = |lease: &&Lease| lease.resource == wanted.resource && lease.holder == wanted.holder;
    let mine = near.iter().copied().find(is_mine);
    if let Some(mine) = mine.filter(|lease| !lease.standing(now).is_over() && !is_dead(wanted, lease)) {
        return again(policy, wanted, mine);
    }
    let term = grant::term(policy, &wanted.holder, wanted.request, wanted.reason.is_some(), now)?;
    if table.get(wanted.id).is_some() {
        return Err(Refusal::DuplicateId { lease: wanted.id });
    }
    let way = Way {
        near: &near,
        resource: &wanted.resource,
        mode: wanted.mode,
        holder: &wanted.holder,
        dead: &wanted.dead,
        leaving: None,
    };
    let out_of_the_way = way.clear(now)?;
    let ending = out_of_the_way.iter().map(|(lease, _)| lease.id).collect();
    limits::check(table, policy, &wanted.holder, wanted.request, now, &ending)?;

    let mut events: Vec<Event> = out_of_the_way.into_iter().map(|(_, eviction)| eviction).collect();
    let lease = Lease {
        id: wanted.id,
        resource: wanted.resource.clone(),
        holder: wanted.holder.clone(),
        mode: wanted.mode,
        fence: grant::fence(&near, next, events.len())?,
        granted: *now,
        term,
        skew: policy.skew.min(Millis::LONGEST),
        grace: policy.grace.min(Millis::LONGEST),
        reason: wanted.reason.clone(),
        tags: wanted.tags.clone(),
    };
    events.push(Event::Granted { lease: lease.clone() });
    Ok(Decision { events, answer: Answer::Granted(lease) })
}

/// What a holder gets that holds the resource already.
fn again(policy: &Policy, wanted: &Acquire, mine: &Lease) -> Result<Decision, Refusal> {
    let lease = Box::new(mine.clone());
    if !mine.mode.covers(wanted.mode) {
        return Err(Refusal::HeldShared { lease });
    }
    match policy.again {
        Again::Return => Ok(Decision { events: Vec::new(), answer: Answer::AlreadyHeld(mine.clone()) }),
        Again::Refuse => Err(Refusal::AlreadyHeld { lease }),
    }
}

fn is_dead(wanted: &Acquire, lease: &Lease) -> bool {
    wanted.dead.contains(&lease.id)
}
