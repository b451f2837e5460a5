//! `validate all` finds what is wrong, and the events say what happened as they are asked to.

use serde_json::Value;

use crate::bench::Bench;

fn problems(bench: &Bench, name: &str) -> String {
    let found = bench.jit(&["--json", "validate", "all"]).fails(7).json();
    let checks = found["checks"].as_array().unwrap().clone();
    let check = checks.iter().find(|check| check["name"] == name).unwrap();
    assert_eq!(check["ok"], false, "{found}");
    check["problems"].to_string()
}

fn line(id: &str, value: &str) -> String {
    format!("{{\"id\":\"{id}\",\"op\":\"add\",\"value\":\"{value}\",\"at\":\"2026-01-01T00:00:00.000Z\"}}\n")
}

#[test]
fn everything_that_is_wrong_is_named() {
    let bench = Bench::new();
    let ids: Vec<String> = (0..4).map(|n| bench.issue(&n.to_string())).collect();
    bench.jit(&["validate", "all"]).ok();
    let home = |n: usize| bench.repo().join(".jit/issues").join(&ids[n]);

    std::fs::write(home(0).join("deps.or-set.jsonl"), line("1", "01ZZZZZZZZZZZZZZZZZZZZZZZZ")).unwrap();
    assert!(problems(&bench, "dependencies").contains("not there"));
    std::fs::write(home(0).join("deps.or-set.jsonl"), line("1", &ids[1])).unwrap();
    std::fs::write(home(1).join("deps.or-set.jsonl"), line("2", &ids[2])).unwrap();
    std::fs::write(home(2).join("deps.or-set.jsonl"), line("3", &ids[1])).unwrap();
    let cycle = problems(&bench, "dependencies");
    assert!(
        cycle.contains(&format!("{} -> {} -> {}", ids[1], ids[2], ids[1])) && !cycle.contains(&ids[0]),
        "{cycle}"
    );
    std::fs::remove_file(home(2).join("deps.or-set.jsonl")).unwrap();

    std::fs::write(home(3).join("labels.or-set.jsonl"), "half a li").unwrap();
    assert!(problems(&bench, "sets").contains(&ids[3]));
    std::fs::remove_file(home(3).join("labels.or-set.jsonl")).unwrap();

    let path = home(3).join("issue.json");
    let good = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, good.replace("\"ready\"", "\"done\"").replacen('{', "{\"gates\":[\"none\"],", 1))
        .unwrap();
    let gates = problems(&bench, "gates");
    assert!(gates.contains("not defined") && gates.contains("is open"), "{gates}");
    std::fs::write(&path, good.replace("\"task\"", "\"saga\"")).unwrap();
    assert!(problems(&bench, "issues").contains("saga"));
    std::fs::write(&path, "{").unwrap();
    assert!(problems(&bench, "issues").contains(&ids[3]));
    std::fs::write(&path, good).unwrap();
    bench.jit(&["validate", "all"]).ok();

    bench.config("[worktree]\nmode = \"sometimes\"\n");
    assert!(problems(&bench, "config").contains("sometimes"));
}

#[test]
fn events_are_written_as_the_configuration_wants_them() {
    let bench = Bench::new();
    let events = || -> Vec<Value> {
        let text = Bench::events(&bench.repo());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (id, lease) = bench.claimed("agent:a");
    bench.jit(&["issue", "update", &id, "--state", "in_progress"]).ok();
    let last = events().pop().unwrap();
    assert_eq!((&last["schema_version"], &last["sequence"]), (&1.into(), &2.into()));
    assert_eq!((&last["event_type"], &last["actor"]["lease_id"]), (&"issue.updated".into(), &lease.into()));
    assert_eq!(
        last["payload"]["changes"]["state"],
        serde_json::json!({ "from": "ready", "to": "in_progress" })
    );
    bench.config("[events]\nenable_sequences = false\n");
    bench.jit(&["issue", "update", &id, "--state", "ready"]).ok();
    assert!(events().pop().unwrap()["sequence"].is_null());
    bench.config("[events]\nuse_unified_envelope = false\n");
    bench.jit(&["issue", "update", &id, "--title", &"x".repeat(900)]).ok();
    bench.jit(&["issue", "update", &id, "--description", &"x".repeat(5_000)]).ok();
    let last = events().pop().unwrap();
    assert_eq!(
        (&last["op"], &last["by"], &last["issue_id"]),
        (&"issue.updated".into(), &"agent:a".into(), &id.into())
    );
    assert_eq!(last["sequence"], 4, "numbers go on above the largest");
    assert!(last["changes"]["description"]["to"]["bytes"].is_number(), "{last}");
}

#[test]
fn a_torn_event_is_cut_off_and_the_log_goes_on() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let path = Bench::event_logs(&bench.repo()).remove(0);
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{whole}{{\"schema_ver")).unwrap();
    bench.jit(&["label", "add", &id, "ui"]).ok();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&whole) && text.lines().count() == 2, "{text}");
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_branch_that_lacks_what_main_has_is_found() {
    let bench = Bench::new();
    let there = bench.worktree("there");
    bench.run_at("agent:a", &["validate", "all"], &there).ok();
    bench.git(&["commit", "-q", "--allow-empty", "-m", "more"], &bench.repo());
    let found = bench.run_at("agent:a", &["--json", "validate", "all"], &there).fails(7).json();
    let checks = found["checks"].as_array().unwrap();
    let wrong: Vec<_> =
        checks.iter().filter(|check| check["ok"] == false).map(|check| &check["name"]).collect();
    assert_eq!(wrong, ["divergence"], "{found}");
}
