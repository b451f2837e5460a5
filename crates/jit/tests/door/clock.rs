//! A wall clock that jumps changes nothing about a lease.

use std::process::Command;

use holdfast_trial::{Answer, has, until};

use crate::bench::Bench;

/// Runs the program with the wall clock moved.
fn at(bench: &Bench, offset: &str, agent: &str, args: &[&str]) -> Answer {
    let mut command = bench.dressed(Command::new("faketime"));
    command.args(["--exclude-monotonic", "-f", offset, crate::bench::JIT]).args(args);
    command.current_dir(bench.repo()).env("JIT_AGENT_ID", agent);
    Answer::from(command.output().unwrap())
}

#[test]
fn an_hour_forward_or_back_ends_no_live_lease_and_revives_no_dead_one() {
    if !has("faketime") {
        return;
    }
    let bench = Bench::new();
    let (live, lease) = bench.claimed("agent:a");
    let dead = bench.issue("dead");
    bench.run("agent:a", &["claim", "acquire", &dead, "--ttl", "1"]).ok();
    until("it is over", || bench.leases().len() == 1);
    for offset in ["+1h", "-1h", "+400d"] {
        let seen = at(&bench, offset, "agent:a", &["--json", "claim", "list"]).ok().json();
        assert_eq!(seen["count"], 1, "{offset}: {seen}");
        assert_eq!(seen["leases"][0]["lease_id"], lease.as_str());
        at(&bench, offset, "agent:b", &["claim", "acquire", &live]).fails(4);
        at(&bench, offset, "agent:a", &["claim", "renew", &lease]).ok();
    }
    at(&bench, "-1h", "agent:b", &["claim", "acquire", &dead, "--ttl", "600"]).ok();
    bench.run("agent:c", &["claim", "acquire", &dead]).fails(4);
    let left = bench.jit(&["--json", "claim", "status", "--issue", &dead]).ok().json();
    let left = left["leases"][0]["remaining_secs"].as_u64().unwrap();
    assert!((500..=600).contains(&left), "granted an hour ago by the wall clock, {left} s left");
}

#[test]
fn the_clock_that_is_moved_is_really_moved() {
    if !has("faketime") {
        return;
    }
    let bench = Bench::new();
    let issue = bench.issue("work");
    let granted = at(&bench, "+400d", "agent:a", &["--json", "claim", "acquire", &issue]).ok().json();
    let year = |text: &str| text[..4].parse::<i32>().unwrap();
    let stamped = granted["lease"]["acquired_at"].as_str().unwrap().to_owned();
    let issue = bench.jit(&["--json", "issue", "show", &issue]).ok().json();
    assert!(year(&stamped) > year(issue["issue"]["created_at"].as_str().unwrap()), "{stamped}");
}
