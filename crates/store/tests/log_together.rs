//! What is asked for together is there together or not at all, wherever it is cut off: a log in which every lease has a
//! twin, tried by the cuts of the suite that every medium passes.

use std::path::{Path, PathBuf};

use holdfast_store::Medium;
use holdfast_store::conformance::{self, Subject, Twins};
use holdfast_store::log::{Log, Paths, Settings};
use holdfast_sys::Sys;

fn open(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let paths =
        Paths { log: dir.join("log.jsonl"), index: dir.join("log.index.json"), guard: dir.join("log.lock") };
    Box::new(Twins(Log::new(sys.clone(), paths, Settings::default())))
}

fn hostile(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    conformance::garbage().into_iter().map(|bytes| (dir.join("log.jsonl"), bytes)).collect()
}

const SUBJECT: Subject = Subject { open, resources: &["one", "two", "three"], shared: true, hostile };

#[test]
fn what_counts_together_survives_every_cut_as_a_whole() {
    let cuts = conformance::crashes(&SUBJECT);
    assert!(cuts > 1_000, "only {cuts} cuts");
}

#[test]
fn many_processes_never_see_one_without_the_other() {
    conformance::contention_in_simulation(&SUBJECT, 50);
}
