//! The protocols that do not work are found out, each by the property that it breaks, while the medium that
//! does work passes the same exploration. That is how we know that the simulator sees.

use holdfast_sim::check::Property;
use holdfast_sim::explore::exhaustive::{Report, explore_until};
use holdfast_sim::explore::random::failing;
use holdfast_sim::explore::small::{at_last, small, steal, take, take_and_release};
use holdfast_sim::plan::{Plan, Script};
use holdfast_sim::shrink::shrink;
use holdfast_sim::subjects;
use holdfast_sys::sim::{Faults, Odds};

const CALM: Faults = Faults::NONE;
const ONCE: Odds = Odds::new(0, 1);
const KILL: Faults = Faults { kill: ONCE, ..CALM };
const DISK: Faults = Faults { eio: ONCE, ..CALM };

/// Every run that these plans have is more than enough.
const MOST: u64 = 200_000;

fn plan(faults: Faults, scripts: Vec<Script>) -> Plan {
    small("", faults, scripts).plan
}

fn and_then_the_power_goes(faults: Faults, scripts: Vec<Script>) -> Plan {
    at_last(small("", faults, scripts)).plan
}

#[track_caller]
fn is_found(protocol: &str, expected: Property, plan: &Plan) {
    let named = subjects::broken().into_iter().filter(|subject| subject.name() == protocol);
    let reports: Vec<Report> =
        named.map(|subject| explore_until(&subject, plan, MOST, |property| property == expected)).collect();
    reports.iter().for_each(|report| println!("every run of {protocol}: {report}"));
    let found = reports.iter().filter(|report| report.found.is_some()).count();
    assert_eq!(found, 1, "{protocol} breaks {expected}, and nobody saw it");
    let control = explore_until(&subjects::reference(), plan, MOST, |_| true);
    println!("every run of reference: {control}");
    assert!(control.found.is_none() && control.complete, "a medium that works is accused: {control}");
}

#[test]
fn stealing_by_renaming_over_the_lock() {
    let plan = plan(CALM, vec![take(0), steal(1), steal(2)]);
    is_found("shared-tmp-steal", Property::OneWriter, &plan);
}

#[test]
fn keeping_the_fence_in_the_lock_that_a_release_removes() {
    let plan = plan(CALM, vec![take_and_release(0), take_and_release(1)]);
    is_found("fence-in-lock", Property::Fences, &plan);
}

#[test]
fn creating_the_lock_first_and_writing_it_afterwards() {
    is_found("create-then-write", Property::Usable, &plan(KILL, vec![take(0), take(1)]));
}

#[test]
fn renaming_the_stale_directory_away_and_making_a_fresh_one() {
    let plan = plan(CALM, vec![take(0), steal(1), steal(2)]);
    is_found("rename-then-mkdir", Property::OneWriter, &plan);
}

#[test]
fn believing_an_index_without_looking_at_the_log() {
    is_found("trusted-index", Property::Acknowledged, &and_then_the_power_goes(CALM, vec![take(0)]));
}

#[test]
fn having_an_index_that_the_log_does_not_lead_to() {
    is_found("trusted-index", Property::Replay, &plan(KILL, vec![take(0)]));
}

#[test]
fn removing_the_guard() {
    is_found("removed-guard", Property::OneWriter, &plan(CALM, vec![take_and_release(0), take(1), take(2)]));
}

#[test]
fn acknowledging_before_the_sync() {
    is_found("early-acknowledgement", Property::Acknowledged, &and_then_the_power_goes(CALM, vec![take(0)]));
}

#[test]
fn ignoring_that_a_sync_failed() {
    is_found("ignored-sync-failure", Property::Acknowledged, &and_then_the_power_goes(DISK, vec![take(0)]));
}

#[test]
fn seeds_find_them_too_and_what_they_find_is_made_short() {
    for subject in subjects::broken() {
        let found = (0..2_000).find_map(|seed| failing(&subject, seed).map(|failing| (seed, failing)));
        let (seed, failing) = found.unwrap_or_else(|| panic!("no seed breaks {}", subject.name()));
        let (steps, property) = (failing.plan.len(), failing.violation.property);
        let short = shrink(&subject, failing, 3_000);
        println!("seed {seed} {}: {steps} steps made {}: {property}", subject.name(), short.plan.len());
        assert!(3 * short.plan.len() <= steps, "{} of {steps} steps are left", short.plan.len());
        assert_eq!(short.violation.property, property);
        let again = short.traced(&subject).violations;
        assert!(again.iter().any(|violation| violation.property == property), "it is not the same run");
    }
}
