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

/// A repository as the version wrote it that had no landing, file by file: issues, one file for the results of each, versioned
/// events, the log of claims, hooks, and identities beside the issues. Its hooks name a program that is gone.
const LAST_VERSION: &str = include_str!("last_version.json");

/// Puts such a repository there, with a linked worktree in which an agent was at work.
fn of_the_last_version() -> Bench {
    let bench = Bench::empty();
    let (repo, linked) = (bench.repo(), bench.root().join("w"));
    let files: std::collections::BTreeMap<String, String> = serde_json::from_str(LAST_VERSION).unwrap();
    let put = |prefix: &str| {
        for (path, text) in files.iter().filter(|(path, _)| path.starts_with(prefix)) {
            let path = bench.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let mode = if prefix.ends_with("hooks/") { 0o755 } else { 0o644 };
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
    };
    bench.git(&["init", "-q", "-b", "main", "repo"], bench.root());
    std::fs::write(repo.join("code"), "code\n").unwrap();
    put("repo/.jit/");
    bench.git(&["add", "-A"], &repo);
    bench.git(&["commit", "-q", "-m", "as it was"], &repo);
    bench.git(&["worktree", "add", "-q", "-b", "w", linked.to_str().unwrap()], &repo);
    put("w/.jit/");
    put("repo/.git/jit/");
    put("repo/.git/hooks/");
    bench
}

#[test]
fn a_repository_of_the_last_version_is_read() {
    let bench = of_the_last_version();
    let listed = bench.jit(&["--json", "list", "--sort", "title"]).ok().json();
    let told = |issue: &serde_json::Value| (issue["title"].clone(), issue["state"].clone());
    let told: Vec<_> = listed["issues"].as_array().unwrap().iter().map(told).collect();
    let expected = [("done before", "done"), ("free", "ready"), ("waits", "in_progress")];
    assert_eq!(told, expected.map(|(title, state)| (title.into(), state.into())));
    let id = |title: &str| {
        let of = |issue: &&serde_json::Value| issue["title"] == title;
        listed["issues"].as_array().unwrap().iter().find(of).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let done = bench.jit(&["--json", "show", &id("done before")]).ok().json();
    assert_eq!(done["standing"]["kind"], "landed");
    let gates = bench.jit(&["gate", "status", &id("done before")]).ok().stdout;
    assert!(gates.contains("passed"), "{gates}");
    let waits = bench.jit(&["--json", "show", &id("waits")]).ok().json();
    assert_eq!(waits["issue"]["description"], "begun before", "what a linked worktree handed over counts");
    assert_eq!(waits["issue"]["labels"], serde_json::json!(["api"]));
    let log = bench.jit(&["log", &id("done before")]).ok().stdout;
    assert!(log.contains("issue.created") && log.contains("claim.acquired"), "{log}");
    assert_eq!(bench.jit(&["--json", "claim", "history"]).ok().json()["count"], 3);
    bench.jit(&["validate", "leases"]).ok();
    bench.jit(&["recover", "--dry-run"]).ok();
    let hooks = bench.jit(&["hooks", "status"]).fails(7).stdout;
    assert_eq!(hooks.matches("outdated: jit hooks install").count(), 4, "{hooks}");
    bench.jit(&["hooks", "install"]).ok();
    bench.jit(&["hooks", "status"]).ok();
}

#[test]
fn work_of_the_last_version_is_gone_on_with_and_landed() {
    let bench = of_the_last_version();
    let linked = bench.root().join("w");
    let known: serde_json::Value =
        serde_json::from_slice(&std::fs::read(linked.join(".jit/worktree.json")).unwrap()).unwrap();
    let here = bench.run_at("agent:b", &["--json", "worktree", "info"], &linked).ok().json();
    assert_eq!(here["worktree"]["worktree_id"], known["worktree_id"], "it is known by the same name");
    // The claim of before ran out; the fence of the next one is above all that there were.
    let begun = bench.run_at("agent:b", &["--json", "start", "--here"], &linked).ok().json();
    assert_eq!(begun["issue"]["title"], "waits");
    assert!(begun["lease"]["fence"].as_u64().unwrap() > 3, "{begun}");
    std::fs::write(linked.join("work"), "work\n").unwrap();
    // The hooks of before ask the program that is there now.
    let path = std::env::var_os("PATH").unwrap();
    let own = std::path::Path::new(crate::bench::JIT).parent().unwrap().to_path_buf();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).unwrap();
    let git = |agent: &str, args: &[&str]| {
        let mut git = bench.dressed(std::process::Command::new("git"));
        git.args(args).current_dir(&linked).env("PATH", &path).env("JIT_AGENT_ID", agent);
        holdfast_trial::Answer::of_any(&git.output().unwrap())
    };
    git("agent:b", &["add", "-A"]).ok();
    git("agent:c", &["commit", "-q", "-m", "by somebody else"]).refused(&["this commit is rejected"]);
    git("agent:b", &["commit", "-q", "-m", "the work"]).ok();
    assert!(git("agent:b", &["log", "-1", "--format=%B"]).ok().stdout.contains("JIT-Lease: "));
    let mut finish = bench.command("agent:b", &["--json", "finish"], &linked);
    let finished = holdfast_trial::Answer::from(finish.env("PATH", &path).output().unwrap()).ok().json();
    assert_eq!(finished["finished"]["outcome"], "landed", "{finished}");
    assert!(bench.repo().join("work").exists(), "the main worktree has followed");
    let before: std::collections::BTreeMap<String, String> = serde_json::from_str(LAST_VERSION).unwrap();
    let events = std::fs::read_to_string(bench.repo().join(".jit/events/local.jsonl")).unwrap();
    assert_eq!(events, before["w/.jit/events/local.jsonl"], "the versioned events are frozen");
    bench.jit(&["validate", "leases"]).ok();
}
