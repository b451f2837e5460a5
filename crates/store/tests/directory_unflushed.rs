//! Locks that need not outlast the machine: the same contract while it runs, and after a power loss fences
//! that still rise and nothing that is stuck.
#![expect(clippy::disallowed_methods, reason = "these tests put real files into a medium's way")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use common::{acquire, grant, name, policy, release, sys, wanted};
use holdfast_kernel::{Acquire, Answer, Command, Fence, LeaseId, Millis, Tags};
use holdfast_store::conformance::{self, Planted, Subject};
use holdfast_store::directory::{Directory, Outlasts, Settings};
use holdfast_store::{Error, Medium, liveness};
use holdfast_sys::sim::{Config, Faults, NameOrder, Odds, Process, Random, World};
use holdfast_sys::{Liveness, Sys};

const SUBJECT: Subject =
    Subject { open, resources: &["sprint/1", "sprint/2", "other.name/x_y-z"], shared: false, hostile };

fn unflushed(sys: &Sys, dir: &Path) -> Directory {
    let settings = Settings { outlasts: Outlasts::Process, ..Settings::default() };
    Directory::new(sys.clone(), dir, settings)
}

fn open(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(unflushed(sys, dir))
}

fn hostile(dir: &Path) -> Vec<Planted> {
    let everywhere =
        |path: PathBuf| conformance::garbage().into_iter().map(move |bytes| (path.clone(), bytes));
    everywhere(dir.join("sprint/1/owner.json")).chain(everywhere(dir.join(".fence"))).collect()
}

#[test]
fn unflushed_locks_keep_to_the_contract_on_real_files() {
    let scratch = tempfile::tempdir().unwrap();
    conformance::on_real_files(&SUBJECT, scratch.path());
}

#[test]
fn unflushed_locks_keep_to_the_contract_on_simulated_files() {
    conformance::in_simulation(&SUBJECT);
}

#[test]
fn many_processes_take_turns_on_unflushed_locks() {
    conformance::contention_in_simulation(&SUBJECT, 100);
}

/// Takes a lock from whoever died, or cannot be told.
fn inherit(sys: &Sys, medium: &Directory, resource: &str) -> Fence {
    let tags = liveness::describe(&sys.processes.me().unwrap(), Tags::none()).unwrap();
    let view = medium.look(&name(resource).into()).unwrap();
    let is_dead = |process| sys.processes.liveness(&process) == Liveness::Dead;
    let dead = view.table.iter().filter(|lease| liveness::process(lease).is_some_and(is_dead));
    let dead: Vec<LeaseId> = dead.map(|lease| lease.id).collect();
    let wanted = Acquire { tags, dead, ..wanted(sys, resource, "anybody") };
    match medium.transact(&policy(), &Command::Acquire(wanted)) {
        Ok(Answer::Granted(lease)) => lease.fence,
        other => panic!("nobody is in the way, but {other:?}"),
    }
}

#[test]
fn fences_rise_across_a_power_loss_and_nothing_is_stuck_after_it() {
    for seed in 0..1_500 {
        let names = if seed % 2 == 0 { NameOrder::PerDirectory } else { NameOrder::PerName };
        let faults = Faults { kill: Odds::new(20_000, 1), power_loss: Odds::new(10_000, 1), ..Faults::NONE };
        let mut world = World::new(Config { faults, names, ..Config::default() }, Random::new(seed));
        world.create_dir_all("/locks/sprint").unwrap();
        let highest = Arc::new(Mutex::new(None));
        for _ in 0..4 {
            let seen = Arc::clone(&highest);
            let epoch = world.run(vec![Process::new("worker", 0, move |sys: Sys| {
                let medium = unflushed(&sys, Path::new("/locks"));
                for resource in ["sprint/1", "sprint/2", "sprint/1"] {
                    if resource == "sprint/1" {
                        // The one that is held by now is this process's own.
                        let view = medium.look(&name(resource).into()).unwrap();
                        if let Some(lease) = view
                            .table
                            .iter()
                            .find(|lease| liveness::process(lease) == sys.processes.me().ok())
                        {
                            release(&medium, lease).unwrap();
                        }
                    }
                    let fence = inherit(&sys, &medium, resource);
                    let before = seen.lock().unwrap().replace(fence);
                    assert!(before < Some(fence), "seed {seed}: {fence} after {before:?}");
                }
            })]);
            assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "seed {seed}");
            world.lose_power();
            world.advance(60_000);
        }
    }
}

#[test]
fn a_lock_that_cannot_be_read_is_recovered_by_itself_only_if_the_machine_was_off_since() {
    let (sys, root) = (sys(), tempfile::tempdir().unwrap());
    let medium = unflushed(&sys, root.path());
    grant(&sys, &medium, "sprint/7", "anna");
    fs::write(root.path().join("sprint/7/owner.json"), "").unwrap();
    sys.clock.sleep(Millis::from_secs(60));
    let refused = acquire(&sys, &medium, "sprint/7", "berta");
    assert!(matches!(refused, Err(Error::Damaged { .. })), "{refused:?}");
    let lock = fs::File::open(root.path().join("sprint/7")).unwrap();
    lock.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1)).unwrap();
    grant(&sys, &medium, "sprint/7", "berta");
}

#[test]
fn whatever_is_wrong_with_the_numbers_that_are_left_no_number_comes_twice() {
    let (sys, root) = (sys(), tempfile::tempdir().unwrap());
    let drawn = root.path().join(".drawn");
    let mut highest = None;
    let mut next = || {
        let medium = unflushed(&sys, root.path());
        let lease = grant(&sys, &medium, "sprint/7", "anna");
        release(&medium, &lease).unwrap();
        let before = highest.replace(lease.fence);
        assert!(before < Some(lease.fence), "{} after {before:?}", lease.fence);
        lease.fence.get()
    };
    let (first, second) = (next(), next());
    assert_eq!(second, first + 1, "numbers of one block follow each other");
    let good = fs::read_to_string(&drawn).unwrap();
    for spoiled in
        [String::new(), "{}".into(), good.replace("\"boot\":\"", "\"boot\":\"0"), "x".repeat(99_999)]
    {
        fs::write(&drawn, spoiled).unwrap();
        assert!(next() > second + 1_000, "the rest of the block is given up");
    }
    fs::remove_file(&drawn).unwrap();
    next();
    fs::create_dir(root.path().join("elsewhere")).unwrap();
    fs::remove_file(&drawn).unwrap();
    std::os::unix::fs::symlink(root.path().join("elsewhere/x"), &drawn).unwrap();
    let medium = unflushed(&sys, root.path());
    acquire(&sys, &medium, "sprint/7", "anna").unwrap_err();
    assert!(!root.path().join("elsewhere/x").exists(), "a link is not followed");
}

#[test]
fn a_look_at_one_lock_sees_that_one() {
    let (sys, root) = (sys(), tempfile::tempdir().unwrap());
    let medium = unflushed(&sys, root.path());
    let lease = grant(&sys, &medium, "sprint/7", "anna");
    grant(&sys, &medium, "sprint/8", "anna");
    let view = medium.look(&name("sprint/7").into()).unwrap();
    assert_eq!(view.table.iter().collect::<Vec<_>>(), [&lease]);
    assert!(medium.look(&name("sprint/9").into()).unwrap().table.is_empty());
    // Another handle has not seen it and finds it all the same.
    release(&unflushed(&sys, root.path()), &lease).unwrap();
    assert!(medium.look(&name("sprint/7").into()).unwrap().table.is_empty());
}
