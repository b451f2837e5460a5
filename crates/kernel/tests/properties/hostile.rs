//! Numbers at their limits and counters that lie: the kernel decides or refuses, and never panics.

use std::collections::BTreeMap;

use holdfast_kernel::{
    Acquire, Again, Boot, BootId, Claim, Command, Fence, KindRule, Limits, Millis, Mode, Policy, Request,
    Stamp, Table, Tags, Transfer, TtlRange, apply, decide,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::at_least;
use crate::invariants;
use crate::support::make::{holder, id, named, text};
use crate::world::Taken;

const LATEST: i64 = 253_402_300_799_999;

fn spans() -> impl Strategy<Value = Millis> {
    let longest = Millis::LONGEST.get();
    prop_oneof![
        4 => 0..1_000_u64,
        2 => prop::sample::select(vec![0, 1, longest - 1, longest, longest + 1, 1 << 53, u64::MAX - 1, u64::MAX]),
        1 => any::<u64>(),
    ]
    .prop_map(Millis::new)
}

fn stamps() -> impl Strategy<Value = Stamp> {
    let wall = prop_oneof![3 => 0..2_000_i64, 1 => LATEST - 2_000..=LATEST, 1 => 0..=LATEST];
    let last = (1_u64 << 53) - 1;
    let up = prop_oneof![3 => 0..2_000_u64, 1 => last - 2_000..=last, 1 => 0..=last];
    (wall, proptest::option::of((0..2_u128, up))).prop_map(|(wall, boot)| {
        Stamp::new(wall, boot.map(|(id, ms)| Boot { id: BootId::new(id), ms })).unwrap()
    })
}

fn fences() -> impl Strategy<Value = Fence> {
    let last = Fence::LAST.get();
    prop_oneof![4 => 1..40_u64, 1 => last - 3..=last].prop_map(|number| Fence::new(number).unwrap())
}

fn policies() -> impl Strategy<Value = Policy> {
    let any_length = TtlRange { min: Millis::ZERO, max: Millis::new(u64::MAX) };
    let range = move || {
        let odd = (spans(), spans()).prop_map(|(min, max)| TtlRange { min, max });
        prop_oneof![3 => Just(any_length), 1 => odd]
    };
    let rule = move || {
        (range(), prop::bool::weighted(0.7)).prop_map(|(ttl, indefinite)| KindRule { ttl, indefinite })
    };
    let limit = || prop_oneof![8 => Just(u32::MAX), 1 => any::<u32>(), 1 => 0..3_u32];
    (any::<bool>(), rule(), rule(), spans(), spans(), spans(), limit(), limit()).prop_map(
        |(again, rule, agent, skew, grace, stale_after, one, two)| Policy {
            again: if again { Again::Return } else { Again::Refuse },
            rule,
            kinds: [("agent".to_owned(), agent)].into(),
            skew,
            grace,
            stale_after,
            limits: Limits { leases_per_agent: one, indefinite_per_table: two, ..Limits::NONE },
        },
    )
}

fn commands() -> impl Strategy<Value = Command> {
    let ids = || (1..4_u128).prop_map(id);
    let who = || prop::sample::select(vec!["agent:a@1", "b@1", ":@2"]).prop_map(holder);
    let what = || prop::sample::select(vec!["x", "y", "~a/*", "~**"]).prop_map(named);
    let request = prop_oneof![4 => spans().prop_map(Request::Finite), 1 => Just(Request::Indefinite)];
    let acquire = (ids(), what(), who(), any::<bool>(), request, prop::collection::vec(ids(), 0..2))
        .prop_map(|(id, resource, holder, shared, request, dead)| {
            let mode = if shared { Mode::Shared } else { Mode::Exclusive };
            let reason = Some(text("why"));
            Command::Acquire(Acquire {
                id,
                resource,
                holder,
                mode,
                request,
                reason,
                tags: Tags::none(),
                dead,
            })
        });
    prop_oneof![
        5 => acquire,
        2 => (ids(), who(), proptest::option::of(spans()))
            .prop_map(|(lease, holder, ttl)| Command::Renew { lease, holder, ttl }),
        1 => (ids(), who()).prop_map(|(lease, holder)| Command::Beat { lease, holder }),
        1 => (ids(), who()).prop_map(|(lease, holder)| Command::Release { lease, holder }),
        2 => (ids(), who(), ids(), who()).prop_map(|(lease, holder, id, to)| {
            Command::Transfer(Transfer { lease, holder, id, to, reason: text("over"), tags: Tags::none() })
        }),
        1 => (ids(), who()).prop_map(|(lease, by)| Command::Evict { lease, by, reason: text("gone") }),
        1 => Just(Command::Sweep),
        1 => (what(), ids(), who(), fences())
            .prop_map(|(resource, lease, holder, fence)| Command::Check(Claim { resource, lease, holder, fence })),
    ]
}

/// Without the counter's word there is nothing to say about fences; everything else still holds.
fn look(taken: &Taken) {
    invariants::one_writer(&taken.after);
    invariants::only_the_holder_acts(taken);
    invariants::nothing_goes_on_after_its_end(taken);
    invariants::nobody_takes_over_too_early(taken);
    invariants::standing_agrees_with_the_deadline(&taken.after, &taken.now);
    invariants::answers_say_what_the_table_holds(taken);
    invariants::every_prefix_can_happen(taken);
    if let Err(refusal) = &taken.outcome {
        assert!(!refusal.to_string().is_empty());
    }
}

#[test]
fn hostile_numbers_are_decided_or_refused() {
    let seen = std::cell::RefCell::new(BTreeMap::<&str, u32>::new());
    let step = (policies(), commands(), stamps(), fences());
    let mut runner = TestRunner::new(at_least(6_000));
    let outcome = runner.run(&prop::collection::vec(step, 1..16), |steps| {
        let mut table = Table::new();
        for (policy, command, now, next) in steps {
            let before = table.clone();
            let outcome = decide(&before, &policy, &command, &now, next);
            for event in outcome.iter().flat_map(|decision| &decision.events) {
                apply(&mut table, event).expect("what was decided can happen");
            }
            if let Err(refusal) = &outcome {
                *seen.borrow_mut().entry(refusal.code()).or_default() += 1;
            }
            let left = outcome.as_ref().map_or(0, |decision| decision.events.len());
            assert!(left == 0 || next.plus(left as u64).is_some(), "the counter has a position left");
            look(&Taken { before, policy, command, now, next, outcome, after: table.clone() });
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let seen = seen.into_inner();
    for code in ["FENCES_EXHAUSTED", "COUNTER_BEHIND", "DEADLINE_TOO_FAR", "CLOCK_SKEW", "TTL_OUT_OF_RANGE"] {
        assert!(seen.get(code).copied().unwrap_or(0) >= 30, "{code} is rare: {seen:?}");
    }
}
