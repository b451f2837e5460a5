//! Runs that die at each of their steps. Git is a program of its own, so the steps are the moments at which it is started
//! and has answered: a stand-in for it waits at the one that is asked for, and whoever is to die there is killed.

use std::path::Path;
use std::process::{Child, Stdio};

use holdfast_trial::{Answer, StandIn, until};

use crate::dispatch::is_long;
use crate::run::Ground;

/// Waits at a step, before the real git has run or after, until somebody lets it go on.
const STAND_IN: &str = r#"#!/bin/sh
echo x >>"$CUT_DIR/calls"
if [ "$(wc -l <"$CUT_DIR/calls")" -eq "$CUT_AT" ]; then
  code=
  if [ "$CUT_HOW" = After ]; then "$CUT_GIT" "$@"; code=$?; fi
  echo "$PPID $*" >"$CUT_DIR/new" && mv "$CUT_DIR/new" "$CUT_DIR/struck"
  while [ ! -e "$CUT_DIR/go" ]; do sleep 0.01; done
  if [ -n "$code" ]; then exit "$code"; fi
fi
exec "$CUT_GIT" "$@"
"#;

const WORK: &str = "echo $JIT_ISSUE_ID >> file-$JIT_ISSUE_ID";

/// Who dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dies {
    /// `jit run` alone.
    Run,
    /// Whoever called git: `jit run`, or the process that finishes for it.
    Caller,
    /// Everything at once.
    All,
}

/// When, beside the call of git.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moment {
    Before,
    After,
}

/// Who comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// Another run in the same worktree.
    Same,
    /// One of another agent in another worktree, and then one in the same.
    Other,
}

struct Cut(StandIn);

impl Cut {
    fn new() -> Self {
        Self(StandIn::new(STAND_IN))
    }

    /// A run that comes to a stop at a step.
    fn spawn(&self, ground: &Ground, at: u32, moment: Moment) -> Child {
        self.spawn_in(ground, "agent:b", &ground.there, at, moment)
    }

    fn spawn_in(&self, ground: &Ground, agent: &str, root: &Path, at: u32, moment: Moment) -> Child {
        self.0.forget(&["calls", "struck", "go"]);
        let mut command = ground.command(agent, &["run", "--log", "--", "sh", "-c", WORK], root);
        self.0.dress(&mut command, at, &format!("{moment:?}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The caller and the arguments of the call that it came to a stop at; none if it ran to its end.
    fn struck(&self, child: &mut Child) -> Option<(u32, String)> {
        let read = || std::fs::read_to_string(self.0.file("struck")).ok();
        until("it stops or ends", || read().is_some() || child.try_wait().unwrap().is_some());
        let told = read()?;
        let (pid, args) = told.trim_end().split_once(' ').unwrap();
        Some((pid.parse().unwrap(), args.to_owned()))
    }

    /// Has somebody die at the step.
    fn strike(&self, ground: &Ground, mut child: Child, caller: u32, dies: Dies) {
        match dies {
            Dies::Run => child.kill().unwrap(),
            Dies::Caller => holdfast_sys::os::kill(caller),
            Dies::All => {
                std::thread::scope(|scope| {
                    scope.spawn(|| child.wait().unwrap());
                    ground.kill_all();
                });
            }
        }
        std::fs::write(self.0.file("go"), "").unwrap();
        child.wait_with_output().unwrap();
        until("everything of it is gone", || ground.alive().is_empty());
    }
}

/// Runs that are not disturbed, in this worktree, until nothing is left to do.
fn rest(ground: &Ground, agent: &str, at: &Path, context: &str) {
    for _ in 0..6 {
        let args = ["--json", "run", "--log", "--", "sh", "-c", WORK];
        let answer = Answer::from(ground.command(agent, &args, at).output().unwrap());
        if answer.code == Some(3) {
            return;
        }
        assert!(answer.code == Some(0), "{context}: {agent}: {answer}");
    }
    panic!("{context}: {agent} does not come to an end");
}

/// What a command did before a run died is landed, and not done again.
fn assert_worked_once(ground: &Ground, context: &str) {
    for entry in std::fs::read_dir(ground.bench.repo()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("file-") {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert_eq!(lines, 1, "{context}: {} was worked on {lines} times", path.display());
        }
    }
}

/// A run dies at each of its steps; whoever comes next lands its issue, once, and can begin in its worktree.
fn dies_at_every_step(dies: Dies, moment: Moment, next: Next) {
    let (ground, cut) = (Ground::new(), Cut::new());
    ground.bench.leave_it_to_git();
    let elsewhere = ground.bench.worktree("elsewhere");
    let mut titles = Vec::new();
    for step in 1.. {
        let title = format!("task {step}");
        ground.bench.issue(&title);
        titles.push(title);
        let mut child = cut.spawn(&ground, step, moment);
        let Some((caller, args)) = cut.struck(&mut child) else {
            let answer = Answer::from(child.wait_with_output().unwrap());
            assert_eq!(answer.code, Some(0), "{answer}");
            break;
        };
        let context = format!("{dies:?} {moment:?} git {args} ({step})");
        cut.strike(&ground, child, caller, dies);
        if next == Next::Other {
            rest(&ground, "agent:c", &elsewhere, &context);
            // What was begun there may be in no commit; that is not thrown away.
            ground.bench.git(&["clean", "-fdq", "--", ":!.jit"], &ground.there);
            ground.bench.git(&["reset", "-q", "--hard"], &ground.there);
        }
        rest(&ground, "agent:b", &ground.there, &context);
        ground.assert_landed_once(&titles);
        assert_worked_once(&ground, &context);
        assert!(ground.bench.leases().is_empty(), "{context}: {:?}", ground.bench.leases());
        ground.assert_nothing_left();
    }
    assert!(titles.len() > 8, "{} steps only", titles.len());
    println!("{dies:?} {moment:?} {next:?}: {} steps", titles.len() - 1);
}

#[test]
fn a_run_that_dies_after_a_step_is_gone_on_with() {
    dies_at_every_step(Dies::Run, Moment::After, Next::Same);
}

#[test]
fn what_died_at_a_step_is_taken_over_by_others() {
    dies_at_every_step(Dies::All, Moment::After, Next::Other);
}

/// A run of a pool dies at each of its steps, and it was the last: the next pool lands its issue, once, gives its claim
/// back and takes its worktree away, whether anything is left to begin or not.
#[test]
fn a_pool_goes_on_with_the_last_run_whatever_step_it_died_at() {
    let (ground, cut) = (Ground::new(), Cut::new());
    ground.bench.leave_it_to_git();
    let root = ground.bench.root().join("repo.worktrees/pool-1");
    let mut titles = Vec::new();
    for step in 1.. {
        let title = format!("task {step}");
        ground.bench.issue(&title);
        titles.push(title);
        let add = ["worktree", "add", "-q", "--detach", root.to_str().unwrap()];
        ground.bench.git(&add, &ground.bench.repo());
        let mut child = cut.spawn_in(&ground, "agent:pool-1", &root, step, Moment::After);
        let Some((caller, args)) = cut.struck(&mut child) else {
            assert_eq!(Answer::from(child.wait_with_output().unwrap()).code, Some(0));
            break;
        };
        println!("after git {args}");
        cut.strike(&ground, child, caller, Dies::All);
        let answer = ground.drained(&["-n", "1"], WORK);
        assert_eq!(answer.code, Some(0), "after git {args}: {answer}");
        ground.assert_landed_once(&titles);
        assert_worked_once(&ground, &args);
        ground.assert_tidy();
    }
    assert!(titles.len() > 8, "{} steps only", titles.len());
}

/// Kills a git of ours that has taken the lock of the branch that it moves, and everybody else, or its caller alone.
fn dies_with_the_target_locked(dies: Dies) {
    let (ground, cut) = (Ground::new(), Cut::new());
    ground.bench.leave_it_to_git();
    ground.bench.issue("one");
    // Git asks this hook while it has the lock of the branch, with what it is about to write in it.
    let hook = ground.bench.repo().join(".git/hooks/reference-transaction");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = prepared ] && grep -q ' refs/heads/main$' || exit 0\n\
         [ -e {0}/go ] || {{ echo \"0 $PPID\" > {0}/new; mv {0}/new {0}/struck; while [ ! -e {0}/go ]; do sleep 0.01; done; }}\n",
        cut.0.dir().display()
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut child = cut.spawn(&ground, 0, Moment::Before);
    cut.struck(&mut child).unwrap();
    let lock = ground.bench.repo().join(".git/refs/heads/main.lock");
    assert!(lock.exists(), "git has the lock");
    cut.strike(&ground, child, 0, dies);
    assert_eq!(lock.exists(), dies == Dies::All, "whoever is asked to end takes its lock away");
    rest(&ground, "agent:b", &ground.there, "the target is locked");
    ground.assert_landed_once(&["one".to_owned()]);
    assert!(!lock.exists() && !ground.bench.control("locks/moving.json").exists());
    ground.assert_nothing_left();
}

#[test]
fn a_git_that_was_killed_leaves_the_target_to_the_next() {
    dies_with_the_target_locked(Dies::All);
    dies_with_the_target_locked(Dies::Run);
}

/// A lock of the target that is somebody else's is waited for by nobody, and never removed.
#[test]
fn the_target_is_left_to_whoever_else_has_it() {
    let ground = Ground::new();
    let id = ground.bench.issue("one");
    let lock = ground.bench.repo().join(".git/refs/heads/main.lock");
    std::fs::write(&lock, "").unwrap();
    let ran = ground.ran(&["--log"], WORK);
    assert_eq!(ran["outcome"], "dropped", "{ran}");
    assert!(lock.exists() && ground.is_offered(&id));
    // What it committed is on its branch; the worktree goes on to the next one, and that lands once.
    std::fs::remove_file(&lock).unwrap();
    let ran = ground.ran(&["--log"], WORK);
    assert_eq!(ran["outcome"], "landed", "{ran}");
    ground.assert_landed_once(&["one".to_owned()]);
    ground.assert_nothing_left();
}

/// All moments and all who come next: one test for each of those who die, because a test has a quarter of an hour.
fn dies_at_any_step(dies: Dies) {
    if !is_long() {
        return;
    }
    for moment in [Moment::Before, Moment::After] {
        for next in [Next::Same, Next::Other] {
            dies_at_every_step(dies, moment, next);
        }
    }
}

#[test]
fn a_run_that_dies_at_any_step_is_gone_on_with() {
    dies_at_any_step(Dies::Run);
}

#[test]
fn whoever_calls_git_may_die_at_any_step() {
    dies_at_any_step(Dies::Caller);
}

#[test]
fn all_who_die_at_any_step_are_gone_on_with() {
    dies_at_any_step(Dies::All);
}

/// A run died when its command had done its work, and its keeper is still there, as one is that is about to end: the next
/// run lands that work, and does not do it once more.
#[test]
fn work_that_was_done_is_not_done_again_while_a_keeper_is_there() {
    let ground = Ground::new();
    let id = ground.bench.issue("one");
    let mut start = ground.command("agent:b", &["--json", "start", &id], &ground.there);
    start.env("JIT_KEEPER_PID", std::process::id().to_string());
    let started = Answer::from(start.output().unwrap()).ok().json();
    std::fs::write(ground.there.join("work"), "done\n").unwrap();
    let noted =
        serde_json::json!({ "failed": 0, "fence": 0, "worked": started["lease"]["fence"].as_u64().unwrap() });
    std::fs::create_dir_all(ground.bench.control("attempts")).unwrap();
    std::fs::write(ground.bench.control(&format!("attempts/{id}.json")), noted.to_string()).unwrap();
    let ran = ground.ran(&["--log"], "echo again >> work");
    assert_eq!(ran["outcome"], "landed", "{ran}");
    assert_eq!(std::fs::read_to_string(ground.bench.repo().join("work")).unwrap(), "done\n");
}
