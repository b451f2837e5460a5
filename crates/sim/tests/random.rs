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

#[test]
fn log_with_durable_index() {
    nothing_breaks(subjects::log_with_durable_index());
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
