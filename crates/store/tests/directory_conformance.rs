//! The directory medium keeps to the contract, on real and on simulated files.

use std::path::{Path, PathBuf};

use holdfast_store::Medium;
use holdfast_store::conformance::{self, Planted, Subject};
use holdfast_store::directory::{Directory, Settings};
use holdfast_sys::Sys;

const SUBJECT: Subject =
    Subject { open, resources: &["sprint/1", "sprint/2", "other.name/x_y-z"], shared: false, hostile };

fn open(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(Directory::new(sys.clone(), dir, Settings::default()))
}

fn hostile(dir: &Path) -> Vec<Planted> {
    let everywhere =
        |path: PathBuf| conformance::garbage().into_iter().map(move |bytes| (path.clone(), bytes));
    everywhere(dir.join("sprint/1/owner.json")).chain(everywhere(dir.join(".fence"))).collect()
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
