//! Files that are replaced whole: what is there afterwards, what is not left behind, and what a power loss leaves.
#![expect(clippy::disallowed_methods, reason = "these tests put real files into the way")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{damage, names, sys};
use holdfast_store::whole::{self, Beside, LONGEST};
use holdfast_sys::Sys;
use holdfast_sys::sim::{
    Choice, Choices, Config, End, Faults, Moment, NameOrder, Odds, Process, Random, World,
};
use tempfile::TempDir;

fn fresh() -> (Sys, TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    (sys(), dir, one, two)
}

/// A directory in the place of a file, which no file can replace.
fn block(path: &Path) {
    fs::create_dir(path).unwrap();
    fs::write(path.join("precious"), "").unwrap();
}

#[test]
fn what_is_read_is_a_file_that_is_not_too_long() {
    let (sys, dir, one, two) = fresh();
    assert_eq!(whole::read(&sys, &one).unwrap(), None);
    let longest = vec![b'x'; LONGEST];
    fs::write(&one, &longest).unwrap();
    assert_eq!(whole::read(&sys, &one).unwrap(), Some(longest));
    fs::write(&one, vec![b'x'; LONGEST + 1]).unwrap();
    assert!(damage(whole::read(&sys, &one)).1.contains("longer than 65536 bytes"));
    symlink(&one, &two).unwrap();
    assert!(damage(whole::read(&sys, &two)).1.contains("a symbolic link, not a file"));
    assert!(damage(whole::read(&sys, dir.path())).1.contains("a directory, not a file"));
    assert!(damage(whole::read(&sys, Path::new("/dev/null"))).1.contains("a device, a pipe or a socket"));
}

#[test]
fn files_are_replaced_and_nothing_is_left_beside_them() {
    let (sys, dir, one, two) = fresh();
    for (bytes, beside) in [(b"old", Beside::Tmp), (b"new", Beside::Hidden)] {
        whole::replace_all(&sys, &[(&one, bytes), (&two, b"2")], beside, 0o640).unwrap();
        assert_eq!(fs::read(&one).unwrap(), bytes);
        assert_eq!(names(&sys, dir.path()), ["one", "two"]);
    }
    assert_eq!(fs::metadata(&one).unwrap().permissions().mode() & 0o777, 0o640);
    whole::replace_all(&sys, &[], Beside::Tmp, 0o600).unwrap();
}

#[test]
fn what_waits_beside_its_place_is_called_as_asked_and_is_taken_away_if_it_is_dropped() {
    let (sys, dir, one, _) = fresh();
    for (names_as, tmp) in [(Beside::Tmp, true), (Beside::Hidden, false)] {
        let staged = whole::stage_all(&sys, &[(&one, b"1")], names_as, 0o600).unwrap();
        let there = names(&sys, dir.path());
        let [name] = there.as_slice() else { panic!("{there:?}") };
        assert_eq!(whole::leftover_of(name.as_ref()), tmp.then_some("one"), "{name}");
        assert_eq!(name.starts_with(".one.new-"), !tmp, "{name}");
        drop(staged);
        assert_eq!(names(&sys, dir.path()), Vec::<String>::new());
    }
}

#[test]
fn what_cannot_be_replaced_leaves_nothing_beside_it() {
    let (sys, dir, one, two) = fresh();
    block(&two);
    let files: [(&Path, &[u8]); 2] = [(&one, b"1"), (&two, b"2")];
    whole::replace_all(&sys, &files, Beside::Tmp, 0o600).unwrap_err();
    assert_eq!(fs::read(&one).unwrap(), b"1", "what came before it is in its place");
    assert_eq!(names(&sys, dir.path()), ["one", "two"]);
    whole::show(&sys, &two, b"2", 0o600).unwrap_err();
    assert_eq!(names(&sys, dir.path()), ["one", "two"]);
    assert!(two.join("precious").exists());
}

#[test]
fn what_is_shown_takes_the_place_of_what_was_there() {
    let (sys, dir, one, _) = fresh();
    for bytes in [b"old", b"new"] {
        whole::show(&sys, &one, bytes, 0o600).unwrap();
        assert_eq!(fs::read(&one).unwrap(), bytes);
    }
    assert_eq!(names(&sys, dir.path()), ["one"]);
}

#[test]
fn what_is_placed_takes_nobody_s_place() {
    let (sys, dir, one, _) = fresh();
    assert!(whole::place(&sys, &one, b"first", Beside::Tmp, 0o600).unwrap());
    assert!(!whole::place(&sys, &one, b"second", Beside::Tmp, 0o600).unwrap());
    assert_eq!(fs::read(&one).unwrap(), b"first");
    assert_eq!(names(&sys, dir.path()), ["one"]);
    let nowhere = dir.path().join("nowhere/one");
    whole::place(&sys, &nowhere, b"1", Beside::Tmp, 0o600).unwrap_err();
}

/// The power goes at one call; by chance something survives that was not flushed.
struct Outage {
    countdown: u64,
    chance: Random,
}

impl Choices for Outage {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        match what {
            Choice::Survive(_) => self.chance.choose(what, options, at),
            Choice::PowerLoss if self.countdown == 0 => 1,
            Choice::PowerLoss => {
                self.countdown -= 1;
                0
            }
            _ => 0,
        }
    }
}

type Work = fn(&Sys) -> bool;

/// Two files after the power went at the n-th call of `work`; whether it was done, and whether it was said to be.
fn left(work: Work, nth: u64, seed: u64) -> ([Option<Vec<u8>>; 2], bool, bool) {
    let faults = Faults { power_loss: Odds::new(0, 1), ..Faults::NONE };
    let config = Config { faults, names: NameOrder::PerName, lose_ppm: 300_000, ..Config::default() };
    let mut world = World::new(config, Outage { countdown: nth, chance: Random::new(seed) });
    world.create_dir_all("/data").unwrap();
    let told = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&told);
    let epoch = world.run(vec![Process::new("writer", 0, move |sys| {
        tell.store(work(&sys), Ordering::SeqCst);
    })]);
    let ended = epoch.end == End::Done;
    if ended {
        world.lose_power();
    }
    let bytes = |name| world.read_file(Path::new("/data").join(name));
    ([bytes("one"), bytes("two")], told.load(Ordering::SeqCst), ended)
}

/// Tries every cut with several fates: what is there is whole, and what was said to be done is there.
fn outlives_the_power(work: Work) {
    let whole = [Some(b"first".to_vec()), Some(b"second".to_vec())];
    for seed in 0..20 {
        for nth in 0.. {
            let (found, told, ended) = left(work, nth, seed);
            for (bytes, whole) in found.iter().zip(&whole) {
                assert!(bytes.is_none() || bytes == whole, "seed {seed}, call {nth}: {bytes:?}");
            }
            assert!(!told || found == whole, "seed {seed}, call {nth}: it was done, and is gone: {found:?}");
            if ended {
                assert!(told);
                break;
            }
        }
    }
}

#[test]
fn what_was_replaced_outlives_the_power_and_is_whole() {
    outlives_the_power(|sys| {
        let (one, two) = (Path::new("/data/one"), Path::new("/data/two"));
        let files: [(&Path, &[u8]); 2] = [(one, b"first"), (two, b"second")];
        whole::replace_all(sys, &files, Beside::Tmp, 0o600).is_ok()
    });
}

#[test]
fn what_was_placed_outlives_the_power_and_is_whole() {
    outlives_the_power(|sys| {
        let place = |name: &str, bytes: &[u8]| whole::place(sys, Path::new(name), bytes, Beside::Tmp, 0o600);
        place("/data/one", b"first").is_ok_and(|placed| placed)
            && place("/data/two", b"second").is_ok_and(|placed| placed)
    });
}
