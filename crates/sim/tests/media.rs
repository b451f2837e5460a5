//! The shipped media, at every call of small plans and in random worlds.

use holdfast_sim::explore::sites::Sites;
use holdfast_sim::explore::{exhaustive, random, small};
use holdfast_sim::subject::Subject;
use holdfast_sim::subjects;

/// Plans whose every run is tried; of the others, as many as there is time for.
const WHOLE: [&str; 3] =
    ["two take turns, one dies", "somebody tidies up, one dies", "one by one, the disk fails, one dies"];
const MOST: u64 = 1_500;
const SEEDS: u64 = 300;

fn explore(subject: &Subject) {
    let mut sites = Sites::default();
    for small in small::all() {
        let most = if WHOLE.contains(&small.name) { u64::MAX } else { MOST };
        let report = exhaustive::explore(subject, &small.plan, most);
        println!("{}, {}: {report}", subject.name(), small.name);
        assert!(report.found.is_none(), "{}, {}: {report}", subject.name(), small.name);
        assert!(report.complete || most == MOST, "{}, {} was cut off", subject.name(), small.name);
        sites.add(&report.sites);
    }
    println!("{sites}");
    let untried: Vec<String> = sites.untried().map(ToString::to_string).collect();
    assert_eq!(untried, Vec::<String>::new(), "calls of {} at which nobody died", subject.name());
}

fn wander(subject: &Subject) {
    for seed in 0..SEEDS {
        let broken = random::run_seed(subject, seed).violations;
        let broken: Vec<String> = broken.iter().map(ToString::to_string).collect();
        assert_eq!(broken, Vec::<String>::new(), "seed {seed} of {}", subject.name());
    }
}

#[test]
fn every_call_of_the_log_is_a_place_to_die() {
    explore(&subjects::log());
}

#[test]
fn every_call_of_the_record_is_a_place_to_die() {
    explore(&subjects::record());
}

#[test]
fn every_call_of_the_directory_is_a_place_to_die() {
    explore(&subjects::directory());
}

#[test]
fn random_worlds_break_no_medium() {
    subjects::all().iter().for_each(wander);
}
