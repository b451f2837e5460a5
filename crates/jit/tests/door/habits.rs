//! What one types out of habit: lists that end, words that mean something, deciding about an issue without work on it.

use std::path::PathBuf;

use serde_json::Value;

use crate::bench::Bench;

fn ids(answer: &Value) -> Vec<String> {
    let issues = answer["issues"].as_array().unwrap();
    issues.iter().map(|issue| issue["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn lists_have_limits_and_orders() {
    let bench = Bench::new();
    for (title, priority, kind) in [("b", "low", "task"), ("a", "critical", "epic"), ("c", "normal", "task")]
    {
        bench.jit(&["create", title, "--priority", priority, "--type", kind]).ok();
    }
    let list = |args: &[&str]| bench.jit(&[&["--json", "list"], args].concat()).ok().json();
    assert_eq!(ids(&list(&["--sort", "title"])), ["a", "b", "c"]);
    assert_eq!(ids(&list(&["--sort", "priority"])), ["a", "c", "b"]);
    assert_eq!(ids(&list(&["--type", "task"])), ["b", "c"]);
    let some = list(&["--limit", "1"]);
    assert_eq!((&some["count"], &some["more"]), (&1.into(), &2.into()));
    assert!(list(&["--all"])["more"].is_null());
    let text = bench.jit(&["list", "--limit", "2"]).ok().stdout;
    assert!(text.ends_with("and 1 more; --all shows them\n"), "{text}");
    assert_eq!(list(&["--since", "1h"])["count"], 3);
    assert_eq!(list(&["--since", "2999-01-01"])["count"], 0);
    bench.jit(&["list", "--since", "soon"]).fails(6);
    let best = bench.jit(&["-q", "ready"]).ok().stdout.lines().next().unwrap().to_owned();
    assert_eq!(bench.jit(&["-q", "next"]).ok().stdout.trim(), best);
    assert!(bench.leases().is_empty(), "next claims nothing");
    assert_eq!(list(&["--mine"])["count"], 0);
    bench.jit(&["claim", "acquire", &best]).ok();
    assert_eq!(ids(&list(&["--mine"])), ["a"]);
    assert_eq!(bench.jit(&["--json", "ready", "--limit", "1"]).ok().json()["more"], 1);
    bench.jit(&["next", "--label", "none"]).fails(3);
}

#[test]
fn words_that_are_no_commands_are_understood() {
    let bench = Bench::new();
    for (args, hint) in [
        (&["done"][..], "jit finish"),
        (&["claim", "7k2f"], "jit start 7k2f, or jit claim acquire 7k2f"),
        (&["comment"], "jit note <issue> '…'"),
        (&["undo"], "jit reopen <issue> --revert"),
    ] {
        let refused = bench.jit(&[&["--json"], args].concat()).fails(2);
        assert_eq!(refused.json()["error"]["hint"], hint, "{args:?}");
        assert!(refused.stderr.contains(hint), "{refused}");
    }
    assert!(bench.jit(&["isue"]).fails(2).stderr.contains("'issue'"));
    let help = bench.jit(&["help", "claim", "acquire"]).ok().stdout;
    assert!(help.contains("Usage: jit claim acquire"), "{help}");
    bench.jit(&["help", "frob"]).fails(2);
}

/// A repository with an issue that a linked worktree has landed.
fn landed() -> (Bench, String, PathBuf) {
    let bench = Bench::new();
    std::fs::write(bench.repo().join("code"), "one\n").unwrap();
    let id = bench.issue("work");
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "base"], &bench.repo());
    let there = bench.worktree("there");
    bench.run_at("agent:b", &["start", &id], &there).ok();
    std::fs::write(there.join("code"), "one\ntwo\n").unwrap();
    bench.git(&["commit", "-qam", "first half"], &there);
    std::fs::write(there.join("more"), "x\n").unwrap();
    bench.run_at("agent:b", &["finish", "-a", "-m", "second half"], &there).ok();
    (bench, id, there)
}

fn state(bench: &Bench, id: &str) -> String {
    bench.jit(&["--json", "show", id]).ok().json()["issue"]["state"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_over_is_opened_again() {
    let (bench, id, there) = landed();
    assert_eq!(state(&bench, &id), "done");
    bench.jit(&["reopen", &id, "--reason", "it was not"]).ok();
    assert_eq!(state(&bench, &id), "ready");
    assert!(bench.leases().is_empty());
    assert!(bench.repo().join("more").exists(), "the work stays");
    let briefing = bench.run_at("agent:b", &["start", &id], &there).ok().stdout;
    assert!(briefing.contains("reopened: it was not"), "{briefing}");
    bench.jit(&["reopen", &id]).fails(4);
}

#[test]
fn what_landed_is_taken_back_without_the_trackers_files() {
    let (bench, id, _) = landed();
    let reopened = bench.jit(&["--json", "reopen", &id, "--revert"]).ok().json();
    assert!(reopened["issue"]["commit"].is_string(), "{reopened}");
    assert_eq!(state(&bench, &id), "ready");
    let code = std::fs::read_to_string(bench.repo().join("code")).unwrap();
    assert!(!bench.repo().join("more").exists(), "the second half is gone");
    assert_eq!(code, "one\n", "and so is the first, whose commit names no lease");
    assert!(bench.repo().join(".jit/issues").join(&id).join("issue.json").is_file());
    let mut status = bench.dressed(std::process::Command::new("git"));
    let status =
        status.args(["status", "--porcelain", "--", "code", "more", ".jit/issues"]).current_dir(bench.repo());
    assert_eq!(String::from_utf8_lossy(&status.output().unwrap().stdout), "");
    let refused = bench.jit(&["--json", "reopen", &id, "--revert"]).fails(6);
    assert_eq!(refused.json()["error"]["code"], "BAD_VALUE");
}

#[test]
fn what_cannot_be_taken_back_leaves_the_issue_over() {
    let (bench, id, _) = landed();
    std::fs::write(bench.repo().join("more"), "changed since\n").unwrap();
    for args in [&["add", "more"][..], &["commit", "-qm", "change it"]] {
        let mut git = bench.dressed(std::process::Command::new("git"));
        assert!(git.args(args).current_dir(bench.repo()).status().unwrap().success(), "{args:?}");
    }
    let refused = bench.jit(&["--json", "reopen", &id, "--revert", "--reason", "wrong"]).fails(4);
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "LAND_CONFLICT");
    assert!(error["hint"].as_str().unwrap().starts_with("git revert "), "{error}");
    assert_eq!(state(&bench, &id), "done");
    assert!(bench.leases().is_empty());
    assert!(!bench.jit(&["show", &id]).ok().stdout.contains("reopened"), "nothing was noted");
}

#[test]
fn issues_are_closed_without_work() {
    let bench = Bench::new();
    let (one, two) = (bench.issue("one"), bench.issue("two"));
    bench.jit(&["close", &one, "--as", "duplicate-of", &two, "--reason", "the same"]).ok();
    let shown = bench.jit(&["--json", "show", &one]).ok().json();
    assert_eq!(
        (&shown["issue"]["state"], &shown["issue"]["duplicates"][0]),
        (&"rejected".into(), &two.as_str().into())
    );
    assert!(bench.jit(&["show", &one]).ok().stdout.contains("  two\n"));
    for args in [&["--as", "rejected"][..], &["--as", "fixed"], &["--as", "duplicate-of"]] {
        bench.jit(&[&["close", one.as_str()], args].concat()).fails(6);
    }
    bench.jit(&["close", &two, "--as", "duplicate-of", &two]).fails(6);
    bench.jit(&["claim", "acquire", &two]).ok();
    bench.run("agent:b", &["close", &two, "--as", "rejected"]).fails(4);
    bench
        .jit(&["issue", "update", &two, "--relates", &one, "--link", "pull_request=https://example.org/1"])
        .ok();
    let shown = bench.jit(&["--json", "show", &two]).ok().json();
    assert_eq!(shown["issue"]["links"]["pull_request"], "https://example.org/1");
    bench.jit(&["issue", "update", &two, "--unrelate", &one, "--link", "pull_request="]).ok();
    let shown = bench.jit(&["--json", "show", &two]).ok().json();
    assert!(shown["issue"]["links"].is_null() && shown["issue"]["relates"].is_null(), "{shown}");
}

#[test]
fn the_log_has_events_claims_notes_and_commits() {
    let (bench, id, _) = landed();
    bench.jit(&["note", &id, "well done"]).ok();
    let log = bench.jit(&["--json", "log", &id]).ok().json();
    let kinds: Vec<&str> =
        log["events"].as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
    for kind in ["issue.created", "claim.acquired", "claim.released", "issue.updated", "noted", "committed"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let some = bench.jit(&["--json", "log", "--limit", "2"]).ok().json();
    assert_eq!(some["count"], 2);
    assert!(some["more"].as_u64().unwrap() > 2, "{some}");
}

#[test]
fn an_issue_is_changed_in_the_editor() {
    let bench = Bench::new();
    let id = bench.issue("old title");
    let edit = |editor: &str| {
        let mut command = bench.command("agent:a", &["edit", &id], &bench.repo());
        holdfast_trial::Answer::from(command.env("EDITOR", editor).output().unwrap())
    };
    edit("true").fails(5);
    bench.jit(&["claim", "acquire", &id]).ok();
    edit("printf 'new title\\n\\nand more\\n' >").ok();
    let shown = bench.jit(&["--json", "show", &id]).ok().json();
    assert_eq!(
        (&shown["issue"]["title"], &shown["issue"]["description"]),
        (&"new title".into(), &"and more".into())
    );
    edit("false").fails(6);
    edit(": >").fails(6);
    assert_eq!(bench.jit(&["--json", "show", &id]).ok().json()["issue"]["title"], "new title");
}

#[test]
fn a_fresh_clone_says_what_is_not_set_up() {
    let bench = Bench::new();
    let missing = || bench.jit(&["--json", "status"]).ok().json()["status"]["not_set_up"].clone();
    assert_eq!(missing(), serde_json::json!(["hooks", "merge driver"]));
    assert!(bench.jit(&["status"]).ok().stdout.contains("hooks, merge driver; jit hooks install"));
    bench.jit(&["hooks", "install"]).ok();
    assert_eq!(missing(), serde_json::json!([]));
}

#[test]
fn gates_say_who_passes_them_and_ci_needs_no_claim() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "review", "--manual", "--by", "person:*", "--not-author"]).ok();
    bench.jit(&["gate", "define", "tests", "--command", "true"]).ok();
    bench.jit(&["gate", "define", "other", "--manual", "--by", "nobody"]).fails(6);
    let id = bench.jit(&["-q", "create", "work", "--gate", "review,tests"]).ok().stdout.trim().to_owned();
    bench.jit(&["claim", "acquire", &id]).ok();
    bench.jit(&["issue", "update", &id, "--assignee", "person:me"]).ok();
    let refused = bench.jit(&["--json", "gate", "pass", &id, "review"]).fails(4).json();
    assert_eq!(refused["error"]["code"], "NOT_JUDGE");
    bench.run("agent:c", &["gate", "check", &id]).fails(5);
    let report =
        |status: &str| bench.run("ci:build", &["--json", "gate", "report", &id, "tests", "--status", status]);
    assert_eq!(report("failed").ok().json()["gates"][1]["status"], "failed");
    bench.run("ci:build", &["gate", "report", &id, "nothing", "--status", "passed"]).fails(3);
    bench.run("ci:build", &["gate", "report", &id, "review", "--status", "passed"]).fails(4);
    bench.run("ci:build", &["gate", "check", &id, "tests"]).ok();
    let status = bench.jit(&["--json", "gate", "status", &id]).ok().json();
    assert_eq!(
        (&status["gates"][1]["status"], &status["gates"][1]["agent_id"]),
        (&"passed".into(), &"ci:build".into())
    );
    bench.jit(&["claim", "release", &id]).ok();
    bench.run("person:me", &["claim", "acquire", &id]).ok();
    bench.run("person:me", &["gate", "pass", &id, "review"]).fails(4);
    bench.run("person:me", &["claim", "release", &id]).ok();
    bench.run("person:you", &["claim", "acquire", &id]).ok();
    bench.run("person:you", &["gate", "pass", &id, "review"]).ok();
}
