//! How much may be held at once. What is over does not count, nor what is about to be ended.

use crate::{Event, Holder, Lease, LimitKind, Policy, Refusal, Request, Stamp, Table};

pub(super) fn check(
    table: &Table,
    policy: &Policy,
    holder: &Holder,
    request: Request,
    now: &Stamp,
    ending: &[Event],
) -> Result<(), Refusal> {
    let ends = |lease: &Lease| {
        ending.iter().any(|event| {
            matches!(event, Event::Evicted { lease: id, .. } | Event::Released { lease: id, .. } if *id == lease.id)
        })
    };
    let mut held = Held::default();
    for lease in table.iter().filter(|lease| !lease.standing(now).is_over() && !ends(lease)) {
        held.count(lease, holder);
    }
    let limits = &policy.limits;
    room(held.by_agent, limits.leases_per_agent, LimitKind::LeasesPerAgent)?;
    room(held.in_all, limits.leases_per_table, LimitKind::LeasesPerTable)?;
    if request == Request::Indefinite {
        room(held.indefinite_by_agent, limits.indefinite_per_agent, LimitKind::IndefinitePerAgent)?;
        room(held.indefinite_in_all, limits.indefinite_per_table, LimitKind::IndefinitePerTable)?;
    }
    Ok(())
}

#[derive(Default)]
struct Held {
    in_all: u32,
    by_agent: u32,
    indefinite_in_all: u32,
    indefinite_by_agent: u32,
}

impl Held {
    fn count(&mut self, lease: &Lease, holder: &Holder) {
        let same_agent = u32::from(lease.holder.agent == holder.agent);
        self.in_all += 1;
        self.by_agent += same_agent;
        if lease.is_indefinite() {
            self.indefinite_in_all += 1;
            self.indefinite_by_agent += same_agent;
        }
    }
}

fn room(held: u32, limit: u32, kind: LimitKind) -> Result<(), Refusal> {
    if held < limit { Ok(()) } else { Err(Refusal::LimitReached { kind, limit }) }
}
