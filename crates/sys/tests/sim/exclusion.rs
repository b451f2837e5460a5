//! The guard under kills, pauses and a schedule of its own: nobody is ever in the section with another.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use holdfast_kernel::Millis;
use holdfast_sys::sim::{Config, Fate, Faults, Odds, Process, Random, Replay, World};
use holdfast_sys::{Guard, LockMode, Open, Sys};

const GUARD: &str = "/guard";

/// How many are in the section, and the most there were.
#[derive(Default)]
struct Inside {
    count: AtomicU32,
    most: AtomicU32,
}

/// Counts whoever is in the section, and does not forget to stop when it dies there.
struct Counted(Arc<Inside>);

impl Counted {
    fn new(inside: &Arc<Inside>) -> Self {
        let count = inside.count.fetch_add(1, Ordering::Relaxed) + 1;
        inside.most.fetch_max(count, Ordering::Relaxed);
        Self(inside.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The most that were inside at once, over many seeds.
fn crowd(body: fn(&Sys, &Arc<Inside>)) -> u32 {
    let most = |seed| {
        let faults = Faults {
            kill: Odds::new(10_000, 1),
            pause: Odds::new(20_000, 2),
            eintr: Odds::new(20_000, 2),
            ..Faults::NONE
        };
        let mut world = World::new(Config { faults, ..Config::default() }, Random::new(seed));
        let inside = Arc::new(Inside::default());
        let process = |i: u32| {
            let inside = inside.clone();
            Process::new(i.to_string(), 0, move |sys| (0..3).for_each(|_| body(&sys, &inside)))
        };
        let epoch = world.run((0..4).map(process).collect());
        assert!(
            epoch.fates.iter().all(|fate| matches!(fate, Fate::Returned | Fate::Killed)),
            "seed {seed}: {epoch:?}"
        );
        inside.most.load(Ordering::Relaxed)
    };
    (0..300).map(most).max().unwrap()
}

/// Some calls, so that others get a turn.
fn dwell(sys: &Sys) {
    (0..3).for_each(|_| drop(sys.clock.now()));
}

#[test]
fn a_guard_keeps_everybody_else_out() {
    let most = crowd(|sys, inside| {
        let mut guard = Guard::open(sys, Path::new(GUARD), 0o600).unwrap();
        let _section = guard.enter(sys, LockMode::Exclusive).unwrap();
        let _counted = Counted::new(inside);
        dwell(sys);
    });
    assert_eq!(most, 1);
}

#[test]
fn readers_are_in_it_together() {
    let most = crowd(|sys, inside| {
        let mut guard = Guard::open(sys, Path::new(GUARD), 0o600).unwrap();
        let _section = guard.enter(sys, LockMode::Shared).unwrap();
        let _counted = Counted::new(inside);
        dwell(sys);
    });
    assert_eq!(most, 4);
}

#[test]
fn without_a_lock_the_section_is_crowded() {
    let most = crowd(|sys, inside| {
        let _counted = Counted::new(inside);
        dwell(sys);
    });
    assert_eq!(most, 4);
}

#[test]
fn a_lock_file_that_is_removed_on_the_way_out_lets_two_in() {
    let most = crowd(|sys, inside| {
        let file = sys.files.open(Path::new(GUARD), Open::Create { mode: 0o600 }).unwrap();
        while file.lock(LockMode::Exclusive).is_err() {}
        let _counted = Counted::new(inside);
        dwell(sys);
        let _ = sys.files.remove_file(Path::new(GUARD));
    });
    assert!(most > 1, "whoever waited has the removed file, the next one a fresh one");
}

#[test]
fn a_guard_that_is_removed_on_the_way_out_still_keeps_everybody_else_out() {
    let most = crowd(|sys, inside| {
        let mut guard = Guard::open(sys, Path::new(GUARD), 0o600).unwrap();
        let _section = guard.enter(sys, LockMode::Exclusive).unwrap();
        let _counted = Counted::new(inside);
        dwell(sys);
        let _ = sys.files.remove_file(Path::new(GUARD));
    });
    assert_eq!(most, 1, "the locked file must be the one that the name leads to");
}

#[test]
fn giving_up_a_part_of_a_lock_lets_waiters_in() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let (first, second) = (order.clone(), order.clone());
    let open = |sys: &Sys| sys.files.open(Path::new(GUARD), Open::Create { mode: 0o600 }).unwrap();
    let mut world = World::new(Config::default(), Replay::new(Vec::new()));
    let epoch = world.run(vec![
        Process::new("writer", 0, move |sys| {
            let file = open(&sys);
            file.lock(LockMode::Exclusive).unwrap();
            sys.clock.sleep(Millis::new(5));
            file.lock(LockMode::Shared).unwrap();
            first.lock().unwrap().push("writer reads");
            sys.clock.sleep(Millis::new(5));
            first.lock().unwrap().push("writer leaves");
        }),
        Process::new("reader", 0, move |sys| {
            open(&sys).lock(LockMode::Shared).unwrap();
            second.lock().unwrap().push("reader reads");
        }),
    ]);
    assert_eq!(epoch.fates, [Fate::Returned, Fate::Returned]);
    assert_eq!(*order.lock().unwrap(), ["writer reads", "reader reads", "writer leaves"]);
}
