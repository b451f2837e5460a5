//! Done is a word in a file; work is what a branch has. What is finished and nowhere any more is done again, and what
//! waits for it waits until it has landed.

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::has;

use crate::bench::{Bench, JIT};

/// A repository whose target has issues, and a worktree beside it.
struct Ground {
    bench: Bench,
    there: PathBuf,
    issue: String,
}

impl Ground {
    fn new() -> Self {
        let bench = Bench::new();
        let issue = bench.issue("once");
        commit(&bench, &bench.repo(), "issues");
        let there = bench.worktree("there");
        Self { bench, there, issue }
    }

    /// Finishes the issue in the other worktree.
    fn finish(&self) {
        self.bench.run_at("agent:b", &["claim", "acquire", &self.issue], &self.there).ok();
        self.bench.run_at("agent:b", &["issue", "update", &self.issue, "--state", "done"], &self.there).ok();
    }

    fn release(&self) {
        self.bench.run_at("agent:b", &["claim", "release", &self.issue], &self.there).ok();
    }

    /// What everybody is told of the issue: its state and how its work stands.
    fn told(&self) -> (String, String) {
        let shown = self.bench.jit(&["--json", "issue", "show", &self.issue]).ok().json();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        (text(&shown["issue"]["state"]), text(&shown["standing"]["kind"]))
    }

    /// Whether it is offered to others.
    fn is_offered(&self) -> bool {
        let listed = self.bench.run("agent:c", &["-q", "query", "available"]).ok();
        listed.stdout.contains(&self.issue)
    }

    fn remove_worktree(&self) {
        self.bench.git(&["worktree", "remove", "--force", self.there.to_str().unwrap()], &self.bench.repo());
    }
}

fn commit(bench: &Bench, at: &Path, message: &str) {
    bench.git(&["add", "-A"], at);
    bench.git(&["commit", "-q", "-m", message], at);
}

fn pair(state: &str, kind: &str) -> (String, String) {
    (state.to_owned(), kind.to_owned())
}

#[test]
fn what_no_commit_has_counts_while_its_worktree_has_it() {
    let ground = Ground::new();
    ground.finish();
    assert_eq!((ground.told(), ground.is_offered()), (pair("done", "not_committed"), false));
    let listed = ground.bench.jit(&["issue", "list"]).ok();
    assert!(listed.stdout.contains("done (not committed)"), "{listed}");
    let released = ground.bench.run_at("agent:b", &["claim", "release", &ground.issue], &ground.there).ok();
    assert!(released.stderr.contains("no commit has it"), "{released}");
    assert_eq!((ground.told(), ground.is_offered()), (pair("done", "not_committed"), false));
    ground.remove_worktree();
    assert_eq!((ground.told(), ground.is_offered()), (pair("in_progress", "lost"), true));
    let next = ground.bench.run("agent:c", &["--json", "claim", "next"]).ok().json();
    assert_eq!(next["lease"]["issue_id"], ground.issue.as_str());
    ground.bench.run("agent:c", &["issue", "update", &ground.issue, "--state", "done"]).ok();
    commit(&ground.bench, &ground.bench.repo(), "again");
    ground.bench.run("agent:c", &["claim", "release", &ground.issue]).ok();
    assert_eq!(ground.told(), pair("done", "landed"));
}

/// Whoever finished it died before it gave the issue back: nobody knows whether the work was whole.
#[test]
fn what_a_dead_holder_left_uncommitted_is_offered_again() {
    let ground = Ground::new();
    ground.bench.run_at("agent:b", &["claim", "acquire", &ground.issue, "--ttl", "2"], &ground.there).ok();
    let done = ["issue", "update", &ground.issue, "--state", "done"];
    ground.bench.run_at("agent:b", &done, &ground.there).ok();
    assert!(!ground.is_offered());
    holdfast_trial::until("the lease is over", || ground.is_offered());
    assert_eq!(ground.told(), pair("in_progress", "lost"));
}

/// Somebody begins it again, and is killed at each name that it gives to a file while it says that it is done: what was left
/// behind before is not taken for finished, and what was given back before stays so until it is finished anew.
#[test]
fn whoever_is_killed_while_it_says_done_again_leaves_it_as_it_was() {
    if !has("strace") {
        return println!("strace is not there");
    }
    for given_back in [false, true] {
        let ground = Ground::new();
        let (bench, here) = (&ground.bench, ground.bench.worktree("here"));
        let evict = || bench.jit(&["claim", "force-evict", &ground.issue, "--reason", "it is gone"]).ok();
        let mut kept = 0;
        for step in 1.. {
            ground.finish();
            if given_back {
                ground.release()
            } else {
                drop(evict())
            }
            let before = ground.told();
            bench.run_at("agent:d", &["claim", "acquire", &ground.issue], &here).ok();
            let mut update = bench.dressed(Command::new("strace"));
            let inject = format!("inject=rename,renameat,renameat2:signal=KILL:when={step}");
            update.args([
                "-f",
                "-o",
                "/dev/null",
                "-e",
                "trace=rename,renameat,renameat2",
                "-e",
                &inject,
                JIT,
            ]);
            update.args(["issue", "update", &ground.issue, "--state", "done"]);
            let ended = update.env("JIT_AGENT_ID", "agent:d").current_dir(&here).output().unwrap();
            evict();
            let lost = pair("in_progress", "lost");
            assert!(
                [&before, &lost].contains(&&ground.told()),
                "step {step}: {:?}, not {before:?}",
                ground.told()
            );
            assert_eq!(ground.is_offered(), ground.told() == lost, "step {step}");
            kept += u32::from(ground.told() == before);
            if ended.status.success() {
                break;
            }
        }
        assert!(kept > 0, "it was never killed before the issue said so");
    }
}

#[test]
fn what_a_branch_has_waits_for_its_landing() {
    let ground = Ground::new();
    let bench = &ground.bench;
    let create = ["-q", "issue", "create", "--title", "after it", "--depends-on", &ground.issue];
    let after = bench.jit(&create).ok().stdout.trim().to_owned();
    let is_free = || bench.jit(&["-q", "query", "available"]).ok().stdout.contains(&after);
    ground.finish();
    commit(bench, &ground.there, "the work");
    ground.release();
    ground.remove_worktree();
    assert_eq!((ground.told(), ground.is_offered()), (pair("done", "on_branch"), false));
    let listed = bench.jit(&["issue", "list"]).ok();
    assert!(listed.stdout.contains("done (on there, not landed)"), "{listed}");
    let status = bench.jit(&["status"]).ok();
    assert!(status.stdout.contains("Finished, but not landed (1; jit land --all)"), "{status}");
    assert!(status.stdout.contains("once (on there, not landed)"), "{status}");
    let waiting = || bench.jit(&["--json", "status"]).ok().json()["status"]["not_landed"].clone();
    assert_eq!(waiting(), serde_json::json!([ground.issue]));
    let validated = bench.jit(&["validate", "all"]).ok();
    let named = "'once' is done, on there, not landed: jit land";
    assert!(validated.stdout.contains("landing: ok") && validated.stdout.contains(named), "{validated}");
    let blocked = bench.jit(&["query", "blocked"]).ok();
    assert!(blocked.stdout.contains("on there, not landed") && !is_free(), "{blocked}");
    bench.config("[landing]\ndependencies = \"done\"\n");
    assert!(is_free());
    bench.config("");
    bench.git(&["merge", "-q", "--no-edit", "there"], &bench.repo());
    assert_eq!((ground.told(), is_free()), (pair("done", "landed"), true));
    assert_eq!(waiting(), serde_json::json!([]));
    assert!(!bench.jit(&["validate", "all"]).ok().stdout.contains("not landed"));
}

#[test]
fn a_branch_that_is_gone_takes_its_work_with_it() {
    let ground = Ground::new();
    ground.finish();
    commit(&ground.bench, &ground.there, "the work");
    ground.release();
    ground.remove_worktree();
    assert!(!ground.is_offered());
    ground.bench.git(&["branch", "-q", "-D", "there"], &ground.bench.repo());
    assert_eq!((ground.told(), ground.is_offered()), (pair("in_progress", "lost"), true));
}

/// The branch of a remote counts as well as one's own, also if only the remote has it.
#[test]
fn what_was_fetched_has_landed() {
    let ground = Ground::new();
    let bench = &ground.bench;
    let origin = bench.root().join("origin.git");
    bench.git(&["init", "-q", "--bare", origin.to_str().unwrap()], bench.root());
    bench.git(&["remote", "add", "origin", origin.to_str().unwrap()], &bench.repo());
    bench.git(&["push", "-q", "origin", "HEAD"], &bench.repo());
    ground.finish();
    commit(bench, &ground.there, "the work");
    ground.release();
    bench.git(&["merge", "-q", "--no-edit", "there"], &bench.repo());
    assert_eq!(ground.told(), pair("done", "not_pushed"));
    bench.git(&["push", "-q", "origin", "HEAD"], &bench.repo());
    assert_eq!(ground.told(), pair("done", "landed"));
    bench.git(&["reset", "-q", "--hard", "HEAD~1"], &bench.repo());
    assert_eq!(ground.told(), pair("done", "landed"));
}

/// Where the target has no issues, nothing has to land.
#[test]
fn done_is_landed_where_nothing_is_committed() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    bench.jit(&["issue", "update", &issue, "--state", "done"]).ok();
    bench.jit(&["claim", "release", &issue]).ok();
    let shown = bench.jit(&["--json", "issue", "show", &issue]).ok().json();
    assert_eq!((&shown["issue"]["state"], &shown["standing"]["kind"]), (&"done".into(), &"landed".into()));
}

/// A clock that was ahead once must not hide what is written later under the same fence.
#[test]
fn a_copy_from_the_future_does_not_hide_what_comes_after_it() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    bench.jit(&["issue", "update", &issue, "--state", "in_progress"]).ok();
    let there = bench.worktree("there");
    let file = bench.repo().join(format!(".jit/issues/{issue}/issue.json"));
    let mut ahead: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    ahead["updated_at"] = "2999-01-01T00:00:00.000Z".into();
    std::fs::write(&file, ahead.to_string()).unwrap();
    let copy = there.join(format!(".jit/issues/{issue}"));
    std::fs::create_dir_all(&copy).unwrap();
    std::fs::write(copy.join("issue.json"), ahead.to_string()).unwrap();
    bench.jit(&["issue", "update", &issue, "--state", "done"]).ok();
    bench.jit(&["claim", "release", &issue]).ok();
    let shown = bench.run_at("agent:b", &["--json", "issue", "show", &issue], &there).ok().json();
    assert_eq!(shown["issue"]["state"], "done");
    bench.run_at("agent:b", &["claim", "next"], &there).fails(3);
}
