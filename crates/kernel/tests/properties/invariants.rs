//! What must be true of every step, whoever takes it. Each of these is stated on its own terms and never
//! asks the kernel what it thinks.

use holdfast_kernel::{
    Again, Answer, Cause, Command, Decision, Elapsed, Event, Fence, Holder, Lease, LeaseId, LimitKind,
    Limits, Millis, Mode, Policy, Refusal, Resource, Stamp, Standing, Table, Term, apply, decide,
};

use crate::support::make::ms;
use crate::support::paths::matches;
use crate::world::Taken;

/// All of them.
pub(crate) fn all(taken: &Taken) {
    of_table(&taken.after, &taken.policy, &taken.now);
    of_step(taken);
}

/// Those that only look at a table at a moment.
pub(crate) fn of_table(table: &Table, policy: &Policy, now: &Stamp) {
    one_writer(table);
    a_valid_claim_is_the_only_one(table, policy, now);
    standing_agrees_with_the_deadline(table, now);
}

/// Those that look at what a step did.
pub(crate) fn of_step(taken: &Taken) {
    only_the_holder_acts(taken);
    fences_are_positions_and_rise(taken);
    nothing_goes_on_after_its_end(taken);
    nobody_takes_over_too_early(taken);
    retry_after_is_exact(taken);
    limits_are_kept(taken);
    answers_say_what_the_table_holds(taken);
    every_prefix_can_happen(taken);
    the_same_again_decides_the_same(taken);
    terms_are_the_leases_own(taken);
    asking_again_changes_nothing(taken);
    renewing_an_indefinite_lease_is_a_beat_or_nothing(taken);
}

fn events(taken: &Taken) -> &[Event] {
    taken.outcome.as_ref().map_or(&[], |decision| &decision.events)
}

/// Where only one may write there is one, and nobody beside it; nobody holds one thing twice.
pub(crate) fn one_writer(table: &Table) {
    for (at, one) in table.iter().enumerate() {
        for other in table.iter().skip(at + 1).filter(|other| meet(&one.resource, &other.resource)) {
            let shared = (one.mode, other.mode) == (Mode::Shared, Mode::Shared);
            if one.holder == other.holder {
                assert_ne!(one.resource, other.resource, "twice: {one:?}, {other:?}");
            } else {
                assert!(shared, "not alone: {one:?}, {other:?}");
            }
        }
    }
}

/// Whether two resources have something in common, by trying what there is.
pub(crate) fn meet(one: &Resource, other: &Resource) -> bool {
    match (one, other) {
        (Resource::Name(one), Resource::Name(other)) => one == other,
        (Resource::Pattern(one), Resource::Pattern(other)) => {
            let both = |path: &&str| matches(one.as_str(), path) && matches(other.as_str(), path);
            ["a", "b", "c", "a/a", "a/b", "c/a", "a/a/a", "c/a/a"].iter().any(both)
        }
        _ => false,
    }
}

pub(crate) fn only_the_holder_acts(taken: &Taken) {
    let (id, by) = match &taken.command {
        Command::Renew { lease, holder, .. }
        | Command::Beat { lease, holder }
        | Command::Release { lease, holder } => (*lease, holder),
        Command::Transfer(transfer) => (transfer.lease, &transfer.holder),
        Command::Check(claim) => (claim.lease, &claim.holder),
        Command::Acquire(_) | Command::Evict { .. } | Command::Sweep => return,
    };
    let Some(lease) = taken.before.get(id) else {
        assert!(taken.outcome.is_err(), "nobody holds what is not there");
        return;
    };
    if lease.holder != *by {
        assert!(matches!(taken.outcome, Err(Refusal::NotHolder { .. } | Refusal::FencedOut { .. })));
    }
}

pub(crate) fn fences_are_positions_and_rise(taken: &Taken) {
    for (n, event) in (0..).zip(events(taken)) {
        if let Event::Granted { lease } | Event::Transferred { lease, .. } = event {
            assert_eq!(Some(lease.fence), taken.next.plus(n));
            assert!(taken.before.iter().all(|before| before.fence < lease.fence));
        }
    }
}

/// How long ago the lease's own deadline was; none if it is still to come or there is none.
fn over_for(lease: &Lease, now: &Stamp) -> Option<Millis> {
    match now.since(&lease.deadline()?) {
        Elapsed::Forward(ago) => Some(ago),
        Elapsed::Backward(_) => None,
    }
}

pub(crate) fn nothing_goes_on_after_its_end(taken: &Taken) {
    let goes_on = match &taken.outcome {
        Ok(Decision { answer: Answer::Renewed(lease) | Answer::Beaten(lease), .. }) => lease.id,
        Ok(Decision { answer: Answer::Valid(lease) | Answer::AlreadyHeld(lease), .. }) => lease.id,
        Ok(Decision { answer: Answer::Transferred(_), .. }) => match &taken.command {
            Command::Transfer(transfer) => transfer.lease,
            other => panic!("{other:?} transfers nothing"),
        },
        _ => return,
    };
    assert_eq!(over_for(taken.before.get(goes_on).unwrap(), &taken.now), None);
}

/// Another's lease ends as expired only after deadline, skew and grace; an indefinite one never does.
pub(crate) fn nobody_takes_over_too_early(taken: &Taken) {
    let by = match &taken.command {
        Command::Acquire(acquire) => Some(&acquire.holder),
        Command::Transfer(transfer) => Some(&transfer.to),
        _ => None,
    };
    for event in events(taken) {
        let Event::Evicted { lease, cause, .. } = event else { continue };
        let lease = taken.before.get(*lease).unwrap();
        let over = over_for(lease, &taken.now);
        match cause {
            Cause::Expired if by == Some(&lease.holder) => assert!(over.is_some()),
            Cause::Expired => assert!(over.unwrap() >= lease.skew.plus(lease.grace)),
            Cause::Dead => {
                assert!(matches!(&taken.command, Command::Acquire(a) if a.dead.contains(&lease.id)))
            }
            Cause::Forced { .. } => assert!(matches!(taken.command, Command::Evict { .. })),
        }
    }
}

/// Asking again when the refusal says is not refused as held; a millisecond earlier it is.
pub(crate) fn retry_after_is_exact(taken: &Taken) {
    let Err(Refusal::Held { retry_after, .. }) = &taken.outcome else { return };
    // What is to be handed over may be over by then.
    let handed_over = matches!(taken.command, Command::Transfer(_));
    let ask = |later: Millis| {
        let policy = Policy { limits: Limits::NONE, ..taken.policy.clone() };
        decide(&taken.before, &policy, &taken.command, &taken.now.plus(later), taken.next)
    };
    match retry_after {
        None if handed_over => {}
        None => assert!(matches!(ask(ms(1_000_000_000)), Err(Refusal::Held { retry_after: None, .. }))),
        Some(wait) if handed_over => assert!(!matches!(ask(*wait), Err(Refusal::Held { .. }))),
        Some(wait) => {
            assert!(
                matches!(ask(*wait), Ok(Decision { answer: Answer::Granted(_), .. })),
                "{:?}",
                ask(*wait)
            );
            assert!(matches!(ask(ms(wait.get() - 1)), Err(Refusal::Held { .. })));
        }
    }
}

pub(crate) fn standing_agrees_with_the_deadline(table: &Table, now: &Stamp) {
    for lease in table.iter() {
        let standing = lease.standing(now);
        match (&lease.term, over_for(lease, now)) {
            (Term::Indefinite { beat, stale_after }, None) => {
                let silent = now.since(beat).forward();
                let stale = Standing::Stale { silent };
                assert_eq!(standing, if silent >= *stale_after { stale } else { Standing::Beating });
            }
            (Term::Finite { .. }, None) => {
                let left = now.since(&lease.deadline().unwrap()).backward();
                assert_eq!(standing, Standing::Live { left });
                assert!(left > Millis::ZERO);
            }
            (Term::Finite { .. }, Some(ago)) if ago >= lease.skew.plus(lease.grace) => {
                assert_eq!(standing, Standing::Open { ago });
            }
            (Term::Finite { .. }, Some(ago)) => {
                let takeover_in = ms(lease.skew.plus(lease.grace).get() - ago.get());
                assert_eq!(standing, Standing::Lapsed { ago, takeover_in });
            }
            (Term::Indefinite { .. }, Some(_)) => panic!("{lease:?} has no deadline"),
        }
    }
}

/// Whether a lease counts for a limit of this holder.
fn counts(kind: LimitKind, held: &Lease, holder: &Holder) -> bool {
    let (same_agent, indefinite) = (held.holder.agent == holder.agent, held.deadline().is_none());
    match kind {
        LimitKind::LeasesPerAgent => same_agent,
        LimitKind::LeasesPerTable => true,
        LimitKind::IndefinitePerAgent => same_agent && indefinite,
        LimitKind::IndefinitePerTable => indefinite,
    }
}

/// After a grant no limit is passed; a refusal for a limit is true.
pub(crate) fn limits_are_kept(taken: &Taken) {
    let held = |table: &Table, kind, holder: &Holder, ends: &dyn Fn(&Lease) -> bool| {
        let held = table.iter().filter(|held| over_for(held, &taken.now).is_none() && !ends(held));
        u32::try_from(held.filter(|held| counts(kind, held, holder)).count()).unwrap()
    };
    match (&taken.outcome, &taken.command) {
        (Ok(Decision { answer: Answer::Granted(lease) | Answer::Transferred(lease), .. }), _) => {
            let Limits { leases_per_agent, leases_per_table, .. } = taken.policy.limits;
            let after = |kind| held(&taken.after, kind, &lease.holder, &|_| false);
            assert!(after(LimitKind::LeasesPerAgent) <= leases_per_agent);
            assert!(after(LimitKind::LeasesPerTable) <= leases_per_table);
            if lease.deadline().is_none() {
                let Limits { indefinite_per_agent, indefinite_per_table, .. } = taken.policy.limits;
                assert!(after(LimitKind::IndefinitePerAgent) <= indefinite_per_agent);
                assert!(after(LimitKind::IndefinitePerTable) <= indefinite_per_table);
            }
        }
        (Err(Refusal::LimitReached { kind, limit }), Command::Acquire(wanted)) => {
            let dies =
                |held: &Lease| meet(&held.resource, &wanted.resource) && wanted.dead.contains(&held.id);
            assert!(held(&taken.before, *kind, &wanted.holder, &dies) >= *limit);
        }
        (Err(Refusal::LimitReached { kind, limit }), Command::Transfer(wanted)) => {
            let leaves = |held: &Lease| held.id == wanted.lease;
            assert!(held(&taken.before, *kind, &wanted.to, &leaves) >= *limit);
        }
        _ => {}
    }
}

/// Of all that could be claimed on a resource, at most one claim is good: that is the writer.
pub(crate) fn a_valid_claim_is_the_only_one(table: &Table, policy: &Policy, now: &Stamp) {
    let mut writers: Vec<&Lease> = Vec::new();
    for lease in table.iter() {
        let claim = lease.claim();
        if decide(table, policy, &Command::Check(claim), now, Fence::LAST).is_ok() {
            assert_eq!(lease.mode, Mode::Exclusive);
            let also =
                |other: &&&Lease| meet(&other.resource, &lease.resource) && other.holder != lease.holder;
            assert_eq!(writers.iter().find(also), None, "two writers: {lease:?}");
            writers.push(lease);
        }
    }
}

pub(crate) fn answers_say_what_the_table_holds(taken: &Taken) {
    let Ok(Decision { answer, events }) = &taken.outcome else { return };
    let there = |table: &Table, lease: &Lease| table.get(lease.id) == Some(lease);
    let gone = |id: LeaseId| taken.after.get(id).is_none();
    match answer {
        Answer::Granted(lease)
        | Answer::Renewed(lease)
        | Answer::Beaten(lease)
        | Answer::Transferred(lease) => {
            assert!(there(&taken.after, lease));
            assert!(!events.is_empty());
        }
        Answer::AlreadyHeld(lease) | Answer::Valid(lease) => {
            assert!(there(&taken.before, lease));
            assert_eq!(taken.before, taken.after);
        }
        Answer::Released(lease) | Answer::Evicted(lease) => {
            assert!(there(&taken.before, lease) && gone(lease.id));
        }
        Answer::Swept(leases) => {
            assert!(leases.iter().all(|lease| there(&taken.before, lease) && gone(lease.id)));
            assert_eq!(taken.after.len() + leases.len(), taken.before.len());
            let open = |lease: &Lease| {
                over_for(lease, &taken.now).is_some_and(|ago| ago >= lease.skew.plus(lease.grace))
            };
            assert!(!taken.after.iter().any(open), "a sweep leaves nothing that is open");
        }
    }
}

/// A medium may be cut off after any event: each prefix is a table of its own that can be kept and restored.
pub(crate) fn every_prefix_can_happen(taken: &Taken) {
    let mut table = taken.before.clone();
    for event in events(taken) {
        apply(&mut table, event).unwrap();
        one_writer(&table);
        assert_eq!(Table::restore(table.iter().cloned()).as_ref(), Ok(&table));
        assert_eq!(event.at(), &taken.now);
    }
    assert_eq!(table, taken.after);
    assert!(taken.outcome.is_ok() || table == taken.before, "a refusal changes nothing");
}

pub(crate) fn the_same_again_decides_the_same(taken: &Taken) {
    let again = decide(&taken.before, &taken.policy, &taken.command, &taken.now, taken.next);
    assert_eq!(again, taken.outcome);
}

/// What a lease is worth does not depend on today's skew, grace and staleness.
pub(crate) fn terms_are_the_leases_own(taken: &Taken) {
    let far = Policy { skew: ms(99_999), grace: ms(99_999), stale_after: ms(99_999), ..taken.policy.clone() };
    let other = decide(&taken.before, &far, &taken.command, &taken.now, taken.next);
    match (&taken.outcome, &other) {
        (Ok(one), Ok(two)) => {
            let ends = |decision: &Decision| {
                let ends = decision.events.iter().filter(|event| matches!(event, Event::Evicted { .. }));
                ends.cloned().collect::<Vec<_>>()
            };
            assert_eq!(ends(one), ends(two));
        }
        (one, two) => assert_eq!(one.as_ref().err(), two.as_ref().err()),
    }
}

/// Who holds it, and neither too late nor dead, has it or is refused, as the policy and the modes say.
pub(crate) fn asking_again_changes_nothing(taken: &Taken) {
    let Command::Acquire(wanted) = &taken.command else { return };
    let mine = taken.before.held_by(&wanted.resource, &wanted.holder).cloned();
    let held = |lease: &Lease| over_for(lease, &taken.now).is_none() && !wanted.dead.contains(&lease.id);
    let Some(mine) = mine.filter(held) else { return };
    let enough = mine.mode == Mode::Exclusive || wanted.mode == Mode::Shared;
    let lease = Box::new(mine.clone());
    let meant = match taken.policy.again {
        _ if !enough => Err(Refusal::HeldShared { lease }),
        Again::Return => Ok(Decision { events: Vec::new(), answer: Answer::AlreadyHeld(mine) }),
        Again::Refuse => Err(Refusal::AlreadyHeld { lease }),
    };
    assert_eq!(taken.outcome, meant);
}

pub(crate) fn renewing_an_indefinite_lease_is_a_beat_or_nothing(taken: &Taken) {
    let Command::Renew { lease: id, holder, ttl } = &taken.command else { return };
    let Some(lease) = taken.before.get(*id).filter(|lease| lease.deadline().is_none()) else { return };
    let beat = Command::Beat { lease: *id, holder: holder.clone() };
    let meant = match ttl {
        Some(_) if lease.holder == *holder => Err(Refusal::NotFinite { lease: Box::new(lease.clone()) }),
        _ => decide(&taken.before, &taken.policy, &beat, &taken.now, taken.next),
    };
    assert_eq!(taken.outcome, meant);
}
