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
    let events = std::fs::read_to_string(fork.left.join(".jit/events/local.jsonl")).unwrap();
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
