//! What a holder wrote comes along on other ways too: squashed, picked, rebased, joined with others, by somebody who holds
//! nothing. What somebody wrote who was displaced since does not, at the commit, the push and the origin.

use crate::stage::{Agent, Held, Stage};

/// An origin that judges, and an agent whose branch has work that was given back.
fn finished<'a>(stage: &'a Stage, issue: &str) -> (Agent<'a>, Held) {
    let a = stage.agent("agent:a", "a");
    let held = a.claim(issue);
    a.work(&held, "by a").ok();
    std::fs::write(a.dir.join("work"), "work\n").unwrap();
    a.commit("the work").ok();
    a.git(&["push", "-q", "origin", "a"]).ok();
    a.jit(&["claim", "release", &held.lease]).ok();
    (a, held)
}

fn judging() -> Stage {
    let stage = Stage::new();
    let origin = stage.path("origin.git");
    stage.main().jit(&["hooks", "install", "--pre-receive", origin.to_str().unwrap()]).ok();
    stage
}

/// Somebody who holds nothing, on a branch of its own, so much later that no lease of before covers it.
fn bystander(stage: &Stage) -> Agent<'_> {
    let c = stage.agent("agent:c", "c");
    Agent { later: 1_000, ..c }
}

#[test]
fn a_squash_of_what_a_holder_wrote_passes_everywhere() {
    let stage = judging();
    let issue = stage.issue("work");
    finished(&stage, &issue);
    let c = bystander(&stage);
    c.git(&["merge", "-q", "--squash", "a"]).ok();
    c.git(&["commit", "-q", "-m", "Squashed, without trailers"]).ok();
    assert!(!c.message().contains("JIT-Lease"), "{}", c.message());
    c.git(&["push", "-q", "origin", "c:main"]).ok();
    assert!(std::fs::read_to_string(c.file(&issue)).unwrap().contains("by a"));
}

#[test]
fn picks_rebases_amendments_and_octopuses_pass() {
    let stage = judging();
    let (issue, other) = (stage.issue("work"), stage.issue("other"));
    let (a, _) = finished(&stage, &issue);
    let b = stage.agent("agent:b", "b");
    let held = b.claim(&other);
    b.work(&held, "by b").ok();
    b.git(&["commit", "-q", "--amend", "-m", "by b, in better words"]).ok();
    b.git(&["push", "-q", "origin", "b"]).ok();
    // The main branch moves meanwhile.
    stage.issue("meanwhile");
    a.git(&["rebase", "-q", "main"]).ok();
    a.git(&["push", "-q", "--force", "origin", "a"]).ok();
    let c = bystander(&stage);
    c.git(&["cherry-pick", "a~1", "a"]).ok();
    c.git(&["push", "-q", "origin", "c"]).ok();
    let d = stage.agent("agent:d", "d");
    d.git(&["merge", "-q", "--no-edit", "a", "b"]).ok();
    d.git(&["push", "-q", "origin", "d:main"]).ok();
    assert!(std::fs::read_to_string(d.file(&issue)).unwrap().contains("by a"));
    assert!(std::fs::read_to_string(d.file(&other)).unwrap().contains("by b"));
}

#[test]
fn a_squash_of_what_a_displaced_holder_wrote_passes_nowhere() {
    let stage = judging();
    let issue = stage.issue("work");
    finished(&stage, &issue);
    let b = stage.agent("agent:b", "b");
    let taken = b.claim(&issue);
    b.jit(&["claim", "release", &taken.lease]).ok();
    let c = bystander(&stage);
    c.git(&["merge", "-q", "--squash", "a"]).ok();
    c.git(&["commit", "-q", "-m", "squashed"]).refused(&[&issue, "does not hold it"]);
    c.git(&["commit", "-q", "--no-verify", "-m", "squashed"]).ok();
    c.git(&["push", "-q", "origin", "c"]).refused(&[&issue, "not in force then"]);
    c.git(&["push", "-q", "--no-verify", "origin", "c"]).refused(&["this push is rejected", &issue]);
}

#[test]
fn what_was_changed_by_hand_on_the_way_does_not_pass() {
    let stage = judging();
    let issue = stage.issue("work");
    finished(&stage, &issue);
    let c = bystander(&stage);
    c.git(&["merge", "-q", "--squash", "a"]).ok();
    c.edit(&issue, serde_json::json!({"title": "by nobody"}));
    c.git(&["add", "-A"]).ok();
    c.git(&["commit", "-q", "-m", "squashed"]).refused(&[&issue, "does not hold it"]);
    c.git(&["commit", "-q", "--no-verify", "-m", "squashed"]).ok();
    c.git(&["push", "-q", "origin", "c"]).refused(&[&issue]);
    c.git(&["push", "-q", "--no-verify", "origin", "c"]).refused(&["this push is rejected", &issue]);
}

#[test]
fn a_revert_by_whoever_may_passes_everywhere() {
    let stage = judging();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    std::fs::write(a.dir.join("work"), "work\n").unwrap();
    a.jit(&["issue", "update", &issue, "--state", "done"]).ok();
    a.commit("the work").ok();
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    a.jit(&["claim", "release", &held.lease]).ok();
    let b = stage.agent("agent:b", "b");
    b.git(&["fetch", "-q", "origin"]).ok();
    b.git(&["reset", "-q", "--hard", "origin/main"]).ok();
    b.jit(&["reopen", &issue, "--revert", "--reason", "it was wrong"]).ok();
    assert!(!b.dir.join("work").exists());
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    assert!(std::fs::read_to_string(b.file(&issue)).unwrap().contains("\"ready\""));
}
