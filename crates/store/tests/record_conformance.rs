//! The record medium keeps to the contract, on real and on simulated files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

use std::path::{Path, PathBuf};

use holdfast_kernel::Name;
use holdfast_store::Medium;
use holdfast_store::conformance::{self, Planted, Subject};
use holdfast_store::record::{Paths, Record, Settings};
use holdfast_sys::Sys;

const SUBJECT: Subject = Subject { open, resources: &["main"], shared: false, hostile };

fn open(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let resource = Name::new("main").unwrap();
    Box::new(Record::new(sys.clone(), Paths::new(dir, "main"), resource, Settings::default()))
}

fn hostile(dir: &Path) -> Vec<Planted> {
    let Paths { lock, fence, .. } = Paths::new(dir, "main");
    let everywhere =
        |path: &PathBuf| conformance::garbage().into_iter().map(|bytes| (path.clone(), bytes)).collect();
    let everything: [Vec<_>; 2] = [&lock, &fence].map(everywhere);
    everything.concat()
}

#[test]
fn it_keeps_to_the_contract_on_real_files() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::on_real_files(&SUBJECT, scratch.path());
}

#[test]
fn it_keeps_to_the_contract_on_simulated_files() {
    conformance::in_simulation(&SUBJECT);
}

#[test]
fn many_threads_take_turns_on_real_files() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::contention_on_real_files(&SUBJECT, scratch.path(), 10);
}

#[test]
fn many_processes_take_turns_on_simulated_files() {
    conformance::contention_in_simulation(&SUBJECT, 100);
}

#[test]
fn it_survives_every_cut() {
    let cuts = conformance::crashes(&SUBJECT);
    assert!(cuts > 1_000, "only {cuts} cuts");
}
