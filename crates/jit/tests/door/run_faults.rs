//! Runs and pools on a machine that does them harm: a git that is killed with its lock, a disk that is full for a while,
//! a wall clock that jumps.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use holdfast_sys::os::ControlGroup;
use holdfast_trial::{Answer, has, until};

use crate::bench::{Bench, JIT};
use crate::dispatch::{WORK, is_long};
use crate::faults::{Small, fill};
use crate::run::{Ground, MARK};

/// Has git hold the lock of the index until somebody kills it.
const LOCKED: &str = "echo x > file; echo 'file filter=slow' > \"$HOME/attributes\"; \
    git -c core.attributesFile=\"$HOME/attributes\" -c filter.slow.clean='sleep 1000' add file & \
    until [ -e \"$(git rev-parse --git-dir)/index.lock\" ]; do sleep 0.02; done";

fn lock(ground: &Ground) -> PathBuf {
    ground.bench.repo().join(".git/worktrees/there/index.lock")
}

#[test]
fn a_git_that_was_killed_keeps_nothing_from_landing() {
    let ground = Ground::new();
    ground.bench.issue("one");
    let ran = ground.ran(&["--log"], &format!("{LOCKED}; kill -9 $!; echo whole > whole"));
    assert_eq!(ran["outcome"], "landed", "{ran}");
    assert!(!lock(&ground).exists());
    ground.assert_nothing_left();
}

#[test]
fn whoever_comes_after_everything_was_killed_finds_no_lock() {
    let ground = Ground::new();
    ground.bench.issue("one");
    let script = format!("{LOCKED}; touch \"$HOME/locked\"; sleep 1000");
    let mut child = ground.spawn(&["run", "--log", "--", "sh", "-c", &script], &ground.there);
    until("git holds its lock", || ground.bench.root().join("locked").exists());
    std::thread::scope(|scope| {
        scope.spawn(|| child.wait().unwrap());
        ground.kill_all();
    });
    assert!(lock(&ground).exists(), "nobody was left to remove it");
    std::fs::remove_file(ground.there.join("file")).unwrap();
    let ran = ground.ran(&["--log"], "echo whole > whole");
    assert_eq!(ran["outcome"], "landed", "{ran}");
    assert!(!lock(&ground).exists());
    ground.assert_nothing_left();
}

#[test]
fn a_lock_that_was_there_before_is_somebody_else_s() {
    let ground = Ground::new();
    ground.bench.issue("one");
    std::fs::write(lock(&ground), "").unwrap();
    let args = ["run", "--here", "--log", "--", "sh", "-c", "touch ran; exit 1"];
    ground.command("agent:b", &args, &ground.there).output().unwrap();
    assert!(ground.there.join("ran").exists(), "it did not run");
    assert!(lock(&ground).exists(), "the lock of somebody else was removed");
}

#[test]
fn a_worktree_that_was_made_for_a_run_goes_with_it_however_it_ends() {
    let ground = Ground::new();
    ground.bench.issue("one");
    let homes = ground.bench.root().join("repo.worktrees");
    let begun = ground.bench.root().join("begun");
    let script = format!("touch {}; sleep 1000", begun.display());
    let args = ["run", "--worktree", "--log", "--", "sh", "-c", &script];
    // Only the run is killed: its guardian is there.
    let mut child = ground.spawn(&args, &ground.there);
    until("it runs", || begun.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    until("everything is gone", || ground.alive().is_empty());
    assert!(!homes.exists(), "{:?}", std::fs::read_dir(&homes).unwrap().collect::<Vec<_>>());
    // Everything is killed: the next one tidies up. It is not in the way of whoever takes the issue over at once.
    std::fs::remove_file(&begun).unwrap();
    let mut child = ground.spawn(&args, &ground.there);
    until("it runs", || begun.exists());
    std::thread::scope(|scope| {
        scope.spawn(|| child.wait().unwrap());
        ground.kill_all();
    });
    assert!(homes.exists(), "nobody was left to remove it");
    let ran = ground.ran(&["--worktree", "--log"], "echo x > one");
    assert_eq!(ran["outcome"], "landed", "{ran}");
    assert!(!homes.exists(), "{:?}", std::fs::read_dir(&homes).unwrap().collect::<Vec<_>>());
    ground.assert_nothing_left();
}

/// A disk that is full while commands run: whatever cannot be kept is given up in time, and lands later.
#[test]
fn a_disk_that_is_full_for_a_while_loses_nothing() {
    let bench = Bench::empty();
    let Some(_small) = Small::mount(bench.root(), "24m") else { return };
    bench.git(&["init", "-q", "-b", "main", "repo"], bench.root());
    bench.git(&["commit", "-q", "--allow-empty", "-m", "first"], &bench.repo());
    bench.jit(&["init"]).ok();
    let ground = Ground::on(bench);
    let titles = ground.issues(if is_long() { 20 } else { 4 });
    let script = format!("sleep 0.5; {WORK}");
    let filler = ground.bench.root().join("filler");
    let rounds = if is_long() { 10 } else { 2 };
    for _ in 0..rounds {
        let pool = ground.pool(&["-n", "2", "--ttl", "2", "--drain"], &script);
        until("it works", || {
            let is_over =
                ground.bench.jit(&["--json", "ready"]).ok().json()["issues"].as_array().unwrap().is_empty();
            is_over || !ground.bench.leases().is_empty()
        });
        fill(&filler);
        std::thread::sleep(Duration::from_secs(3));
        std::fs::remove_file(&filler).unwrap();
        pool.wait_with_output().unwrap();
        until("everything is over", || ground.alive().is_empty());
        // What a command could not write it has not done: somebody has to look, and sees that there is room again.
        let failed = ground.bench.jit(&["--json", "list", "--label", "needs:attention"]).ok().json();
        for issue in failed["issues"].as_array().unwrap().iter().map(|issue| issue["id"].as_str().unwrap()) {
            ground.bench.jit(&["claim", "acquire", issue]).ok();
            ground.bench.jit(&["label", "rm", issue, "needs:attention"]).ok();
            ground.bench.jit(&["claim", "release", issue]).ok();
        }
    }
    let last = || ground.drained(&["-n", "2"], &script);
    let answer = last();
    assert!(answer.code == Some(0) || last().code == Some(0), "{answer}");
    ground.assert_landed_once(&titles);
    ground.bench.jit(&["validate", "leases"]).ok();
    ground.assert_nothing_left();
}

/// The wall clock jumps by an hour, there and back, while commands run.
#[test]
fn a_wall_clock_that_jumps_disturbs_no_pool() {
    if !has("faketime") {
        return;
    }
    let ground = Ground::new();
    let titles = ground.issues(if is_long() { 20 } else { 4 });
    let clock = ground.bench.root().join("clock");
    std::fs::write(&clock, "+0").unwrap();
    let script = format!("sleep 1; {WORK}");
    let mut command = ground.bench.dressed(Command::new("faketime"));
    // The file is read at every look at the clock.
    let inner =
        "unset FAKETIME; export FAKETIME_TIMESTAMP_FILE=\"$1\" FAKETIME_NO_CACHE=1; shift; exec \"$@\"";
    command.args(["--exclude-monotonic", "-f", "+0", "sh", "-c", inner, "sh"]).arg(&clock).arg(JIT);
    command.args(["--json", "dispatch", "-n", "2", "--ttl", "3", "--drain", "--", "sh", "-c", &script]);
    command.current_dir(ground.bench.repo()).env(MARK, ground.mark());
    let mut pool =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let mut jumps = 0;
    while pool.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(600), "it does not end");
        jumps += 1;
        std::fs::write(&clock, ["+1h", "-1h", "+0"][jumps % 3]).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    let answer = Answer::from(pool.wait_with_output().unwrap());
    assert!(jumps > 3, "{jumps}");
    assert_eq!(answer.ok().json()["pool"]["finished"], titles.len());
    ground.assert_landed_once(&titles);
    ground.assert_tidy();
    let lost = ground.bench.jit(&["--json", "claim", "history"]).ok().stdout;
    assert!(!lost.contains("evict"), "a claim was taken for over: {lost}");
    println!("{jumps} jumps of an hour; {} issues landed once each", titles.len());
}

/// Whether commands can be started in control groups here.
fn has_control_groups() -> bool {
    let probe = ControlGroup::place(&format!("jit-probe-{}", std::process::id()));
    let has = probe.as_ref().is_some_and(ControlGroup::make);
    if let Some(probe) = probe.filter(|_| has) {
        assert!(probe.remove());
    } else {
        println!("no control groups can be made here");
    }
    has
}

/// Everybody is killed who could end it, and what is left has neither the mark nor a parent of its own: it is found in
/// its control group.
#[test]
fn what_has_thrown_its_mark_away_is_ended_by_the_next_run() {
    if !has_control_groups() {
        return;
    }
    let ground = Ground::new();
    ground.bench.issue("one");
    let (pid, groups) = (ground.bench.root().join("pid"), ground.bench.root().join("groups"));
    let hide = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", pid.display());
    let script = format!(
        "cat /proc/self/cgroup > {}; setsid env -i sh -c '{hide}' & echo half > half; sleep 1000",
        groups.display()
    );
    let mut child = ground.spawn(&["run", "--log", "--", "sh", "-c", &script], &ground.there);
    until("it hides", || pid.exists());
    std::thread::scope(|scope| {
        scope.spawn(|| child.wait().unwrap());
        ground.kill_all();
    });
    let pid = std::fs::read_to_string(&pid).unwrap().trim().to_owned();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    assert!(is_alive(), "nobody was left to end it");
    let group = std::fs::read_to_string(&groups).unwrap();
    let group = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap().to_owned();
    assert!(group.contains("/jit-"), "it is in no group of its own: {group}");
    std::fs::remove_file(ground.there.join("half")).unwrap();
    let ran = ground.ran(&["--log"], "cat /proc/self/cgroup > file");
    assert_eq!(ran["outcome"], "landed", "{ran}");
    assert!(!is_alive(), "it is still there");
    let name = group.rsplit('/').next().unwrap();
    let place = ControlGroup::place(name).unwrap();
    assert!(!place.path().exists(), "{} is left", place.path().display());
    let own = std::fs::read_to_string(ground.bench.repo().join("file")).unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap().rsplit('/').next().unwrap();
    let place = ControlGroup::place(own).unwrap();
    assert!(own.starts_with("jit-") && own != name && !place.path().exists(), "{own} is left");
    ground.assert_nothing_left();
}

/// Worktrees that go away while commands work in them, as git removes them or by hand: the pool makes others, everything
/// lands once, and an issue whose command does so each time is given up on.
#[test]
fn a_pool_whose_worktrees_are_removed_makes_others() {
    let ground = Ground::new();
    let titles = ground.issues(6);
    let (by_git, by_hand) = (ground.bench.issue("always by git"), ground.bench.issue("always by hand"));
    let script = format!(
        "cd /; by_git() {{ git -C {1} worktree remove --force \"$OLDPWD\"; exit 0; }}; \
         by_hand() {{ rm -rf \"$OLDPWD\"; exit 0; }}; case $JIT_ISSUE_TITLE in \
         'task 1') mkdir {0}/one && by_git;; 'task 3') mkdir {0}/three && by_hand;; \
         'always by git') by_git;; 'always by hand') by_hand;; esac; cd \"$OLDPWD\" && {WORK}",
        ground.bench.root().display(),
        ground.bench.repo().display()
    );
    let answer = ground.drained(&["-n", "2", "--attempts", "2"], &script);
    assert_eq!(answer.code, Some(7), "{answer}");
    assert!(ground.bench.root().join("one").exists() && ground.bench.root().join("three").exists());
    ground.assert_landed_once(&titles);
    for id in [by_git, by_hand] {
        let shown = ground.bench.jit(&["show", &id]).ok().stdout;
        assert!(shown.contains("needs:attention") && shown.contains("its worktree was removed"), "{shown}");
    }
    ground.assert_tidy();
}
