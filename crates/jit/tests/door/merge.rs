//! Branches that changed issues, merged by git itself.

use std::path::Path;

use serde_json::{Value, json};

use crate::bench::Bench;

/// A repository whose issues are committed and merged line by line, with two worktrees.
struct Fork {
    bench: Bench,
    left: std::path::PathBuf,
    right: std::path::PathBuf,
}

impl Fork {
    fn of(bench: Bench) -> Self {
        let attributes = bench.repo().join(".jit/.gitattributes");
        if !attributes.exists() {
            std::fs::write(&attributes, "*.jsonl merge=union\n").unwrap();
        }
        commit(&bench, &bench.repo(), "issues");
        let (left, right) = (bench.worktree("left"), bench.worktree("right"));
        Self { bench, left, right }
    }

    fn run(&self, side: &Path, args: &[&str]) -> Value {
        let agent = if side == self.left { "agent:left" } else { "agent:right" };
        let args: Vec<_> = ["--json"].into_iter().chain(args.iter().copied()).collect();
        self.bench.run_at(agent, &args, side).ok().json()
    }

    /// What both sides are, merged into either.
    fn merged(&self, id: &str) -> Value {
        for (side, message) in [(&self.left, "left"), (&self.right, "right")] {
            commit(&self.bench, side, message);
        }
        // On branches of their own, so that each side merges what the other was before.
        self.bench.git(&["branch", "before", "left"], &self.bench.repo());
        self.bench.git(&["merge", "-q", "-m", "both", "right"], &self.left);
        self.bench.git(&["merge", "-q", "-m", "both", "before"], &self.right);
        let seen = [&self.left, &self.right].map(|side| {
            self.run(side, &["validate", "all"]);
            self.run(side, &["export", id])["issues"][0].clone()
        });
        assert_eq!(seen[0], seen[1], "either order of merging gives the same");
        seen[0].clone()
    }
}

fn commit(bench: &Bench, at: &Path, message: &str) {
    bench.git(&["add", "-A"], at);
    bench.git(&["commit", "-q", "-m", message], at);
}

#[test]
fn different_issues_merge_without_a_conflict() {
    let bench = Bench::new();
    let (one, two) = (bench.issue("one"), bench.issue("two"));
    let fork = Fork::of(bench);
    for (side, id, title) in [(&fork.left, &one, "left's"), (&fork.right, &two, "right's")] {
        fork.run(side, &["claim", "acquire", id]);
        fork.run(side, &["issue", "update", id, "--title", title, "--state", "in_progress"]);
        fork.run(side, &["issue", "create", "--title", "another"]);
    }
    assert_eq!(fork.merged(&one)["title"], "left's");
    assert_eq!(fork.run(&fork.left, &["export", &two])["issues"][0]["title"], "right's");
    let events = Bench::events(&fork.bench.repo());
    let ids: std::collections::BTreeSet<String> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 6, "each event has an id of its own, and none is lost");
}

#[test]
fn labels_and_dependencies_of_one_issue_merge_without_a_conflict() {
    let bench = Bench::new();
    let (a, b) = (bench.issue("a"), bench.issue("b"));
    let create = ["-q", "issue", "create", "--title", "both", "--label", "old,kept", "--depends-on", &a];
    let id = bench.jit(&create).ok().stdout.trim().to_owned();
    let fork = Fork::of(bench);
    let left: [&[&str]; 3] =
        [&["label", "add", &id, "left"], &["label", "rm", &id, "old"], &["dep", "add", &id, &b]];
    let right: [&[&str]; 3] =
        [&["label", "add", &id, "right"], &["label", "rm", &id, "old"], &["dep", "rm", &id, &a]];
    for (side, changes) in [(&fork.left, left), (&fork.right, right)] {
        fork.run(side, &["claim", "acquire", &id]);
        for change in changes {
            fork.run(side, change);
        }
        fork.run(side, &["claim", "release", &id]);
    }
    let merged = fork.merged(&id);
    assert_eq!(merged["labels"], json!(["kept", "left", "right"]));
    assert_eq!(merged["dependencies"], json!([b]));
}

impl Fork {
    /// Merges both sides as a server does that knows of no drivers and no attributes; says what git says.
    fn on_a_server(&self) -> (bool, String) {
        for (side, message) in [(&self.left, "left"), (&self.right, "right")] {
            commit(&self.bench, side, message);
        }
        let server = self.bench.root().join("server.git");
        let repo = self.bench.repo();
        self.bench.git(&["clone", "-q", "--bare", repo.to_str().unwrap(), server.to_str().unwrap()], &repo);
        let nothing = "--attr-source=4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        let mut git = self.bench.dressed(std::process::Command::new("git"));
        let merge = [nothing, "merge-tree", "--write-tree", "--name-only", "left", "right"];
        let merged = git.args(merge).current_dir(&server).output().unwrap();
        (merged.status.success(), String::from_utf8(merged.stdout).unwrap())
    }
}

/// Two agents who do everything that one does with an issue, each with its own, on branches that began together.
#[test]
fn branches_that_touch_different_issues_merge_on_a_server() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "review", "--manual"]).ok();
    let (one, two) = (bench.issue("one"), bench.issue("two"));
    std::fs::write(bench.repo().join("note.md"), "text\n").unwrap();
    let fork = Fork::of(bench);
    for (side, id) in [(&fork.left, &one), (&fork.right, &two)] {
        let steps: [&[&str]; 9] = [
            &["claim", "acquire", id],
            &["issue", "update", id, "--state", "in_progress", "--description", "more"],
            &["issue", "create", "--title", "found on the way", "--depends-on", id],
            &["label", "add", id, "ui", "slow"],
            &["doc", "add", id, "note.md"],
            &["gate", "add", id, "review"],
            &["issue", "update", id, "--state", "done"],
            &["gate", "pass", id, "review"],
            &["claim", "release", id],
        ];
        steps.iter().for_each(|step| drop(fork.run(side, step)));
    }
    let (clean, said) = fork.on_a_server();
    assert!(clean, "{said}");
}

/// Different gates of one issue, judged on two branches, meet in no file but the issue's own.
#[test]
fn gates_of_two_branches_do_not_meet() {
    let bench = Bench::new();
    for gate in ["review", "tests"] {
        bench.jit(&["gate", "define", gate, "--manual"]).ok();
    }
    let id = bench.jit(&["-q", "issue", "create", "--title", "one", "--gate", "review,tests"]).ok();
    let id = id.stdout.trim().to_owned();
    let fork = Fork::of(bench);
    for (side, gate) in [(&fork.left, "review"), (&fork.right, "tests")] {
        fork.run(side, &["claim", "acquire", &id]);
        fork.run(side, &["gate", "pass", &id, gate]);
        fork.run(side, &["claim", "release", &id]);
    }
    let (clean, said) = fork.on_a_server();
    let files: Vec<&str> = said.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    assert!(clean || files == [format!(".jit/issues/{id}/issue.json")], "{said}");
}

/// Results that an earlier version kept in one file are read, and moved over when one of them is written.
#[test]
fn results_in_one_file_are_moved_over() {
    let bench = Bench::new();
    for gate in ["review", "tests"] {
        bench.jit(&["gate", "define", gate, "--manual"]).ok();
    }
    let id = bench.jit(&["-q", "issue", "create", "--title", "one", "--gate", "review,tests"]).ok();
    let id = id.stdout.trim().to_owned();
    let old = bench.repo().join(format!(".jit/gates/results/{id}.json"));
    let passed = serde_json::json!({ "status": "passed", "at": "2026-01-01T00:00:00.000Z", "note": "kept" });
    std::fs::write(&old, serde_json::json!({ "issue_id": id, "results": { "review": passed } }).to_string())
        .unwrap();
    assert_eq!(bench.jit(&["-q", "gate", "status", &id]).ok().stdout.trim(), "tests");
    bench.jit(&["claim", "acquire", &id]).ok();
    bench.jit(&["gate", "pass", &id, "tests"]).ok();
    assert!(!old.exists());
    let review = bench.repo().join(format!(".jit/gates/results/{id}/review.json"));
    let review: Value = serde_json::from_slice(&std::fs::read(review).unwrap()).unwrap();
    assert_eq!((&review["gate"], &review["note"]), (&"review".into(), &"kept".into()));
    assert_eq!(bench.jit(&["-q", "gate", "status", &id]).ok().stdout.trim(), "");
}
