//! Several clones at once at a real git server, by path and by a daemon, which packs its refs meanwhile: what they were told
//! is judged by the checkers of the simulator.
#![expect(clippy::disallowed_methods, reason = "tests start git and its daemon")]
#![expect(clippy::disallowed_macros, reason = "what was seen is told")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

#[path = "support/origin.rs"]
mod origin;
mod support;
#[path = "support/told.rs"]
mod told;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_kernel::{Command as Ask, Refusal};
use holdfast_remote::{Settings, Shared};
use holdfast_store::{Error, Medium as _, Trouble};
use holdfast_sys::Sys;
use holdfast_trial::daemon::Daemon;
use origin::{bare, long, made, open_at, settings, take};
use support::{policy, trouble};
use told::{Book, Client};

#[test]
fn clones_that_reach_it_by_a_daemon_exclude_each_other_too() {
    let scratch = tempfile::tempdir().unwrap();
    let origin = scratch.path().join("origin.git");
    assert!(bare(&origin, "reftable") || bare(&origin, "files"));
    let daemon = Daemon::start(scratch.path()).expect("git daemon");
    let url = daemon.url("origin.git");
    let [ann, bob] = ["ann", "bob"].map(|who| {
        let dir = scratch.path().join(who);
        std::fs::create_dir(&dir).unwrap();
        made(&Sys::os(), &dir, &url)
    });
    let lease = take(&ann, "one", "ann").unwrap();
    assert!(matches!(take(&bob, "one", "bob"), Err(Error::Refused(Refusal::Held { .. }))));
    ann.transact(&policy(), &Ask::Release { lease: lease.id, holder: lease.holder }).unwrap();
    let lease = take(&bob, "one", "bob").unwrap();
    bob.transact(&policy(), &Ask::Release { lease: lease.id, holder: lease.holder }).unwrap();
    // What several are told at once is judged as in the simulator.
    let book = Book::new(&[0; 3]);
    let clones: Vec<Client> = ["cid", "dora", "eve"]
        .iter()
        .enumerate()
        .map(|(host, who)| {
            let dir = scratch.path().join(who);
            std::fs::create_dir(&dir).unwrap();
            book.client(host, who, |sys| open_at(sys, &dir, &url, settings()))
        })
        .collect();
    let rounds = if long() { 30 } else { 2 };
    let had = std::thread::scope(|scope| turns(scope, &clones, rounds));
    assert_eq!(had, [rounds; 3]);
    book.judge(&clones[0].shared);
    drop(daemon);
    assert_eq!(trouble(ann.known(true)), Trouble::Unavailable);
}

/// Four clones take and give back while the server packs its refs without end.
fn packed(format: &str, judge: fn(&Book, &Shared)) {
    let scratch = tempfile::tempdir().unwrap();
    let origin = scratch.path().join("origin.git");
    if !bare(&origin, format) {
        println!("skipped: this git makes no repository in the format {format}");
        return;
    }
    let (book, done) = (Book::new(&[0; 4]), AtomicBool::new(false));
    let url = origin.to_str().unwrap();
    let dir = |who: &str| {
        let dir = scratch.path().join(who);
        std::fs::create_dir(&dir).unwrap();
        dir
    };
    made(&Sys::os(), &dir("maker"), url);
    let clones: Vec<Client> = (0..4)
        .map(|who| {
            let (name, patient) = (format!("agent-{who}"), Settings { tries: 12, ..settings() });
            let dir = dir(&name);
            book.client(who, &name, |sys| open_at(sys, &dir, url, patient))
        })
        .collect();
    std::thread::scope(|scope| {
        let packer = scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let _ = Command::new("git").current_dir(&origin).args(["pack-refs", "--all"]).output();
                if long() {
                    let _ = Command::new("git").current_dir(&origin).args(["gc", "-q"]).output();
                }
            }
        });
        let had = turns(scope, &clones, if long() { 40 } else { 2 });
        done.store(true, Ordering::SeqCst);
        packer.join().unwrap();
        assert!(had.iter().any(|turns| *turns > 0), "nobody ever got a turn: {had:?}");
    });
    judge(&book, &open_at(&Sys::os(), &dir("end"), url, settings()));
}

/// A server with its refs in files is known to take a push whose expected value is not the one that it has, if it packs
/// its refs at that moment.
#[test]
fn whoever_is_forgotten_by_a_server_that_packs_its_refs_is_told_to_stop() {
    packed("files", Book::judge_forgetful);
}

#[test]
fn nobody_is_told_yes_twice_by_a_server_with_a_reftable_that_is_packed() {
    packed("reftable", Book::judge);
}

/// Everybody takes one thing so many times, until a server that forgot something stops it; says how often each had it.
fn turns<'scope, 'a: 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    clones: &'a [Client],
    rounds: u32,
) -> Vec<u32> {
    let turns = move |clone: &Client| {
        let mut had = 0;
        while had < rounds && !clone.is_stopped() {
            had += u32::from(clone.turn("one"));
        }
        had
    };
    let workers: Vec<_> = clones.iter().map(|clone| scope.spawn(move || turns(clone))).collect();
    workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
}
