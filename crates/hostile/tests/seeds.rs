//! The seeds of the fuzz targets, as they are and with bytes changed. The fuzzer itself, which learns from what it
//! reaches, is built and run in a long run only.

#![expect(clippy::disallowed_methods, reason = "the seeds are files of this repository")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use holdfast_hostile::machine::{content, path};
use holdfast_hostile::{CHECKS, check, list};
use proptest::prelude::*;

/// One change of some bytes, at a place that is taken modulo their length.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Insert(usize, u8),
    Cut(usize, usize),
    Double(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    // What structures these files is worth more than any other byte.
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\n\\0-9eut ".to_vec())];
    prop_oneof![
        (any::<usize>(), byte.clone()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<usize>(), byte).prop_map(|(at, byte)| Change::Insert(at, byte)),
        (any::<usize>(), 1_usize..64).prop_map(|(at, length)| Change::Cut(at, length)),
        (any::<usize>(), 1_usize..64).prop_map(|(at, length)| Change::Double(at, length)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len();
        let place = |at: usize| at % (length + 1);
        match *change {
            Change::Set(at, byte) => {
                if let Some(old) = bytes.get_mut(place(at)) {
                    *old = byte;
                }
            }
            Change::Insert(at, byte) => bytes.insert(place(at), byte),
            Change::Cut(at, count) => {
                let from = place(at);
                bytes.drain(from..length.min(from + count));
            }
            Change::Double(at, count) => {
                let from = place(at);
                let part = bytes[from..length.min(from + count)].to_vec();
                bytes.splice(from..from, part);
            }
        }
    }
    bytes
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn every_check_has_seeds_that_it_passes() {
    for (name, check) in CHECKS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        seeds.iter().for_each(|seed| check(seed));
    }
}

/// A cache of lists as this program writes it: one of a version before would not be read at all.
static CACHE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (sender, cache) = std::sync::mpsc::channel();
    list::on_issues(move |sys| {
        assert!(!list::quick(&sys).0.is_empty());
        sender.send(content(&sys, &path(list::CACHE))).unwrap();
    });
    cache.recv().unwrap()
});

#[test]
fn the_seeds_of_caches_are_of_the_format_of_the_day() {
    let magic = CACHE.get(..8);
    for seed in seeds("list_reader") {
        assert_eq!(seed.get(1..9), magic, "cargo run --manifest-path fuzz/Cargo.toml --example seeds");
    }
}

#[test]
fn every_folder_of_seeds_has_its_check() {
    let folders = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    for folder in folders.filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(CHECKS.iter().any(|(known, _)| *known == name), "nothing reads fuzz/seeds/{name}");
    }
}

/// Changes seeds of one check.
fn hunt(name: &str, seed: &[u8], changes: &[Change]) {
    check(name)(&changed(seed.to_vec(), changes));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_commands_are_decided_as_they_must_be(
        seed in prop::sample::select(seeds("decide")),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("decide", &seed, &changes);
    }

    #[test]
    fn damaged_indexes_change_nothing(
        seed in prop::sample::select(seeds("index_reader")),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("index_reader", &seed, &changes);
    }

    #[test]
    fn damaged_issues_are_read_whole_or_not_at_all(
        seed in prop::sample::select(seeds("issue_reader")),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("issue_reader", &seed, &changes);
    }

    #[test]
    fn damaged_caches_of_lists_change_no_list(
        mode in prop::sample::select(b"rs".to_vec()),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("list_reader", &[&[mode], CACHE.as_slice()].concat(), &changes);
    }

    #[test]
    fn damaged_logs_are_read_refused_or_repaired(
        seed in prop::sample::select(seeds("log_reader")),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("log_reader", &seed, &changes);
    }

    #[test]
    fn any_patterns_overlap_exactly(
        seed in prop::sample::select(seeds("overlap")),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("overlap", &seed, &changes);
    }

    #[test]
    fn damaged_locks_block_only_themselves(
        seed in prop::sample::select(seeds("owner_reader")),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("owner_reader", &seed, &changes);
    }

    #[test]
    fn damaged_records_are_read_or_refused(
        seed in prop::sample::select(seeds("record_reader")),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        hunt("record_reader", &seed, &changes);
    }
}
