//! Gates: `done` keeps its promise, and the exit code is the verdict.

use crate::bench::Bench;

fn gated(bench: &Bench, gates: &str) -> String {
    let create = ["-q", "issue", "create", "--title", "gated", "--gate", gates];
    let id = bench.jit(&create).ok().stdout.trim().to_owned();
    bench.jit(&["claim", "acquire", &id]).ok();
    id
}

fn state(bench: &Bench, id: &str) -> String {
    bench.jit(&["export", id]).ok().json()["state"].as_str().unwrap().to_owned()
}

#[test]
fn done_waits_for_every_gate_and_comes_with_the_last_one() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "review", "--manual"]).ok();
    bench
        .jit(&["gate", "define", "tests", "--command", "test -e fixed || { echo it is broken; exit 7; }"])
        .ok();
    let id = gated(&bench, "review,tests");
    let refused = bench.jit(&["--json", "issue", "update", &id, "--state", "done", "--strict"]).fails(1);
    assert_eq!(refused.json()["error"]["code"], "GATES_OPEN");
    let tried = bench.jit(&["issue", "update", &id, "--state", "done"]).ok();
    assert!(tried.stdout.contains("gated, not done: review, tests open"), "{tried}");
    let checked = bench.jit(&["gate", "check", &id, "tests"]).fails(1);
    assert!(checked.stdout.contains("exit code 7") && checked.stdout.contains("it is broken"), "{checked}");
    let status = bench.jit(&["--json", "gate", "status", &id]).ok().json();
    assert_eq!(
        (&status["gates"][1]["status"], &status["gates"][1]["exit_code"]),
        (&"failed".into(), &7.into())
    );
    assert_eq!(status["gates"][1]["output"], "it is broken\n");
    std::fs::write(bench.repo().join("fixed"), "").unwrap();
    bench.jit(&["gate", "check", &id, "tests"]).ok();
    assert_eq!(state(&bench, &id), "gated");
    bench.jit(&["gate", "check", &id]).fails(1);
    bench.jit(&["gate", "pass", &id, "review", "--note", "read"]).ok();
    assert_eq!(state(&bench, &id), "done");
    bench.jit(&["gate", "check", &id]).ok();
    bench.jit(&["gate", "fail", &id, "review"]).ok();
    assert_eq!(state(&bench, &id), "gated");
    bench.jit(&["gate", "remove", &id, "review"]).ok();
    assert_eq!(state(&bench, &id), "done");
    bench.jit(&["validate", "all"]).ok();
}

#[test]
fn a_judgement_that_cannot_be_read_is_named_and_leaves_the_gate_open() {
    let bench = Bench::new();
    for gate in ["review", "sign"] {
        bench.jit(&["gate", "define", gate, "--manual"]).ok();
    }
    let id = gated(&bench, "review,sign");
    bench.jit(&["gate", "pass", &id, "review"]).ok();
    bench.jit(&["issue", "update", &id, "--state", "done"]).ok();
    let blocked = || bench.jit(&["query", "blocked"]).ok();
    let before = blocked();
    assert!(before.stderr.is_empty() && !before.stdout.contains("review"), "{before}");
    let result = bench.repo().join(format!(".jit/gates/results/{id}/review.json"));
    std::fs::write(&result, "{").unwrap();
    let after = blocked();
    assert!(after.stderr.contains("review.json") && after.stdout.contains("review"), "{after}");
}

#[test]
fn a_command_that_takes_too_long_has_failed() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "slow", "--command", "sleep 1000", "--timeout", "1"]).ok();
    let id = gated(&bench, "slow");
    let checked = bench.jit(&["--json", "gate", "check", &id]).fails(1).json();
    assert_eq!((&checked["passed"], &checked["gates"][0]["timed_out"]), (&false.into(), &true.into()));
}

#[test]
fn a_command_knows_where_it_is_and_for_what_it_runs() {
    let bench = Bench::new();
    bench
        .jit(&[
            "gate",
            "define",
            "env",
            "--command",
            "echo $JIT_ISSUE_ID $JIT_GATE; pwd; test -d .jit; exit 1",
        ])
        .ok();
    let id = gated(&bench, "env");
    let below = bench.repo().join("below");
    std::fs::create_dir(&below).unwrap();
    let checked = bench.run_at("agent:a", &["gate", "check", &id], &below).fails(1);
    let root = bench.repo().canonicalize().unwrap();
    assert!(checked.stdout.contains(&format!("{id} env")), "{checked}");
    assert!(checked.stdout.contains(root.to_str().unwrap()), "{checked}");
}

#[test]
fn gates_are_defined_for_everybody_and_once() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "review", "--manual", "--title", "Read it"]).ok();
    bench.jit(&["gate", "define", "review", "--manual", "--title", "Read it"]).ok();
    bench.jit(&["gate", "define", "review", "--command", "true"]).fails(4);
    bench.jit(&["gate", "define", "review", "--command", "true", "--replace"]).ok();
    assert_eq!(bench.jit(&["--json", "gate", "show", "review"]).ok().json()["gate"]["mode"], "command");
    bench.jit(&["gate", "define", "Bad Key", "--manual"]).fails(6);
    bench.jit(&["gate", "define", "x", "--command", "true", "--timeout", "0"]).fails(6);
    bench.jit(&["gate", "define", "x"]).fails(2);
    bench.jit(&["gate", "show", "none"]).fails(3);
    bench.jit(&["issue", "create", "--title", "t", "--gate", "none"]).fails(3);
    assert_eq!(bench.jit(&["-q", "gate", "list"]).ok().stdout.trim(), "review");
    let there = bench.worktree("there");
    bench.run_at("agent:a", &["gate", "define", "elsewhere", "--manual"], &there).fails(4);
    bench.run_at("agent:a", &["gate", "show", "review"], &there).ok();
}

#[test]
fn passing_the_last_gate_does_not_finish_what_waits_for_others() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "review", "--manual"]).ok();
    let id = gated(&bench, "review");
    bench.jit(&["issue", "update", &id, "--state", "done"]).ok();
    assert_eq!(state(&bench, &id), "gated");
    let first = bench.issue("first");
    bench.jit(&["dep", "add", &id, &first]).ok();
    let passed = bench.jit(&["gate", "pass", &id, "review"]).ok();
    let blocked = format!("{} is blocked by {}", bench.handle(&id), bench.handle(&first));
    assert!(passed.stderr.contains(&blocked), "{passed}");
    assert_eq!(state(&bench, &id), "gated");
    let refused = bench.jit(&["--json", "issue", "update", &id, "--state", "done"]).fails(1);
    assert_eq!(refused.json()["error"]["code"], "BLOCKED");
    bench.jit(&["claim", "acquire", &first]).ok();
    bench.jit(&["issue", "update", &first, "--state", "done"]).ok();
    bench.jit(&["issue", "update", &id, "--state", "done"]).ok();
    assert_eq!(state(&bench, &id), "done");
}
