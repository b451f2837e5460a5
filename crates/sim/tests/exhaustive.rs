//! Every run of small plans, on every medium: nothing breaks. A commit tries a third of the plans, of those in which several
//! are there at once one in six, and the next commit perhaps others; a long run tries all, and then every call of every medium
//! is a place where a process was killed and where the power went.
#![expect(clippy::disallowed_methods, reason = "the test command says how much and with which seed")]

use holdfast_sim::explore::exhaustive::explore;
use holdfast_sim::explore::sites::{Counting, Sites};
use holdfast_sim::explore::small::{self, Small};
use holdfast_sim::plan::generate::storm;
use holdfast_sim::subject::Subject;
use holdfast_sim::{run, subjects};
use holdfast_sys::sim::Random;

/// How many storms hit a medium, beside what is tried in every way: they go deeper.
const STORMS: u64 = 500;

/// Of the orderly and of the crowded plans there is one in so many, unless a long run is wanted.
const ORDERLY: usize = 3;
const CROWDED: usize = 6;

fn is_long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}

/// The plans of this run, which the first seed chooses as it does the worlds of the tests of chance.
fn plans() -> Vec<Small> {
    let first: usize =
        std::env::var("HOLDFAST_FIRST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let some = |plans: Vec<Small>, every: usize| {
        let every = if is_long() { 1 } else { every };
        plans.into_iter().skip(first % every).step_by(every)
    };
    some(small::crowded(), CROWDED).chain(some(small::orderly(), ORDERLY)).collect()
}

fn nothing_breaks_and_every_call_is_a_crash_point(subject: &Subject) {
    let mut sites = Sites::default();
    for small in plans() {
        let report = explore(subject, &small.plan, u64::MAX);
        println!("every run of {}, {}: {report}", subject.name(), small.name);
        assert!(report.found.is_none() && report.complete, "{}: {report}", small.name);
        sites.add(&report.sites);
    }
    for seed in 0..STORMS {
        let counting = Counting::new(Random::new(seed));
        let outcome = run(subject, &storm(subject, seed), counting.clone());
        assert_eq!(outcome.violations, [], "storm {seed} of {}", subject.name());
        sites.add(&counting.sites());
    }
    println!("{sites}");
    assert!(sites.iter().count() > 20, "a medium makes more kinds of calls than that");
    // Some calls come up only where several are there at once: what one of those plans tries there another may not.
    if is_long() {
        assert_eq!(sites.untried().collect::<Vec<_>>(), Vec::<&_>::new(), "nobody crashed there");
    }
}

#[test]
fn log() {
    nothing_breaks_and_every_call_is_a_crash_point(&subjects::log());
}

#[test]
fn record() {
    nothing_breaks_and_every_call_is_a_crash_point(&subjects::record());
}

#[test]
fn directory() {
    nothing_breaks_and_every_call_is_a_crash_point(&subjects::directory());
}

/// Every call between what a clone is about to send and its answer is one at which it was killed.
#[test]
fn whoever_dies_anywhere_on_the_way_to_a_register_is_made_up_for_by_whoever_comes_next() {
    let subject = subjects::shared_and_calm();
    for small in small::far_away(is_long()) {
        let report = explore(&subject, &small.plan, u64::MAX);
        println!("every run of {}, {}: {report}", subject.name(), small.name);
        assert!(report.found.is_none() && report.complete, "{}: {report}", small.name);
        assert!(report.kills > 200, "{}: a medium makes more calls than that", small.name);
    }
}

#[test]
fn every_interleaving_of_three_stealers_of_a_record_has_one_winner() {
    let small = small::three_steal();
    let report = explore(&subjects::record(), &small.plan, u64::MAX);
    println!("every run of record, {}: {report}", small.name);
    assert!(report.found.is_none() && report.complete, "{report}");
    assert!(report.schedules > 10_000, "{report}");
}
