//! What is written in a linked worktree is known everywhere, merged or not.

use std::path::Path;

use crate::bench::Bench;

/// Has `agent` take the issue at `at` and set its state.
fn set(bench: &Bench, at: &Path, agent: &str, issue: &str, state: &str) {
    bench.run_at(agent, &["claim", "acquire", issue], at).ok();
    bench.run_at(agent, &["issue", "update", issue, "--state", state], at).ok();
    bench.run_at(agent, &["claim", "release", issue], at).ok();
}

fn state(bench: &Bench, at: &Path, issue: &str) -> String {
    let shown = bench.run_at("agent:z", &["--json", "issue", "show", issue], at).ok().json();
    shown["issue"]["state"].as_str().unwrap().to_owned()
}

fn handed_over(bench: &Bench) -> usize {
    std::fs::read_dir(bench.control("issues")).map_or(0, Iterator::count)
}

#[test]
fn what_is_done_in_one_worktree_is_offered_in_no_other() {
    let bench = Bench::new();
    let issue = bench.issue("once");
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-q", "-m", "an issue"], &bench.repo());
    let (one, two) = (bench.worktree("one"), bench.worktree("two"));
    set(&bench, &one, "agent:one", &issue, "done");
    assert_eq!(state(&bench, &two, &issue), "done");
    bench.run_at("agent:two", &["claim", "next"], &two).fails(3);
    bench.run_at("agent:a", &["claim", "next"], &bench.repo()).fails(3);
}

#[test]
fn the_main_worktree_has_the_last_word_and_nothing_is_kept_twice() {
    let bench = Bench::new();
    let issue = bench.issue("often");
    let one = bench.worktree("one");
    set(&bench, &one, "agent:one", &issue, "done");
    assert_eq!(handed_over(&bench), 1);
    set(&bench, &bench.repo(), "agent:a", &issue, "ready");
    assert_eq!((state(&bench, &one, &issue).as_str(), handed_over(&bench)), ("ready", 0));
    bench.run_at("agent:one", &["claim", "next"], &one).ok();
}

#[test]
fn what_was_merged_is_no_longer_kept() {
    let bench = Bench::new();
    let issue = bench.issue("merged");
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-q", "-m", "an issue"], &bench.repo());
    let one = bench.worktree("one");
    set(&bench, &one, "agent:one", &issue, "done");
    bench.git(&["add", "."], &one);
    bench.git(&["commit", "-q", "-m", "done"], &one);
    bench.git(&["merge", "-q", "one"], &bench.repo());
    let other = bench.issue("other");
    set(&bench, &bench.repo(), "agent:a", &other, "done");
    assert_eq!((handed_over(&bench), state(&bench, &one, &issue)), (0, "done".to_owned()));
}

#[test]
fn work_that_was_left_behind_is_offered_again() {
    let bench = Bench::new();
    let issue = bench.issue("begun");
    set(&bench, &bench.repo(), "agent:gone", &issue, "in_progress");
    let next = bench.run("agent:b", &["--json", "claim", "next"]).ok().json();
    assert_eq!(next["lease"]["issue_id"], issue.as_str());
    bench.run("agent:c", &["claim", "next"]).fails(3);
}
