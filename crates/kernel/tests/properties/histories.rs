//! Random histories, a test for each thing that must hold in all of them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use holdfast_kernel::{Event, Fence, Table, apply};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::invariants;
use crate::support::encode;
use crate::support::files::{snake, variants};
use crate::world::{History, Taken, World, history, run};
use crate::{at_least, config};

/// Runs random histories and shows every step.
fn always(look: impl Fn(&Taken)) {
    through(config(1_500), |history| {
        run(history, &look);
    });
}

fn through(config: Config, test: impl Fn(&History)) {
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&history(), |history| {
        test(&history);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn one_writer_and_nobody_beside_it() {
    always(|taken| {
        invariants::one_writer(&taken.after);
        invariants::a_valid_claim_is_the_only_one(&taken.after, &taken.policy, &taken.now);
    });
}

#[test]
fn only_the_holder_acts() {
    always(invariants::only_the_holder_acts);
}

#[test]
fn fences_are_positions_and_rise() {
    always(invariants::fences_are_positions_and_rise);
    through(config(1_500), |history| {
        let grants = run(history, |_| ()).past.into_iter().filter_map(|event| match event {
            Event::Granted { lease } | Event::Transferred { lease, .. } => Some(lease.fence),
            _ => None,
        });
        assert!(grants.collect::<Vec<Fence>>().is_sorted_by(|a, b| a < b));
    });
}

#[test]
fn nothing_goes_on_after_its_end() {
    always(invariants::nothing_goes_on_after_its_end);
}

#[test]
fn nobody_takes_over_too_early() {
    always(invariants::nobody_takes_over_too_early);
}

#[test]
fn retry_after_is_exact() {
    always(invariants::retry_after_is_exact);
}

#[test]
fn standing_agrees_with_the_deadline() {
    always(|taken| invariants::standing_agrees_with_the_deadline(&taken.after, &taken.now));
}

#[test]
fn limits_are_kept() {
    always(invariants::limits_are_kept);
}

#[test]
fn answers_say_what_the_table_holds() {
    always(invariants::answers_say_what_the_table_holds);
}

#[test]
fn every_prefix_can_happen_and_a_refusal_changes_nothing() {
    always(invariants::every_prefix_can_happen);
}

#[test]
fn the_same_again_decides_the_same() {
    always(invariants::the_same_again_decides_the_same);
}

#[test]
fn terms_are_the_leases_own() {
    always(invariants::terms_are_the_leases_own);
}

#[test]
fn asking_again_changes_nothing() {
    always(invariants::asking_again_changes_nothing);
}

#[test]
fn renewing_an_indefinite_lease_is_a_beat_or_nothing() {
    always(invariants::renewing_an_indefinite_lease_is_a_beat_or_nothing);
}

#[test]
fn replay_gives_the_table() {
    through(config(1_500), |history| {
        let World { table, past, .. } = run(history, |_| ());
        let mut replayed = Table::new();
        past.iter().for_each(|event| apply(&mut replayed, event).unwrap());
        assert_eq!(replayed, table);
        assert_eq!(Table::restore(table.iter().cloned()), Ok(table));
    });
}

/// A history that never comes to an outcome shows nothing about it.
#[test]
fn the_histories_come_to_every_outcome() {
    let seen = RefCell::new(BTreeMap::<String, u32>::new());
    let count = |taken: &Taken| {
        let tag = match &taken.outcome {
            Ok(decision) => encode::answer(&decision.answer).line(),
            Err(refusal) => refusal.code().to_owned(),
        };
        let tag = tag.split('"').nth(3).unwrap_or(&tag).to_owned();
        *seen.borrow_mut().entry(tag).or_default() += 1;
    };
    through(at_least(1_500), |history| {
        run(history, count);
    });
    let seen = seen.into_inner();
    // The hostile histories have counters and clocks that come to these.
    let elsewhere = ["FENCES_EXHAUSTED", "COUNTER_BEHIND", "DEADLINE_TOO_FAR"];
    let refusals = variants("crates/kernel/src/refusal.rs", "Refusal")
        .iter()
        .map(|name| snake(name).to_uppercase())
        .collect();
    let answers = variants("crates/kernel/src/answer.rs", "Answer").iter().map(|name| snake(name)).collect();
    for tag in [refusals, answers].iter().flat_map(|tags: &Vec<String>| tags) {
        let times = seen.get(tag).copied().unwrap_or(0);
        assert!(times >= 30 || elsewhere.contains(&tag.as_str()), "{tag} came up {times} times: {seen:?}");
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn all_of_it_at_once(history in history()) {
        run(&history, invariants::all);
    }
}
