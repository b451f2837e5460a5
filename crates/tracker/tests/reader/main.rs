//! The seeds of the fuzz target `issue_reader`, as they are and with bytes changed: the daily run has no time to build
//! the tracker once more for the fuzzer.

#![expect(
    clippy::disallowed_methods,
    reason = "the seeds lie outside of any repository that the tracker knows"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

mod checks;

use std::path::Path;

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

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/issue_reader");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn seeds_of_the_fuzzer_are_read_as_they_must_be() {
    let seeds = seeds();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        checks::issue(seed);
        checks::set(seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn damaged_issues_are_read_whole_or_not_at_all(
        seed in prop::sample::select(seeds()),
        changes in prop::collection::vec(change(), 1..12),
    ) {
        let bytes = changed(seed, &changes);
        checks::issue(&bytes);
        checks::set(&bytes);
    }
}
