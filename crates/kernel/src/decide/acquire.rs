//! Taking a resource: what stands in the way, what may be moved out of it, and what is granted then.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{expired, grant, limits};
use crate::{
    Acquire, Again, Answer, Cause, Decision, Event, Fence, Lease, Millis, Policy, Refusal, Stamp, Standing,
    Table,
};

pub(super) fn acquire(
    table: &Table,
    policy: &Policy,
    wanted: &Acquire,
    now: &Stamp,
    next: Fence,
) -> Result<Decision, Refusal> {
    let mine = table.held_by(&wanted.resource, &wanted.holder);
    if let Some(mine) = mine.filter(|lease| !lease.standing(now).is_over() && !is_dead(wanted, lease)) {
        return again(policy, wanted, mine);
    }
    let term = grant::term(policy, &wanted.holder, wanted.request, wanted.reason.is_some(), now)?;
    if table.get(wanted.id).is_some() {
        return Err(Refusal::DuplicateId { lease: wanted.id });
    }
    let out_of_the_way = clear_the_way(table, wanted, now)?;
    let ending = out_of_the_way.iter().map(|(lease, _)| lease.id).collect();
    limits::check(table, policy, &wanted.holder, wanted.request, now, &ending)?;

    let mut events: Vec<Event> = out_of_the_way.into_iter().map(|(_, eviction)| eviction).collect();
    let lease = Lease {
        id: wanted.id,
        resource: wanted.resource.clone(),
        holder: wanted.holder.clone(),
        mode: wanted.mode,
        fence: grant::fence(table, &wanted.resource, next, events.len())?,
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

/// The leases that make room for the grant and how each of them ends, or the one that cannot be moved.
fn clear_the_way<'a>(
    table: &'a Table,
    wanted: &Acquire,
    now: &Stamp,
) -> Result<Vec<(&'a Lease, Event)>, Refusal> {
    let mut evictions = Vec::new();
    let mut blockers: Vec<(&Lease, Option<Millis>)> = Vec::new();
    for lease in table.on(&wanted.resource) {
        if is_dead(wanted, lease) {
            evictions.push((lease, Event::Evicted { lease: lease.id, at: *now, cause: Cause::Dead }));
        } else if lease.holder == wanted.holder {
            evictions.push((lease, expired(lease, now)));
        } else if !lease.mode.admits(wanted.mode) {
            match wait(lease, now)? {
                Wait::None => evictions.push((lease, expired(lease, now))),
                Wait::For(span) => blockers.push((lease, Some(span))),
                Wait::Forever => blockers.push((lease, None)),
            }
        }
    }
    // An indefinite lease stands in the way longer than every finite one.
    let longest = blockers.iter().max_by_key(|(_, wait)| (wait.is_none(), *wait));
    match longest {
        None => Ok(evictions),
        Some((lease, retry_after)) => Err(Refusal::Held {
            blocker: Box::new((*lease).clone()),
            others: blockers.len().saturating_sub(1),
            retry_after: *retry_after,
        }),
    }
}

fn is_dead(wanted: &Acquire, lease: &Lease) -> bool {
    wanted.dead.contains(&lease.id)
}

enum Wait {
    None,
    For(Millis),
    Forever,
}

/// How long another holder's lease stands in the way.
fn wait(lease: &Lease, now: &Stamp) -> Result<Wait, Refusal> {
    match lease.standing(now) {
        Standing::Beating | Standing::Stale { .. } => Ok(Wait::Forever),
        Standing::Live { left } => match lease.ahead_of(now) {
            Some(ahead) => Err(Refusal::ClockSkew { blocker: Box::new(lease.clone()), ahead }),
            None => Ok(Wait::For(left.plus(lease.skew).plus(lease.grace))),
        },
        Standing::Lapsed { takeover_in, .. } => Ok(Wait::For(takeover_in)),
        Standing::Open { .. } => Ok(Wait::None),
    }
}
