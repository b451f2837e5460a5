//! Several clones of one bare repository, two agents each, who die or sleep past their claims at any moment: each issue
//! is done and landed exactly once, wherever the claims are kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use holdfast_trial::daemon::Daemon;
use holdfast_trial::etcd::Cluster;
use holdfast_trial::{Answer, Dice};
use rustix::process::{Pid, Signal, kill_process};

use crate::etcd::in_etcd;
use crate::ground::{Ground, is_long};
use crate::machines::{clone, issues, landed, shared};

struct Trial<'a> {
    ground: &'a Ground,
    /// Whether a forge lands the work, and nobody else may.
    by_forge: bool,
    deaths: AtomicU32,
    pauses: AtomicU32,
    begun: Instant,
}

/// How long an agent's claim lasts, and how long one that sleeps does: longer than it takes to be displaced.
const TTL: &str = "4";
const SLEEP: Duration = Duration::from_secs(9);

/// An agent in one of the clones that lives several lives.
struct Mortal<'a> {
    trial: &'a Trial<'a>,
    clone: &'a Path,
    name: String,
    dice: Dice,
    lives: u32,
}

impl Mortal<'_> {
    fn work(mut self) {
        loop {
            let passed = self.trial.begun.elapsed();
            assert!(passed < Duration::from_secs(1_800), "{} does not come to an end", self.name);
            let Some(at) = self.born() else { continue };
            while self.task(&at) {}
            let run = |args: &[&str]| self.trial.ground.bench.run_at(&self.name, args, self.clone);
            run(&["sync"]);
            if !self.trial.by_forge {
                run(&["land", "--all"]);
            }
            let open = ["-q", "list", "--state", "ready", "--state", "in_progress", "--state", "backlog"];
            let listed = run(&["list"]).stdout;
            let waits = listed.contains("not landed") || listed.contains("not committed");
            let open = run(&open);
            if open.code == Some(0) && open.stdout.trim().is_empty() && !waits {
                return;
            }
        }
    }

    fn born(&mut self) -> Option<PathBuf> {
        self.lives += 1;
        let ground = self.trial.ground;
        let at = ground.bench.root().join(format!("{}-{}", self.name.replace(':', "-"), self.lives));
        let args = ["worktree", "add", "-q", "--detach", at.to_str().unwrap(), "origin/main"];
        (ground.try_git(&args, self.clone).code == Some(0)).then_some(at)
    }

    /// One issue from beginning to end; false if there is none, or if the agent died.
    fn task(&mut self, at: &Path) -> bool {
        let Some(begun) = self.mortal(&["--json", "start", "--ttl", TTL], at) else { return false };
        if begun.code != Some(0) {
            std::thread::sleep(Duration::from_millis(100));
            return false;
        }
        let title = begun.json()["issue"]["title"].as_str().unwrap().to_owned();
        std::fs::write(at.join(&title), format!("{}\n", self.name)).unwrap();
        let Some(finished) = self.mortal(&["finish", "-a", "-m", &title], at) else { return false };
        let stopped = finished.stderr.contains("conflict") && finished.stderr.contains(".jit/");
        assert!(!stopped, "a rebase stopped inside .jit: {finished}");
        finished.code == Some(0)
    }

    /// Runs a command that is sometimes killed on its way, or stopped and resumed when its claim is over; none if it was
    /// killed.
    fn mortal(&mut self, args: &[&str], at: &Path) -> Option<Answer> {
        let mut command: Command = self.trial.ground.bench.command(&self.name, args, at);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if is_long() && self.dice.roll(24) == 0 {
            self.sleep(&mut child);
        }
        if self.dice.roll(4) > 0 {
            return Some(Answer::from(child.wait_with_output().unwrap()));
        }
        let (output, died) = self.dice.kill(child);
        self.trial.deaths.fetch_add(u32::from(died), Ordering::SeqCst);
        (!died).then(|| Answer::from(output))
    }

    /// Stops a command somewhere on its way until its claim is over.
    fn sleep(&mut self, child: &mut Child) {
        std::thread::sleep(self.dice.while_it_lives());
        if child.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(child), Signal::STOP).unwrap();
            std::thread::sleep(SLEEP);
            kill_process(Pid::from_child(child), Signal::CONT).unwrap();
            self.trial.pauses.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// So many clones with two agents each, who die on the way, while something else goes on. Each issue lands once.
fn trial(ground: &Ground, url: &str, clones: usize, count: usize, meanwhile: impl FnMut(&dyn Fn() -> bool)) {
    works(ground, (url, clones), count, false, meanwhile);
    let subjects = landed(ground);
    for number in 0..count {
        let title = format!("task-{number}");
        let times = subjects.iter().filter(|subject| **subject == title).count();
        assert_eq!(times, 1, "{title}: {subjects:?}");
    }
}

/// The same, however it lands.
fn works(
    ground: &Ground,
    (url, clones): (&str, usize),
    count: usize,
    by_forge: bool,
    mut meanwhile: impl FnMut(&dyn Fn() -> bool),
) {
    issues(ground, count);
    let home = |number| {
        let name = format!("clone-{number}");
        ground.git(&["clone", "-q", url, &name], ground.bench.root());
        ground.bench.root().join(name)
    };
    let homes: Vec<PathBuf> = (0..clones).map(home).collect();
    let (deaths, pauses) = (AtomicU32::new(0), AtomicU32::new(0));
    let trial = Trial { ground, by_forge, deaths, pauses, begun: Instant::now() };
    let seed = Dice::seed();
    let working = AtomicU32::new(u32::try_from(2 * clones).unwrap());
    std::thread::scope(|scope| {
        for (number, home) in homes.iter().flat_map(|home| [home, home]).enumerate() {
            let (trial, name) = (&trial, format!("agent:m{number}"));
            let dice = Dice::new(seed + number as u64, Duration::from_millis(700));
            let leaving = Leaving(&working);
            scope.spawn(move || {
                let _leaving = leaving;
                Mortal { trial, clone: home, name, dice, lives: 0 }.work();
            });
        }
        meanwhile(&|| working.load(Ordering::SeqCst) > 0);
    });
    let [deaths, pauses] = [&trial.deaths, &trial.pauses].map(|count| count.load(Ordering::SeqCst));
    let took = trial.begun.elapsed();
    println!("{clones} clones, {count} issues, {deaths} deaths, {pauses} pauses, {took:?}");
    for number in 0..count {
        let title = format!("task-{number}");
        let text = ground.git(&["show", &format!("main:{title}")], &ground.origin());
        assert_eq!(text.lines().count(), 1, "{title} was done by several: {text}");
    }
    ground.main(&["pull", "-q", "--ff-only"]);
    ground.bench.jit(&["validate", "all"]).ok();
}

/// Counts those who are still at work, however they leave.
struct Leaving<'a>(&'a AtomicU32);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn by_path(clones: usize, count: usize) {
    let ground = shared();
    trial(&ground, ground.origin().to_str().unwrap(), clones, count, |_| ());
}

#[test]
fn agents_in_several_clones_do_everything_exactly_once() {
    if is_long() {
        by_path(2, 60);
        by_path(5, 60);
    } else {
        by_path(2, 8);
    }
}

/// A server that merges what waits, in ways of its own, and asks nobody.
fn forge(ground: &Ground, working: &dyn Fn() -> bool) {
    let (at, mut dice) = (clone(ground, "forge"), Dice::new(Dice::seed(), Duration::from_millis(1)));
    let git = |args: &[&str]| ground.git(args, &at);
    let mut merged = BTreeSet::new();
    while working() {
        git(&["fetch", "-q", "-p", "origin"]);
        git(&["reset", "-q", "--hard", "origin/main"]);
        let waiting =
            git(&["for-each-ref", "--format=%(objectname) %(refname:lstrip=3)", "refs/remotes/origin/jit"]);
        for (tip, branch) in waiting.lines().filter_map(|line| line.split_once(' ')) {
            if !merged.insert(tip.to_owned()) {
                continue;
            }
            // Branches of different issues conflict in nothing.
            if dice.roll(2) == 0 {
                git(&["merge", "-q", "--no-ff", "-m", "Merged", tip]);
            } else {
                git(&["merge", "-q", "--squash", tip]);
                git(&["commit", "-q", "-m", "Squashed"]);
            }
            git(&["push", "-q", "origin", "main"]);
            if dice.roll(2) == 0 {
                git(&["push", "-q", "origin", &format!(":{branch}")]);
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn agents_whose_work_a_forge_merges_do_everything_exactly_once() {
    let (clones, count) = if is_long() { (&[2, 5][..], 60) } else { (&[2][..], 6) };
    for clones in clones {
        let ground = shared();
        ground.bench.jit(&["config", "set", "landing.via", "review"]).ok();
        ground.commit("a person looks at everything");
        let origin = ground.origin();
        works(&ground, (origin.to_str().unwrap(), *clones), count, true, |working| forge(&ground, working));
        // Nobody was granted what somebody had finished and given back.
        ground.bench.jit(&["engine", "status", "--fresh"]).ok();
        let history = ground.bench.jit(&["--json", "claim", "history"]).ok().json();
        let mut given_back = BTreeSet::new();
        for event in history["events"].as_array().unwrap() {
            let issue = event["handle"].as_str().unwrap_or_default();
            match event["event_type"].as_str().unwrap() {
                "claim.released" => drop(given_back.insert(issue)),
                "claim.acquired" => assert!(!given_back.contains(issue), "{issue}: {history}"),
                _ => {}
            }
        }
        assert!(!given_back.is_empty(), "{history}");
    }
}

#[test]
fn agents_who_reach_the_server_over_the_network_do_everything_exactly_once() {
    let (clones, count) = if is_long() { (&[2, 5][..], 60) } else { (&[2][..], 4) };
    for clones in clones {
        let ground = shared();
        let daemon = Daemon::start(ground.bench.root()).expect("git daemon");
        trial(&ground, &daemon.url("origin.git"), *clones, count, |_| ());
    }
}

#[test]
fn agents_whose_claims_are_in_etcd_do_everything_exactly_once_while_leaders_are_killed() {
    for clones in if is_long() { [2, 5] } else { [2, 0] } {
        let ground = Ground::with_origin();
        let members = if is_long() { 3 } else { 1 };
        let Some(mut cluster) = Cluster::start(ground.bench.root(), members) else { return };
        in_etcd(&ground, &cluster);
        let count = if is_long() { 60 } else { 4 };
        let mut killed = 0;
        if clones > 0 {
            trial(&ground, ground.origin().to_str().unwrap(), clones, count, |working| {
                while is_long() && killed < 2 && working() {
                    std::thread::sleep(Duration::from_secs(4));
                    let leader = cluster.leader();
                    cluster.kill(leader);
                    killed += 1;
                    std::thread::sleep(Duration::from_secs(2));
                    cluster.restart(leader);
                }
            });
            println!("{killed} leaders of etcd were killed on the way");
        }
    }
}
