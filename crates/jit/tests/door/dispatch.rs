//! Pools of workers with real processes: everything lands once or is offered again, whoever is killed and whenever.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use holdfast_trial::{Answer, Dice, Screen, has, terminal, until};
use serde_json::Value;

use crate::bench::JIT;
use crate::run::{Ground, MARK};

pub(crate) const WORK: &str = "echo \"$JIT_ISSUE_TITLE\" > \"file-$JIT_ISSUE_ID\"";

pub(crate) fn is_long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}

impl Ground {
    pub(crate) fn pool(&self, args: &[&str], script: &str) -> Child {
        let args = [&["--json", "dispatch"], args, &["--", "sh", "-c", script]].concat();
        self.spawn(&args, &self.bench.repo())
    }

    pub(crate) fn drained(&self, args: &[&str], script: &str) -> Answer {
        Answer::from(self.pool(&[&["--drain"], args].concat(), script).wait_with_output().unwrap())
    }

    pub(crate) fn state(&self) -> Option<Value> {
        let status = self.bench.jit(&["--json", "dispatch", "status"]).ok().json();
        status["pools"].as_array().unwrap().first().cloned()
    }

    /// What no pool may leave behind.
    pub(crate) fn assert_tidy(&self) {
        self.assert_nothing_left();
        assert!(self.bench.leases().is_empty(), "{:?}", self.bench.leases());
        let homes = self.bench.root().join("repo.worktrees");
        assert!(!homes.exists(), "{:?}", std::fs::read_dir(&homes).unwrap().collect::<Vec<_>>());
        assert_eq!(self.state(), None);
        let status = self
            .bench
            .dressed(Command::new("git"))
            .args(["status", "--porcelain"])
            .current_dir(self.bench.repo())
            .output()
            .unwrap();
        // Issues that have not landed are in no commit yet.
        let status = String::from_utf8_lossy(&status.stdout).into_owned();
        let mut other = status.lines().filter(|line| !line.starts_with("?? .jit/issues/"));
        assert_eq!(other.next(), None, "the main worktree does not follow");
    }

    pub(crate) fn assert_landed_once(&self, titles: &[String]) {
        let landed = self.landed();
        let once: BTreeSet<&String> = landed.iter().collect();
        assert_eq!(landed.len(), once.len(), "something landed twice:\n{}", self.history());
        assert_eq!(once, titles.iter().collect(), "not everything landed");
    }

    pub(crate) fn issues(&self, count: usize) -> Vec<String> {
        let titles: Vec<String> = (0..count).map(|number| format!("task {number}")).collect();
        titles.iter().for_each(|title| drop(self.bench.issue(title)));
        titles
    }
}

#[test]
fn a_pool_lands_everything_once_and_goes_on_past_what_always_fails() {
    let ground = Ground::new();
    let (workers, count) = if is_long() { ("20", 200) } else { ("5", 20) };
    ground.bench.jit(&["gate", "define", "tests", "--command", "ls file-*"]).ok();
    ground.bench.git(&["add", "-A"], &ground.bench.repo());
    ground.bench.git(&["commit", "-qm", "track issues"], &ground.bench.repo());
    let mut titles = Vec::new();
    let mut before: Option<String> = None;
    for number in 0..count {
        let title = format!("task {number}");
        let mut args = vec!["-q", "create", "--title", &title];
        if let Some(before) = before.as_deref().filter(|_| number % 3 == 1) {
            args.extend(["--depends-on", before]);
        }
        if number % 10 == 0 {
            args.extend(["--gate", "tests"]);
        }
        before = Some(ground.bench.jit(&args).ok().stdout.trim().to_owned());
        titles.push(title);
    }
    let bad = ground.bench.issue("never works");
    let script = format!("test \"$JIT_ISSUE_TITLE\" = 'never works' && exit 9; {WORK}");
    let start = Instant::now();
    let answer = ground.drained(&["-n", workers, "--attempts", "2"], &script);
    let took = start.elapsed();
    let ended = serde_json::from_str::<Value>(&answer.stdout).unwrap_or_else(|_| panic!("{answer}"));
    assert_eq!(answer.code, Some(7), "something needs attention: {answer}");
    let pool = &ended["pool"];
    assert_eq!((&pool["finished"], &pool["failed"]), (&count.into(), &2.into()), "{ended}");
    assert_eq!(pool["needs_attention"][0]["id"], bad.as_str(), "{ended}");
    ground.assert_landed_once(&titles);
    let shown = ground.bench.jit(&["show", &bad]).ok().stdout;
    assert!(shown.contains("needs:attention"), "{shown}");
    assert!(!ground.bench.jit(&["dispatch", "logs", &bad]).ok().stdout.contains('\x1b'));
    ground.assert_tidy();
    println!("{workers} workers, {count} issues: {:.1} s", took.as_secs_f64());
}

/// Git fails when two worktrees are made or removed at once: those of workers and those that gates are judged in.
#[test]
fn worktrees_are_made_and_removed_one_after_the_other() {
    let ground = Ground::new();
    ground.bench.jit(&["gate", "define", "tests", "--command", "ls file-*"]).ok();
    ground.bench.git(&["add", "-A"], &ground.bench.repo());
    ground.bench.git(&["commit", "-qm", "track issues"], &ground.bench.repo());
    let titles: Vec<String> = (0..6).map(|number| format!("task {number}")).collect();
    for title in &titles {
        ground.bench.jit(&["create", "--title", title, "--gate", "tests"]).ok();
    }
    let bin = ground.bench.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'worktree add'*|*'worktree remove'*)\n  mkdir {0}/alone || touch {0}/two\n  \
         echo x >> {0}/times; sleep 0.1; {1} \"$@\"; code=$?\n  rmdir {0}/alone; exit $code;;\nesac\nexec {1} \"$@\"\n",
        ground.bench.root().display(),
        real.unwrap().display()
    );
    std::fs::write(bin.join("git"), script).unwrap();
    std::fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let args = ["--json", "dispatch", "-n", "3", "--drain", "--", "sh", "-c", WORK];
    let mut command = ground.command("agent:b", &args, &ground.bench.repo());
    let folders = std::iter::once(bin).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders).unwrap());
    let answer = Answer::from(command.output().unwrap());
    assert_eq!(answer.ok().json()["pool"]["finished"], titles.len());
    let times = std::fs::read_to_string(ground.bench.root().join("times")).unwrap().lines().count();
    assert!(times >= 6, "three for workers, some for gates: {times}");
    assert!(!ground.bench.root().join("two").exists(), "two at once");
    ground.assert_landed_once(&titles);
    ground.assert_tidy();
}

/// What a pool costs beside the work: the same work by hand needs a claim, the command and a landing as well.
#[test]
fn a_pool_costs_little_beside_the_work() {
    let count = if is_long() { 40 } else { 6 };
    let cpu = |script: &str, ground: &Ground| {
        let script = format!("{script}\ntimes");
        let mut shell = ground.bench.dressed(Command::new("sh"));
        shell.args(["-c", &script]).current_dir(&ground.there).env("JIT", JIT).env("JIT_AGENT_ID", "agent:b");
        let said = Answer::from(shell.output().unwrap()).ok().stdout;
        // The second line is what all children took: minutes and seconds, of the user and of the system.
        let seconds = |text: &str| {
            let (minutes, seconds) = text.trim_end_matches('s').split_once('m').unwrap();
            minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
        };
        said.lines().last().unwrap().split_whitespace().map(seconds).sum::<f64>()
    };
    let by_hand = Ground::new();
    by_hand.issues(count);
    let one = "JIT_ISSUE_ID=$(\"$JIT\" -q start) && sh -c 'echo x > \"file-$JIT_ISSUE_ID\"' && \"$JIT\" finish -a > out 2>&1 && rm -f out";
    let script = format!("export JIT_ISSUE_ID; for i in $(seq {count}); do {one} || exit 1; done");
    let hand = cpu(&script.replace("> out 2>&1 && rm -f out", "> /dev/null 2>&1"), &by_hand);
    let pooled = Ground::new();
    pooled.issues(count);
    let script = format!(
        "cd {} && \"$JIT\" dispatch -n 2 --drain -- sh -c 'echo x > \"file-$JIT_ISSUE_ID\"' > /dev/null",
        pooled.bench.repo().display()
    );
    let pool = cpu(&script, &pooled);
    assert_eq!((by_hand.landed().len(), pooled.landed().len()), (count, count));
    let each = |all: f64| all * 1_000.0 / count as f64;
    println!(
        "CPU for each issue: {:.0} ms by hand, {:.0} ms in a pool: {:+.0} ms",
        each(hand),
        each(pool),
        each(pool - hand)
    );
    assert!(pool < 3.0 * hand + 1.0, "a pool costs {pool} s, by hand it is {hand} s");
}

#[test]
fn an_idle_pool_costs_next_to_nothing_and_takes_up_what_is_new() {
    let ground = Ground::new();
    let child = ground.pool(&["-n", "2"], WORK);
    until("it is at work", || ground.state().is_some_and(|state| state["running"] == true));
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let (seconds, before) = (if is_long() { 60 } else { 5 }, ticks());
    std::thread::sleep(Duration::from_secs(seconds));
    let used = (ticks() - before) as f64 / 100.0 / seconds as f64;
    println!("an idle pool uses {:.2} % of a core", used * 100.0);
    assert!(used < 0.01, "an idle pool uses {used} of a core");
    ground.bench.issue("new");
    until("it has landed", || ground.landed() == ["new"]);
    ground.bench.jit(&["dispatch", "stop"]).ok();
    let answer = Answer::from(child.wait_with_output().unwrap());
    assert_eq!(answer.ok().json()["pool"]["finished"], 1);
    ground.assert_tidy();
}

#[test]
fn one_pool_of_a_name() {
    let ground = Ground::new();
    let child = ground.pool(&[], WORK);
    until("it is at work", || ground.state().is_some_and(|state| state["running"] == true));
    let second = ground.drained(&[], WORK);
    assert_eq!(
        (second.code, second.json()["error"]["code"].as_str()),
        (Some(4), Some("RUN_UNDER_WAY")),
        "{second}"
    );
    ground.bench.jit(&["dispatch", "stop", "--now"]).ok();
    child.wait_with_output().unwrap();
    let none = ground.bench.jit(&["--json", "dispatch", "stop"]);
    assert_eq!((none.code, none.json()["error"]["code"].as_str()), (Some(3), Some("NO_POOL")), "{none}");
    ground.assert_tidy();
}

#[test]
fn a_title_is_never_read_by_a_shell() {
    let ground = Ground::new();
    let evil = "x'; touch evil; echo $(touch evil) `touch evil`";
    ground.bench.issue(evil);
    let refused = ground.drained(&[], "echo {title}");
    assert_eq!(refused.code, Some(2), "{refused}");
    let args = ["--json", "dispatch", "--drain", "--", "cp", "{briefing}", "file {title}"];
    let answer = Answer::from(ground.command("agent:b", &args, &ground.bench.repo()).output().unwrap());
    assert_eq!(answer.ok().json()["pool"]["finished"], 1);
    assert!(!ground.bench.repo().join("evil").exists());
    let name = format!(
        "file {}",
        ground.bench.jit(&["--json", "list"]).ok().json()["issues"][0]["title"].as_str().unwrap()
    );
    assert!(ground.bench.repo().join(&name).exists(), "{name:?}");
    ground.assert_tidy();
}

/// When its time is over, a pool begins nothing new and waits for what runs.
#[test]
fn a_pool_with_a_time_of_its_own_ends_and_leaves_the_rest() {
    let ground = Ground::new();
    ground.issues(40);
    let script = format!("sleep 0.2; {WORK}");
    let args = ["--json", "dispatch", "-n", "2", "--for", "2s", "--", "sh", "-c", &script];
    let answer = Answer::from(ground.command("agent:b", &args, &ground.bench.repo()).output().unwrap());
    let finished = answer.ok().json()["pool"]["finished"].as_u64().unwrap();
    let ready = ground.bench.jit(&["--json", "ready"]).ok().json();
    let left = ready["issues"].as_array().unwrap().len();
    assert!(finished > 0 && left > 0, "{finished} finished, {left} left");
    assert_eq!(usize::try_from(finished).unwrap() + left, 40, "everything is landed or ready");
    ground.assert_tidy();
}

/// A program that is named by a path from where the pool was begun is the one that is meant, in every worktree.
#[test]
fn a_program_is_looked_for_from_where_it_was_typed() {
    let ground = Ground::new();
    let titles = ground.issues(2);
    let program = ground.bench.root().join("tools/agent.sh");
    std::fs::create_dir(program.parent().unwrap()).unwrap();
    std::fs::write(&program, format!("#!/bin/sh\n{WORK}\n")).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let folder = ground.bench.repo().join("deep/er");
    std::fs::create_dir_all(&folder).unwrap();
    let first = ["--json", "run", "--worktree", "--log", "--", "../../../tools/agent.sh"];
    let answer = Answer::from(ground.command("agent:b", &first, &folder).output().unwrap());
    assert_eq!(answer.ok().json()["run"]["outcome"], "landed");
    let rest = ["--json", "dispatch", "--drain", "--", "../../../tools/agent.sh"];
    let answer = Answer::from(ground.command("agent:b", &rest, &folder).output().unwrap());
    assert_eq!(answer.ok().json()["pool"]["finished"], 1);
    ground.assert_landed_once(&titles);
    ground.assert_tidy();
}

#[test]
fn a_command_that_is_not_there_is_no_fault_of_the_issues() {
    let ground = Ground::new();
    let titles = ground.issues(3);
    let args = ["--json", "dispatch", "-n", "2", "--drain", "--attempts", "1", "--", "./no-such-agent"];
    let answer = Answer::from(ground.command("agent:b", &args, &ground.bench.repo()).output().unwrap());
    assert_eq!(answer.code, Some(1), "{answer}");
    let ready = ground.bench.jit(&["--json", "ready"]).ok().json();
    assert_eq!(ready["issues"].as_array().unwrap().len(), titles.len(), "{ready}");
    assert!(!ground.bench.jit(&["list"]).ok().stdout.contains("needs:attention"));
    let problem = answer.json()["pool"]["problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem.contains("cannot run ./no-such-agent in "), "{answer}");
    ground.assert_nothing_left();
}

/// Pools that are killed at random moments, with their workers or without them.
#[test]
fn a_pool_that_is_killed_and_started_again_goes_on() {
    let (rounds, count) = if is_long() { (150, 120) } else { (10, 12) };
    let ground = Ground::new();
    let titles = ground.issues(count);
    let script = format!("setsid sleep 1000 & sleep 0.1; {WORK}");
    let mut dice = Dice::new(4, Duration::from_millis(900));
    for round in 0..rounds {
        let pool = ground.pool(&["-n", "3"], &script);
        std::thread::sleep(dice.while_it_lives());
        if round % 2 == 1 {
            // Everything that was started as well: runs, guardians, commands.
            pool_and_all(&ground, pool);
        } else {
            let mut pool = pool;
            pool.kill().unwrap();
            pool.wait().unwrap();
        }
    }
    let answer = ground.drained(&["-n", "3"], &script);
    assert_eq!(answer.code, Some(0), "{answer}");
    // Runs of a killed pool may still have been at work when that one found nothing left.
    until("everything is over", || ground.alive().is_empty());
    let answer = ground.drained(&["-n", "3"], &script);
    assert_eq!(answer.code, Some(0), "{answer}");
    ground.assert_landed_once(&titles);
    ground.assert_nothing_left();
    assert!(ground.bench.leases().is_empty(), "{:?}", ground.bench.leases());
    println!("killed {rounds} times; {count} issues landed once each");
}

#[test]
fn a_smaller_pool_tidies_up_after_one_that_was_killed() {
    let ground = Ground::new();
    let titles = ground.issues(3);
    let pool = ground.pool(&["-n", "3"], "sleep 1000");
    until("all work", || {
        let workers = ground.state().map(|state| state["workers"].as_array().unwrap().clone());
        workers.is_some_and(|workers| workers.iter().all(|worker| !worker["task"].is_null()))
    });
    pool_and_all(&ground, pool);
    let answer = ground.drained(&["-n", "1"], WORK);
    assert_eq!(answer.code, Some(0), "{answer}");
    ground.assert_landed_once(&titles);
    ground.assert_tidy();
}

/// Worktrees that are kept somewhere else are found again there, however that is written.
#[test]
fn a_pool_finds_its_worktrees_where_the_configuration_says() {
    let ground = Ground::new();
    for dir in ["..", "../kept/here"] {
        ground.bench.config(&format!("[worktree]\ndir = \"{dir}\"\n"));
        ground.bench.git(&["add", "-A"], &ground.bench.repo());
        ground.bench.git(&["commit", "-qm", "track issues"], &ground.bench.repo());
        ground.issues(3);
        let places = ground.bench.root().join("places");
        let script = format!("pwd >> {}; {WORK}", places.display());
        let answer = ground.drained(&["-n", "1"], &script);
        assert_eq!(answer.ok().json()["pool"]["finished"], 3);
        let all = std::fs::read_to_string(&places).unwrap();
        let once: BTreeSet<&str> = all.lines().collect();
        assert_eq!(once.len(), 1, "one worktree for one worker: {all}");
        let root = std::path::PathBuf::from(all.lines().next().unwrap());
        assert!(root.ends_with("pool-1") && !root.exists(), "{all}");
        std::fs::remove_file(&places).unwrap();
    }
    ground.assert_nothing_left();
}

fn pool_and_all(ground: &Ground, mut pool: Child) {
    // A process that nobody has waited for has no environment that could be read.
    std::thread::scope(|scope| {
        scope.spawn(|| pool.wait().unwrap());
        ground.kill_all();
    });
}

/// A pool on a terminal of its own, where Ctrl-C can be typed.
fn on_terminal(ground: &Ground, script: &str, line: impl Fn() -> Stdio) -> Child {
    let mut command = ground.bench.dressed(Command::new("setsid"));
    command.args(["--ctty", "--wait", JIT, "dispatch", "-n", "2", "--", "sh", "-c", script]);
    command.current_dir(ground.bench.repo()).env(MARK, ground.mark()).env("TERM", "xterm");
    command.stdin(line()).stdout(line()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn ctrl_c_lets_the_running_ones_finish_and_twice_stops_them() {
    if !has("setsid") {
        return;
    }
    let ground = Ground::new();
    ground.issues(6);
    let go = ground.bench.root().join("go");
    let script = format!(
        "printf '\\033[2J\\033]0;evil\\007'; while [ ! -e {} ]; do sleep 0.02; done; {WORK}",
        go.display()
    );
    let working = || {
        let state = ground.state();
        let workers =
            state.as_ref().map(|state| state["workers"].as_array().unwrap().clone()).unwrap_or_default();
        workers.iter().filter(|worker| !worker["task"].is_null()).count()
    };
    let screen = Screen::new(120);
    let mut child = on_terminal(&ground, &script, || screen.line());
    until("both work", || working() == 2);
    screen.press(b"\x03");
    until("it begins nothing new", || ground.state().is_some_and(|state| state["ending"] == true));
    std::fs::write(&go, "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(ground.landed().len(), 2, "those that were running");
    let shown = screen.read();
    assert!(shown.contains("claims") && shown.contains("landed") && !shown.contains("evil"), "{shown:?}");
    std::fs::remove_file(&go).unwrap();

    let screen = Screen::new(120);
    let mut child = on_terminal(&ground, &script, || screen.line());
    until("both work", || working() == 2);
    screen.press(b"\x03");
    until("it begins nothing new", || ground.state().is_some_and(|state| state["ending"] == true));
    screen.press(b"\x03");
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
    assert_eq!(ground.landed().len(), 2, "nothing more");
    drop(screen);
    ground.assert_nothing_left();
    let ready = ground.bench.jit(&["--json", "ready"]).ok().json();
    assert_eq!(ready["issues"].as_array().unwrap().len(), 4, "{ready}");
}

#[test]
fn a_closed_terminal_ends_a_pool_and_loses_nothing() {
    if !has("setsid") {
        return;
    }
    let ground = Ground::new();
    let titles = ground.issues(2);
    let (screen, line) = terminal(120);
    let mut child = on_terminal(&ground, &format!("sleep 1; {WORK}"), || line.try_clone().unwrap().into());
    drop(line);
    until("it works", || ground.state().is_some_and(|state| !state["workers"][0]["task"].is_null()));
    drop(screen);
    child.wait().unwrap();
    until("everything is over", || ground.alive().is_empty());
    let answer = ground.drained(&[], WORK);
    assert_eq!(answer.code, Some(0), "{answer}");
    ground.assert_landed_once(&titles);
    ground.assert_tidy();
}

/// Work that is in no commit is in nobody's way and is never removed.
#[test]
fn work_that_is_in_no_commit_stays() {
    let ground = Ground::new();
    ground.bench.issue("half");
    ground.bench.issue("whole");
    let script = "case $JIT_ISSUE_TITLE in half) echo half > half; exit 1;; *) echo whole > whole;; esac";
    let answer = ground.drained(&["-n", "1", "--attempts", "2"], script);
    let ended = serde_json::from_str::<Value>(&answer.stdout).unwrap_or_else(|_| panic!("{answer}"));
    assert_eq!(ground.landed(), ["whole"], "{ended}");
    let homes = ground.bench.root().join("repo.worktrees");
    let kept: Vec<_> = std::fs::read_dir(&homes).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 2, "one for each attempt: {kept:?}");
    kept.iter().for_each(|root| assert_eq!(std::fs::read_to_string(root.join("half")).unwrap(), "half\n"));
    ground.assert_nothing_left();
}

/// The workers of a killed pool are not in the way of the next one, and what they do is not done twice.
#[test]
fn runs_outlive_their_pool_and_the_next_one_waits_for_them() {
    let ground = Ground::new();
    let titles = ground.issues(3);
    let go = ground.bench.root().join("go");
    let script = format!("while [ ! -e {} ]; do sleep 0.02; done; {WORK}", go.display());
    let mut pool = ground.pool(&["-n", "1"], &script);
    until("it works", || ground.state().is_some_and(|state| !state["workers"][0]["task"].is_null()));
    pool.kill().unwrap();
    pool.wait().unwrap();
    assert_eq!(ground.state().unwrap()["running"], false);
    let next = ground.pool(&["-n", "1", "--drain"], &script);
    until("it is there", || ground.state().is_some_and(|state| state["running"] == true));
    std::fs::write(&go, "").unwrap();
    let answer = Answer::from(next.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(0), "{answer}");
    ground.assert_landed_once(&titles);
    ground.assert_tidy();
}
