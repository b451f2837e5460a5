//! Many who want a lock that is over: one gets it, and tokens rise whatever happens in between.

use std::process::Child;

use holdfast_trial::{Answer, until};

use crate::bench::{Bench, Refusal, long};

const STEALERS: usize = 4;

/// How often a lock is stolen. Each round starts as many processes as there are stealers, so the default is a
/// part of the thousand rounds that the long tests do.
fn rounds() -> usize {
    if long() { 1_000 } else { 50 }
}

fn finish(children: Vec<Child>) -> Vec<Answer> {
    children.into_iter().map(|child| Answer::from(child.wait_with_output().unwrap())).collect()
}

#[test]
fn of_many_stealers_one_wins_each_round_and_tokens_rise() {
    let bench = Bench::impatient();
    let mut last = 0;
    let mut holder = String::new();
    for round in 0..rounds() {
        until("the lease is over", || {
            let state = bench.jvs(&["lock", "status"]).ok().json()["state"].as_str().unwrap().to_owned();
            matches!(state.as_str(), "free" | "stealable")
        });
        let args = ["lock", "acquire", "--lease-ms", "60000"];
        let names: Vec<String> = (0..STEALERS).map(|n| format!("r{round}-{n}")).collect();
        let answers = finish(names.iter().map(|name| bench.spawn(name, &args)).collect());
        let won: Vec<usize> = (0..STEALERS).filter(|n| answers[*n].code == Some(0)).collect();
        assert_eq!(won.len(), 1, "round {round}");
        for lost in answers.into_iter().enumerate().filter(|(n, _)| *n != won[0]).map(|(_, answer)| answer) {
            lost.refused_as("E_LOCK_CONFLICT");
        }
        let name = &names[won[0]];
        let seen = bench.jvs(&["lock", "status"]).ok().json();
        let token = seen["lock"]["fencing_token"].as_u64().unwrap();
        assert!(token > last, "round {round}: {token} after {last}");
        assert!(seen["lock"]["acquire_seq"].as_u64().unwrap() > 0);
        last = token;
        if !holder.is_empty() {
            bench.other(&holder, &["lock", "renew"]).refused_as("E_LOCK_NOT_HELD");
        }
        shorten(&bench, name, round);
        holder.clone_from(name);
    }
    bench.jvs(&["audit", "verify"]).ok();
}

/// Ends the lease of the winner: sometimes by giving it back, otherwise by a lease that is over at once.
fn shorten(bench: &Bench, name: &str, round: usize) {
    bench.other(name, &["lock", "release"]).ok();
    if !round.is_multiple_of(4) {
        bench.other(name, &["lock", "acquire", "--lease-ms", "100"]).ok();
    }
}

#[test]
fn tokens_rise_across_release_doctor_rename_and_another_session() {
    let bench = Bench::impatient();
    bench.jvs(&["worktree", "create", "w"]).ok();
    let mut last = 0;
    let mut take = |bench: &Bench, who: &str, worktree: &str| {
        let granted = bench.other(who, &["lock", "acquire", "--worktree", worktree]).ok().json();
        let token = granted["lock"]["fencing_token"].as_u64().unwrap();
        assert!(token > last, "{token} after {last}");
        last = token;
    };
    take(&bench, "a", "w");
    bench.other("a", &["snapshot", "--worktree", "w"]).ok();
    bench.other("a", &["lock", "release", "--worktree", "w"]).ok();
    take(&bench, "a", "w");
    bench.other("a", &["lock", "release", "--worktree", "w"]).ok();
    bench.jvs(&["worktree", "rename", "w", "x"]).ok();
    take(&bench, "b", "x");
    bench.other("b", &["snapshot", "--worktree", "x"]).ok();
    bench.other("b", &["lock", "release", "--worktree", "x"]).ok();
    bench.jvs(&["doctor", "--repair"]).ok();
    take(&bench, "c", "x");
    bench.other("c", &["lock", "release", "--worktree", "x"]).ok();
    // The counter's file is lost: tokens go on above every one that was published.
    let fence = std::fs::read_dir(bench.control("locks")).unwrap().map(|entry| entry.unwrap().path());
    for path in fence.filter(|path| path.extension().is_some_and(|kind| kind == "fence")) {
        std::fs::remove_file(path).unwrap();
    }
    let published = 3;
    let token =
        bench.other("d", &["lock", "acquire", "--worktree", "x"]).ok().json()["lock"]["fencing_token"]
            .as_u64();
    assert!(token.unwrap() > published, "{token:?}");
}
