//! Scripts that lock by plain `mkdir` and never heard of the guard, against the medium, interleaved at every
//! call: never do two own the same lock at the same time.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod common;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use common::{acquire, evict, release};
use holdfast_kernel::{Acquire, Answer, Command, Millis, Refusal};
use holdfast_store::directory::{Directory, Settings};
use holdfast_store::{Error, Medium, liveness};
use holdfast_sys::sim::{Config, End, Faults, NameOrder, Odds, Process, Random, World};
use holdfast_sys::{Open, Sys};

const ROOT: &str = "/locks";
const LOCK: &str = "/locks/sprint/7";
const RESOURCE: &str = "sprint/7";
const GHOST_AFTER: u64 = 1_000;

/// Who owns the lock, and until when by the clock that all share.
#[derive(Default)]
struct Owners {
    now: Mutex<Vec<(String, u64)>>,
    /// A script gave back what was another script's. Nothing can be said about the rest of the run.
    foul: AtomicBool,
    /// A script removed its own directory.
    removed: AtomicBool,
    /// Somebody was told that the script's lock was swept.
    swept: AtomicBool,
}

impl Owners {
    /// From here on `who` owns the lock until it leaves, but at most until `until`.
    fn enter(&self, who: &str, now: u64, until: u64) {
        let mut owners = self.now.lock().unwrap();
        let others: Vec<_> = owners.iter().filter(|(_, until)| now < *until).collect();
        let alone = others.is_empty() || self.foul.load(Ordering::SeqCst);
        assert!(alone, "{who} came to own the lock at {now} while {others:?} does");
        owners.push((who.to_owned(), until));
    }

    fn leave(&self, who: &str) {
        self.now.lock().unwrap().retain(|(other, _)| other != who);
    }

    /// A script that had no right to it any more has removed the directory.
    fn removed_late(&self) {
        let owned = !self.now.lock().unwrap().is_empty();
        self.foul.fetch_or(owned, Ordering::SeqCst);
        self.removed.fetch_or(!owned, Ordering::SeqCst);
    }
}

fn wall(sys: &Sys) -> u64 {
    sys.clock.now().unwrap().wall_ms()
}

fn medium(sys: &Sys) -> Directory {
    let ghost_after = Millis::new(GHOST_AFTER);
    let settings = Settings { ghost_after, ghost_skew: Millis::ZERO, ..Settings::default() };
    Directory::new(sys.clone(), Path::new(ROOT), settings)
}

/// A script: `mkdir` is the lock, a marker says that it is a script's, `rmdir` gives it back. It sleeps
/// through its time now and then and gives the lock back late, which is when it does harm if it can.
fn script(sys: &Sys, who: &str, owners: &Owners, holds: &[u64]) {
    let lock = Path::new(LOCK);
    let marker = lock.join(".fallback");
    for hold in holds {
        let begun = wall(sys);
        if sys.files.create_dir(lock, 0o700).is_err() {
            sys.clock.sleep(Millis::new(7));
            continue;
        }
        // It counts on its time only from before it made the directory.
        owners.enter(who, wall(sys), begun + GHOST_AFTER);
        let _ = sys.files.open(&marker, Open::New { mode: 0o600 });
        sys.clock.sleep(Millis::new(*hold));
        owners.leave(who);
        let _ = sys.files.remove_file(&marker);
        if sys.files.remove_dir(lock).is_ok() {
            owners.removed_late();
        }
    }
}

/// A holder that goes through the medium.
fn worker(sys: &Sys, who: &str, owners: &Owners, tries: u32) {
    let medium = medium(sys);
    for _ in 0..tries {
        match acquire(sys, &medium, RESOURCE, who) {
            Ok(Answer::Granted(lease)) => {
                owners.enter(who, wall(sys), u64::MAX);
                medium.guarded(&lease.claim(), &mut |_| sys.clock.sleep(Millis::new(3))).unwrap();
                owners.leave(who);
                release(&medium, &lease).unwrap();
            }
            Err(Error::Refused(Refusal::Held { .. })) => sys.clock.sleep(Millis::new(400)),
            other => panic!("{other:?}"),
        }
    }
}

/// Somebody who clears up whatever is old.
fn sweeper(sys: &Sys, times: u32) {
    let medium = medium(sys);
    for _ in 0..times {
        medium.transact(&common::policy(), &Command::Sweep).unwrap();
        medium.clean().unwrap();
        sys.clock.sleep(Millis::new(300));
    }
}

fn run(seed: u64, config: Config) {
    let owners = Arc::new(Owners::default());
    let mut world = World::new(config, Random::new(seed));
    world.create_dir_all("/locks/sprint").unwrap();
    let holds: [&'static [u64]; 3] = [&[1, 1_500, 2, 1], &[1_001, 1, 1_000], &[999, 1_003, 1]];
    let mut processes = Vec::new();
    for (who, holds) in ["script a", "script b", "script c"].into_iter().zip(holds) {
        let owners = Arc::clone(&owners);
        processes.push(Process::new(who, 0, move |sys: Sys| script(&sys, who, &owners, holds)));
    }
    for who in ["worker a", "worker b"] {
        let owners = Arc::clone(&owners);
        processes.push(Process::new(who, 0, move |sys: Sys| worker(&sys, who, &owners, 4)));
    }
    processes.push(Process::new("sweeper", 0, |sys: Sys| sweeper(&sys, 6)));
    let epoch = world.run(processes);
    assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "seed {seed}");
    assert_eq!(epoch.end, End::Done, "seed {seed}");
}

#[test]
fn two_never_own_a_lock_whatever_scripts_and_holders_do() {
    for seed in 0..3_000 {
        run(seed, Config::default());
    }
}

/// Makes the directory if it can, a few times, and owns the lock for a moment.
fn hasty(sys: &Sys, who: &str, owners: &Owners) {
    for _ in 0..8 {
        let now = wall(sys);
        // Nobody else runs between the return of one call and the next one.
        if sys.files.create_dir(Path::new(LOCK), 0o700).is_ok() {
            owners.enter(who, now, now + GHOST_AFTER);
            return sys.clock.sleep(Millis::new(100));
        }
    }
}

/// A script slept through its time and gives its lock back while others judge it and more scripts wait for
/// the name to be free: what was judged must be what is broken. (That it may give back another script's
/// lock is a weakness of locking by `mkdir` alone, whoever else is there.)
fn late_release(seed: u64, break_it: fn(&Sys, &Owners)) {
    let owners = Arc::new(Owners::default());
    let mut world = World::new(Config { switch_ppm: 150_000, ..Config::default() }, Random::new(seed));
    world.create_dir_all("/locks/sprint").unwrap();
    world.run(vec![Process::new("late", 0, |sys: Sys| {
        sys.files.create_dir(Path::new(LOCK), 0o700).unwrap();
    })]);
    world.advance(2 * GHOST_AFTER);
    let board = Arc::clone(&owners);
    let mut processes = vec![Process::new("late", 0, move |sys: Sys| {
        if sys.files.remove_dir(Path::new(LOCK)).is_ok() {
            board.removed_late();
        }
    })];
    for who in ["hasty a", "hasty b"] {
        let owners = Arc::clone(&owners);
        processes.push(Process::new(who, 0, move |sys: Sys| hasty(&sys, who, &owners)));
    }
    let board = Arc::clone(&owners);
    processes.push(Process::new("breaker", 0, move |sys: Sys| break_it(&sys, &board)));
    let epoch = world.run(processes);
    assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "seed {seed}");
    assert_eq!(epoch.end, End::Done, "seed {seed}");
    let both = owners.removed.load(Ordering::SeqCst) && owners.swept.load(Ordering::SeqCst);
    assert!(!both, "seed {seed}: what was given back cannot have been swept as well");
}

#[test]
fn a_takeover_takes_the_lock_that_was_judged_and_no_other() {
    for seed in 0..10_000 {
        late_release(seed, |sys, owners| match acquire(sys, &medium(sys), RESOURCE, "breaker") {
            Ok(Answer::Granted(_)) => owners.enter("breaker", wall(sys), u64::MAX),
            Err(Error::Refused(Refusal::Held { .. })) => {}
            other => panic!("{other:?}"),
        });
    }
}

#[test]
fn a_sweep_breaks_the_lock_that_was_judged_and_no_other() {
    for seed in 0..10_000 {
        late_release(seed, |sys, owners| {
            let answer = medium(sys).transact(&common::policy(), &Command::Sweep).unwrap();
            owners.swept.store(answer != Answer::Swept(Vec::new()), Ordering::SeqCst);
        });
    }
}

#[test]
fn a_dead_process_is_known_by_its_lease_and_its_lock_is_taken_over_at_once() {
    let mut world = World::new(Config::default(), Random::new(7));
    world.create_dir_all(ROOT).unwrap();
    let take = |sys: &Sys, who: &str| {
        let medium = medium(sys);
        let tags = liveness::describe(&sys.processes.me().unwrap(), holdfast_kernel::Tags::none()).unwrap();
        let dead = liveness::dead(&*sys.processes, &medium.view().unwrap().table);
        let wanted = Acquire { tags, dead, ..common::wanted(sys, RESOURCE, who) };
        medium.transact(&common::policy(), &Command::Acquire(wanted))
    };
    let first = Process::new("first", 0, move |sys: Sys| {
        assert!(matches!(take(&sys, "anna"), Ok(Answer::Granted(_))));
        // It is alive, so nobody takes it over.
        assert!(matches!(take(&sys, "berta"), Err(Error::Refused(Refusal::Held { .. }))));
    });
    // It may well get the same number, which must not keep the dead one alive.
    let second = Process::new("second", 0, move |sys: Sys| {
        let Ok(Answer::Granted(lease)) = take(&sys, "berta") else { panic!("the dead hold nothing") };
        assert_eq!(liveness::process(&lease), sys.processes.me().ok());
        evict(&medium(&sys), &lease).unwrap();
    });
    let epoch = world.run(vec![first, second.after(0)]);
    assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn scripts_that_die_anywhere_leave_nothing_that_is_not_recovered() {
    for seed in 0..2_000 {
        let (kill, power_loss) = (Odds::new(30_000, 3), Odds::new(10_000, 1));
        let names = if seed % 2 == 0 { NameOrder::PerDirectory } else { NameOrder::PerName };
        let faults = Faults { kill, power_loss, ..Faults::NONE };
        let config = Config { faults, names, ..Config::default() };
        let owners = Arc::new(Owners::default());
        let mut world = World::new(config, Random::new(seed));
        world.create_dir_all("/locks/sprint").unwrap();
        let mut processes = Vec::new();
        for who in ["script a", "script b"] {
            let owners = Arc::clone(&owners);
            processes.push(Process::new(who, 0, move |sys: Sys| script(&sys, who, &owners, &[1, 2, 3])));
        }
        for who in ["worker a", "worker b"] {
            processes.push(Process::new(who, 0, move |sys: Sys| {
                let medium = medium(&sys);
                let _ = acquire(&sys, &medium, RESOURCE, who);
                // By then a dead script's lock is old, and is taken over.
                sys.clock.sleep(Millis::new(2 * GHOST_AFTER));
                let _ = acquire(&sys, &medium, RESOURCE, who);
                let _ = medium.transact(&common::policy(), &Command::Sweep);
            }));
        }
        world.run(processes);
        world.advance(60_000);
        let epoch = world.run(vec![Process::new("heir", 0, |sys: Sys| {
            let medium = medium(&sys);
            common::grant(&sys, &medium, RESOURCE, "heir");
            medium.clean().unwrap();
            assert_eq!(medium.leftovers().unwrap(), Vec::<std::path::PathBuf>::new());
        })]);
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "seed {seed}");
    }
}

/// Runs `body` on a root with so many locks that are old and have no owner.
fn on_a_crowded_root(locks: usize, body: impl FnOnce(Sys) + Send + 'static) {
    let config = Config { max_calls: 1_000_000, ..Config::default() };
    let mut world = World::new(config, Random::new(0));
    for number in 0..locks {
        world.create_dir_all(format!("{ROOT}/family-{}/{number}", number % 10)).unwrap();
    }
    world.advance(2 * GHOST_AFTER);
    let epoch = world.run(vec![Process::new("it", 0, body)]);
    assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(epoch.end, End::Done);
}

#[test]
fn ten_thousand_locks_are_seen() {
    on_a_crowded_root(10_000, |sys| {
        let medium = medium(&sys);
        assert_eq!(medium.view().unwrap().table.len(), 10_000);
        common::grant(&sys, &medium, RESOURCE, "anna");
        common::grant(&sys, &medium, "family-3/3", "anna");
        assert_eq!(medium.view().unwrap().table.len(), 10_001);
    });
}

#[test]
fn a_sweep_takes_all_that_is_old_at_once() {
    on_a_crowded_root(500, |sys| {
        let medium = medium(&sys);
        let lease = common::grant(&sys, &medium, RESOURCE, "anna");
        let Ok(Answer::Swept(swept)) = medium.transact(&common::policy(), &Command::Sweep) else { panic!() };
        assert_eq!(swept.len(), 500);
        assert_eq!(medium.view().unwrap().table.iter().collect::<Vec<_>>(), [&lease]);
    });
}
