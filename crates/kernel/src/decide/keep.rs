//! What the holder of a lease does with it: renew, beat, give back.

use alloc::boxed::Box;
use alloc::vec;

use super::{grant, in_force, own};
use crate::{
    Answer, Decision, Event, Holder, Lease, LeaseId, Millis, Policy, Refusal, Request, Stamp, Table, Term,
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
    let term = grant::term(policy, holder, Request::Finite(ttl), false, now)?;
    Ok(Decision {
        events: vec![Event::Renewed { lease: id, ttl, at: *now }],
        answer: Answer::Renewed(Lease { term, ..lease.clone() }),
    })
}

pub(super) fn beat(table: &Table, id: LeaseId, holder: &Holder, now: &Stamp) -> Result<Decision, Refusal> {
    let lease = in_force(table, id, holder, now)?;
    let Term::Indefinite { stale_after, .. } = lease.term else {
        return Err(Refusal::NotIndefinite { lease: Box::new(lease.clone()) });
    };
    let term = Term::Indefinite { beat: *now, stale_after };
    Ok(Decision {
        events: vec![Event::Beaten { lease: id, at: *now }],
        answer: Answer::Beaten(Lease { term, ..lease.clone() }),
    })
}

/// Giving back is allowed even past the deadline: it spares the next holder the wait for skew and grace.
pub(super) fn release(table: &Table, id: LeaseId, holder: &Holder, now: &Stamp) -> Result<Decision, Refusal> {
    let lease = own(table, id, holder)?;
    Ok(Decision {
        events: vec![Event::Released { lease: id, at: *now }],
        answer: Answer::Released(lease.clone()),
    })
}
