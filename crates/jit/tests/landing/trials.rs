//! Agents that die, again and again, and come back in fresh worktrees: at the end everything has landed, each once, and
//! every commit builds on the one before.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use holdfast_trial::{Answer, Dice};

use crate::bench::JIT;
use crate::ground::{Ground, is_long};

/// How agents work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// start, finish.
    Short,
    /// start and finish, each in a session and a shell of its own.
    Shells,
    /// claim next, issue update, git commit, claim release, git merge.
    Long,
}

struct Trial<'a> {
    ground: &'a Ground,
    style: Style,
    deaths: AtomicU32,
}

/// An agent that lives several lives.
struct Mortal<'a> {
    trial: &'a Trial<'a>,
    name: &'static str,
    dice: Dice,
    lives: u32,
}

fn trial(style: Style) {
    let (issues, names): (usize, &[&'static str]) =
        if is_long() { (40, &["v", "w", "x", "y", "z"]) } else { (6, &["x", "y", "z"]) };
    let ground = Ground::new();
    ground.bench.jit(&["gate", "define", "there", "--command", "test -f \"$(ls | head -1)\""]).ok();
    let mut before = String::new();
    for number in 0..issues {
        let title = format!("task-{number}");
        let mut create = vec!["-q", "create", "--title", &title];
        if number % 4 == 3 {
            create.extend(["--depends-on", &before]);
        }
        if number % 3 == 1 && style != Style::Long {
            create.extend(["--gate", "there"]);
        }
        before = ground.bench.jit(&create).ok().stdout.trim().to_owned();
    }
    ground.commit("tasks");
    let trial = Trial { ground: &ground, style, deaths: AtomicU32::new(0) };
    let seed = Dice::seed();
    std::thread::scope(|scope| {
        for (number, name) in names.iter().enumerate() {
            let dice = Dice::new(seed + number as u64, Duration::from_millis(300));
            let trial = &trial;
            scope.spawn(move || Mortal { trial, name, dice, lives: 0 }.work());
        }
    });
    // Whoever died while it landed what another one finished holds that up for a while.
    holdfast_trial::until("everything has landed", || {
        ground.bench.jit(&["land", "--all"]).ok();
        let listed = ground.bench.jit(&["list"]).ok().stdout;
        !listed.contains("not landed")
    });
    println!("{style:?}: {} deaths, {issues} issues", trial.deaths.load(Ordering::SeqCst));
    let done = ground.bench.jit(&["-q", "list", "--state", "done", "--all"]);
    let done =
        if done.code == Some(0) { done } else { ground.bench.jit(&["-q", "list", "--state", "done"]).ok() };
    assert_eq!(done.stdout.lines().count(), issues, "{}", ground.bench.jit(&["list"]).ok());
    let subjects = ground.landed();
    for number in 0..issues {
        let title = format!("task-{number}");
        let times = subjects.iter().filter(|subject| **subject == title).count();
        assert_eq!(times, 1, "{title}: {subjects:?}");
        let text = ground.main(&["show", &format!("main:{title}")]);
        assert_eq!(text.lines().count(), 1, "{title} was done by several: {text}");
    }
    if style != Style::Long {
        assert_eq!(ground.main(&["log", "--merges", "--format=%h", "main"]), "");
        assert!(ground.is_clean());
    }
    ground.bench.jit(&["validate", "leases"]).ok();
}

impl Mortal<'_> {
    fn work(mut self) {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < Duration::from_secs(900), "{} does not come to an end", self.name);
            let Some(at) = self.born() else { continue };
            while self.task(&at) {}
            let open = ["-q", "list", "--state", "ready", "--state", "in_progress", "--state", "backlog"];
            let waits = self.trial.ground.bench.jit(&["land", "--all"]).code == Some(0);
            if self.trial.ground.bench.jit(&open).ok().stdout.trim().is_empty() && waits {
                return;
            }
        }
    }

    /// A fresh worktree.
    fn born(&mut self) -> Option<PathBuf> {
        self.lives += 1;
        let ground = self.trial.ground;
        let at = ground.bench.root().join(format!("{}-{}", self.name, self.lives));
        let path = at.to_str().unwrap();
        let args = ["worktree", "add", "-q", "--detach", path, "main"];
        (ground.try_git(&args, &ground.bench.repo()).code == Some(0)).then_some(at)
    }

    /// One issue from beginning to end; false if there is none, or if the agent died.
    fn task(&mut self, at: &Path) -> bool {
        if self.trial.style == Style::Long {
            return self.long_task(at).is_some();
        }
        let Some(begun) = self.mortal(&["--json", "start", "--ttl", "3"], at) else { return false };
        if begun.code != Some(0) {
            std::thread::sleep(Duration::from_millis(50));
            return false;
        }
        let begun = begun.json();
        let title = begun["issue"]["title"].as_str().unwrap().to_owned();
        std::fs::write(at.join(&title), format!("{}\n", self.name)).unwrap();
        let finished = self.mortal(&["finish", "-a", "-m", &title], at);
        finished.is_some_and(|answer| answer.code == Some(0))
    }

    /// The same with the long commands; whoever merges is nobody's business but git's.
    fn long_task(&mut self, at: &Path) -> Option<()> {
        let claimed = self.mortal(&["--json", "claim", "next", "--ttl", "3"], at)?;
        if claimed.code != Some(0) {
            std::thread::sleep(Duration::from_millis(50));
            return None;
        }
        let id = claimed.json()["lease"]["issue_id"].as_str()?.to_owned();
        let ground = self.trial.ground;
        let title = ground.shown(&id)["issue"]["title"].as_str()?.to_owned();
        let branch = format!("{}-{}-{title}", self.name, self.lives);
        let ok = |answer: Answer| (answer.code == Some(0)).then_some(());
        ok(ground.try_git(&["switch", "-q", "-c", &branch, "main"], at))?;
        std::fs::write(at.join(&title), format!("{}\n", self.name)).unwrap();
        ok(self.mortal(&["issue", "update", &id, "--state", "done"], at)?)?;
        ok(ground.try_git(&["add", "-A"], at))?;
        ok(self.mortal(&["commit", "-q", "-m", &title], at)?)?;
        ok(self.mortal(&["claim", "release", &id], at)?)?;
        // Others merge at the same time: whoever is slower leaves it to somebody's `jit land --all`.
        ok(self.mortal(&["land", &id], at)?)
    }

    /// Runs a command that is killed on its way as often as not; none if it was.
    fn mortal(&mut self, args: &[&str], at: &Path) -> Option<Answer> {
        let agent = format!("agent:{}", self.name);
        let bench = &self.trial.ground.bench;
        let mut command = bench.command(&agent, args, at);
        if self.trial.style == Style::Shells {
            let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
            let script = format!("'{JIT}' {}; exit $?", quoted.join(" "));
            command = bench.dressed(Command::new("setsid"));
            command.args(["-w", "sh", "-c", &script]).current_dir(at).env("JIT_AGENT_ID", &agent);
        }
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if self.dice.roll(3) > 0 || self.trial.style == Style::Shells && self.dice.roll(2) > 0 {
            return Some(Answer::from(child.wait_with_output().unwrap()));
        }
        let (output, died) = self.dice.kill(child);
        self.trial.deaths.fetch_add(u32::from(died), Ordering::SeqCst);
        (!died).then(|| Answer::from(output))
    }
}

#[test]
fn agents_that_die_lose_no_work() {
    trial(Style::Short);
}

#[test]
fn agents_in_shells_of_their_own_lose_no_work() {
    trial(Style::Shells);
}

#[test]
fn agents_with_the_long_commands_lose_no_work() {
    trial(Style::Long);
}
