//! Waiting: in order of arrival, without the dead, without heat, and without leaving anything.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command};
use std::time::Instant;

use holdfast_trial::{Answer, until};

use crate::bench::Bench;

fn tickets(bench: &Bench, issue: &str) -> usize {
    std::fs::read_dir(bench.control("locks/wait").join(issue)).map_or(0, Iterator::count)
}

/// Starts a waiter and waits until it stands in line.
fn waiter(bench: &Bench, agent: &str, issue: &str) -> Child {
    let before = tickets(bench, issue);
    let child = bench.spawn(agent, &["--json", "claim", "acquire", issue, "--wait", "60"], &bench.repo());
    until("it stands in line", || tickets(bench, issue) > before);
    child
}

#[test]
fn waiters_are_served_in_their_order_and_the_dead_are_skipped() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let first = waiter(&bench, "agent:w1", &issue);
    let mut dead = waiter(&bench, "agent:dead", &issue);
    let second = waiter(&bench, "agent:w2", &issue);
    let third = waiter(&bench, "agent:w3", &issue);
    dead.kill().unwrap();
    dead.wait().unwrap();
    let mut holder = "agent:a".to_owned();
    for (child, agent) in [(first, "agent:w1"), (second, "agent:w2"), (third, "agent:w3")] {
        bench.run(&holder, &["claim", "release", &issue]).ok();
        let served = Answer::from(child.wait_with_output().unwrap()).ok();
        assert_eq!(served.json()["lease"]["agent_id"], agent);
        agent.clone_into(&mut holder);
    }
    assert!(!bench.control("locks/wait").join(&issue).exists(), "nothing is left");
}

#[test]
fn a_waiter_says_whom_it_waits_for_and_gives_up_in_time() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let start = Instant::now();
    let refused = bench.run("agent:b", &["--json", "claim", "acquire", &issue, "--wait", "1"]).fails(4);
    let waited = start.elapsed();
    assert!(waited.as_millis() >= 1_000 && waited.as_secs() < 20, "{waited:?}");
    assert_eq!(refused.json()["error"]["code"], "HELD");
    assert_eq!(refused.stderr.matches("waiting for").count(), 1, "once: {refused}");
    assert!(refused.stderr.contains("held by agent:a"), "{refused}");
    assert_eq!(tickets(&bench, &issue), 0);
}

#[test]
fn whoever_gives_up_behind_another_is_told_who_came_first() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let mut first = waiter(&bench, "agent:w1", &issue);
    let late = bench.run("agent:b", &["--json", "claim", "acquire", &issue, "--wait", "1"]).fails(4);
    assert_eq!(late.json()["error"]["code"], "IN_LINE");
    assert!(late.stderr.contains("agent:w1"), "{late}");
    assert_eq!(tickets(&bench, &issue), 1, "only who came first still stands in line");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_waiter_gets_what_runs_out() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "1"]).ok();
    let served = bench.run("agent:b", &["--json", "claim", "acquire", &issue, "--wait", "30"]).ok().json();
    assert_eq!((&served["lease"]["agent_id"], &served["already_held"]), (&"agent:b".into(), &false.into()));
}

#[test]
fn a_signal_ends_waiting_at_once_and_leaves_nothing() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let waiting = waiter(&bench, "agent:b", &issue);
        let start = Instant::now();
        assert!(Command::new("kill").args([signal, &waiting.id().to_string()]).status().unwrap().success());
        let ended = waiting.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code));
        assert!(start.elapsed().as_secs() < 10);
        assert_eq!(tickets(&bench, &issue), 0);
    }
    bench.jit(&["claim", "release", &issue]).ok();
    assert!(bench.leases().is_empty());
}

#[test]
fn waiting_is_not_hot() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let mut waiting = waiter(&bench, "agent:b", &issue);
    let mut stderr = BufReader::new(waiting.stderr.take().unwrap());
    stderr.read_line(&mut String::new()).unwrap();
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", waiting.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let (before, start) = (ticks(), Instant::now());
    until("a while went by", || start.elapsed().as_millis() > 1_500);
    let spent = ticks() - before;
    assert!(spent <= 5, "{spent} hundredths of a second of work in 1.5 s of waiting");
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    bench.jit(&["recover"]).ok();
    assert_eq!(tickets(&bench, &issue), 0, "recovery removes what the dead left");
}

/// Without a number it waits as long as it takes, also for an issue that is still to be made.
#[test]
fn whoever_gives_no_number_waits_as_long_as_it_takes() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let waits = |args: &[&str]| bench.spawn("agent:b", &[&["--json"], args].concat(), &bench.repo());
    let child = waits(&["claim", "acquire", &issue, "--wait"]);
    until("it stands in line", || tickets(&bench, &issue) > 0);
    bench.jit(&["claim", "release", &issue]).ok();
    let served = Answer::from(child.wait_with_output().unwrap()).ok().json();
    assert_eq!(served["lease"]["agent_id"], "agent:b");
    for args in [&["claim", "next", "--wait"][..], &["start", "--another", "--wait"]] {
        let mut child = waits(args);
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert!(line.contains("waiting for an issue"), "{line}");
        let made = bench.issue("at last");
        let served = Answer::from(child.wait_with_output().unwrap()).ok().json();
        assert_eq!(served["lease"]["issue_id"], made.as_str(), "{args:?}");
    }
    bench.jit(&["start", "--wait", "soon"]).fails(6);
    bench.jit(&["start", "--wait="]).fails(6);
    bench.jit(&["start", "--wait", "-1"]).fails(6);
}
