//! Some hundred seeds on every medium. Ten thousand and more are the program's:
//! `cargo sim random`.

use holdfast_sim::explore::random::{Campaign, campaign};
use holdfast_sim::subject::Subject;
use holdfast_sim::subjects;

fn nothing_breaks(subject: Subject) {
    let tried = Campaign { subjects: vec![subject], start: 0, seeds: 800, threads: 2 };
    let summary = campaign(&tried, &|line| println!("{line}"));
    assert_eq!(summary.broken, []);
    assert_eq!(summary.runs, tried.seeds);
    assert!(summary.calls > 100 * summary.runs, "hardly anything was called");
}

#[test]
fn log() {
    nothing_breaks(subjects::log());
}

/// A writer rewrote the append of one who had died together with its own, and the power went before the flush: of the
/// two only the later one was on the disk, which read as damage to something that was acknowledged.
#[test]
fn what_is_written_again_is_durable_before_anything_behind_it() {
    let tried = Campaign { subjects: vec![subjects::log()], start: 2_516_122_843, seeds: 1, threads: 1 };
    assert_eq!(campaign(&tried, &|line| println!("{line}")).broken, []);
}

#[test]
fn log_with_durable_index() {
    nothing_breaks(subjects::log_with_durable_index());
}

#[test]
fn log_of_patterns() {
    nothing_breaks(subjects::log_of_patterns());
}

/// Who looked for a guard before there was one was told of a renewal whose flush had failed, and the power went.
#[test]
fn what_no_disk_has_is_vouched_for_by_nobody() {
    let tried =
        Campaign { subjects: vec![subjects::directory()], start: 1_080_950_160, seeds: 1, threads: 1 };
    assert_eq!(campaign(&tried, &|line| println!("{line}")).broken, []);
}

#[test]
fn record() {
    nothing_breaks(subjects::record());
}

#[test]
fn directory() {
    nothing_breaks(subjects::directory());
}

#[test]
fn reference() {
    nothing_breaks(subjects::reference());
}
