//! What was there before work had to land goes on as it did.

use crate::bench::Bench;
use crate::ground::{Ground, pair};

/// A plain tracker: nothing is committed, there are no branches, and done is done.
#[test]
fn a_plain_tracker_needs_no_branches() {
    let bench = Bench::new();
    let id = bench.issue("plain");
    let next = bench.run("agent:b", &["--json", "claim", "next"]).ok().json();
    assert_eq!(next["lease"]["issue_id"], id.as_str());
    bench.run("agent:b", &["issue", "update", &id, "--state", "in_progress"]).ok();
    bench.run("agent:b", &["issue", "update", &id, "--state", "done"]).ok();
    bench.run("agent:b", &["claim", "release", &id]).ok();
    let shown = bench.jit(&["--json", "show", &id]).ok().json();
    assert_eq!((&shown["issue"]["state"], &shown["standing"]["kind"]), (&"done".into(), &"landed".into()));
    bench.run("agent:c", &["claim", "next"]).fails(3);
}

/// The layout of before: versioned events and one file for all results of an issue. Both are read; the events are
/// frozen, and the results move over when they are written.
#[test]
fn the_layout_of_before_is_read_and_moved_over() {
    let ground = Ground::new();
    ground.bench.jit(&["gate", "define", "review", "--manual"]).ok();
    ground.bench.jit(&["gate", "define", "tests", "--command", "true"]).ok();
    let id = ground.issue("old", &["--gate", "review", "--gate", "tests"]);
    let data = ground.bench.repo().join(".jit");
    let events = "{\"schema_version\":1,\"event_type\":\"issue.created\"}\n";
    std::fs::create_dir_all(data.join("events")).unwrap();
    std::fs::write(data.join("events/local.jsonl"), events).unwrap();
    let result = serde_json::json!({
        "issue_id": id,
        "results": { "review": { "status": "passed", "at": "2026-01-01T00:00:00.000Z", "agent_id": "person:ann" } }
    });
    std::fs::create_dir_all(data.join("gates/results")).unwrap();
    std::fs::write(data.join(format!("gates/results/{id}.json")), result.to_string()).unwrap();
    ground.main(&["add", "-A", "-f"]);
    ground.main(&["commit", "-q", "-m", "before"]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    agent.run(&["finish", "-a", "-m", "work"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert_eq!(ground.main(&["show", "main:.jit/events/local.jsonl"]), events.trim_end());
    let results = ground.main(&["ls-tree", "-r", "--name-only", "main", ".jit/gates/results"]);
    for gate in ["review", "tests"] {
        assert!(results.contains(&format!(".jit/gates/results/{id}/{gate}.json")), "{results}");
    }
    assert_eq!(ground.main(&["status", "--porcelain"]), "");
}
