//! Calls that fail: each fault occurs where a real machine has it, and nowhere else, and not for ever.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use holdfast_sys::sim::{Choice, Config, Fate, Fault, Faults, Moment, Odds, Process, Random, World};
use holdfast_sys::{Error, LockMode, Open, Sys};

use crate::{ALWAYS, By, calm, create, run};

/// One fault at the first occasion, with this answer to the question for it.
fn once(fault: Fault, answer: usize) -> World {
    let choices = By(move |what, _, _: &Moment<'_>| if what == Choice::Fault(fault) { answer } else { 0 });
    let one = Odds::new(0, 1);
    let faults = match fault {
        Fault::Eio => Faults { eio: one, ..Faults::NONE },
        Fault::Enospc => Faults { enospc: one, ..Faults::NONE },
        Fault::Eintr => Faults { eintr: one, ..Faults::NONE },
        Fault::Short => Faults { short_io: one, ..Faults::NONE },
    };
    let mut world = World::new(Config { faults, ..Config::default() }, choices);
    world.write_file("/f", b"0123456789").unwrap();
    world
}

/// Which calls of an ordinary day fail that way, by their verb.
fn verbs(faults: Faults) -> BTreeSet<(&'static str, ErrorKind)> {
    let failed = Arc::new(Mutex::new(BTreeSet::new()));
    for seed in 0..400 {
        let mut world = World::new(Config { faults, ..Config::default() }, Random::new(seed));
        world.write_file("/f", b"0123456789").unwrap();
        let processes = (0..2).map(|i| {
            let failed = failed.clone();
            let note = move |error: Error| {
                failed.lock().unwrap().insert((error.action, error.kind()));
            };
            Process::new(i.to_string(), 0, move |sys| day(&sys, &note))
        });
        let epoch = world.run(processes.collect());
        assert_eq!(epoch.fates, [Fate::Returned, Fate::Returned]);
    }
    Arc::try_unwrap(failed).unwrap().into_inner().unwrap()
}

/// Makes every kind of call.
fn day(sys: &Sys, note: &dyn Fn(Error)) {
    let (f, g, d) = (Path::new("/f"), Path::new("/g"), Path::new("/d"));
    let files = &sys.files;
    if let Ok(log) = files.open(f, Open::Append { mode: 0o600 }) {
        log.append(b"abc").err().map(note);
    }
    if let Ok(file) = files.open(f, Open::Write).map_err(note) {
        file.lock(LockMode::Exclusive).err().map(note);
        file.read_at(&mut [0; 4], 0).err().map(note);
        file.write_at(b"xyz", 0).err().map(note);
        file.truncate(12).err().map(note);
        file.sync().err().map(note);
        file.stat().err().map(note);
        file.unlock().err().map(note);
    }
    let quiet = |result: holdfast_sys::Result<()>| match result {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => note(error),
        _ => {}
    };
    quiet(files.link(f, g));
    quiet(files.rename_new(g, Path::new("/h")));
    quiet(files.rename(Path::new("/h"), g));
    quiet(files.remove_file(g));
    quiet(files.create_dir(d, 0o700));
    quiet(files.remove_dir(d));
    quiet(files.sync_dir(Path::new("/")));
    quiet(files.stat(f).map(drop));
    quiet(files.list(Path::new("/")).map(drop));
    quiet(sys.clock.now().map(drop));
}

#[test]
fn a_signal_cuts_only_reading_writing_and_waiting_short() {
    let verbs = verbs(Faults { eintr: Odds::new(200_000, 3), ..Faults::NONE });
    let expected = ["append to", "lock", "read", "write"].map(|verb| (verb, ErrorKind::Interrupted));
    assert_eq!(verbs, expected.into());
}

#[test]
fn the_disk_fails_wherever_it_is_needed() {
    let verbs: BTreeSet<&str> = verbs(Faults { eio: Odds::new(100_000, 3), ..Faults::NONE })
        .into_iter()
        .map(|(verb, _)| verb)
        .collect();
    let expected = [
        "append to",
        "create",
        "cut",
        "flush",
        "flush the directory",
        "link",
        "list",
        "make the directory",
        "open",
        "read",
        "remove",
        "remove the directory",
        "replace",
        "write",
    ];
    assert_eq!(verbs, expected.into());
}

#[test]
fn a_full_disk_stops_what_needs_space() {
    let verbs = verbs(Faults { enospc: Odds::new(100_000, 3), ..Faults::NONE });
    let expected = ["append to", "create", "cut", "link", "make the directory", "replace", "write"];
    assert_eq!(verbs, expected.map(|verb| (verb, ErrorKind::StorageFull)).into());
}

#[test]
fn nothing_fails_in_a_calm_world() {
    assert_eq!(verbs(Faults::NONE), BTreeSet::new());
    assert_eq!(
        verbs(Faults { kill: Odds::NEVER, short_io: Odds::new(ALWAYS, 9), ..Faults::NONE }),
        BTreeSet::new()
    );
}

#[test]
fn a_write_that_fails_has_written_nothing_or_a_part() {
    for (answer, left) in [(1, &b"0123456789"[..]), (2, b"AB23456789")] {
        let mut world = write_failing(answer);
        run(&mut world, |sys| {
            let file = sys.files.open(Path::new("/f"), Open::Write).unwrap();
            assert_eq!(file.write_at(b"ABCD", 0).unwrap_err().source.raw_os_error(), Some(5));
            assert_eq!(file.write_at(b"Z", 9).unwrap(), 1, "one fault was all there was");
        });
        let expected = [&left[..9], b"Z"].concat();
        assert_eq!(world.read_file("/f").unwrap(), expected);
    }
}

/// The disk fails at the first question that has three answers, which is a write's.
fn write_failing(answer: usize) -> World {
    let choices = By(move |what, options, _: &Moment<'_>| match what {
        Choice::Fault(Fault::Eio) if options == 3 => answer,
        _ => 0,
    });
    let faults = Faults { eio: Odds::new(0, 1), ..Faults::NONE };
    let mut world = World::new(Config { faults, ..Config::default() }, choices);
    world.write_file("/f", b"0123456789").unwrap();
    world
}

#[test]
fn a_disk_that_fills_up_takes_what_fits_and_refuses_the_rest() {
    let mut world = once(Fault::Enospc, 2);
    run(&mut world, |sys| {
        let file = sys.files.open(Path::new("/f"), Open::Write).unwrap();
        assert_eq!(file.write_at(b"ABCD", 0).unwrap(), 2);
        assert_eq!(file.write_at(b"CD", 2).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(file.write_at(b"CD", 2).unwrap(), 2, "somebody made room");
    });
    assert_eq!(world.read_file("/f").unwrap(), b"ABCD456789");
}

#[test]
fn short_reads_and_writes_make_progress() {
    for (answer, len) in [(1, 3), (2, 1), (3, 5)] {
        run(&mut once(Fault::Short, answer), move |sys| {
            let file = sys.files.open(Path::new("/f"), Open::Write).unwrap();
            assert_eq!(file.write_at(b"ABCDEF", 0).unwrap(), len);
            assert_eq!(file.write_at(b"ABCDEF", 0).unwrap(), 6);
        });
        run(&mut once(Fault::Short, answer), move |sys| {
            let file = sys.files.open(Path::new("/f"), Open::Read).unwrap();
            let mut some = [0; 6];
            assert_eq!(file.read_at(&mut some, 0).unwrap(), len);
            assert_eq!(some[..len], b"012345"[..len]);
        });
    }
}

#[test]
fn the_helpers_finish_what_is_cut_short() {
    for seed in 0..100 {
        let faults =
            Faults { eintr: Odds::new(500_000, 20), short_io: Odds::new(500_000, 20), ..Faults::NONE };
        let mut world = World::new(Config { faults, ..Config::default() }, Random::new(seed));
        run(&mut world, |sys| {
            let file = create(&sys, "/f");
            file.write_all_at(b"all of this", 0).unwrap();
            assert_eq!(file.read_from(0, 100).unwrap(), b"all of this");
        });
    }
}

#[test]
fn files_put_there_from_outside_are_durable() {
    let mut world = calm(0);
    world.write_file("/deep/down/f", b"1").unwrap();
    world.write_file("/deep/down/f", b"22").unwrap();
    world.symlink("/deep", "/link").unwrap();
    world.lose_power();
    assert_eq!(world.read_file("/deep/down/f").unwrap(), b"22");
    assert_eq!(world.paths(), ["/deep/down/f", "/link"].map(std::path::PathBuf::from));
    world.remove_file("/link").unwrap();
    assert!(world.write_file("/deep/down", b"").is_err());
    assert!(world.write_file("/deep/down/f/g", b"").is_err());
    world.lose_power();
    assert_eq!(world.paths(), [std::path::PathBuf::from("/deep/down/f")]);
}
