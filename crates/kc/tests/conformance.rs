//! The SQLite medium keeps to the contract of all media, on real files: SQLite makes its own system calls, so
//! there is nothing to simulate. Every operation has a connection of its own, as every process has.

use std::path::Path;

use holdfast_kc::medium::Sqlite;
use holdfast_kc::secret::Secret;
use holdfast_store::Medium;
use holdfast_store::conformance::{self, Planted, Subject};
use holdfast_sys::Sys;

const SUBJECT: Subject = Subject { open, resources: &["doc-1", "doc-2"], shared: false, hostile };

const DATABASE: &str = "lineage.sqlite3";

fn open(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(Sqlite::new(sys.clone(), dir.join(DATABASE), Secret::new([7; 32])))
}

fn hostile(dir: &Path) -> Vec<Planted> {
    conformance::garbage().into_iter().map(|bytes| (dir.join(DATABASE), bytes)).collect()
}

#[test]
fn it_keeps_to_the_contract_on_real_files() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::on_real_files(&SUBJECT, scratch.path());
}

#[test]
fn many_threads_take_turns_on_real_files() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::contention_on_real_files(&SUBJECT, scratch.path(), 10);
}
