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
#[path = "support/relay.rs"]
mod relay;
mod support;
#[path = "support/told.rs"]
mod told;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use holdfast_kernel::{Answer, Command as Ask, Fence, Lease, Millis, Refusal};
use holdfast_remote::gitref::{Access, PACKED, REF};
use holdfast_remote::{Settings, Shared};
use holdfast_sim::history::Told;
use holdfast_store::{Error, JournaledMedium as _, Medium as _, Trouble};
use holdfast_sys::Sys;
use holdfast_trial::daemon::Daemon;
use origin::{access, bare, beside, git, long, made, open_at, open_with, settings, take};
use relay::{Fault, Relay};
use support::{COUNTER, policy, trouble, wanted};
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
    let had = std::thread::scope(|scope| turns(scope, &clones, rounds, Duration::MAX));
    assert_eq!(had, [rounds; 3]);
    book.judge(&clones[0].shared);
    drop(daemon);
    assert_eq!(trouble(ann.known(true)), Trouble::Unavailable);
}

#[test]
fn whatever_the_network_does_to_a_push_it_is_done_once() {
    let scratch = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(scratch.path()).expect("git daemon");
    let way = Relay::to(&daemon.url(""));
    let alone: Vec<Vec<Fault>> = Fault::OF_PUSHES.map(|fault| vec![fault]).into();
    let pairs = Fault::OF_PUSHES.iter().flat_map(|first| Fault::OF_PUSHES.map(|second| vec![*first, second]));
    for (number, faults) in if long() { pairs.collect() } else { alone }.into_iter().enumerate() {
        let name = format!("origin-{number}.git");
        assert!(bare(&scratch.path().join(&name), "files"));
        let book = Book::new(&[0; 2]);
        let client = |host: usize, who: &str, url: String| {
            let (dir, access) = at(scratch.path(), &format!("{who}-{number}"), &url, REF);
            // Nobody waits longer for an answer that does not come.
            let access = Access { limit: Duration::from_secs(1), ..access };
            book.client(host, who, |sys| open_with(sys, &dir, &access, settings()))
        };
        let calm = client(1, "calm", daemon.url(&name));
        calm.shared.make(COUNTER, Fence::FIRST).unwrap();
        let ann = client(0, "ann", way.url(&name));
        way.next(&faults);
        let lease = match ann.ask(wanted("one", "ann")) {
            Told::Answer(Answer::Granted(lease)) => lease,
            other => panic!("{faults:?}: {other:?}"),
        };
        ann.release(&lease);
        way.next(&[]);
        way.deliver();
        calm.look();
        assert_eq!(calm.shared.history(&mut |_| ()).unwrap().records, 2, "{faults:?}");
        book.judge(&calm.shared);
    }
}

/// A server that may pack the ref, and one that never does, are asked as often as it takes to know.
#[test]
fn a_claim_is_one_push_and_one_more_look_only_where_the_ref_may_be_packed() {
    let scratch = tempfile::tempdir().unwrap();
    assert!(bare(&scratch.path().join("origin.git"), "files"));
    let daemon = Daemon::start(scratch.path()).expect("git daemon");
    let way = Relay::to(&daemon.url(""));
    for (name, who, asked) in [(REF, "ann", 1), (PACKED, "bob", 2)] {
        let (dir, access) = at(scratch.path(), who, &way.url("origin.git"), name);
        let shared = open_with(&Sys::os(), &dir, &access, settings());
        shared.make(COUNTER, Fence::FIRST).unwrap();
        let first = take(&shared, "one", who).unwrap();
        for resource in ["two", "three"] {
            let before = way.connections();
            take(&shared, resource, who).unwrap();
            assert_eq!(way.connections() - before, asked, "{name}");
        }
        let before = way.connections();
        shared.transact(&policy(), &Ask::Release { lease: first.id, holder: first.holder }).unwrap();
        assert_eq!(way.connections() - before, asked, "{name}");
    }
}

/// A directory on a disk: there numbers of files are given out again, which is what git is deceived by.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A directory for somebody, and the way to the ref of that name.
fn at(scratch: &Path, who: &str, url: &str, name: &str) -> (PathBuf, Access) {
    let dir = scratch.join(who);
    std::fs::create_dir(&dir).unwrap();
    let access = Access { name: name.to_owned(), ..access(&beside(&dir, ".work"), url) };
    (dir, access)
}

/// How long they do so at most: how many turns each has had by then is the machine's to say.
const MOST: Duration = Duration::from_secs(60);

/// Four clones take and give back while the server packs its refs without end.
fn packed(format: &str, name: &str, judge: fn(&Book, &Shared)) {
    let scratch = on_disk();
    let origin = scratch.path().join("origin.git");
    if !bare(&origin, format) {
        println!("skipped: this git makes no repository in the format {format}");
        return;
    }
    let (book, done) = (Book::new(&[0; 4]), AtomicBool::new(false));
    let open = |sys: &Sys, who: &str, settings: Settings| {
        let (dir, access) = at(scratch.path(), who, origin.to_str().unwrap(), name);
        open_with(sys, &dir, &access, settings)
    };
    open(&Sys::os(), "maker", settings()).make(COUNTER, Fence::FIRST).unwrap();
    let clones: Vec<Client> = (0..4)
        .map(|who| {
            let (name, patient) = (format!("agent-{who}"), Settings { tries: 12, ..settings() });
            book.client(who, &name, |sys| open(sys, &name, patient))
        })
        .collect();
    std::thread::scope(|scope| {
        let packer = scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                pack(&origin);
                if long() {
                    let _ = Command::new("git").current_dir(&origin).args(["gc", "-q"]).output();
                }
            }
        });
        let had = turns(scope, &clones, if long() { 40 } else { 2 }, MOST);
        done.store(true, Ordering::SeqCst);
        packer.join().unwrap();
        assert!(had.iter().any(|turns| *turns > 0), "nobody ever got a turn: {had:?}");
    });
    judge(&book, &open(&Sys::os(), "end", settings()));
}

fn pack(origin: &Path) {
    let _ = Command::new("git").current_dir(origin).args(["pack-refs", "--all"]).output();
}

#[test]
fn nobody_is_told_yes_twice_by_a_server_that_packs_its_refs() {
    packed("files", REF, Book::judge);
}

/// A server with its refs in files is known to take a push whose expected value is not the one that it has, if it packs
/// that ref at that moment.
#[test]
fn whoever_is_forgotten_by_a_server_that_packs_its_refs_is_told_to_stop() {
    packed("files", PACKED, Book::judge_forgetful);
}

#[test]
fn nobody_is_told_yes_twice_by_a_server_with_a_reftable_that_is_packed() {
    packed("reftable", REF, Book::judge);
}

/// What reaches a server by ssh: a push is held back once it was told where the refs are, until a file says go.
const HELD_BACK: &str = r#"#!/bin/sh
for last; do :; done
here=${0%/*}
case $last in
git-receive-pack*)
  {
    head -c 4 > "$here/first"
    : > "$here/held"
    while [ ! -e "$here/go" ]; do sleep 0.005; done
    cat "$here/first" -
  } | sh -c "$last" ;;
*) exec sh -c "$last" ;;
esac
"#;

/// How a file is told from another one by git.
fn told_by(file: &Path) -> Option<(u64, u64, i64, i64)> {
    let about = std::fs::metadata(file).ok()?;
    Some((about.ino(), about.size(), about.mtime(), about.ctime()))
}

/// Two clones want the same thing. The push of the first one is on its way while the second one gets it and the server
/// packs its refs, until `packed-refs` looks as it did before. Says what the first one is told; none if the file never
/// looks the same.
fn overtaken(name: &str) -> Option<holdfast_store::Result<Lease>> {
    let scratch = on_disk();
    let origin = scratch.path().join("origin.git");
    assert!(bare(&origin, "files"));
    let ssh = scratch.path().join("ssh");
    std::fs::write(&ssh, HELD_BACK).unwrap();
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (dir, access) = at(scratch.path(), "bob", origin.to_str().unwrap(), name);
    let bob = open_with(&Sys::os(), &dir, &access, settings());
    bob.make(COUNTER, Fence::FIRST).unwrap();
    // Something has to be packed, whatever the register is called.
    let tip = git(&origin, &["rev-parse", name]);
    git(&origin, &["update-ref", "refs/heads/main", &tip]);
    let (dir, access) = at(scratch.path(), "ann", &format!("ssh://host{}", origin.display()), name);
    let access = Access { ssh_command: Some(ssh.to_str().unwrap().to_owned()), ..access };
    let ann = open_with(&Sys::os(), &dir, &access, settings());
    let refs = origin.join("packed-refs");
    for attempt in 0..40 {
        let thing = format!("thing-{attempt}");
        ann.refresh().unwrap();
        pack(&origin);
        let (before, file) = (told_by(&refs), |name: &str| scratch.path().join(name));
        let said = std::thread::scope(|scope| {
            let late = scope.spawn(|| take(&ann, &thing, "ann"));
            let pause = || Sys::os().clock.sleep(Millis::new(2));
            while !file("held").exists() {
                pause();
            }
            take(&bob, &thing, "bob").unwrap();
            let same = (0..6).any(|_| {
                pack(&origin);
                told_by(&refs) == before
            });
            std::fs::write(file("go"), "").unwrap();
            let late = late.join().unwrap();
            same.then_some(late)
        });
        for name in ["held", "go"] {
            std::fs::remove_file(file(name)).unwrap();
        }
        if said.is_some() {
            return said;
        }
    }
    None
}

#[test]
fn a_push_that_was_on_its_way_while_the_server_packed_its_refs_is_too_late() {
    match overtaken(REF) {
        None => println!("skipped: a file with a new number each time is never taken for another one here"),
        Some(said) => assert!(matches!(said, Err(Error::Refused(Refusal::Held { .. }))), "{said:?}"),
    }
    // That git takes it under a name that is packed is why the other one is used.
    println!("on {PACKED}: {:?}", overtaken(PACKED).map(|said| said.is_ok()));
}

/// Everybody takes one thing so many times, until a server that forgot something stops it, or for so long; says how often
/// each had it.
fn turns<'scope, 'a: 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    clones: &'a [Client],
    rounds: u32,
    most: Duration,
) -> Vec<u32> {
    let began = Instant::now();
    let turns = move |clone: &Client| {
        let mut had = 0;
        while had < rounds && !clone.is_stopped() && began.elapsed() < most {
            had += u32::from(clone.turn("one"));
        }
        had
    };
    let workers: Vec<_> = clones.iter().map(|clone| scope.spawn(move || turns(clone))).collect();
    workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
}
