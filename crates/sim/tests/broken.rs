//! The protocols that do not work are found out, each by the property that it breaks. That is how we know
//! that the simulator sees.

#![expect(clippy::panic, reason = "a test that found nothing has failed")]

use holdfast_sim::broken;
use holdfast_sim::check::Property;
use holdfast_sim::explore::{exhaustive, random, small};
use holdfast_sim::subject::Subject;
use holdfast_store::{Medium, Result};
use holdfast_sys::Sys;

/// How many runs of a small plan are tried before random ones are.
const MOST: u64 = 4_000;
const SEEDS: u64 = 2_000;

/// Where the bug was found: in a small plan or by a seed, after so many runs.
fn find(name: &'static str, open: fn(&Sys) -> Result<Box<dyn Medium>>, breaks: &[Property]) -> String {
    let subject = Subject::new(name, open).of_one_writer().of_one_resource();
    let wanted = |property: Property| breaks.contains(&property);
    let mut runs = 0;
    for small in small::all() {
        let report = exhaustive::explore_until(&subject, &small.plan, MOST, wanted);
        runs += report.schedules;
        if let Some(failing) = report.found {
            return format!("{name}: {} in \"{}\" after {runs} runs", failing.violation.property, small.name);
        }
    }
    for seed in 0..SEEDS {
        runs += 1;
        let broken = random::run_seed(&subject, seed).violations;
        if let Some(violation) = broken.into_iter().find(|violation| wanted(violation.property)) {
            return format!("{name}: {} with seed {seed} after {runs} runs", violation.property);
        }
    }
    panic!("{name}: nothing of {breaks:?} was seen broken in {runs} runs")
}

#[test]
fn a_steal_by_renaming_over_the_lock_has_two_winners() {
    let seen =
        find("shared_tmp_steal", broken::shared_tmp_steal::open, &[Property::OneWriter, Property::Fences]);
    println!("{seen}");
}

#[test]
fn a_fence_that_lives_in_the_lock_file_starts_again_after_a_release() {
    let seen = find("fence_in_lock", broken::fence_in_lock::open, &[Property::Fences]);
    println!("{seen}");
}

#[test]
fn a_lock_that_is_created_and_then_written_is_left_behind_empty() {
    let seen = find("create_then_write", broken::create_then_write::open, &[Property::Usable]);
    println!("{seen}");
}

#[test]
fn a_stale_directory_that_is_renamed_away_may_be_somebody_elses_fresh_one() {
    let seen = find("rename_then_mkdir", broken::rename_then_mkdir::open, &[Property::OneWriter]);
    println!("{seen}");
}

#[test]
fn an_index_that_is_believed_brings_the_leases_of_yesterday_back() {
    let breaks = [Property::Acknowledged, Property::OneWriter, Property::Fences];
    let seen = find("trusted_index", broken::trusted_index::open, &breaks);
    println!("{seen}");
}

#[test]
fn a_lock_file_that_is_removed_on_unlock_excludes_nobody() {
    let breaks = [Property::OneWriter, Property::Fences];
    let seen = find("removed_guard", broken::removed_guard::open, &breaks);
    println!("{seen}");
}

#[test]
fn what_is_acknowledged_before_it_is_flushed_is_lost() {
    let seen = find("early_acknowledgement", broken::early_acknowledgement::open, &[Property::Acknowledged]);
    println!("{seen}");
}

#[test]
fn what_is_acknowledged_although_the_flush_failed_is_lost() {
    let seen = find("ignored_sync_failure", broken::ignored_sync_failure::open, &[Property::Acknowledged]);
    println!("{seen}");
}
