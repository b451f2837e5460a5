//! `jit doctor` finds what is wrong with a set-up, and the line that it names mends it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::bench::Bench;

/// What is wrong by the name of the check: each problem with what mends it.
fn found(bench: &Bench, name: &str) -> Vec<(String, String)> {
    let answer = bench.jit(&["--json", "doctor"]);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    let check = answer["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("nobody looked at {name}: {answer}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let problems = check["problems"].as_array().unwrap();
    assert_eq!(check["ok"], problems.is_empty(), "{answer}");
    problems.iter().map(|problem| (text(&problem["problem"]), text(&problem["fix"]))).collect()
}

/// Types what mends the only problem of a check.
fn mend(bench: &Bench, name: &str) {
    let problems = found(bench, name);
    let fix = problems.first().unwrap_or_else(|| panic!("{name}: nothing is wrong")).1.clone();
    let words: Vec<&str> = fix.strip_prefix("jit ").unwrap_or_else(|| panic!("{fix}")).split(' ').collect();
    bench.jit(&words).ok();
    assert_eq!(found(bench, name), []);
}

#[test]
fn hooks_that_are_missing_or_do_not_run_are_mended_by_the_line_that_is_named() {
    let bench = Bench::new();
    bench.jit(&["doctor"]).fails(7);
    mend(&bench, "hooks");
    bench.jit(&["doctor"]).ok();
    let hook = bench.repo().join(".git/hooks/commit-msg");
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o644)).unwrap();
    let (problem, _) = found(&bench, "hooks").remove(0);
    assert!(problem.contains("commit-msg") && problem.contains("not executable"), "{problem}");
}

#[test]
fn a_claim_in_a_worktree_that_is_gone_is_found_and_ended() {
    let bench = Bench::new();
    let id = bench.issue("Left behind");
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "issues"], &bench.repo());
    let made = bench.jit(&["--json", "worktree", "add", "gone", "--agent", "agent:gone"]).ok().json();
    let root = made["worktree"]["root"].as_str().unwrap();
    bench.run_at("agent:gone", &["claim", "acquire", &id], Path::new(root)).ok();
    assert_eq!(found(&bench, "worktrees"), []);
    bench.git(&["worktree", "remove", "--force", root], &bench.repo());
    let (problem, _) = found(&bench, "worktrees").remove(0);
    assert!(problem.contains("Left behind") && problem.contains("agent:gone"), "{problem}");
    mend(&bench, "worktrees");
}

#[test]
fn files_of_a_client_are_looked_at_only_if_it_was_set_up() {
    let bench = Bench::new();
    assert_eq!(found(&bench, "clients"), []);
    bench.jit(&["setup", "claude"]).ok();
    assert_eq!(found(&bench, "clients"), []);
    std::fs::remove_file(bench.repo().join(".mcp.json")).unwrap();
    let (problem, _) = found(&bench, "clients").remove(0);
    assert_eq!(problem, ".mcp.json is outdated");
    mend(&bench, "clients");
}

#[test]
fn what_stands_in_the_way_of_looking_is_what_is_wrong() {
    let bench = Bench::new();
    bench.config("[worktree]\nmode = \"sometimes\"\n");
    let (problem, fix) = found(&bench, "repository").remove(0);
    assert!(problem.contains("sometimes") && !fix.is_empty(), "{problem}: {fix}");
    assert_eq!(found(&bench, "git"), []);
}

#[test]
fn a_damaged_log_is_found_and_recovered() {
    let bench = Bench::new();
    let id = bench.issue("t");
    bench.jit(&["claim", "acquire", &id]).ok();
    assert_eq!(found(&bench, "claims"), []);
    let log = bench.repo().join(".git/jit/claims.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(b"{\"half");
    std::fs::write(&log, bytes).unwrap();
    mend(&bench, "claims");
}
