//! Every interleaving of those who take, break, release and clean one lock, and of scripts that know nothing
//! but `mkdir`: never do two own it, and never does a crash leave it stuck. The medium runs here call by call,
//! as the door sets it up; whole commands of the door run at random, because there are too many calls in them
//! to try every order.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]
#![expect(clippy::disallowed_macros, reason = "a test that explores says how far it went")]
#![expect(clippy::disallowed_methods, reason = "a longer run is asked for by the environment")]

mod commands;
mod script;
mod stage;
mod waiting;

use std::collections::BTreeSet;

use holdfast_kernel::{Answer, Command, LeaseId, Refusal, Text};
use holdfast_sim::explore::exhaustive::{Walker, every_order, every_run};
use holdfast_store::{Error, Medium, liveness};
use holdfast_sys::sim::{Config, Faults, Odds};
use holdfast_sys::{Liveness, Sys};

use script::{other_script, quick_script, slow_script};
use stage::{Body, LONG, Run, Stage, acquire, medium, policy, resource, together, work};

const CALM: Faults = Faults::NONE;
const KILL: Faults = Faults { kill: Odds::new(0, 1), ..CALM };

/// Takes the lock and keeps it until it dies, which is soon.
fn holder(sys: &Sys, stage: &Stage) {
    let Ok(Answer::Granted(lease)) = medium(sys).transact(&policy(), &acquire(sys, "holder", Vec::new()))
    else {
        panic!("nobody was there before")
    };
    *stage.dead.lock().unwrap() = Some(lease.id);
}

/// Takes the lock, moving the dead out of the way, and gives it back.
fn taker(sys: &Sys, stage: &Stage, who: &'static str) {
    let medium = medium(sys);
    let dead: Vec<LeaseId> = stage.dead.lock().unwrap().iter().copied().collect();
    match medium.transact(&policy(), &acquire(sys, who, dead)) {
        Ok(Answer::Granted(lease)) => {
            let owning = stage.enter(who);
            work(sys);
            drop(owning);
            let release = Command::Release { lease: lease.id, holder: lease.holder.clone() };
            medium.transact(&policy(), &release).unwrap();
        }
        Err(Error::Refused(Refusal::Held { .. })) => {}
        other => panic!("{who}: {other:?}"),
    }
}

fn taker_a(sys: &Sys, stage: &Stage) {
    taker(sys, stage, "taker a");
}

fn taker_bb(sys: &Sys, stage: &Stage) {
    taker(sys, stage, "taker bb");
}

/// Was here once, so that the guard and the counter are there.
fn visitor(sys: &Sys, stage: &Stage) {
    taker(sys, stage, "visitor");
}

/// Comes when the lock is old.
fn late_taker(sys: &Sys, stage: &Stage) {
    sys.clock.sleep(LONG);
    taker(sys, stage, "late taker");
}

/// Clears up what nobody is known to hold, however young, as `ic lock clean --older-than 0` does.
fn cleaner(sys: &Sys, _: &Stage) {
    let medium = medium(sys);
    let view = medium.look(&resource()).unwrap();
    let Some(lease) = view.table.iter().next() else { return };
    let process = liveness::process(lease);
    if process.is_some_and(|process| sys.processes.liveness(&process) == Liveness::Alive) {
        return;
    }
    let by = stage::holder("cleaner");
    let evict = Command::Evict { lease: lease.id, by, reason: Text::new("cleaned up").unwrap() };
    match medium.transact(&policy(), &evict) {
        Ok(_) | Err(Error::Refused(Refusal::NotFound { .. })) => {}
        Err(error) => panic!("cleaner: {error}"),
    }
}

/// Comes when the lock is old.
fn late_cleaner(sys: &Sys, stage: &Stage) {
    sys.clock.sleep(LONG);
    cleaner(sys, stage);
}

fn once(faults: Faults, before: &[Body], others: &[Body], walker: Walker) -> Run {
    // Whoever loses power loses the holders too, so nothing depends on what is durable.
    let (steps, write_through) = (true, true);
    let config = Config { faults, steps, write_through, call_us: 0, max_calls: 50_000, ..Config::default() };
    together(config, walker, before, others)
}

/// Tries everything that can happen when `others` are there at once, after `before`.
fn never_two_owners(name: &str, faults: Faults, before: &[Body], others: &[Body]) {
    assert!(try_runs(u64::MAX, name, faults, before, others), "{name}: not every run was tried");
}

/// Tries so many runs, and says whether that was all of them.
fn try_runs(most: u64, name: &str, faults: Faults, before: &[Body], others: &[Body]) -> bool {
    let once = |walker| once(faults, before, others, walker).once;
    // In a fresh root there is no guard to look under, so hardly any step is covered by it.
    let covered = faults == CALM && !before.is_empty();
    let (report, found) = if covered { every_order(most, once) } else { every_run(most, once) };
    println!("{name}: {report}");
    assert_eq!(found, None, "{name}");
    assert!(report.schedules > 1, "{name}: {report}");
    report.complete
}

/// As [`never_two_owners`], for what takes minutes: all of it is tried only where there is time, and some
/// thousand runs otherwise.
fn never_two_owners_given_time(name: &str, before: &[Body], others: &[Body]) {
    let asked = std::env::var("HOLDFAST_IC_SCHEDULES").ok().and_then(|text| text.parse().ok());
    let most = asked.unwrap_or(5_000);
    let all = try_runs(most, name, CALM, before, others);
    assert!(all || most < u64::MAX, "{name}: not every run was tried");
}

/// Every run, and every order of the steps that feel each other: both end in the same ways.
fn both_end_alike(name: &str, before: &[Body], others: &[Body]) {
    let (mut of_runs, mut of_orders) = (BTreeSet::new(), BTreeSet::new());
    let trying = |ends: &mut BTreeSet<u128>, walker| {
        let Run { once, end } = once(CALM, before, others, walker);
        ends.extend(end);
        once
    };
    let (runs, _) = every_run(u64::MAX, |walker| trying(&mut of_runs, walker));
    let (orders, _) = every_order(u64::MAX, |walker| trying(&mut of_orders, walker));
    println!("{name}: {} ends; every run: {runs}; every order: {orders}", of_runs.len());
    assert!(runs.complete && orders.complete && of_runs.len() > 1, "{name}");
    assert_eq!(of_orders, of_runs, "{name}");
}

#[test]
fn whoever_is_not_tried_in_between_would_change_nothing() {
    both_end_alike("two breakers", &[holder], &[taker_a, taker_bb]);
    both_end_alike("a breaker, a cleaner", &[holder], &[taker_a, cleaner]);
    both_end_alike("two takers", &[visitor], &[taker_a, taker_bb]);
    both_end_alike("a slow script, a taker", &[visitor], &[slow_script, late_taker]);
}

#[test]
fn c1_two_break_the_lock_of_the_dead() {
    never_two_owners("two breakers", CALM, &[holder], &[taker_a, taker_bb]);
}

#[test]
fn c1_two_break_the_lock_of_the_dead_and_somebody_cleans() {
    never_two_owners("a breaker, a cleaner", CALM, &[holder], &[taker_a, cleaner]);
    never_two_owners("two breakers, a cleaner", CALM, &[holder], &[taker_a, taker_bb, cleaner]);
}

#[test]
fn c1_takers_that_release_and_a_cleaner() {
    never_two_owners("two takers", CALM, &[], &[taker_a, taker_bb]);
    never_two_owners("a taker, a cleaner", CALM, &[visitor], &[taker_a, cleaner]);
}

#[test]
fn c1_breakers_that_die_on_the_way() {
    never_two_owners("two breakers, one dies", KILL, &[holder], &[taker_a, taker_bb]);
    never_two_owners("a breaker, a cleaner, one dies", KILL, &[holder], &[taker_a, cleaner]);
}

#[test]
fn c1_a_script_and_a_taker_or_a_cleaner() {
    never_two_owners("a script, a taker", CALM, &[visitor], &[quick_script, taker_a]);
    never_two_owners("a script, a cleaner", CALM, &[visitor], &[quick_script, cleaner]);
}

#[test]
fn c1_a_slow_script_and_whoever_recovers_its_lock() {
    never_two_owners("a slow script, a taker", CALM, &[visitor], &[slow_script, late_taker]);
    never_two_owners("a slow script, a cleaner", CALM, &[visitor], &[slow_script, late_cleaner]);
}

#[test]
fn c1_two_scripts_and_a_taker() {
    never_two_owners_given_time("two scripts, a taker", &[visitor], &[slow_script, other_script, late_taker]);
}

#[test]
fn c1_scripts_and_takers_that_die_on_the_way() {
    never_two_owners("a script, a taker, one dies", KILL, &[], &[quick_script, taker_a]);
    never_two_owners("a slow script, a taker, one dies", KILL, &[], &[slow_script, late_taker]);
}
