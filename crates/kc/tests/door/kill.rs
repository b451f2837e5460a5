//! `kill -9` at random moments: the database stays usable, and nothing that somebody was told of is lost.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use holdfast_trial::Dice;
use serde_json::Value;

use crate::arm::{Op, request};
use crate::bench::{Bench, KC, LEASE, NOW, more};

/// How many processes die, and how many rounds for each of them that may take at the most.
fn deaths() -> usize {
    usize::try_from(more("HOLDFAST_KC_DEATHS", 80)).unwrap()
}

const ROUNDS: i64 = 25;

/// One document that somebody works on who is killed all the time.
struct Worker<'b> {
    bench: &'b Bench,
    doc: String,
    dice: Dice,
    deaths: usize,
    /// The overlays that were asked for, and those that somebody was told of.
    asked: BTreeSet<String>,
    told: BTreeSet<String>,
}

impl Worker<'_> {
    /// Runs the program and kills it after a random while. Gives the answer if it got that far.
    fn killed(&mut self, words: &[&str]) -> Option<Value> {
        let (output, died) = self.dice.kill(self.bench.spawn(words));
        assert!(died || output.status.code() == Some(0), "{output:?}");
        self.deaths += usize::from(died);
        serde_json::from_slice(&output.stdout).ok()
    }

    /// Acquires the lease at a moment when whoever had it before has let it run out; is killed at that, and again
    /// while it adds an overlay and gives the lease back.
    fn round(&mut self, round: i64) {
        let doc = self.doc.clone();
        let (first, second) = (NOW + 2 * round * LEASE, NOW + (2 * round + 1) * LEASE);
        let (first, second) = (first.to_string(), second.to_string());
        let told = self.killed(&["lineage", "lock", "acquire", "VAULT", &doc, "first", "--now-ms", &first]);
        let lock =
            &self.bench.run(&["lineage", "lock", "status", "VAULT", &doc, "--now-ms", &first]).ok()["lock"];
        if let Some(told) = told {
            assert_eq!(lock["held"], true, "a lease that somebody was told of is gone");
            assert_eq!((&lock["owner"], &lock["fence"]), (&told["lease"]["owner"], &told["lease"]["fence"]));
        }
        let again = ["lineage", "lock", "acquire", "VAULT", &doc, "second", "--now-ms", &second];
        let lease = self.bench.run(&again).ok()["lease"].clone();
        assert!(lease["fence"].as_u64() > lock["fence"].as_u64());
        let token = lease["token"].as_str().unwrap();
        let evidence = format!("round {round}");
        let add = ["lineage", "overlay", "add", "VAULT", &doc, "a", "b", "cites", &evidence, token];
        self.asked.insert(evidence.clone());
        if self.killed(&[&add[..], &["--now-ms", &second]].concat()).is_some() {
            self.told.insert(evidence.clone());
        }
        if self.killed(&["lineage", "lock", "release", "VAULT", &doc, token]).is_some() {
            let refused = self.bench.run(&["lineage", "lock", "release", "VAULT", &doc, token]);
            assert_eq!(refused.failed(), "KC_LINEAGE_LOCK_INVALID", "a release that was told of is undone");
        }
    }

    fn judge(&self) {
        let list = self.bench.run(&["lineage", "overlay", "list", "VAULT", &self.doc]).ok();
        let kept: BTreeSet<String> = list["overlays"]
            .as_array()
            .unwrap()
            .iter()
            .map(|overlay| overlay["evidence"].as_str().unwrap().to_owned())
            .collect();
        assert!(kept.is_superset(&self.told), "overlays that somebody was told of are gone");
        assert!(kept.is_subset(&self.asked));
    }
}

#[test]
fn a_killed_process_leaves_the_database_usable_and_loses_nothing_that_was_told() {
    let seed = Dice::seed();
    let bench = Bench::new(&["doc-0", "doc-1"]);
    let work = |n: u64| {
        let dice = Dice::new(seed + n, Duration::from_millis(12));
        let (asked, told) = (BTreeSet::new(), BTreeSet::new());
        let mut worker = Worker { bench: &bench, doc: format!("doc-{n}"), dice, deaths: 0, asked, told };
        let due = deaths() / 2;
        let rounds = (0..ROUNDS * due as i64).take_while(|round| {
            worker.round(*round);
            worker.deaths < due
        });
        let rounds = rounds.count();
        worker.judge();
        println!("{} deaths in {rounds} rounds", worker.deaths);
        assert!(worker.deaths >= due, "seed {seed}");
    };
    std::thread::scope(|scope| (0..2).for_each(|n| drop(scope.spawn(move || work(n)))));
    bench.run(&["vault", "check", "VAULT"]).ok();
}

/// Hands a server as many additions as its pipe holds, and kills it while it works them off. Gives how many it
/// answered before.
fn killed_server(bench: &Bench, dice: &mut Dice, doc: &str, token: &str, count: usize) -> usize {
    let mut child = bench.command(KC, &["rpc", "VAULT"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let add = |n: usize| {
        let (doc, token, evidence) = (doc.to_owned(), token.to_owned(), "seen".to_owned());
        request(&Op::Add { doc, from: format!("node-{n:03}"), evidence, token, now: NOW })
    };
    let lines: String = (0..count).map(|n| format!("{}\n", add(n))).collect();
    child.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    let mut replies = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&replies.next().unwrap().unwrap()).unwrap();
    std::thread::sleep(dice.while_it_lives());
    child.kill().unwrap();
    child.wait().unwrap();
    // A reply that was cut off was not given.
    let rest = replies.map_while(Result::ok).map_while(|line| serde_json::from_str::<Value>(&line).ok());
    let replies: Vec<Value> = std::iter::once(first).chain(rest).collect();
    assert!(replies.iter().all(|reply| reply["ok"] == true), "{replies:?}");
    dice.note(replies.len() < count);
    replies.len()
}

#[test]
fn a_killed_server_has_done_what_it_answered_and_at_most_one_thing_more() {
    let mut dice = Dice::new(5, Duration::from_millis(20));
    let docs: Vec<String> = (0..15).map(|n| format!("doc-{n:02}")).collect();
    let bench = Bench::new(&docs.iter().map(String::as_str).collect::<Vec<_>>());
    for doc in &docs {
        let token = bench.acquire(doc, "ann", NOW);
        let told = killed_server(&bench, &mut dice, doc, &token, 120);
        let list = bench.run(&["lineage", "overlay", "list", "VAULT", doc]).ok();
        let mut kept: Vec<&str> = list["overlays"]
            .as_array()
            .unwrap()
            .iter()
            .map(|overlay| overlay["from_node_id"].as_str().unwrap())
            .collect();
        kept.sort_unstable();
        let due: Vec<String> = (0..kept.len()).map(|n| format!("node-{n:03}")).collect();
        assert_eq!(kept, due, "additions are made in order, and none is left out");
        assert!(kept.len() == told || kept.len() == told + 1, "{} were kept, {told} were told", kept.len());
    }
    bench.run(&["vault", "check", "VAULT"]).ok();
}

#[test]
fn a_vault_whose_making_was_killed_is_not_there_or_whole() {
    let mut dice = Dice::new(7, Duration::from_millis(12));
    for _ in 0..25 {
        let bench = Bench::empty();
        dice.kill(bench.spawn(&["vault", "init", "VAULT"]));
        bench.run(&["vault", "init", "VAULT"]).ok();
        bench.run(&["doc", "add", "VAULT", "doc"]).ok();
        bench.run(&["vault", "check", "VAULT"]).ok();
    }
}
