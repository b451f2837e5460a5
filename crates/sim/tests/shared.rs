//! The shared medium over a register that loses, doubles, delays and does not answer; and every wrong way to use such a
//! register, which must be found out.

use holdfast_sim::check::Property;
use holdfast_sim::explore::random::{Campaign, campaign, failing, run_seed};
use holdfast_sim::subject::Subject;
use holdfast_sim::subjects;

/// How many seeds it may take to find out a wrong way: a watch that is too long by the time of one read takes 433.
const MOST: u64 = 1_000;

fn nothing_breaks(subject: Subject, seeds: u64) {
    let tried = Campaign { subjects: vec![subject], start: 0, seeds, threads: 2 };
    let summary = campaign(&tried, &|line| println!("{line}"));
    assert_eq!(summary.broken, []);
    assert_eq!(summary.runs, tried.seeds);
    assert!(summary.calls > 100 * summary.runs, "hardly anything was called");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test command says how many seeds")]
fn no_seed_breaks_the_shared_medium() {
    let seeds = if std::env::var_os("HOLDFAST_LONG").is_some() { 20_000 } else { 400 };
    nothing_breaks(subjects::shared(), seeds);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test command says how many seeds")]
fn no_seed_breaks_patterns_in_the_shared_medium() {
    let seeds = if std::env::var_os("HOLDFAST_LONG").is_some() { 20_000 } else { 300 };
    nothing_breaks(subjects::shared_of_patterns(), seeds);
}

/// A takeover needs to have been watched, whatever the wall clocks say.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test command says how many seeds")]
fn no_seed_breaks_the_shared_medium_on_hosts_whose_clocks_are_wrong() {
    let seeds = if std::env::var_os("HOLDFAST_LONG").is_some() { 20_000 } else { 400 };
    nothing_breaks(subjects::shared_and_watching(), seeds);
}

/// What it forgets it cannot give back; but nobody is told yes beside somebody else, and it is noticed.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test command says how many seeds")]
fn a_server_that_forgets_stops_everybody_and_never_makes_two_holders() {
    let seeds = if std::env::var_os("HOLDFAST_LONG").is_some() { 20_000 } else { 400 };
    let (subject, mut noticed) = (subjects::forgetful(), 0);
    for seed in 0..seeds {
        let violations = run_seed(&subject, seed).violations;
        let unsafe_ones = [Property::OneWriter, Property::Writes, Property::Fences];
        let broken = violations.iter().find(|violation| unsafe_ones.contains(&violation.property));
        assert!(broken.is_none(), "seed {seed}: {}", broken.unwrap());
        noticed += u64::from(violations.iter().any(|violation| violation.property == Property::Usable));
    }
    assert!(noticed > seeds / 10, "the server forgot something in {noticed} of {seeds} runs");
}

#[test]
fn every_wrong_way_to_use_a_register_is_found_and_the_right_one_is_not() {
    for subject in subjects::register_twins() {
        let name = subject.name();
        let found = (0..MOST).find_map(|seed| failing(&subject, seed).map(|failing| (seed, failing)));
        match found {
            None => assert!(name.ends_with("-as-it-should-be"), "{name} is wrong, and nobody saw it"),
            Some((seed, failing)) => {
                println!("{name}: seed {seed}: {}", failing.violation);
                assert!(!name.ends_with("-as-it-should-be"), "{name}: seed {seed}: {}", failing.violation);
            }
        }
    }
}
