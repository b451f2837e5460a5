//! An agent pauses, its lease runs out, another one takes over, commits and pushes; the first one wakes. It is
//! stopped at the commit, at the push and at the origin, each by itself.

use crate::stage::{Agent, Held, Stage};

/// Both agents, once the second one has taken over, committed and pushed to main.
struct Story<'a> {
    a: Agent<'a>,
    held: Held,
    issue: String,
}

fn taken_over(stage: &Stage) -> Story<'_> {
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let held = a.claim_with(&issue, &["--ttl", "1"]);
    // It waits for the lease to run out, and not a moment longer.
    let taken = b.claim_with(&issue, &["--wait", "60"]);
    assert!(taken.fence > held.fence);
    b.work(&taken, "by b").ok();
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    Story { a, held, issue }
}

#[test]
fn at_the_commit() {
    let stage = Stage::new();
    let story = taken_over(&stage);
    story.a.work(&story.held, "by a").refused(&[&story.issue, "agent:b", "holds it", "hint:"]);
}

#[test]
fn at_the_push_of_a_commit_that_nobody_judged() {
    let stage = Stage::new();
    let story = taken_over(&stage);
    let a = story.a.later(100);
    a.write(&story.held, "by a");
    a.force("by a");
    let words = [&story.issue, "agent:b", "not in force then", "jit claim acquire"];
    // Also to a branch of its own: the commit is wrong wherever it goes.
    a.git(&["push", "-q", "origin", "a"]).refused(&words);
    let words = [&story.issue, "agent:b", "already has fence", "git fetch origin"];
    a.git(&["fetch", "-q", "origin"]).ok();
    a.git(&["push", "-q", "--force", "origin", "a:main"]).refused(&words);
}

#[test]
fn at_the_push_of_a_commit_that_was_right_when_it_was_made() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let held = a.claim(&issue);
    a.work(&held, "by a").ok();
    a.jit(&["claim", "release", &held.lease]).ok();
    let taken = b.claim(&issue);
    b.work(&taken, "by b").ok();
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    a.git(&["fetch", "-q", "origin"]).ok();
    let words = [&issue, "main already has fence", "agent:b", "jit claim acquire"];
    a.git(&["push", "-q", "--force", "origin", "a:main"]).refused(&words);
    // Merged, both are there, and the later one counts.
    a.git(&["merge", "-q", "--no-edit", "origin/main"]).ok();
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    assert!(std::fs::read_to_string(a.file(&issue)).unwrap().contains("by b"));
}

#[test]
fn at_an_origin_that_sees_the_log() {
    let stage = Stage::new();
    let origin = stage.path("origin.git");
    stage.main().jit(&["hooks", "install", "--pre-receive", origin.to_str().unwrap()]).ok();
    let story = taken_over(&stage);
    let a = story.a.later(100);
    a.write(&story.held, "by a");
    a.force("by a");
    let words = ["this push is rejected", &story.issue, "agent:b", "not in force then"];
    a.git(&["push", "-q", "--no-verify", "origin", "a"]).refused(&words);
    a.git(&["push", "-q", "--no-verify", "--force", "origin", "a:main"]).refused(&words);
    let there = stage.run("git", "x", &["for-each-ref", "--format=%(refname)"], &origin).ok();
    assert_eq!(there.line(), "refs/heads/main");
}

#[test]
fn at_an_origin_that_sees_no_log() {
    let stage = Stage::new();
    let origin = stage.path("origin.git");
    stage.main().jit(&["hooks", "install", "--pre-receive", origin.to_str().unwrap()]).ok();
    let forget = ["config", "--file", "config", "--unset-all", "jit.controlplane"];
    stage.run("git", "x", &forget, &origin).ok();
    let story = taken_over(&stage);
    let a = story.a.later(100);
    a.write(&story.held, "by a");
    a.force("by a");
    // Nothing is known about leases; the fence alone tells, and the commit that brought it names its writer.
    let words = [&story.issue, "main already has fence", "written by agent:b", "git pull --rebase"];
    a.git(&["push", "-q", "--no-verify", "--force", "origin", "a:main"]).refused(&words);
    a.git(&["push", "-q", "--no-verify", "origin", "a"]).ok();
}
