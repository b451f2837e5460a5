//! How much may be held at once. What is over does not count, nor what is about to be ended.

use alloc::collections::BTreeSet;

use crate::{Holder, Lease, LeaseId, LimitKind, Limits, Policy, Refusal, Request, Stamp, Table};

pub(super) fn check(
    table: &Table,
    policy: &Policy,
    holder: &Holder,
    request: Request,
    now: &Stamp,
    ending: &BTreeSet<LeaseId>,
) -> Result<(), Refusal> {
    let held = || table.iter().filter(|lease| !lease.standing(now).is_over() && !ending.contains(&lease.id));
    for kind in kinds(request) {
        let limit = value(&policy.limits, *kind);
        // Counting looks at the whole table: where there is no limit, nobody pays for it.
        if limit < u32::MAX && held().filter(|lease| counts(*kind, lease, holder)).count() >= limit as usize {
            return Err(Refusal::LimitReached { kind: *kind, limit });
        }
    }
    Ok(())
}

const fn kinds(request: Request) -> &'static [LimitKind] {
    use LimitKind::{IndefinitePerAgent, IndefinitePerTable, LeasesPerAgent, LeasesPerTable};
    match request {
        Request::Finite(_) => &[LeasesPerAgent, LeasesPerTable],
        Request::Indefinite => &[LeasesPerAgent, LeasesPerTable, IndefinitePerAgent, IndefinitePerTable],
    }
}

const fn value(limits: &Limits, kind: LimitKind) -> u32 {
    match kind {
        LimitKind::LeasesPerAgent => limits.leases_per_agent,
        LimitKind::LeasesPerTable => limits.leases_per_table,
        LimitKind::IndefinitePerAgent => limits.indefinite_per_agent,
        LimitKind::IndefinitePerTable => limits.indefinite_per_table,
    }
}

fn counts(kind: LimitKind, lease: &Lease, holder: &Holder) -> bool {
    match kind {
        LimitKind::LeasesPerAgent => lease.holder.agent == holder.agent,
        LimitKind::LeasesPerTable => true,
        LimitKind::IndefinitePerAgent => lease.is_indefinite() && lease.holder.agent == holder.agent,
        LimitKind::IndefinitePerTable => lease.is_indefinite(),
    }
}
