//! From claim to landed, with real git: each story as somebody lives through it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use holdfast_trial::Answer;
use serde_json::Value;

use crate::bench::Bench;

/// A repository with some code, and a worktree beside it.
struct Work {
    bench: Bench,
    there: PathBuf,
}

impl Work {
    fn new() -> Self {
        let bench = Bench::new();
        std::fs::write(bench.repo().join("code"), "one\ntwo\nthree\n").unwrap();
        bench.git(&["add", "code"], &bench.repo());
        bench.git(&["commit", "-qm", "code"], &bench.repo());
        let there = bench.worktree("there");
        Self { bench, there }
    }

    fn run(&self, args: &[&str]) -> Answer {
        self.bench.run_at("agent:b", args, &self.there)
    }

    /// Begins the best issue and gives its id.
    fn start(&self) -> String {
        self.run(&["-q", "start"]).ok().stdout.trim().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.there.join(name), text).unwrap();
    }

    fn git(&self, args: &[&str], at: &Path) -> String {
        let done = self.bench.dressed(Command::new("git")).args(args).current_dir(at).output().unwrap();
        String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
    }

    fn main(&self, args: &[&str]) -> String {
        self.git(args, &self.bench.repo())
    }

    fn shown(&self, id: &str) -> Value {
        self.bench.jit(&["--json", "show", id]).ok().json()
    }

    fn standing(&self, id: &str) -> (String, String) {
        let shown = self.shown(id);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&shown["issue"]["state"]), text(&shown["standing"]["kind"]))
    }

    fn is_held(&self, id: &str) -> bool {
        !self.shown(id)["lease"].is_null()
    }
}

fn pair(state: &str, kind: &str) -> (String, String) {
    (state.to_owned(), kind.to_owned())
}

#[test]
fn work_lands_as_one_commit_with_the_word_done() {
    let work = Work::new();
    let id = work.bench.issue("Log in with a passkey");
    let begun = work.run(&["--json", "start"]).ok().json();
    assert_eq!(
        (&begun["issue"]["id"], &begun["issue"]["state"]),
        (&id.as_str().into(), &"in_progress".into())
    );
    let handle = begun["issue"]["handle"].as_str().unwrap();
    assert_eq!(begun["branch"], format!("jit/{handle}"));
    assert!(begun["briefing"].as_str().unwrap().contains("Log in with a passkey"), "{begun}");
    assert_eq!(work.run(&["--json", "start"]).ok().json()["already_held"], true);
    work.write("new", "passkey\n");
    let left = work.run(&["--json", "finish"]).fails(6).json();
    assert_eq!(
        (&left["error"]["code"], &left["error"]["details"]["files"][0]),
        (&"LEFT_OVER".into(), &"new".into())
    );
    let ended = work.run(&["--json", "finish", "-a", "-m", "Passkeys"]).ok().json();
    assert_eq!(
        (&ended["finished"]["outcome"], &ended["finished"]["branch"]),
        (&"landed".into(), &"main".into())
    );
    assert_eq!(work.main(&["log", "--format=%s", "main"]).lines().next(), Some("Passkeys"));
    assert!(work.main(&["log", "-1", "--format=%b"]).contains(&format!("JIT-Issue: {id}")));
    let files = work.main(&["show", "--name-only", "--format=", "main"]);
    assert!(files.contains("new") && files.contains(&format!(".jit/issues/{id}/issue.json")), "{files}");
    // Whoever has the target checked out has it too, and nothing looks changed there.
    assert_eq!(std::fs::read_to_string(work.bench.repo().join("new")).unwrap(), "passkey\n");
    assert_eq!(work.main(&["status", "--porcelain", "--", ":!.jit"]), "");
    assert_eq!((work.standing(&id), work.is_held(&id)), (pair("done", "landed"), false));
    assert_eq!(work.git(&["rev-parse", "HEAD"], &work.there), work.main(&["rev-parse", "main"]));
    work.run(&["start"]).fails(3);
}

#[test]
fn nothing_lands_without_a_change_unless_somebody_says_why() {
    let work = Work::new();
    let id = work.bench.issue("look into it");
    work.start();
    let refused = work.run(&["--json", "finish"]).fails(6).json();
    assert_eq!(refused["error"]["code"], "NO_CHANGE");
    assert!(work.is_held(&id));
    work.run(&["finish", "--empty", "-m", "not a bug"]).ok();
    assert_eq!(work.standing(&id), pair("done", "landed"));
    assert_eq!(work.main(&["log", "-1", "--format=%s", "main"]), "not a bug");
}

#[test]
fn what_is_dropped_stands_as_before_and_its_branch_stays() {
    let work = Work::new();
    let id = work.bench.issue("too large");
    work.start();
    work.write("half", "half\n");
    work.git(&["add", "-A"], &work.there);
    work.git(&["commit", "-qm", "half of it"], &work.there);
    let dropped = work.run(&["--json", "drop"]).ok().json();
    assert_eq!(
        (&dropped["dropped"]["id"], &dropped["dropped"]["state"]),
        (&id.as_str().into(), &"ready".into())
    );
    assert_eq!((work.standing(&id), work.is_held(&id)), (pair("ready", "open"), false));
    // Commits that have not landed are not left behind without a word.
    let busy = work.run(&["--json", "start"]).fails(4).json();
    assert_eq!(busy["error"]["code"], "WORKTREE_BUSY");
    assert!(!work.is_held(&id));
    let other = work.bench.worktree("other");
    let begun = work.bench.run_at("agent:c", &["--json", "start"], &other).ok().json();
    assert!(
        begun["briefing"].as_str().unwrap().contains("left by an earlier holder: branch jit/"),
        "{begun}"
    );
}

#[test]
fn a_conflict_keeps_branch_and_claim() {
    let work = Work::new();
    let id = work.bench.issue("edit");
    work.start();
    work.write("code", "one\nmine\nthree\n");
    std::fs::write(work.bench.repo().join("code"), "one\ntheirs\nthree\n").unwrap();
    work.bench.git(&["commit", "-qam", "theirs"], &work.bench.repo());
    let refused = work.run(&["--json", "finish", "-a"]).fails(4).json();
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["details"]["files"][0]),
        (&"LAND_CONFLICT".into(), &"code".into())
    );
    assert!(work.is_held(&id));
    let hint = "git rebase --autostash main, resolve, git rebase --continue, then jit finish again";
    assert_eq!(refused["error"]["hint"], hint);
    work.git(&["rebase", "-q", "--autostash", "main"], &work.there);
    work.write("code", "one\nboth\nthree\n");
    work.git(&["add", "code"], &work.there);
    work.git(&["-c", "core.editor=true", "rebase", "--continue"], &work.there);
    work.run(&["finish"]).ok();
    assert_eq!(work.standing(&id), pair("done", "landed"));
}

/// Gates judge what would land, and not what the branch has: here only both together pass.
#[test]
fn gates_judge_the_candidate() {
    let work = Work::new();
    let bench = &work.bench;
    bench.jit(&["gate", "define", "both", "--command", "test -f mine && test -f theirs"]).ok();
    let id = bench.jit(&["-q", "create", "--title", "gated", "--gate", "both"]).ok().stdout.trim().to_owned();
    work.start();
    work.write("mine", "");
    let refused = work.run(&["--json", "finish", "-a"]).fails(7).json();
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["details"]["gate"]),
        (&"GATE_FAILED".into(), &"both".into())
    );
    assert!(work.is_held(&id));
    std::fs::write(bench.repo().join("theirs"), "").unwrap();
    bench.git(&["add", "theirs"], &bench.repo());
    bench.git(&["commit", "-qm", "theirs"], &bench.repo());
    work.run(&["finish"]).ok();
    assert_eq!(work.standing(&id), pair("done", "landed"));
    let result = bench.repo().join(format!(".jit/gates/results/{id}/both.json"));
    let result: Value = serde_json::from_slice(&std::fs::read(result).unwrap()).unwrap();
    assert!(result["status"] == "passed" && result["judged"].is_string(), "{result}");
}

#[test]
fn a_gate_that_a_person_passes_keeps_the_work_on_its_branch() {
    let work = Work::new();
    let bench = &work.bench;
    bench.jit(&["gate", "define", "review", "--manual"]).ok();
    let id =
        bench.jit(&["-q", "create", "--title", "gated", "--gate", "review"]).ok().stdout.trim().to_owned();
    work.start();
    work.write("mine", "");
    let ended = work.run(&["--json", "finish", "-a"]).ok().json();
    assert_eq!(
        (&ended["finished"]["outcome"], &ended["finished"]["open_gates"][0]),
        (&"gated".into(), &"review".into())
    );
    assert_eq!((work.standing(&id).0.as_str(), work.is_held(&id)), ("gated", false));
    assert_eq!(work.main(&["log", "-1", "--format=%s", "main"]), "code");
}

/// Somebody has something open where the target is checked out: nothing is overwritten, and nothing is lost.
#[test]
fn a_target_with_changes_of_its_own_is_left_alone() {
    let work = Work::new();
    let id = work.bench.issue("edit");
    work.start();
    work.write("code", "one\nmine\nthree\n");
    std::fs::write(work.bench.repo().join("code"), "one\nunsaved\nthree\n").unwrap();
    let refused = work.run(&["--json", "finish", "-a"]).fails(4).json();
    assert_eq!(refused["error"]["code"], "TARGET_DIRTY");
    assert_eq!((work.standing(&id), work.is_held(&id)), (pair("done", "on_branch"), false));
    assert_eq!(std::fs::read_to_string(work.bench.repo().join("code")).unwrap(), "one\nunsaved\nthree\n");
    work.main(&["checkout", "-q", "code"]);
    let landed = work.bench.jit(&["--json", "land", "--all"]).ok().json();
    assert_eq!((&landed["count"], &landed["landed"][0]["id"]), (&1.into(), &id.as_str().into()));
    assert_eq!(work.standing(&id), pair("done", "landed"));
    assert_eq!(std::fs::read_to_string(work.bench.repo().join("code")).unwrap(), "one\nmine\nthree\n");
    assert_eq!(work.main(&["status", "--porcelain", "--", ":!.jit"]), "");
}

/// Whoever moved the target died before the worktree that has it checked out followed.
#[test]
fn a_worktree_that_did_not_follow_never_takes_back_what_landed() {
    let work = Work::new();
    let bench = &work.bench;
    bench.jit(&["hooks", "install"]).ok();
    bench.issue("edit");
    work.start();
    work.write("landed", "work\n");
    work.git(&["add", "landed"], &work.there);
    work.git(&["commit", "-qm", "work"], &work.there);
    let (old, new) = (work.main(&["rev-parse", "main"]), work.git(&["rev-parse", "HEAD"], &work.there));
    let note = serde_json::json!({ "branch": "main", "root": bench.repo(), "old": old, "new": new });
    std::fs::create_dir_all(bench.control("landing")).unwrap();
    std::fs::write(bench.control("landing/01K8ZZZZZZ0000000000000001.json"), note.to_string()).unwrap();
    work.main(&["update-ref", "refs/heads/main", &new, &old]);
    // It looks like a change that takes back what landed, and must not be committed.
    std::fs::write(bench.repo().join("code"), "mine\n").unwrap();
    let mut commit = bench.dressed(Command::new("git"));
    let refused =
        commit.args(["commit", "-qam", "mine"]).env("JIT_AGENT_ID", "agent:a").current_dir(bench.repo());
    let refused = Answer::from(refused.output().unwrap());
    assert!(refused.code != Some(0) && refused.stderr.contains("jit sync"), "{refused}");
    bench.jit(&["sync"]).ok();
    assert_eq!(std::fs::read_to_string(bench.repo().join("landed")).unwrap(), "work\n");
    assert_eq!(work.main(&["status", "--porcelain", "--", ":!.jit"]), " M code");
    let committed = bench
        .dressed(Command::new("git"))
        .args(["commit", "-qam", "mine"])
        .env("JIT_AGENT_ID", "agent:a")
        .current_dir(bench.repo())
        .status()
        .unwrap();
    assert!(committed.success());
    assert_eq!(work.main(&["show", "main:landed"]), "work");
}

#[test]
fn a_person_on_the_target_finishes_there() {
    let work = Work::new();
    let bench = &work.bench;
    let id = bench.issue("on main");
    bench.jit(&["start"]).ok();
    std::fs::write(bench.repo().join("direct"), "work\n").unwrap();
    bench.jit(&["finish", "-a", "-m", "Directly"]).ok();
    assert_eq!(work.main(&["log", "-1", "--format=%s"]), "Directly");
    assert_eq!((work.standing(&id), work.is_held(&id)), (pair("done", "landed"), false));
}

/// A target that takes no pushes: the branch waits, somebody squashes it on a server, and a fetch tells.
#[test]
fn a_protected_target_is_landed_by_a_review() {
    let work = Work::new();
    let bench = &work.bench;
    let origin = bench.root().join("origin.git");
    let repo = bench.repo();
    bench.git(&["init", "-q", "--bare", "-b", "main", origin.to_str().unwrap()], bench.root());
    bench.git(&["remote", "add", "origin", origin.to_str().unwrap()], &repo);
    bench.git(&["push", "-q", "-u", "origin", "main"], &repo);
    let hook = origin.join("hooks/pre-receive");
    std::fs::write(
        &hook,
        "#!/bin/sh\nwhile read -r _ _ name; do [ \"$name\" != refs/heads/main ] || exit 1; done\n",
    )
    .unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let id = bench.issue("reviewed");
    work.start();
    work.write("reviewed", "work\n");
    let refused = work.run(&["--json", "finish", "-a", "-m", "Work"]).fails(4);
    assert_eq!(refused.json()["error"]["code"], "PUSH_REFUSED");
    assert!(refused.stderr.contains("landing.via") && work.is_held(&id), "{refused}");
    let ended = work.run(&["--json", "finish", "--no-land"]).ok().json();
    assert_eq!(ended["finished"]["outcome"], "waiting");
    assert_eq!((work.standing(&id), work.is_held(&id)), (pair("done", "on_branch"), false));
    // The forge: a squash with a message of its own, by somebody without hooks.
    std::fs::remove_file(&hook).unwrap();
    let forge = bench.root().join("forge");
    let branch = ended["finished"]["branch"].as_str().unwrap();
    bench.git(&["clone", "-q", origin.to_str().unwrap(), forge.to_str().unwrap()], bench.root());
    bench.git(&["merge", "-q", "--squash", &format!("origin/{branch}")], &forge);
    bench.git(&["commit", "-q", "-m", "Squashed (#1)"], &forge);
    bench.git(&["push", "-q", "origin", "main"], &forge);
    bench.jit(&["sync"]).ok();
    assert_eq!(work.standing(&id), pair("done", "landed"));
}

#[test]
fn work_is_pushed_where_there_is_a_remote() {
    let work = Work::new();
    let bench = &work.bench;
    let origin = bench.root().join("origin.git");
    bench.git(&["init", "-q", "--bare", "-b", "main", origin.to_str().unwrap()], bench.root());
    bench.git(&["remote", "add", "origin", origin.to_str().unwrap()], &bench.repo());
    bench.git(&["push", "-q", "-u", "origin", "main"], &bench.repo());
    let id = bench.issue("pushed");
    work.start();
    work.write("pushed", "work\n");
    // Somebody else pushes meanwhile, and nobody here has fetched that.
    let other = bench.root().join("other");
    bench.git(&["clone", "-q", origin.to_str().unwrap(), other.to_str().unwrap()], bench.root());
    bench.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"], &other);
    bench.git(&["push", "-q", "origin", "main"], &other);
    work.run(&["finish", "-a", "-m", "Pushed"]).ok();
    let log = work.git(&["log", "--format=%s", "main"], &origin);
    assert_eq!(log.lines().take(2).collect::<Vec<_>>(), ["Pushed", "elsewhere"]);
    assert_eq!(work.standing(&id), pair("done", "landed"));
    assert_eq!(std::fs::read_to_string(bench.repo().join("pushed")).unwrap(), "work\n");
}

/// A server may refuse the slower of two pushes in words that sound like a policy.
#[test]
fn all_who_push_at_once_land() {
    let work = Work::new();
    let bench = &work.bench;
    let origin = bench.root().join("origin.git");
    bench.git(&["init", "-q", "--bare", "-b", "main", origin.to_str().unwrap()], bench.root());
    bench.git(&["remote", "add", "origin", origin.to_str().unwrap()], &bench.repo());
    bench.git(&["push", "-q", "-u", "origin", "main"], &bench.repo());
    let names = ["p", "q", "r"];
    for name in names {
        bench.issue(name);
        let at = bench.worktree(name);
        bench.run_at(&format!("agent:{name}"), &["start"], &at).ok();
        std::fs::write(at.join(name), "work\n").unwrap();
    }
    let finish = ["finish", "-a", "-m", "Work"];
    let children = names.map(|name| bench.spawn(&format!("agent:{name}"), &finish, &bench.root().join(name)));
    for child in children {
        Answer::from(child.wait_with_output().unwrap()).ok();
    }
    let log = work.git(&["log", "--format=%s", "main"], &origin);
    assert_eq!(log.lines().filter(|line| *line == "Work").count(), 3, "{log}");
}

/// Agents whose commands are killed at random, who come back in fresh worktrees: at the end everything has landed, each
/// once, and every commit builds on the one before.
#[test]
fn agents_that_die_lose_no_work() {
    const ISSUES: usize = 10;
    let work = Work::new();
    let bench = &work.bench;
    let mut before = String::new();
    for number in 0..ISSUES {
        let title = format!("task-{number}");
        let mut create = vec!["-q", "create", "--title", &title];
        if number % 4 == 3 {
            create.extend(["--depends-on", &before]);
        }
        before = bench.jit(&create).ok().stdout.trim().to_owned();
    }
    std::thread::scope(|scope| {
        for name in ["x", "y", "z"] {
            scope.spawn(move || {
                Dying { bench, name, random: name.len() as u64 + u64::from(name.as_bytes()[0]) }.work()
            });
        }
    });
    let done = bench.jit(&["-q", "list", "--state", "done"]).ok();
    assert_eq!(done.stdout.lines().count(), ISSUES, "{}", bench.jit(&["list"]).ok());
    let subjects = work.main(&["log", "--format=%s", "main"]);
    let mut landed: Vec<&str> = subjects.lines().filter(|line| line.starts_with("task-")).collect();
    landed.sort_unstable();
    let mut wanted: Vec<String> = (0..ISSUES).map(|number| format!("task-{number}")).collect();
    wanted.sort();
    assert_eq!(landed, wanted);
    for title in &wanted {
        let text = std::fs::read_to_string(bench.repo().join(title)).unwrap();
        assert_eq!(text.lines().count(), 1, "{title} was done by several: {text}");
    }
    assert_eq!(work.main(&["log", "--merges", "--format=%h", "main"]), "");
    assert_eq!(work.main(&["status", "--porcelain", "--", ":!.jit"]), "");
    bench.jit(&["validate", "leases"]).ok();
}

/// An agent whose every other command is killed somewhere on its way.
struct Dying<'a> {
    bench: &'a Bench,
    name: &'static str,
    random: u64,
}

impl Dying<'_> {
    fn work(mut self) {
        for life in 0.. {
            let path = self.bench.root().join(format!("{}-{life}", self.name));
            let args = ["worktree", "add", "-q", "--detach", path.to_str().unwrap(), "main"];
            let mut git = self.bench.dressed(Command::new("git"));
            if !git.args(args).current_dir(self.bench.repo()).status().unwrap().success() {
                continue;
            }
            while let Some(alive) = self.step(&path) {
                if !alive {
                    break;
                }
            }
            let open = ["-q", "list", "--state", "ready", "--state", "in_progress"];
            if self.bench.jit(&open).ok().stdout.trim().is_empty() {
                return;
            }
        }
    }

    /// One issue from start to finish; none if there is nothing to do, false if the agent died.
    fn step(&mut self, at: &Path) -> Option<bool> {
        let begun = match self.mortal(&["--json", "start", "--ttl", "3"], at) {
            None => return Some(false),
            Some(answer) if answer.code == Some(3) => {
                std::thread::sleep(Duration::from_millis(100));
                return None;
            }
            Some(answer) if answer.code != Some(0) => return Some(false),
            Some(answer) => answer.json(),
        };
        let title = begun["issue"]["title"].as_str().unwrap().to_owned();
        std::fs::write(at.join(&title), format!("{}\n", self.name)).unwrap();
        let finished = self.mortal(&["finish", "-a", "-m", &title], at);
        Some(finished.is_some_and(|answer| answer.code == Some(0)))
    }

    /// Runs a command that is killed before its end as often as not.
    fn mortal(&mut self, args: &[&str], at: &Path) -> Option<Answer> {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let agent = format!("agent:{}", self.name);
        let mut command = self.bench.command(&agent, args, at);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if self.random >> 62 == 0 {
            std::thread::sleep(Duration::from_millis((self.random >> 33) % 120));
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        output.status.code().map(|_| Answer::from(output))
    }
}
