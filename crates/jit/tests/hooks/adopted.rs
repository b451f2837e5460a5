//! A commit that somebody made without hooks, and that others have merged: they cannot amend it, so one of them stands for
//! it. That needs the issues that it changes, leaves a reason in the log, and lets no fence get lower.

use serde_json::json;

use crate::stage::{Agent, Stage};

/// An origin that judges, an issue that has been worked on, and a branch that changes it without anybody's leave.
fn changed_without_hooks(stage: &Stage) -> (String, String) {
    let origin = stage.path("origin.git");
    stage.main().jit(&["hooks", "install", "--pre-receive", origin.to_str().unwrap()]).ok();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    a.work(&held, "by a").ok();
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    a.jit(&["claim", "release", &held.lease]).ok();
    let s = Agent { later: 1_000, ..stage.agent("agent:s", "s") };
    s.git(&["merge", "-q", "--ff-only", "a"]).ok();
    s.edit(&issue, json!({"title": "by nobody"}));
    s.force("on the web");
    let commit = s.head();
    (issue, commit)
}

/// Somebody who has merged that branch, with a commit of its own.
fn merged<'a>(stage: &'a Stage, name: &'static str) -> Agent<'a> {
    let b = stage.agent("agent:b", name);
    std::fs::write(b.dir.join("own"), "own\n").unwrap();
    b.commit("own work").ok();
    b.git(&["merge", "-q", "--no-edit", "s"]).ok();
    b
}

#[test]
fn a_strangers_commit_is_adopted_with_a_reason() {
    let stage = Stage::new();
    let (issue, commit) = changed_without_hooks(&stage);
    let b = merged(&stage, "b");
    let adopt = format!("jit claim adopt {} --reason", &commit[..10]);
    b.git(&["push", "-q", "origin", "b:main"]).refused(&[&issue, "not in force then", &adopt]);
    b.git(&["push", "-q", "--no-verify", "origin", "b:main"]).refused(&["this push is rejected", &adopt]);
    let adopted = b.jit(&["--json", "claim", "adopt", &commit, "--reason", "made on the web"]).ok().json();
    assert_eq!((&adopted["adopted"], &adopted["commit"]), (&json!(true), &json!(commit)));
    assert_eq!(adopted["issues"][0]["id"], json!(issue));
    // Nobody rewrote anything, nothing is held, and everybody can read why.
    assert_eq!(b.git(&["rev-parse", "s"]).ok().line(), commit);
    assert_eq!(b.jit(&["--json", "claim", "list", "--kind", "all"]).ok().json()["count"], 0);
    let history = b.jit(&["--json", "claim", "history"]).ok().json();
    let is_adoption =
        |event: &&serde_json::Value| event["payload"]["resource"] == json!(format!("commit:{commit}"));
    let event = history["events"].as_array().unwrap().iter().find(is_adoption).unwrap();
    assert_eq!(event["payload"]["reason"], "made on the web");
    assert_eq!(event["payload"]["agent_id"], "agent:b");
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    // Whoever merges it later pushes it too, and a second adoption finds nothing to do.
    let c = merged(&stage, "c");
    c.git(&["push", "-q", "origin", "c"]).ok();
    let again = c.jit(&["--json", "claim", "adopt", &commit, "--reason", "again"]).ok().json();
    assert_eq!(again["adopted"], false);
}

#[test]
fn an_adopted_commit_stands_for_no_other() {
    let stage = Stage::new();
    let (issue, commit) = changed_without_hooks(&stage);
    let b = merged(&stage, "b");
    b.jit(&["claim", "adopt", &commit, "--reason", "made on the web"]).ok();
    let late = b.later(1_000);
    late.edit(&issue, json!({"title": "by nobody again"}));
    late.force("and another");
    b.git(&["push", "-q", "origin", "b"]).refused(&[&issue, "not in force then"]);
    b.git(&["push", "-q", "--no-verify", "origin", "b"]).refused(&["this push is rejected"]);
}

#[test]
fn a_commit_is_not_adopted_while_somebody_holds_what_it_changes() {
    let stage = Stage::new();
    let (issue, commit) = changed_without_hooks(&stage);
    let b = merged(&stage, "b");
    let h = stage.agent("agent:h", "h");
    let held = h.claim(&issue);
    let refused = b.jit(&["--json", "claim", "adopt", &commit, "--reason", "mine"]).fails(4);
    assert_eq!(refused.json()["error"]["code"], "HELD", "{refused}");
    b.git(&["push", "-q", "origin", "b"]).refused(&[&issue]);
    // The holder itself may: it stands for the issue.
    h.jit(&["claim", "adopt", &commit, "--reason", "it is what I wanted"]).ok();
    b.git(&["push", "-q", "origin", "b"]).ok();
    h.jit(&["claim", "renew", &held.lease]).ok();
}

#[test]
fn what_was_adopted_takes_no_branch_back() {
    let stage = Stage::new();
    let (issue, commit) = changed_without_hooks(&stage);
    let b = stage.agent("agent:b", "b");
    b.git(&["merge", "-q", "--ff-only", "a"]).ok();
    let held = b.claim(&issue);
    b.work(&held, "by b").ok();
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    b.jit(&["claim", "release", &held.lease]).ok();
    let s = stage.at("agent:s", "s");
    s.jit(&["claim", "adopt", &commit, "--reason", "it is mine"]).ok();
    s.git(&["fetch", "-q", "origin"]).ok();
    s.git(&["push", "-q", "--force", "origin", "s:main"]).refused(&[&issue, "main already has fence"]);
    s.git(&["push", "-q", "--force", "--no-verify", "origin", "s:main"])
        .refused(&["this push is rejected", "main already has fence"]);
}

#[test]
fn what_is_no_commit_or_needs_nobody_is_not_adopted() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.jit(&["claim", "adopt", "nowhere", "--reason", "x"]).fails(6);
    a.jit(&["claim", "adopt", "--reason", "x", "--", "--all"]).fails(6);
    a.jit(&["claim", "adopt", "HEAD", "--reason", ""]).fails(6);
    let held = a.claim(&issue);
    a.work(&held, "x").ok();
    let said = a.jit(&["claim", "adopt", "HEAD", "--reason", "x"]).ok();
    assert!(said.stdout.starts_with("nothing refuses commit "), "{said}");
    let history = a.jit(&["claim", "history"]).ok().stdout;
    assert!(!history.contains("commit:"), "{history}");
}
