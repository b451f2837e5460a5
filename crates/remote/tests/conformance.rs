//! The shared medium keeps to the contract of a medium, on real and on simulated files, over a register that is calm
//! and over one that loses, doubles, delays and forgets to answer.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test that cannot go on shall stop"
)]

mod support;

use holdfast_store::conformance::{self, Subject};
use support::{hostile, open_calm, open_rough};

const RESOURCES: &[&str] = &["one", "two", "three"];
const CALM: Subject = Subject { open: open_calm, resources: RESOURCES, shared: true, hostile };
const ROUGH: Subject = Subject { open: open_rough, ..CALM };

#[test]
fn it_keeps_to_the_contract_on_real_files() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::on_real_files(&ROUGH, scratch.path());
}

#[test]
fn it_keeps_to_the_contract_on_simulated_files() {
    conformance::in_simulation(&CALM);
    conformance::in_simulation(&ROUGH);
}

#[test]
fn many_threads_take_turns_on_real_files() {
    for subject in [&CALM, &ROUGH] {
        let scratch = tempfile::tempdir().unwrap();
        conformance::contention_on_real_files(subject, scratch.path(), 5);
    }
}

#[test]
fn many_processes_take_turns_on_simulated_files() {
    conformance::contention_in_simulation(&CALM, 30);
    conformance::contention_in_simulation(&ROUGH, 30);
}

#[test]
fn it_survives_every_cut() {
    let cuts = conformance::crashes(&CALM);
    assert!(cuts > 1_000, "only {cuts} cuts");
}
