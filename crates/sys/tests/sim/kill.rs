//! Death: of one process at any call, without a trace but what it wrote.

use std::path::Path;
use std::sync::{Arc, Mutex};

use holdfast_sys::sim::{Choice, Config, End, Fate, Faults, Moment, Odds, Process, World};
use holdfast_sys::{Guard, LockMode, Sys};

use crate::{By, create, save};

/// A world where the first process dies before its `at`-th question of that kind.
fn killing(at: usize, answer: usize) -> World {
    let mut asked = 0;
    let choices = By(move |what, _, moment: &Moment<'_>| {
        if what != Choice::Kill || moment.process() != 0 {
            return 0;
        }
        asked += 1;
        if asked == at { answer } else { 0 }
    });
    let faults = Faults { kill: Odds::new(0, 1), ..Faults::NONE };
    World::new(Config { faults, ..Config::default() }, choices)
}

/// Counts one up under the guard.
fn count(sys: &Sys) {
    let mut guard = Guard::open(sys, Path::new("/guard"), 0o600).unwrap();
    let _section = guard.enter(sys, LockMode::Exclusive).unwrap();
    let file = create(sys, "/count");
    let mut lines = file.read_from(0, 100).unwrap();
    lines.push(b'|');
    file.write_all_at(&lines, 0).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_kill_at_any_call_leaves_the_others_running() {
    let mut killed = 0;
    for at in 1.. {
        let mut world = killing(at, 1);
        let bodies = ["a", "b", "c"].map(|name| Process::new(name, 0, |sys| count(&sys)));
        let epoch = world.run(bodies.into());
        assert_eq!(epoch.end, End::Done, "at {at}");
        assert_eq!(epoch.fates[1..], [Fate::Returned, Fate::Returned], "at {at}");
        let counted = world.read_file("/count").unwrap().len();
        match &epoch.fates[0] {
            Fate::Killed => assert!(counted == 2 || counted == 3, "at {at}: {counted}"),
            fate => {
                assert_eq!((fate, counted), (&Fate::Returned, 3));
                break;
            }
        }
        killed += 1;
    }
    assert!(killed > 10, "a dozen calls, each of them tried: {killed}");
}

#[test]
fn whoever_waits_for_a_lock_can_be_killed_there() {
    let choices = By(|what, options, _: &Moment<'_>| match what {
        // As soon as somebody waits, there is a second one to kill.
        Choice::Kill if options > 2 => 2,
        Choice::Schedule => 1,
        _ => 0,
    });
    let faults = Faults { kill: Odds::new(0, 1), ..Faults::NONE };
    let mut world = World::new(Config { faults, ..Config::default() }, choices);
    let epoch = world.run(["a", "b"].map(|name| Process::new(name, 0, |sys| count(&sys))).into());
    assert_eq!(epoch.end, End::Done);
    assert!(epoch.fates.contains(&Fate::Killed) && epoch.fates.contains(&Fate::Returned), "{epoch:?}");
    assert_eq!(world.read_file("/count").unwrap(), b"|");
}

#[test]
fn a_kill_loses_nothing_that_was_written() {
    let mut world = killing(3, 1);
    let epoch = world.run(vec![Process::new("a", 0, |sys| {
        let file = create(&sys, "/f");
        file.write_all_at(b"pending", 0).unwrap();
        file.sync().unwrap();
    })]);
    assert_eq!(epoch.fates, [Fate::Killed]);
    assert_eq!(world.read_file("/f").unwrap(), b"pending");
    assert_eq!(world.durable_file("/f"), None);
}

/// Makes calls when it is dropped, and says what came of them.
struct LastWords {
    sys: Sys,
    said: Arc<Mutex<Vec<bool>>>,
}

impl Drop for LastWords {
    fn drop(&mut self) {
        let opened = self.sys.files.open(Path::new("/late"), holdfast_sys::Open::Create { mode: 0o600 });
        self.sys.clock.sleep(holdfast_kernel::Millis::new(5));
        let told = [opened.is_ok(), self.sys.clock.now().is_ok(), self.sys.entropy.nonce().is_ok()];
        self.said.lock().unwrap().extend(told);
    }
}

#[test]
fn what_the_dead_do_on_their_way_out_has_no_effect() {
    let said = Arc::new(Mutex::new(Vec::new()));
    for panics in [false, true] {
        let mut world = killing(if panics { 99 } else { 2 }, 1);
        let words = said.clone();
        let epoch = world.run(vec![Process::new("a", 0, move |sys| {
            let _last = LastWords { sys: sys.clone(), said: words };
            save(&sys, "/f", b"1");
            panic!("a bug in what runs here");
        })]);
        let expected =
            if panics { Fate::Panicked("a bug in what runs here".to_owned()) } else { Fate::Killed };
        assert_eq!(epoch.fates, [expected]);
        assert_eq!(world.read_file("/late"), None);
    }
    assert_eq!(*said.lock().unwrap(), [false; 6]);
}

#[test]
fn whoever_survives_the_unwinding_is_dead_all_the_same() {
    let mut world = killing(2, 1);
    let epoch = world.run(vec![Process::new("a", 0, |sys| {
        let inner = sys.clone();
        let cut = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| save(&inner, "/f", b"1")));
        assert!(cut.is_err());
        assert!(sys.processes.me().is_err());
        assert!(sys.files.create_dir(Path::new("/late"), 0o700).is_err());
    })]);
    assert_eq!(epoch.fates, [Fate::Killed]);
    assert!(world.write_file("/late", b"").is_ok(), "nothing is in the way");
}

#[test]
fn a_kill_within_a_destructor_is_a_kill() {
    struct Late(Sys);
    impl Drop for Late {
        fn drop(&mut self) {
            for _ in 0..4 {
                let _ = self.0.clock.now();
            }
        }
    }
    for at in 1..=8 {
        let mut world = killing(at, 1);
        let epoch = world.run(vec![Process::new("a", 0, |sys| drop((Late(sys.clone()), Late(sys))))]);
        assert_eq!(epoch.fates, [Fate::Killed], "at {at}");
    }
}

#[test]
fn a_panic_is_reported_and_gives_up_its_locks() {
    let mut world = killing(99, 1);
    let epoch = world.run(vec![
        Process::new("bad", 0, |sys| {
            let mut guard = Guard::open(&sys, Path::new("/guard"), 0o600).unwrap();
            let _section = guard.enter(&sys, LockMode::Exclusive).unwrap();
            panic!("seven is not {}", 8);
        }),
        Process::new("good", 0, |sys| count(&sys)),
    ]);
    assert_eq!(epoch.fates, [Fate::Panicked("seven is not 8".to_owned()), Fate::Returned]);
    assert_eq!(epoch.panics().collect::<Vec<_>>(), ["seven is not 8"]);
}

#[test]
fn handles_that_outlive_their_process_are_closed() {
    let mut world = killing(99, 1);
    let left = Arc::new(Mutex::new(None));
    let leak = left.clone();
    let first = Process::new("a", 0, move |sys| {
        let file = create(&sys, "/f");
        file.lock(LockMode::Exclusive).unwrap();
        *leak.lock().unwrap() = Some(file);
    });
    let second = Process::new("b", 0, |sys| create(&sys, "/f").lock(LockMode::Exclusive).unwrap()).after(0);
    assert_eq!(world.run(vec![first, second]).fates, [Fate::Returned, Fate::Returned]);
    let file = left.lock().unwrap().take().unwrap();
    assert!(file.stat().is_err(), "nobody has it open");
}
