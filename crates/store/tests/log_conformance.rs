//! The log medium keeps to the contract, on real and on simulated files, with and without a flushed index.

use std::path::{Path, PathBuf};

use holdfast_store::Medium;
use holdfast_store::conformance::{self, Subject};
use holdfast_store::log::{Log, Paths, Settings};
use holdfast_sys::Sys;

const SUBJECT: Subject = Subject { open, resources: &["one", "two", "three"], shared: true, hostile };
const FLUSHED: Subject = Subject { open: open_flushed, ..SUBJECT };

fn paths(dir: &Path) -> Paths {
    Paths { log: dir.join("log.jsonl"), index: dir.join("log.index.json"), guard: dir.join("log.lock") }
}

fn open(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(Log::new(sys.clone(), paths(dir), Settings::default()))
}

fn open_flushed(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let settings = Settings { fsync_index: true, ..Settings::default() };
    Box::new(Log::new(sys.clone(), paths(dir), settings))
}

fn hostile(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    conformance::garbage().into_iter().map(|bytes| (paths(dir).log, bytes)).collect()
}

#[test]
fn it_keeps_to_the_contract_on_real_files() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::on_real_files(&SUBJECT, scratch.path());
}

#[test]
fn it_keeps_to_the_contract_on_simulated_files() {
    conformance::in_simulation(&SUBJECT);
    conformance::in_simulation(&FLUSHED);
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
    for subject in [&SUBJECT, &FLUSHED] {
        let cuts = conformance::crashes(subject);
        assert!(cuts > 1_000, "only {cuts} cuts");
    }
}
