//! Leaving out runs in which others only came in between where nobody feels it leaves out no end: small worlds end
//! in the same ways whether every run is tried or every order of the steps that feel each other.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

use std::collections::BTreeSet;
use std::path::Path;

use holdfast_sim::explore::exhaustive::{Once, Report, Walker, every_order, every_run};
use holdfast_sys::sim::{Config, End, Faults, Odds, Process, World};
use holdfast_sys::{Guard, LockMode, Open, Sys};

type Body = fn(&Sys);

fn read(sys: &Sys, path: &str) -> u8 {
    let file = sys.files.open(Path::new(path), Open::Read).unwrap();
    file.read_from(0, 1).unwrap()[0]
}

fn write(sys: &Sys, path: &str, byte: u8) {
    sys.files.open(Path::new(path), Open::Write).unwrap().write_all_at(&[byte], 0).unwrap();
}

fn count(sys: &Sys) {
    let counted = read(sys, "/count");
    write(sys, "/count", counted + 1);
}

fn counts_alone(sys: &Sys) {
    let mut guard = Guard::open(sys, Path::new("/guard"), 0o600).unwrap();
    let _section = guard.enter(sys, LockMode::Exclusive).unwrap();
    count(sys);
}

/// Says so first, then counts under the lock.
fn counts_aloud(sys: &Sys) {
    let mut guard = Guard::open(sys, Path::new("/guard"), 0o600).unwrap();
    let _section = guard.enter(sys, LockMode::Exclusive).unwrap();
    write(sys, "/seen", b'1');
    count(sys);
}

/// Counts without the lock, but only if it heard somebody else: the rule is broken late, after others have relied
/// on it.
fn cheats_late(sys: &Sys) {
    if read(sys, "/seen") == b'1' {
        count(sys);
        write(sys, "/seen", b'2');
    }
}

/// Changes under a lock that lets others in.
fn counts_in_company(sys: &Sys) {
    let mut guard = Guard::open(sys, Path::new("/guard"), 0o600).unwrap();
    let _section = guard.enter(sys, LockMode::Shared).unwrap();
    count(sys);
}

fn makes_and_removes(sys: &Sys) {
    drop(sys.files.open(Path::new("/made"), Open::Create { mode: 0o600 }).unwrap());
    let _ = sys.files.remove_file(Path::new("/made"));
}

fn makes(sys: &Sys) {
    drop(sys.files.open(Path::new("/made"), Open::Create { mode: 0o600 }).unwrap());
}

fn lists(sys: &Sys) {
    let there = sys.files.list(Path::new("/")).unwrap().len();
    write(sys, "/seen", u8::try_from(there).unwrap());
}

fn looks(sys: &Sys) {
    if sys.files.stat(Path::new("/made")).is_ok() {
        write(sys, "/seen", b'1');
    }
}

fn sees_who_lives(sys: &Sys) {
    if sys.processes.find(101).is_ok() {
        write(sys, "/seen", b'1');
    }
}

fn once(faults: Faults, bodies: &[Body], ends: &mut BTreeSet<(u128, u8)>, walker: Walker) -> Once<()> {
    let config = Config { faults, steps: true, write_through: true, call_us: 0, ..Config::default() };
    let mut world = World::new(config, walker);
    ["/guard", "/count", "/seen"].into_iter().for_each(|path| world.write_file(path, b"0").unwrap());
    let process = |(at, body): (usize, &Body)| {
        let body = *body;
        Process::new(format!("p{at}"), 0, move |sys: Sys| body(&sys))
    };
    let epoch = world.run(bodies.iter().enumerate().map(process).collect());
    assert_eq!(epoch.panics().next(), None);
    if epoch.end == End::Done {
        ends.insert((world.fingerprint(), world.read_file("/count").unwrap()[0]));
    }
    Once { stopped: epoch.end == End::Stopped, broken: None }
}

fn both_end_alike(name: &str, faults: Faults, bodies: &[Body]) -> (Report, Report, BTreeSet<u8>) {
    let (mut of_runs, mut of_orders) = (BTreeSet::new(), BTreeSet::new());
    let (runs, _) = every_run(u64::MAX, |walker| once(faults, bodies, &mut of_runs, walker));
    let (orders, _) = every_order(u64::MAX, |walker| once(faults, bodies, &mut of_orders, walker));
    println!("{name}: {} ends; every run: {runs}; every order: {orders}", of_runs.len());
    assert!(runs.complete && orders.complete, "{name}");
    assert_eq!(of_orders, of_runs, "{name}");
    (runs, orders, of_runs.into_iter().map(|(_, count)| count).collect())
}

#[test]
fn who_keeps_to_a_lock_is_tried_in_far_fewer_orders() {
    let (runs, orders, counts) = both_end_alike("three count", Faults::NONE, &[counts_alone as Body; 3]);
    assert!(orders.states * 2 < runs.states, "{orders} and {runs}");
    assert_eq!(counts, BTreeSet::from([b'3']));
}

#[test]
fn whoever_breaks_the_rule_late_is_found_out() {
    for bodies in [&[cheats_late as Body, counts_aloud][..], &[counts_alone, cheats_late, counts_aloud]] {
        let (_, _, counts) = both_end_alike("one cheats", Faults::NONE, bodies);
        assert!(counts.len() > 1, "a count can be lost: {counts:?}");
    }
}

#[test]
fn a_lock_that_lets_others_in_covers_no_change() {
    let (_, _, counts) = both_end_alike("two in company", Faults::NONE, &[counts_in_company as Body; 2]);
    assert_eq!(counts, BTreeSet::from([b'1', b'2']), "a count can be lost");
}

#[test]
fn making_removing_and_dying_are_felt() {
    both_end_alike("three make one file", Faults::NONE, &[makes_and_removes as Body; 3]);
    both_end_alike("one lists", Faults::NONE, &[lists, makes]);
    both_end_alike("one looks", Faults::NONE, &[looks, makes]);
    both_end_alike("one looks who lives", Faults::NONE, &[sees_who_lives, count, count]);
}

#[test]
fn where_somebody_may_be_killed_every_run_is_tried() {
    let faults = Faults { kill: Odds::new(0, 1), ..Faults::NONE };
    let (runs, orders, _) = both_end_alike("one dies", faults, &[counts_alone as Body; 2]);
    assert_eq!(orders.states, runs.states);
}
