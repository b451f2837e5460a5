//! What the holder of a lease does with it: renew, beat, give back, hand over.

use alloc::boxed::Box;
use alloc::vec;

use super::{acquire, limits, own};
use crate::{
    Answer, Decision, Event, Fence, Holder, Lease, LeaseId, Millis, Policy, Refusal, Request, Stamp,
    Standing, Table, Term, Transfer, apply,
};

pub(super) fn renew(
    table: &Table,
    policy: &Policy,
    id: LeaseId,
    holder: &Holder,
    ttl: Option<Millis>,
    now: &Stamp,
) -> Result<Decision, Refusal> {
    let lease = in_force(table, id, holder, now)?;
    let Term::Finite { ttl: before, .. } = lease.term else {
        return match ttl {
            None => beat(table, id, holder, now),
            Some(_) => Err(Refusal::NotFinite { lease: Box::new(lease.clone()) }),
        };
    };
    let ttl = ttl.unwrap_or(before);
    acquire::check_request(policy, holder, Request::Finite(ttl), true)?;
    let mut renewed = lease.clone();
    renewed.term = Term::Finite { ttl, from: *now };
    Ok(Decision {
        events: vec![Event::Renewed { lease: id, ttl, at: *now }],
        answer: Answer::Renewed(renewed),
    })
}

pub(super) fn beat(table: &Table, id: LeaseId, holder: &Holder, now: &Stamp) -> Result<Decision, Refusal> {
    let lease = in_force(table, id, holder, now)?;
    let Term::Indefinite { stale_after, .. } = lease.term else {
        return Err(Refusal::NotIndefinite { lease: Box::new(lease.clone()) });
    };
    let mut beaten = lease.clone();
    beaten.term = Term::Indefinite { beat: *now, stale_after };
    Ok(Decision { events: vec![Event::Beaten { lease: id, at: *now }], answer: Answer::Beaten(beaten) })
}

/// Giving back is allowed even past the deadline: it spares the next holder the wait for skew and grace.
pub(super) fn release(table: &Table, id: LeaseId, holder: &Holder, now: &Stamp) -> Result<Decision, Refusal> {
    let lease = own(table.get(id).ok_or(Refusal::NotFound { lease: id })?, holder)?;
    Ok(Decision {
        events: vec![Event::Released { lease: id, at: *now }],
        answer: Answer::Released(lease.clone()),
    })
}

pub(super) fn transfer(
    table: &Table,
    policy: &Policy,
    wanted: &Transfer,
    now: &Stamp,
    next: Fence,
) -> Result<Decision, Refusal> {
    let old = in_force(table, wanted.lease, &wanted.holder, now)?;
    if wanted.to == wanted.holder {
        return Err(Refusal::SameHolder { lease: Box::new(old.clone()) });
    }
    if let Some(theirs) = table.held_by(&old.resource, &wanted.to) {
        return Err(Refusal::SameHolder { lease: Box::new(theirs.clone()) });
    }
    if table.get(wanted.id).is_some() {
        return Err(Refusal::DuplicateId { lease: wanted.id });
    }
    let request = match old.term {
        Term::Finite { ttl, .. } => Request::Finite(ttl),
        Term::Indefinite { .. } => Request::Indefinite,
    };
    acquire::check_request(policy, &wanted.to, request, old.reason.is_some())?;
    let leaves = Event::Released { lease: old.id, at: *now };
    limits::check(table, policy, &wanted.to, request, now, &[leaves])?;

    let lease = Lease {
        id: wanted.id,
        holder: wanted.to.clone(),
        fence: next,
        granted: *now,
        term: acquire::term(policy, request, now),
        skew: policy.skew,
        grace: policy.grace,
        tags: wanted.tags.clone(),
        ..old.clone()
    };
    let event = Event::Transferred { from: old.id, lease: lease.clone(), why: wanted.reason.clone() };
    debug_assert!(apply(&mut table.clone(), &event).is_ok(), "a transfer must be applicable");
    Ok(Decision { events: vec![event], answer: Answer::Transferred(lease) })
}

/// The lease, if it is this holder's and not over.
fn in_force<'a>(table: &'a Table, id: LeaseId, holder: &Holder, now: &Stamp) -> Result<&'a Lease, Refusal> {
    let lease = own(table.get(id).ok_or(Refusal::NotFound { lease: id })?, holder)?;
    match lease.standing(now) {
        Standing::Lapsed { ago, .. } | Standing::Open { ago } => {
            Err(Refusal::Expired { lease: Box::new(lease.clone()), ago })
        }
        Standing::Live { .. } | Standing::Beating | Standing::Stale { .. } => Ok(lease),
    }
}
