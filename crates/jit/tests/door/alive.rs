//! Who is still there: claims that are kept by working, and claims whose holders are gone before their deadlines.

use std::process::Command;

use holdfast_trial::{Answer, until};
use serde_json::Value;

use crate::bench::Bench;

/// How many events of a kind the history has.
fn count(bench: &Bench, kind: &str) -> usize {
    let history = bench.jit(&["--json", "claim", "history"]).ok().json();
    history["events"].as_array().unwrap().iter().filter(|event| event["event_type"] == kind).count()
}

fn renewals(bench: &Bench) -> usize {
    count(bench, "claim.renewed")
}

/// An issue that agent:a has claimed for a few seconds, of which less than half is left.
fn half_over(bench: &Bench) -> String {
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "6"]).ok();
    until("less than half of it is left", || {
        let lease = bench.leases().into_iter().find(|lease| lease["issue_id"] == issue.as_str()).unwrap();
        lease["remaining_secs"].as_u64().unwrap() < 3
    });
    issue
}

#[test]
fn whoever_writes_keeps_what_it_holds_and_whoever_asks_does_not() {
    let bench = Bench::new();
    let issue = half_over(&bench);
    for question in [
        &["status"][..],
        &["issue", "list"],
        &["issue", "show", &issue],
        &["query", "available"],
        &["claim", "status"],
        &["claim", "history"],
        &["search", "work"],
        &["validate", "leases"],
    ] {
        let before = bench.snapshot();
        bench.jit(question).ok();
        assert_eq!(bench.snapshot(), before, "{question:?} is a question");
    }
    // What somebody else writes keeps nothing of it either.
    bench.run("agent:b", &["issue", "create", "--title", "other"]).ok();
    assert_eq!(renewals(&bench), 0);
    bench.jit(&["issue", "update", &issue, "--title", "changed"]).ok();
    assert_eq!(renewals(&bench), 1);
    bench.jit(&["issue", "update", &issue, "--title", "again"]).ok();
    assert_eq!(renewals(&bench), 1, "more than half of it is left");
}

#[test]
fn every_command_that_writes_keeps_what_its_caller_holds() {
    let bench = Bench::new();
    bench.jit(&["hooks", "install"]).ok();
    let other = bench.claimed("agent:a").0;
    let file = bench.repo().join("code.txt");
    std::fs::write(&file, "first").unwrap();
    bench.git(&["add", "code.txt", ".jit"], &bench.repo());
    let commands: [&[&str]; 6] = [
        &["issue", "create", "--title", "fresh"],
        &["label", "add", &other, "x"],
        &["claim", "renew", &other],
        &["claim", "acquire", &other],
        &["claim", "create", "--title", "one more"],
        &["commit", "-q", "-m", "work"],
    ];
    for command in commands {
        half_over(&bench);
        let before = renewals(&bench);
        bench.jit(command).ok();
        let own = usize::from(command == ["claim", "renew", &other]);
        // What an earlier round has left may have been due as well.
        assert!(renewals(&bench) > before + own, "{command:?}");
        let low = |lease: &Value| lease["remaining_secs"].as_u64().unwrap() < 3;
        assert!(!bench.leases().iter().any(low), "{command:?}: {:?}", bench.leases());
    }
}

#[test]
fn a_commit_that_touches_no_issue_keeps_the_claim_and_so_does_a_push() {
    let bench = Bench::new();
    bench.git(&["init", "-q", "--bare", "origin"], bench.root());
    bench.git(&["remote", "add", "origin", "../origin"], &bench.repo());
    bench.jit(&["hooks", "install"]).ok();
    let git = |args: &[&str]| {
        let mut git = bench.dressed(Command::new("git"));
        git.args(args).current_dir(bench.repo()).env("JIT_AGENT_ID", "agent:a");
        Answer::from(git.output().unwrap()).ok();
    };
    half_over(&bench);
    std::fs::write(bench.repo().join("code.txt"), "code").unwrap();
    git(&["add", "code.txt"]);
    git(&["commit", "-q", "-m", "code"]);
    assert_eq!(renewals(&bench), 1);
    half_over(&bench);
    let before = renewals(&bench);
    git(&["push", "-q", "origin", "main"]);
    assert!(renewals(&bench) > before);
}

#[test]
fn renewal_on_use_can_be_turned_off_and_keeps_nothing_of_others_and_nothing_that_is_over() {
    let bench = Bench::new();
    let there = bench.worktree("there");
    let issue = half_over(&bench);
    // The same agent in another worktree is another holder.
    bench.run_at("agent:a", &["issue", "create", "--title", "elsewhere"], &there).ok();
    assert_eq!(renewals(&bench), 0);
    bench.config("[coordination]\nrenew_on_use = false\n");
    bench.jit(&["issue", "update", &issue, "--title", "changed"]).ok();
    assert_eq!(renewals(&bench), 0);
    bench.config("");
    until("it is over", || bench.leases().is_empty());
    bench.jit(&["issue", "update", &issue, "--title", "too late"]).fails(5);
    bench.jit(&["issue", "create", "--title", "later"]).ok();
    assert_eq!(renewals(&bench), 0);
}
