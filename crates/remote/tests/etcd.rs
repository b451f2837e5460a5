//! The register in etcd, with real members: the medium's contract, and what a cluster or a network may do to it.
#![expect(clippy::disallowed_methods, reason = "tests look at files and wait")]
#![expect(clippy::disallowed_macros, reason = "what was measured is told")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

#[path = "support/relay.rs"]
mod relay;
mod support;
#[path = "support/told.rs"]
mod told;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use holdfast_kernel::{Acquire, Answer, Command, Fence, Lease, LeaseId, Millis, Refusal, Request};
use holdfast_remote::etcd::{Access, Etcd, Secret, Tls};
use holdfast_remote::local::Local;
use holdfast_remote::register::{Found, Mark, Next, Past, Swap, Unreachable, Version};
use holdfast_remote::shared::Trust;
use holdfast_remote::{Register, Settings, Shared};
use holdfast_sim::check::Property;
use holdfast_sim::history::Told;
use holdfast_store::conformance::{self, ManualClock, Planted, Subject};
use holdfast_store::{Error, JournaledMedium, Medium, Result, Trouble};
use holdfast_sys::Sys;
use holdfast_trial::etcd::Cluster;
use holdfast_trial::network::Network;
use holdfast_trial::secured::Secured;
use relay::{Fault, Relay};
use support::{COUNTER, policy, trouble, wanted};
use told::{Book, Client};

fn access(urls: &[String], namespace: &str) -> Access {
    Access {
        endpoints: urls.to_vec(),
        namespace: namespace.into(),
        user: None,
        tls: None,
        limit: Millis::from_secs(5),
    }
}

fn settings() -> Settings {
    Settings {
        max_age: Millis::ZERO,
        pause: Millis::new(20),
        tries: 8,
        trust: Trust::Clocks,
        ..Settings::default()
    }
}

fn open_at(sys: &Sys, dir: &Path, urls: &[String], namespace: &str) -> Shared {
    std::fs::create_dir_all(dir).unwrap();
    let register = Etcd::open(sys, &access(urls, namespace)).unwrap();
    Shared::new(sys.clone(), Box::new(register), Local::new(dir.to_path_buf(), 0o600), settings())
}

/// The clone in `dir`, of a register that is made if it is not there.
fn made(sys: &Sys, dir: &Path, urls: &[String], namespace: &str) -> Shared {
    let shared = open_at(sys, dir, urls, namespace);
    if shared.register().read().unwrap().is_none() {
        let maker = dir.with_extension("maker");
        open_at(sys, &maker, urls, namespace).make(COUNTER, Fence::FIRST).unwrap();
    }
    shared
}

/// The file that says, above the directories of a suite, where the cluster is.
const URLS: &str = "etcd.urls";

fn open_for_suite(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let urls = dir.ancestors().find_map(|above| std::fs::read_to_string(above.join(URLS)).ok()).unwrap();
    let urls: Vec<String> = urls.lines().map(str::to_owned).collect();
    let namespace =
        dir.to_str().unwrap().trim_start_matches('/').replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    Box::new(made(sys, dir, &urls, &namespace))
}

fn hostile(dir: &Path) -> Vec<Planted> {
    support::hostile(dir).into_iter().filter(|(_, bytes)| bytes.len() < 12).take(6).collect()
}

const SUBJECT: Subject = Subject { open: open_for_suite, resources: &["one", "two"], shared: true, hostile };

/// A directory and a cluster in it; none where etcd is not installed.
fn cluster(members: usize) -> Option<(tempfile::TempDir, Cluster)> {
    let scratch = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(scratch.path(), members)?;
    Some((scratch, cluster))
}

#[test]
fn it_keeps_to_the_contract_in_etcd() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    keeps_to_the_contract(scratch.path(), &cluster);
}

#[test]
fn it_keeps_to_the_contract_in_etcd_on_three_machines() {
    let name = "it_keeps_to_the_contract_in_etcd_on_three_machines";
    let Some(network) = Network::enter(name, 3) else { return };
    let scratch = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start_on(scratch.path(), &network) else { return };
    keeps_to_the_contract(scratch.path(), &cluster);
}

fn keeps_to_the_contract(scratch: &Path, cluster: &Cluster) {
    std::fs::write(scratch.join(URLS), cluster.urls().join("\n")).unwrap();
    conformance::on_real_files(&SUBJECT, scratch);
    conformance::contention_on_real_files(&SUBJECT, scratch, 2);
}

fn take(shared: &Shared, resource: &str, who: &str) -> Result<Lease> {
    match shared.transact(&policy(), &wanted(resource, who))? {
        Answer::Granted(lease) | Answer::AlreadyHeld(lease) => Ok(lease),
        other => panic!("a grant was due, not {other:?}"),
    }
}

#[test]
fn two_clones_exclude_each_other_and_the_history_outlives_its_cuts() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    let urls = cluster.urls();
    let open = |who: &str| {
        let register =
            Etcd::open(&Sys::os(), &access(&urls, "cuts")).unwrap().cut_every(4).keep_for(Millis::ZERO);
        let dir = scratch.path().join(who);
        std::fs::create_dir(&dir).unwrap();
        Shared::new(Sys::os(), Box::new(register), Local::new(dir, 0o600), settings())
    };
    let (ann, bob, late) = (open("ann"), open("bob"), open("late"));
    assert_eq!(trouble(take(&ann, "one", "ann")), Trouble::Missing, "nothing is made because it is missing");
    ann.make(COUNTER, Fence::FIRST).unwrap();
    assert!(!ann.make(COUNTER, Fence::FIRST).unwrap(), "it is there already");
    let other = holdfast_store::CounterId::new(LeaseId::new(8));
    assert_eq!(trouble(bob.make(other, Fence::FIRST)), Trouble::Missing);
    late.known(true).unwrap();
    late.refresh().unwrap();
    let anns = take(&ann, "one", "ann").unwrap();
    let refused = take(&bob, "one", "bob");
    assert!(matches!(refused, Err(Error::Refused(Refusal::Held { .. }))), "{refused:?}");
    bob.refresh().unwrap();
    let mut fence = anns.fence;
    for number in 0..6 {
        let lease = take(&ann, &format!("task-{number}"), "ann").unwrap();
        assert!(lease.fence > fence);
        fence = lease.fence;
        // Whoever saw a step before the cut still knows the register.
        bob.refresh().unwrap();
        ann.history(&mut |_| ()).unwrap();
    }
    assert_eq!(bob.known(true).unwrap().head.cut, 4);
    for number in 6..10 {
        take(&ann, &format!("task-{number}"), "ann").unwrap();
    }
    bob.refresh().unwrap();
    assert!(bob.history(&mut |_| ()).unwrap().records < 8, "what was cut is not kept for ever");
    // It was away for longer than steps are kept.
    assert_eq!(trouble(late.refresh()), Trouble::Forked);
    late.join().unwrap();
    assert_eq!(late.known(true).unwrap().view.table.len(), 11);
}

#[test]
fn steps_are_kept_for_thirty_days_however_many_there_are() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    let urls = cluster.urls();
    let day = Millis::from_secs(86_400);
    let at = |days: u64| {
        let mut now = Sys::os().clock.now().unwrap();
        (0..days).for_each(|_| now = now.plus(day));
        Sys { clock: Arc::new(ManualClock::new(now)), ..Sys::os() }
    };
    let open = |who: &str, days: u64| {
        let sys = at(days);
        let register = Etcd::open(&sys, &access(&urls, "days")).unwrap().cut_every(4);
        let dir = scratch.path().join(who);
        std::fs::create_dir_all(&dir).unwrap();
        Shared::new(sys, Box::new(register), Local::new(dir, 0o600), settings())
    };
    let turn = |days: u64, from: u32, to: u32| {
        let ann = open("ann", days);
        for number in from..to {
            let lease = take(&ann, &format!("task-{number}"), "ann").unwrap();
            ann.transact(&policy(), &Command::Release { lease: lease.id, holder: lease.holder }).unwrap();
        }
    };
    open("ann", 0).make(COUNTER, Fence::FIRST).unwrap();
    let (late, old) = (open("late", 0), open("old", 0));
    late.refresh().unwrap();
    old.refresh().unwrap();
    turn(0, 0, 12);
    // Six cuts later it still knows the register.
    late.refresh().unwrap();
    assert_eq!(late.known(true).unwrap().head.cut, 24);
    turn(20, 12, 14);
    late.refresh().unwrap();
    // What is older than thirty days goes with the next cut.
    turn(31, 14, 18);
    assert!(open("ann", 31).history(&mut |_| ()).is_ok());
    late.refresh().unwrap();
    assert_eq!(trouble(old.refresh()), Trouble::Forked);
}

#[test]
fn whatever_the_network_does_to_two_transactions_each_is_done_once() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    let relay = Relay::to(&cluster.urls()[0]);
    let mut number = 0;
    for first in Fault::OF_TRANSACTIONS {
        for second in Fault::OF_TRANSACTIONS {
            number += 1;
            let namespace = format!("network-{number}");
            let dir = scratch.path().join(&namespace);
            made(&Sys::os(), &dir.join("calm"), &cluster.urls(), &namespace);
            let book = Book::new(&[0; 2]);
            let open = |sys: &Sys| open_at(sys, &dir.join("ann"), &[relay.url("")], &namespace);
            let ann = book.client(0, "ann", open);
            relay.next(&[first, second]);
            let lease = match ann.ask(wanted("one", "ann")) {
                Told::Answer(Answer::Granted(lease)) => lease,
                other => panic!("{first:?} then {second:?}: {other:?}"),
            };
            let release = Command::Release { lease: lease.id, holder: lease.holder.clone() };
            let released = ann.ask(release);
            assert!(
                matches!(&released, Told::Answer(Answer::Released(was)) if *was == lease),
                "{first:?}, {second:?}: {released:?}"
            );
            relay.next(&[]);
            relay.deliver();
            let calm = |sys: &Sys| open_at(sys, &dir.join("calm"), &cluster.urls(), &namespace);
            let calm = book.client(1, "calm", calm);
            calm.look();
            assert_eq!(calm.shared.history(&mut |_| ()).unwrap().records, 2, "{first:?} then {second:?}");
            book.judge(&calm.shared);
        }
    }
}

fn long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}

#[test]
fn nobody_is_told_yes_twice_while_leaders_are_killed_and_stopped() {
    let Some((scratch, mut cluster)) = cluster(3) else { return };
    let (urls, until, book) = (cluster.urls(), AtomicBool::new(false), Book::new(&[0; 5]));
    let clones: Vec<Client> = (0..4)
        .map(|number| {
            let who = format!("clone-{number}");
            // Each asks another member first.
            let mut own = urls.clone();
            own.rotate_left(number % urls.len());
            let dir = scratch.path().join(&who);
            book.client(number, &who, |sys| made(sys, &dir, &own, "leaders"))
        })
        .collect();
    let (mut first_grants, had) = (Vec::new(), AtomicU32::new(0));
    let done: Vec<u32> = std::thread::scope(|scope| {
        let (until, had) = (&until, &had);
        let turns = move |clone: &Client| {
            let mut done = 0;
            while !until.load(Ordering::SeqCst) {
                let turn = u32::from(clone.turn("one"));
                had.fetch_add(turn, Ordering::SeqCst);
                done += turn;
            }
            done
        };
        let turns: Vec<_> = clones.iter().map(|clone| scope.spawn(move || turns(clone))).collect();
        let dir = scratch.path().join("watcher");
        let watcher = book.client(4, "watcher", |sys| open_at(sys, &dir, &urls, "leaders"));
        for round in 0..if long() { 6 } else { 2 } {
            std::thread::sleep(Duration::from_millis(300));
            let leader = cluster.leader();
            let began = Instant::now();
            if round % 2 == 0 {
                cluster.kill(leader);
            } else {
                cluster.pause(leader);
            }
            while watcher.take(&format!("first-{round}")).is_none() {}
            first_grants.push(began.elapsed());
            if round % 2 == 0 {
                cluster.restart(leader);
            } else {
                cluster.resume(leader);
            }
        }
        // However slow the machine is: a cluster that goes on grants.
        let waits = Instant::now();
        while had.load(Ordering::SeqCst) <= 10 && waits.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
        }
        until.store(true, Ordering::SeqCst);
        turns.into_iter().map(|turns| turns.join().unwrap()).collect()
    });
    println!("grants by clone {done:?}, first grant after the leader was gone {first_grants:?}");
    assert!(done.iter().sum::<u32>() > 10, "{done:?}");
    book.judge(&clones[0].shared);
}

/// The system takes what is sent to a process that is stopped, and nobody answers.
#[test]
fn a_member_that_stands_still_is_waited_for_only_as_long_as_a_change_needs() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    let dir = scratch.path().join("ann");
    take(&made(&Sys::os(), &dir, &cluster.urls(), "still"), "one", "ann").unwrap();
    let still = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let still_url = format!("http://{}", still.local_addr().unwrap());
    let urls = [vec![still_url.clone()], cluster.urls()].concat();
    let began = Instant::now();
    take(&open_at(&Sys::os(), &dir, &urls, "still"), "two", "ann").unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // Where nobody else can be asked, it is waited for.
    let began = Instant::now();
    assert!(open_at(&Sys::os(), &dir, &[still_url], "still").register().confirms(None).is_err());
    assert!(began.elapsed() >= Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn whoever_slept_past_its_lease_is_refused_and_the_next_one_is_alone() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    let (urls, book) = (cluster.urls(), Book::new(&[0; 2]));
    let open = |host: usize, who: &str| {
        let dir = scratch.path().join(who);
        book.client(host, who, |sys| made(sys, &dir, &urls, "sleepers"))
    };
    let (ann, bob) = (open(0, "ann"), open(1, "bob"));
    let Command::Acquire(wish) = wanted("one", "ann") else { panic!("a wish is one") };
    let wish = Acquire { request: Request::Finite(Millis::new(300)), ..wish };
    let Told::Answer(Answer::Granted(lease)) = ann.ask(Command::Acquire(wish)) else { panic!("a grant") };
    while bob.take("one").is_none() {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(matches!(ann.write(&lease), Told::Refused(_)));
    let renew = Command::Renew { lease: lease.id, holder: lease.holder, ttl: None };
    assert!(matches!(ann.ask(renew), Told::Refused(_)));
    book.judge(&bob.shared);
}

/// A register on which whoever loses believes that it won.
struct Believing(Etcd);

impl Register for Believing {
    fn name(&self) -> String {
        self.0.name()
    }

    fn place(&self) -> PathBuf {
        self.0.place()
    }

    fn read(&self) -> std::result::Result<Option<Found>, Unreachable> {
        self.0.read()
    }

    fn confirms(&self, version: Option<&Version>) -> std::result::Result<bool, Unreachable> {
        self.0.confirms(version)
    }

    fn descends(&self, now: &Found, seen: &Mark) -> std::result::Result<bool, Unreachable> {
        self.0.descends(now, seen)
    }

    fn swap(&self, expected: Option<&Version>, next: &Next<'_>) -> Swap {
        match (self.0.swap(expected, next), expected) {
            (Swap::Lost(_), Some(version)) => Swap::Swapped(version.clone()),
            (other, _) => other,
        }
    }

    fn past(&self, now: &Found) -> std::result::Result<Past, Unreachable> {
        self.0.past(now)
    }

    fn must_be_checked(&self) -> bool {
        false
    }

    fn wait(&self, version: &Version, most: Millis) -> std::result::Result<bool, Unreachable> {
        self.0.wait(version, most)
    }
}

#[test]
fn the_checker_finds_somebody_who_was_told_yes_and_did_not_get_it() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    let (urls, book) = (cluster.urls(), Book::new(&[0; 2]));
    let right = |sys: &Sys| made(sys, &scratch.path().join("right"), &urls, "believing");
    let right = book.client(0, "right", right);
    let wrong = |sys: &Sys| {
        let register = Etcd::open(sys, &access(&urls, "believing")).unwrap();
        let dir = scratch.path().join("wrong");
        std::fs::create_dir_all(&dir).unwrap();
        Shared::new(sys.clone(), Box::new(Believing(register)), Local::new(dir, 0o600), settings())
    };
    let wrong = book.client(1, "wrong", wrong);
    // It decides on what it saw before somebody else took it.
    wrong.take("other").unwrap();
    right.take("one").unwrap();
    wrong.take("one").unwrap();
    let found: Vec<Property> =
        book.violations(&right.shared).into_iter().map(|violation| violation.property).collect();
    assert!(found.contains(&Property::OneWriter) && found.contains(&Property::Linearizable), "{found:?}");
}

#[test]
fn a_cluster_without_a_majority_grants_nothing_and_says_so() {
    let Some((scratch, mut cluster)) = cluster(3) else { return };
    let ann = made(&Sys::os(), &scratch.path().join("ann"), &cluster.urls(), "minority");
    let lease = take(&ann, "one", "ann").unwrap();
    cluster.kill(0);
    cluster.kill(1);
    let settings = Settings { tries: 2, max_age: Millis::from_secs(60), ..settings() };
    let short = Access { limit: Millis::new(700), ..access(&cluster.urls(), "minority") };
    let register = Etcd::open(&Sys::os(), &short).unwrap();
    let local = Local::new(scratch.path().join("ann"), 0o600);
    let cut_off = Shared::new(Sys::os(), Box::new(register), local, settings);
    assert_eq!(trouble(cut_off.known(true)), Trouble::Unavailable);
    assert!(matches!(trouble(take(&cut_off, "two", "ann")), Trouble::Unavailable | Trouble::Unresolved));
    // What one holds can be used.
    let claim = holdfast_kernel::Claim {
        resource: lease.resource.clone(),
        lease: lease.id,
        holder: lease.holder.clone(),
        fence: lease.fence,
    };
    let known = cut_off.known(false).unwrap();
    assert_eq!(known.view.table.get(lease.id).map(|lease| lease.fence), Some(claim.fence));
    cluster.restart(0);
    cluster.restart(1);
    let _ = cluster.leader();
    take(&ann, "two", "ann").unwrap();
}

#[test]
fn another_cluster_in_its_place_stops_everything_and_is_left_alone() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    let other_dir = scratch.path().join("other");
    let other = Cluster::start(&other_dir, 1).unwrap();
    let dir: PathBuf = scratch.path().join("ann");
    let ann = made(&Sys::os(), &dir, &cluster.urls(), "places");
    take(&ann, "one", "ann").unwrap();
    // The same steps there, so that the revisions are the same.
    let stranger = made(&Sys::os(), &scratch.path().join("stranger"), &other.urls(), "places");
    take(&stranger, "one", "stranger").unwrap();
    let before = stranger.register().read().unwrap();
    let moved = open_at(&Sys::os(), &dir, &other.urls(), "places");
    assert_eq!(trouble(take(&moved, "two", "ann")), Trouble::Forked);
    assert_eq!(stranger.register().read().unwrap(), before);
    // A value that was deleted, or put there by hand, stops as well.
    let port: u16 = cluster.urls()[0].rsplit(':').next().unwrap().parse().unwrap();
    let key = "L2hvbGRmYXN0L3BsYWNlcy9oZWFk"; // "/holdfast/places/head"
    holdfast_trial::etcd::post(port, "/v3/kv/deleterange", &format!("{{\"key\":\"{key}\"}}")).unwrap();
    assert_eq!(trouble(take(&ann, "two", "ann")), Trouble::Forked);
    holdfast_trial::etcd::post(port, "/v3/kv/put", &format!("{{\"key\":\"{key}\",\"value\":\"e30=\"}}"))
        .unwrap();
    assert_eq!(trouble(take(&ann, "two", "ann")), Trouble::Unavailable);
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

#[test]
fn a_cluster_that_was_restored_stops_whoever_saw_more() {
    let Some((scratch, mut cluster)) = cluster(1) else { return };
    let urls = cluster.urls();
    let [ann, bob] = ["ann", "bob"].map(|who| made(&Sys::os(), &scratch.path().join(who), &urls, "restored"));
    take(&ann, "one", "ann").unwrap();
    bob.refresh().unwrap();
    let (data, backup) = (cluster.data(0), scratch.path().join("backup"));
    cluster.kill(0);
    copied(&data, &backup);
    cluster.restart(0);
    let _ = cluster.leader();
    take(&ann, "two", "ann").unwrap();
    cluster.kill(0);
    std::fs::remove_dir_all(&data).unwrap();
    copied(&backup, &data);
    cluster.restart(0);
    let _ = cluster.leader();
    assert_eq!(trouble(ann.known(true)), Trouble::Forked);
    assert_eq!(trouble(take(&ann, "three", "ann")), Trouble::Forked);
    // Whoever saw nothing of what was lost cannot know, and goes on; even past it, whoever did still stops.
    take(&bob, "two", "bob").unwrap();
    take(&bob, "three", "bob").unwrap();
    assert_eq!(trouble(take(&ann, "four", "ann")), Trouble::Forked);
}

fn secured(member: &Secured, tls: Option<Tls>) -> Etcd {
    let access = Access { tls, ..access(&[member.url()], "secured") };
    Etcd::open(&Sys::os(), &access).unwrap()
}

#[test]
fn a_cluster_is_reached_over_tls_by_whoever_shows_a_certificate_and_believes_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let Some(member) = Secured::start(scratch.path()) else { return };
    let identity = Some((member.file("m.pem"), member.file("m.key")));
    let known = Tls { authorities: member.file("ca.pem"), identity };
    let register = secured(&member, Some(known.clone()));
    holdfast_trial::until("the member answers", || register.read().is_ok());
    let dir = scratch.path().join("ann");
    std::fs::create_dir(&dir).unwrap();
    let ann = Shared::new(Sys::os(), Box::new(register), Local::new(dir, 0o600), settings());
    ann.make(COUNTER, Fence::FIRST).unwrap();
    take(&ann, "one", "ann").unwrap();
    // Whoever believes another authority, or shows nothing, gets nowhere, and nothing of it is repeated.
    let other = tempfile::tempdir().unwrap();
    let stranger = Secured::start(other.path()).unwrap();
    let wrong = Tls { authorities: stranger.file("ca.pem"), ..known.clone() };
    for (tls, why) in [
        (Some(wrong), "certificate"),
        (Some(Tls { identity: None, ..known.clone() }), "127.0.0.1"),
        (Some(Tls { identity: Some((member.file("m.pem"), b"no key".to_vec())), ..known }), "tls_key"),
        (None, "authority"),
    ] {
        let said = secured(&member, tls).read().unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_user_logs_in_and_one_who_may_only_read_is_told() {
    let Some((scratch, cluster)) = cluster(1) else { return };
    drop(made(&Sys::os(), &scratch.path().join("maker"), &cluster.urls(), "users"));
    cluster.want_login(&[("ann", "READWRITE"), ("guest", "READ")]);
    let opened = |who: &str, dir: &str, secret: Secret| {
        let user = holdfast_remote::etcd::User { name: who.into(), secret };
        let access = Access { user: Some(user), ..access(&cluster.urls(), "users") };
        let dir = scratch.path().join(dir);
        std::fs::create_dir_all(&dir).unwrap();
        let register = Etcd::open(&Sys::os(), &access).unwrap();
        let settings = Settings { tries: 2, ..settings() };
        Shared::new(Sys::os(), Box::new(register), Local::new(dir, 0o600), settings)
    };
    let open = |who: &str, password: &str| {
        opened(who, &format!("{who}-{password}"), Secret::Password(password.into()))
    };
    let ann = open("ann", "pw-ann");
    take(&ann, "one", "ann").unwrap();
    ann.can_be_written().unwrap();
    let guest = open("guest", "pw-guest");
    assert_eq!(guest.known(true).unwrap().view.table.len(), 1);
    assert_eq!(trouble(guest.can_be_written()), Trouble::Refused);
    assert_eq!(trouble(take(&guest, "two", "guest")), Trouble::Refused);
    let Err(Error::Shared { trouble: Trouble::Unavailable, what }) = open("ann", "wrong-s3cret").known(true)
    else {
        panic!("a wrong password was taken")
    };
    assert!(!what.contains("s3cret"), "{what}");
    // A token that somebody else asked for does as well, as long as the cluster knows it.
    let tokened = opened("ann", "tokened", Secret::Token(cluster.token("ann")));
    take(&tokened, "two", "tokened").unwrap();
    for token in ["wrong-s3cret.7", "wrong-s3cret\r\nX: y", ""] {
        let wrong = opened("ann", "wrong", Secret::Token(token.into()));
        let Err(Error::Shared { trouble: Trouble::Unavailable, what }) = wrong.known(true) else {
            panic!("a wrong token was taken: {token:?}")
        };
        assert!(!what.contains("s3cret"), "{what}");
    }
    let nobody = open_at(&Sys::os(), &scratch.path().join("nobody"), &cluster.urls(), "users");
    assert_eq!(trouble(nobody.known(true)), Trouble::Unavailable);
}
