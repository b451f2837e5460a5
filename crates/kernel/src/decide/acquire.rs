//! Taking a resource: what stands in the way, what may be moved out of it, and what is granted then.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{expired, limits};
use crate::{
    Acquire, Again, Answer, Cause, Decision, Event, Fence, Holder, Lease, Millis, Policy, Refusal, Request,
    Stamp, Standing, Table, Term,
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
    check_request(policy, &wanted.holder, wanted.request, wanted.reason.is_some())?;
    if table.get(wanted.id).is_some() {
        return Err(Refusal::DuplicateId { lease: wanted.id });
    }
    let mut events = clear_the_way(table, wanted, now)?;
    limits::check(table, policy, &wanted.holder, wanted.request, now, &events)?;

    let fence = next.plus(events.len() as u64).ok_or(Refusal::FencesExhausted)?;
    let lease = Lease {
        id: wanted.id,
        resource: wanted.resource.clone(),
        holder: wanted.holder.clone(),
        mode: wanted.mode,
        fence,
        granted: *now,
        term: term(policy, wanted.request, now),
        skew: policy.skew,
        grace: policy.grace,
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

/// Whether this holder may hold for that long.
pub(super) fn check_request(
    policy: &Policy,
    holder: &Holder,
    request: Request,
    has_reason: bool,
) -> Result<(), Refusal> {
    let rule = policy.rule_for(holder);
    match request {
        Request::Finite(asked) if !rule.ttl.contains(asked) => {
            Err(Refusal::TtlOutOfRange { asked, range: rule.ttl })
        }
        Request::Indefinite if !rule.indefinite => Err(Refusal::IndefiniteForbidden),
        Request::Indefinite if !has_reason => Err(Refusal::ReasonRequired),
        Request::Finite(_) | Request::Indefinite => Ok(()),
    }
}

pub(super) fn term(policy: &Policy, request: Request, now: &Stamp) -> Term {
    match request {
        Request::Finite(ttl) => Term::Finite { ttl, from: *now },
        Request::Indefinite => Term::Indefinite { beat: *now, stale_after: policy.stale_after },
    }
}

/// The evictions that make room for the grant, or the lease that cannot be moved.
fn clear_the_way(table: &Table, wanted: &Acquire, now: &Stamp) -> Result<Vec<Event>, Refusal> {
    let mut evictions = Vec::new();
    let mut blockers: Vec<(&Lease, Option<Millis>)> = Vec::new();
    for lease in table.on(&wanted.resource) {
        if is_dead(wanted, lease) {
            evictions.push(Event::Evicted { lease: lease.id, at: *now, cause: Cause::Dead });
        } else if lease.holder == wanted.holder {
            evictions.push(expired(lease, now));
        } else if !lease.mode.admits(wanted.mode) {
            match retry_after(lease, now)? {
                Wait::None => evictions.push(expired(lease, now)),
                Wait::For(span) => blockers.push((lease, Some(span))),
                Wait::Forever => blockers.push((lease, None)),
            }
        }
    }
    let longest = blockers.iter().max_by_key(|(_, wait)| wait.unwrap_or(Millis::new(u64::MAX)));
    match longest {
        None => Ok(evictions),
        Some((lease, retry_after)) => Err(Refusal::Held {
            blocker: Box::new((*lease).clone()),
            others: blockers.len() - 1,
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
fn retry_after(lease: &Lease, now: &Stamp) -> Result<Wait, Refusal> {
    match lease.standing(now) {
        Standing::Beating | Standing::Stale { .. } => Ok(Wait::Forever),
        Standing::Live { .. } if lease.ahead_of(now).is_some() => Err(Refusal::ClockSkew {
            blocker: Box::new(lease.clone()),
            ahead: lease.ahead_of(now).unwrap_or_default(),
        }),
        Standing::Live { left } => Ok(Wait::For(left.plus(lease.skew).plus(lease.grace))),
        Standing::Lapsed { takeover_in, .. } => Ok(Wait::For(takeover_in)),
        Standing::Open { .. } => Ok(Wait::None),
    }
}
