//! What stands in the way of a grant, and what may be moved out of it. It is the same for a resource that is taken and
//! for one that is handed over.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::expired;
use crate::{Cause, Event, Holder, Lease, LeaseId, Millis, Mode, Refusal, Resource, Stamp, Standing};

/// A grant that is about to be made.
pub(super) struct Way<'a, 't> {
    /// The leases on what overlaps the resource, in the order of their ids.
    pub(super) near: &'a [&'t Lease],
    pub(super) resource: &'a Resource,
    pub(super) mode: Mode,
    pub(super) holder: &'a Holder,
    /// Leases whose holders were found dead.
    pub(super) dead: &'a [LeaseId],
    /// The lease that ends with the grant and is nobody's hindrance.
    pub(super) leaving: Option<LeaseId>,
}

impl<'t> Way<'_, 't> {
    /// The leases that make room for the grant and how each of them ends, or the one that cannot be moved.
    pub(super) fn clear(&self, now: &Stamp) -> Result<Vec<(&'t Lease, Event)>, Refusal> {
        let mut evictions = Vec::new();
        let mut blockers: Vec<(&Lease, Option<Millis>)> = Vec::new();
        for lease in self.near.iter().copied().filter(|lease| Some(lease.id) != self.leaving) {
            if self.dead.contains(&lease.id) {
                evictions.push((lease, Event::Evicted { lease: lease.id, at: *now, cause: Cause::Dead }));
            } else if lease.holder == *self.holder {
                // What it has on just this is over, or it would have been told so; what overlaps hinders only others.
                if lease.resource == *self.resource {
                    evictions.push((lease, expired(lease, now)));
                }
            } else if !lease.mode.admits(self.mode) {
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
