//! What a tool is told over HTTP is what the commands say, whatever happened before.

use std::path::Path;
use std::time::Duration;

use holdfast_trial::{Dice, seeds};
use serde_json::{Value, json};

use crate::bench::{Bench, Server};

/// A document without what depends on the moment at which it was asked for.
fn timeless(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("remaining_secs");
                members.remove("current");
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

/// Compares everything that can be asked both ways.
fn compare(bench: &Bench, server: &Server, issues: &[String]) {
    let mut pairs: Vec<(String, Vec<&str>)> = vec![
        ("/api/issues".into(), vec!["issue", "list"]),
        (
            "/api/issues?sort=updated&limit=3".into(),
            vec!["issue", "list", "--sort", "updated", "--limit", "3"],
        ),
        ("/api/issues?state=ready,in_progress".into(), vec!["issue", "list", "--state", "ready,in_progress"]),
        (
            "/api/issues?label=ui&priority=high".into(),
            vec!["issue", "list", "--label", "ui", "--priority", "high"],
        ),
        ("/api/graph".into(), vec!["graph", "export"]),
        ("/api/runs".into(), vec!["dispatch", "status"]),
        ("/api/claims/status".into(), vec!["claim", "status"]),
        ("/api/claims/status?kind=all".into(), vec!["claim", "list", "--kind", "all"]),
        ("/api/claims/status?agent=agent:a".into(), vec!["claim", "status", "--agent", "agent:a"]),
        ("/api/claims/history".into(), vec!["claim", "history"]),
        ("/api/approvals".into(), vec!["claim", "requests"]),
        ("/api/claims/status?kind=approval".into(), vec!["claim", "list", "--kind", "approval"]),
        ("/api/worktrees".into(), vec!["worktree", "list"]),
    ];
    for issue in issues {
        pairs.push((format!("/api/issues/{issue}"), vec!["issue", "show", issue]));
        pairs.push((format!("/api/issues/{issue}/gates"), vec!["gate", "status", issue]));
        pairs.push((
            format!("/api/claims/history?issue_id={issue}"),
            vec!["claim", "history", "--issue", issue],
        ));
    }
    for (path, words) in pairs {
        let said = bench.run_at("person:ann", &[&["--json"], words.as_slice()].concat(), &bench.repo());
        let reply = server.get(&path);
        if said.code == Some(0) {
            assert_eq!(timeless(reply.ok()), timeless(said.json()), "{path}");
        } else {
            assert_eq!(reply.json()["error"]["code"], said.json()["error"]["code"], "{path}");
        }
    }
    compare_board(bench, server);
    compare_terminal(bench, server);
}

/// Compares the board of the page with the one of the terminal: one document, but for the moment.
fn compare_terminal(bench: &Bench, server: &Server) {
    let mut shown = bench.run_at("person:ann", &["--json", "board"], &bench.repo()).ok().json();
    let mut told = server.get("/api/board").ok();
    for board in [&mut shown, &mut told] {
        assert!(board["board"].as_object_mut().unwrap().remove("at").is_some());
    }
    assert_eq!(timeless(shown), timeless(told));
}

/// Compares the board with what it was put together from.
fn compare_board(bench: &Bench, server: &Server) {
    let board = server.get("/api/board").ok();
    let listed = bench.json(&["issue", "list"]);
    let cards = board["board"]["issues"].as_array().unwrap();
    assert_eq!(cards.len(), listed["issues"].as_array().unwrap().len());
    for (card, item) in cards.iter().zip(listed["issues"].as_array().unwrap()) {
        for name in [
            "id",
            "handle",
            "title",
            "type",
            "state",
            "priority",
            "labels",
            "claimed_by",
            "standing",
            "updated_at",
            "assignee",
        ] {
            assert_eq!(card.get(name), item.get(name), "{name} of {card}");
        }
    }
    let held: Vec<Value> = board["board"]["agents"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|lane| lane["leases"].as_array().unwrap().clone())
        .collect();
    let leases = bench.json(&["claim", "status"]);
    assert_eq!(held.len(), leases["leases"].as_array().unwrap().len());
    let blocked = bench.json(&["query", "blocked"]);
    for item in blocked["issues"].as_array().unwrap() {
        let card = cards.iter().find(|card| card["id"] == item["id"]).unwrap();
        assert_eq!(card["blocked_by"], item["blocked_by"]);
    }
    let count = cards.iter().filter(|card| card.get("blocked_by").is_some()).count();
    assert_eq!(count, blocked["issues"].as_array().unwrap().len());
    let again = server.get("/api/board");
    let same = server.client.request(
        "GET",
        "/api/board",
        &[("Authorization", &server.client.bearer()), ("If-None-Match", &again.headers["etag"])],
        None,
    );
    assert_eq!((same.status, same.body.as_str()), (304, ""));
}

/// One step of a history, over HTTP or by a command.
fn step(dice: &mut Dice, bench: &Bench, server: &Server, linked: &Path, issues: &mut Vec<String>) {
    let issue = dice.pick(issues).clone();
    let other = dice.pick(issues).clone();
    let shell = |words: &[&str]| drop(bench.run_at("agent:a", words, linked));
    let post = |path: &str, body: Value| {
        let reply = server.post(&format!("/api/{path}"), &body);
        assert!(reply.status < 500, "{path} {body}: {reply:?}");
        reply
    };
    match dice.roll(21) {
        0 => {
            let labels = if dice.roll(2) == 0 { vec!["ui"] } else { Vec::new() };
            let body = json!({ "title": format!("issue {}", issues.len()), "priority": "high", "labels": labels, "gates": ["tests"] });
            let made = post("issues", body).ok();
            issues.push(made["issue"]["id"].as_str().unwrap().to_owned());
        }
        1 => issues.push(bench.issue("by a command")),
        2 | 3 => drop(post("claims", json!({ "issue": issue, "ttl_secs": 600, "reason": "why not" }))),
        4 => drop(post(&format!("claims/{issue}/renew"), json!({}))),
        5 => drop(post(&format!("claims/{issue}/release"), json!({}))),
        6 => drop(post(&format!("claims/{issue}/force-evict"), json!({ "reason": "it is mine" }))),
        7 => drop(post(&format!("issues/{issue}/notes"), json!({ "text": "<script>alert(1)</script>" }))),
        8 => drop(post(&format!("issues/{issue}/gates/tests"), json!({ "status": "passed" }))),
        9 => drop(post(&format!("issues/{issue}"), json!({ "state": "in_progress", "labels": ["ui"] }))),
        10 => drop(post(&format!("issues/{issue}"), json!({ "state": "done" }))),
        11 => shell(&["claim", "acquire", &issue]),
        12 => shell(&["claim", "release", &issue]),
        13 => shell(&["issue", "update", &issue, "--title", "retitled"]),
        14 => shell(&["dep", "add", &issue, &other]),
        15 => shell(&["reserve", "add", "src/**", "--alone"]),
        16 => shell(&["claim", "renew", &issue]),
        17 => shell(&["claim", "force-evict", &issue, "--reason", "it is gone"]),
        18 => drop(post(&format!("approvals/{issue}"), json!({}))),
        19 => drop(bench.run_at("lead:l", &["claim", "approve", &issue], linked)),
        _ => shell(&["note", &issue, "by a command"]),
    }
}

#[test]
fn commands_server_and_board_say_the_same() {
    for (number, seed) in seeds(2).enumerate() {
        let mut dice = Dice::new(seed, Duration::from_secs(1));
        let bench = Bench::new();
        if number % 2 == 1 {
            bench.jit(&["config", "set", "policy.force_evict", "approved"]).ok();
            bench.jit(&["config", "set", "policy.approvers", "person:*,lead:*"]).ok();
        }
        bench.jit(&["gate", "define", "tests", "--title", "Tests", "--manual"]).ok();
        let mut issues = vec![bench.issue("the first")];
        let linked = bench.worktree("linked");
        let server = bench.serve();
        for number in 0..24 {
            step(&mut dice, &bench, &server, &linked, &mut issues);
            if number % 8 == 7 {
                compare(&bench, &server, &issues);
            }
        }
    }
}

#[test]
fn only_what_is_held_is_given_back_and_reasons_are_asked_for() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let server = bench.serve();
    bench.jit(&["claim", "acquire", &issue]).ok();
    for verb in ["renew", "release"] {
        assert_eq!(
            server.post(&format!("/api/claims/{issue}/{verb}"), &json!({})).refused(),
            (403, "NOT_HOLDER".into())
        );
    }
    let to = json!({ "to_agent": "agent:b", "to_worktree": "wt:00000000", "reason": "x" });
    assert_eq!(server.post(&format!("/api/claims/{issue}/transfer"), &to).status, 404);
    assert_eq!(
        server.post(&format!("/api/issues/{issue}"), &json!({ "title": "x" })).refused().1,
        "LEASE_REQUIRED"
    );
    let evict = format!("/api/claims/{issue}/force-evict");
    assert_eq!(server.post(&evict, &json!({})).status, 400, "a reason is needed");
    assert_eq!(server.post(&evict, &json!({ "reason": " " })).status, 422);
    let evicted = server.post(&evict, &json!({ "reason": "gone" })).ok();
    assert_eq!(evicted["evicted"], true);
    assert!(evicted["warnings"][0].as_str().unwrap().contains("has lost its claim"), "{evicted}");
    let taken = server.post("/api/claims", &json!({ "issue": issue })).ok();
    assert_eq!(taken["lease"]["agent_id"], "person:ann");
    assert_eq!(
        server.post(&format!("/api/claims/{issue}/renew"), &json!({ "ttl_secs": 900 })).ok()["renewed"],
        true
    );
    let board = server.get("/api/board").ok();
    let lane = &board["board"]["agents"][0];
    assert_eq!(lane["agent_id"], "person:ann");
    assert_eq!(server.post(&format!("/api/claims/{issue}/release"), &json!({})).ok()["released"], true);
}

#[test]
fn the_board_says_what_needs_a_person() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    bench.jit(&["claim", "acquire", &issue]).ok();
    bench.jit(&["issue", "update", &issue, "--state", "in_progress", "--label", "needs:attention"]).ok();
    let server = bench.serve();
    let kinds = || -> Vec<String> {
        let board = server.get("/api/board").ok();
        let all = board["board"]["attention"].as_array().unwrap().clone();
        all.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(), ["needs_attention"]);
    bench.jit(&["claim", "release", &issue]).ok();
    assert_eq!(kinds(), ["needs_attention", "abandoned"]);
}

#[test]
fn a_renewal_is_on_the_next_board_also_when_nobody_follows() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let server = bench.serve();
    for renewed in 1..=3 {
        bench.jit(&["claim", "renew", &issue]).ok();
        let board = server.get("/api/board").ok();
        assert_eq!(board["board"]["agents"][0]["leases"][0]["renewals"], renewed);
    }
}
