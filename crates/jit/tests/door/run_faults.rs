//! Runs and pools on a machine that does them harm: a git that is killed with its lock, a disk that is full for a while,
//! a wall clock that jumps.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
