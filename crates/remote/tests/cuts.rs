//! Three members of etcd on machines of their own, between which the way is cut: to a minority, to everybody, in one
//! direction; and clients whose clocks are wrong. What they were told is judged by the checkers of the simulator.
#![expect(clippy::disallowed_methods, reason = "tests look at files and wait")]
#![expect(clippy::disallowed_macros, reason = "what was measured is told")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

mod support;
#[path = "support/told.rs"]
mod told;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use holdfast_kernel::{Fence, Millis};
use holdfast_remote::etcd::{Access, Etcd};
use holdfast_remote::local::Local;
use holdfast_remote::shared::Trust;
use holdfast_remote::{Settings, Shared};
use holdfast_sim::check::Property;
use holdfast_sim::history::Told;
use holdfast_sys::Sys;
use holdfast_trial::etcd::Cluster;
use holdfast_trial::network::Network;
use support::COUNTER;
use told::{Book, Client};

const HOUR: i64 = 3_600_000;

fn open(sys: &Sys, dir: &Path, urls: &[String], trust: Trust) -> Shared {
    std::fs::create_dir_all(dir).unwrap();
    let access = Access {
        endpoints: urls.to_vec(),
        namespace: "cuts".into(),
        user: None,
        tls: None,
        limit: Millis::new(400),
    };
    let settings =
        Settings { max_age: Millis::ZERO, pause: Millis::new(20), tries: 4, trust, ..Settings::default() };
    let register = Box::new(Etcd::open(sys, &access).unwrap());
    Shared::new(sys.clone(), register, Local::new(dir.to_path_buf(), 0o600), settings)
}

/// Which way is cut, seen from the member that leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cut {
    /// The leader from both others: they go on without it.
    Minority,
    /// Everybody from everybody: nobody goes on.
    Majority,
    /// What the leader says is not heard.
    Outgoing,
    /// What is said to the leader is not heard.
    Incoming,
    /// The leader is killed.
    Killed,
    /// The leader is stopped, and goes on later.
    Stopped,
}

impl Cut {
    /// What happens to the network comes first: members die and sleep in other tests, too.
    const ALL: [Self; 6] =
        [Self::Minority, Self::Majority, Self::Outgoing, Self::Incoming, Self::Killed, Self::Stopped];

    fn begin(self, network: &Network, cluster: &mut Cluster, leader: usize) {
        let others = [(leader + 1) % 3, (leader + 2) % 3];
        match self {
            Self::Minority => others.iter().for_each(|other| network.part(leader, *other)),
            Self::Majority => [(0, 1), (1, 2), (2, 0)].iter().for_each(|(a, b)| network.part(*a, *b)),
            Self::Outgoing => others.iter().for_each(|other| network.cut(leader, *other)),
            Self::Incoming => others.iter().for_each(|other| network.cut(*other, leader)),
            Self::Killed => cluster.kill(leader),
            Self::Stopped => cluster.pause(leader),
        }
    }

    fn end(self, network: &Network, cluster: &mut Cluster, leader: usize) {
        match self {
            Self::Killed => cluster.restart(leader),
            Self::Stopped => cluster.resume(leader),
            _ => network.heal(),
        }
    }
}

/// Has everybody take turns while the network is cut and healed; gives how often somebody had one.
fn turns(
    network: &Network,
    cluster: &mut Cluster,
    clients: &[Client],
    watcher: &Client,
    cuts: &[Cut],
) -> u32 {
    let until = AtomicBool::new(false);
    let mut number = 0;
    let mut granted = |within: Duration| {
        let began = Instant::now();
        number += 1;
        while began.elapsed() < within {
            if watcher.take(&format!("first-{number}")).is_some() {
                return Some(began.elapsed());
            }
        }
        None
    };
    std::thread::scope(|scope| {
        let until = &until;
        let turns = move |client: &Client| {
            let mut done = 0;
            while !until.load(Ordering::SeqCst) {
                done += u32::from(client.turn("one"));
            }
            done
        };
        let turns: Vec<_> = clients.iter().map(|client| scope.spawn(move || turns(client))).collect();
        for cut in cuts.iter().copied() {
            let leader = cluster.leader();
            cut.begin(network, cluster, leader);
            if cut == Cut::Majority {
                assert_eq!(granted(Duration::from_millis(1_500)), None, "nobody can have agreed to that");
            } else {
                let first = granted(Duration::from_secs(60)).expect("two of three go on");
                println!("{cut:?}: first grant after {first:?}");
            }
            cut.end(network, cluster, leader);
            granted(Duration::from_secs(60)).expect("all three go on");
        }
        until.store(true, Ordering::SeqCst);
        turns.into_iter().map(|turns| turns.join().unwrap()).sum()
    })
}

/// Everybody asks another member first.
fn rotated(urls: &[String], by: usize) -> Vec<String> {
    let mut own = urls.to_vec();
    own.rotate_left(by % urls.len());
    own
}

#[test]
fn whatever_is_cut_nobody_is_told_yes_twice_and_two_of_three_go_on() {
    let name = "whatever_is_cut_nobody_is_told_yes_twice_and_two_of_three_go_on";
    let Some(network) = Network::enter(name, 3) else { return };
    let scratch = tempfile::tempdir().unwrap();
    let Some(mut cluster) = Cluster::start_on(scratch.path(), &network) else { return };
    let long = std::env::var_os("HOLDFAST_LONG").is_some();
    let cuts = if long { Cut::ALL.repeat(6) } else { Cut::ALL[..4].to_vec() };
    let urls = cluster.urls();
    let book = Book::new(&[0; 4]);
    open(&Sys::os(), &scratch.path().join("maker"), &urls, Trust::Clocks)
        .make(COUNTER, Fence::FIRST)
        .unwrap();
    let client = |host: usize, who: &str| {
        let dir = scratch.path().join(who);
        book.client(host, who, |sys| open(sys, &dir, &rotated(&urls, host), Trust::Clocks))
    };
    let clients = ["ann", "bob", "cid"].iter().enumerate().map(|(host, who)| client(host, who));
    let (clients, watcher) = (clients.collect::<Vec<_>>(), client(3, "watcher"));
    let done = turns(&network, &mut cluster, &clients, &watcher, &cuts);
    println!("{done} turns");
    assert!(done > 10, "hardly anybody had a turn");
    book.judge(&watcher.shared);
}

/// A machine that is an hour ahead finds every lease of the others run out by its wall clock.
fn with_wrong_clocks(network: &Network, trust: Trust) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    let cluster = Cluster::start_on(scratch.path(), network).unwrap();
    let urls = cluster.urls();
    let book = Book::new(&[0, HOUR, -HOUR]);
    open(&Sys::os(), &scratch.path().join("maker"), &urls, Trust::Clocks)
        .make(COUNTER, Fence::FIRST)
        .unwrap();
    let client = |host: usize, who: &str| {
        let dir = scratch.path().join(who);
        book.client(host, who, |sys| open(sys, &dir, &rotated(&urls, host), trust))
    };
    let clients: Vec<Client> =
        ["right", "ahead", "behind"].iter().enumerate().map(|(host, who)| client(host, who)).collect();
    for (holder, client) in clients.iter().enumerate() {
        let what = format!("of {holder}");
        let mut lease = None;
        holdfast_trial::until("it is taken", || {
            lease = client.take(&what);
            lease.is_some()
        });
        let lease = lease.unwrap();
        let leader = cluster.leader();
        network.cut(leader, (leader + 1) % 3);
        for other in clients.iter().enumerate().filter(|(other, _)| *other != holder) {
            other.1.take(&what);
        }
        network.heal();
        if trust == Trust::Watch {
            assert_eq!(client.write(&lease), Told::Wrote);
        }
        client.release(&lease);
    }
    let end = open(&Sys::os(), &scratch.path().join("end"), &urls, Trust::Clocks);
    let violations = book.violations(&end);
    // What a machine shows of others' leases counts from when it saw them, which no sequence of calls has.
    let judged = violations.iter().filter(|violation| violation.property != Property::Linearizable);
    judged.map(ToString::to_string).collect()
}

#[test]
fn a_wall_clock_that_is_an_hour_off_takes_nothing_from_anybody() {
    let name = "a_wall_clock_that_is_an_hour_off_takes_nothing_from_anybody";
    let Some(network) = Network::enter(name, 3) else { return };
    if !holdfast_trial::has("etcd") {
        return;
    }
    assert_eq!(with_wrong_clocks(&network, Trust::Watch), Vec::<String>::new());
    // Whoever believes the clocks of others is found out.
    let found = with_wrong_clocks(&network, Trust::Clocks);
    assert!(found.iter().any(|found| found.starts_with("one-writer")), "{found:?}");
}
