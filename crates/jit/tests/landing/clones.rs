//! Clones of one repository that share no claims: their fences cannot be compared, but what one of them has landed is
//! over for all.

use std::path::{Path, PathBuf};

use crate::bench::JIT;
use crate::ground::Ground;
use crate::machines::{clone, error, landed};

/// Another clone with claims of its own, and a worktree beside it.
struct Other<'a> {
    ground: &'a Ground,
    main: PathBuf,
    at: PathBuf,
}

impl<'a> Other<'a> {
    fn new(ground: &'a Ground) -> Self {
        let (main, at) = (clone(ground, "other"), ground.bench.root().join("beside"));
        ground.git(&["worktree", "add", "-q", "--detach", at.to_str().unwrap()], &main);
        Self { ground, main, at }
    }

    fn run(&self, args: &[&str]) -> holdfast_trial::Answer {
        self.ground.bench.run_at("agent:other", args, &self.at)
    }

    /// Begins an issue, and has the work for it done but not committed.
    fn begin(&self, id: &str) {
        self.run(&["start", id]).ok();
        std::fs::write(self.at.join("other"), "by another clone\n").unwrap();
    }

    fn state(&self, id: &str) -> String {
        state(self.ground, id, &self.at)
    }

    fn holds(&self) -> bool {
        self.run(&["--json", "claim", "list"]).ok().json()["count"] != 0
    }
}

fn state(ground: &Ground, id: &str, at: &Path) -> String {
    let shown = ground.bench.run_at("agent:looks", &["--json", "show", id], at).ok().json();
    shown["issue"]["state"].as_str().unwrap().to_owned()
}

/// A repository whose origin has two issues.
fn two_issues() -> (Ground, String, String) {
    let ground = Ground::with_origin();
    let (first, second) = (ground.issue("first", &[]), ground.issue("second", &[]));
    ground.main(&["push", "-q", "origin", "main"]);
    (ground, first, second)
}

#[test]
fn what_another_clone_has_landed_is_not_done_twice() {
    let (ground, first, second) = two_issues();
    let (agent, other) = (ground.agent("a"), Other::new(&ground));
    other.begin(&first);
    agent.begin(&first, "work");
    agent.run(&["finish", "-a", "-m", "once"]).ok();
    // Nobody has asked the origin since: finishing does.
    assert_eq!(other.state(&first), "in_progress");
    let refused = other.run(&["--json", "finish", "-a", "-m", "twice"]);
    assert_eq!((refused.code, error(&refused).as_str()), (Some(3), "NOTHING_TO_LAND"), "{refused}");
    assert!(refused.stdout.contains("done on main already"), "{refused}");
    assert_eq!(other.run(&["finish", "--no-land"]).code, Some(3));
    assert!(other.holds(), "the claim and the commit stay until somebody decides");
    assert_eq!(other.state(&first), "done");
    let dropped = other.run(&["drop", &first, "--reason", "somebody else did it"]);
    assert_eq!((dropped.code, other.holds()), (Some(3), false), "{dropped}");
    assert!(dropped.stderr.contains("another clone has landed"), "{dropped}");
    assert_eq!((other.state(&first), other.run(&["start", &first]).code), ("done".to_owned(), Some(3)));
    let available = other.run(&["-q", "ready"]).ok().stdout;
    assert_eq!(available.trim(), second, "it is offered to nobody");
    // The next one is begun in the same worktree, and nothing is thrown away.
    let branch = ground.git(&["branch", "--show-current"], &other.at);
    let begun = other.run(&["--json", "start"]).ok();
    assert_eq!(begun.json()["issue"]["id"], *second, "{begun}");
    assert!(begun.stderr.contains(&format!("left {branch}, which keeps its commits")), "{begun}");
    assert_eq!(ground.git(&["log", "-1", "--format=%s", &branch], &other.at), "twice");
    assert_eq!(landed(&ground).iter().filter(|subject| *subject == "once").count(), 1);
    assert!(!landed(&ground).contains(&"twice".to_owned()), "{:?}", landed(&ground));
}

/// Whoever is told by a fetch that its issue is over goes on with the next one.
#[test]
fn whoever_holds_what_another_clone_has_landed_begins_the_next_one() {
    let (ground, first, second) = two_issues();
    let (agent, other) = (ground.agent("a"), Other::new(&ground));
    other.run(&["start", &first]).ok();
    agent.begin(&first, "work");
    agent.run(&["finish", "-a", "-m", "once"]).ok();
    ground.git(&["fetch", "-q", "origin"], &other.main);
    let begun = other.run(&["--json", "start"]).ok();
    assert_eq!(begun.json()["issue"]["id"], *second, "{begun}");
    // A person who works on the target itself is stopped as well.
    let person = |args: &[&str]| ground.bench.run_at("person:other", args, &other.main);
    person(&["claim", "acquire", &first]).ok();
    std::fs::write(other.main.join("mine"), "by a person\n").unwrap();
    let refused = person(&["finish", &first, "-a", "-m", "twice"]);
    assert_eq!(refused.code, Some(3), "{refused}");
}

/// The judgements of gates are where the word is: a worktree that has not followed the target yet misses neither.
#[test]
fn what_was_fetched_is_not_done_with_an_open_gate() {
    let ground = Ground::with_origin();
    ground.bench.jit(&["gate", "define", "there", "--command", "test -f work"]).ok();
    let id = ground.issue("judged", &["--gate", "there"]);
    ground.main(&["push", "-q", "origin", "main"]);
    let (agent, other) = (ground.agent("a"), Other::new(&ground));
    agent.begin(&id, "work");
    agent.run(&["finish", "-a", "-m", "judged"]).ok();
    ground.git(&["fetch", "-q", "origin"], &other.main);
    let told = other.run(&["validate", "all"]);
    assert!(other.state(&id) == "done" && told.stdout.contains("gates: ok"), "{told}");
}

/// A run whose issue another clone lands meanwhile ends well, and has nothing to give back.
#[test]
fn a_run_that_another_clone_was_faster_than_ends() {
    let (ground, first, second) = two_issues();
    let (agent, other) = (ground.agent("a"), Other::new(&ground));
    agent.begin(&first, "work");
    let faster =
        format!("cd '{}' && JIT_AGENT_ID={} '{JIT}' finish -a -m once", agent.at.display(), agent.name);
    let command = format!("({faster}) && echo twice > twice");
    other.run(&["run", &first, "--", "sh", "-c", &command]).ok();
    assert_eq!((other.state(&first).as_str(), other.holds()), ("done", false));
    assert_eq!(landed(&ground).last().unwrap(), "once", "and not what the run did");
    other.run(&["run", &second, "--", "sh", "-c", "echo next > next"]).ok();
    assert_eq!(landed(&ground).last().unwrap(), "second");
}

#[test]
fn what_is_taken_back_in_one_clone_is_open_in_the_others() {
    let (ground, first, _) = two_issues();
    let (agent, other) = (ground.agent("a"), Other::new(&ground));
    other.run(&["start", &first]).ok();
    agent.begin(&first, "work");
    agent.run(&["finish", "-a", "-m", "once"]).ok();
    ground.git(&["fetch", "-q", "origin"], &other.main);
    other.run(&["reopen", &first, "--reason", "not good enough"]).ok();
    assert_eq!(other.state(&first), "ready");
    other.begin(&first);
    assert_eq!(other.state(&first), "in_progress");
    other.run(&["finish", "-a", "-m", "better"]).ok();
    assert_eq!(landed(&ground).last().unwrap(), "better");
    // And back again: here nobody has anything but the word of the other clone.
    ground.main(&["fetch", "-q", "origin"]);
    assert_eq!(ground.told(&first).0, "done");
    let opened = ground.bench.run_at("person:other", &["reopen", &first, "--revert"], &other.at);
    opened.ok();
    ground.git(&["push", "-q", "origin", "HEAD:main"], &other.at);
    ground.main(&["fetch", "-q", "origin"]);
    assert_eq!(state(&ground, &first, &agent.at), "ready");
}
