//! `jit claim acquire` and `release` as whole commands: against the least that a process with one durable
//! record can cost, and with a million records behind them against ten.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use holdfast_store::log::{Log, Paths, Settings, Words};
use holdfast_sys::Sys;

use crate::fixture::fill_log;
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{Floor, command, shipped, succeed};
use crate::row::Row;
use crate::stats::Spread;

const ROUNDS: usize = 61;
const AT_MOST: f64 = 2.0;
const DEEP_AT_MOST: f64 = 1.1;
const VERSION_AT_MOST: f64 = 1.5;

/// What the program calls things in its log: a log that was filled under other names is refused by it.
const WORDS: Words =
    Words { resource: "issue_id", agent: "agent_id", place: "worktree_id", tags: &["branch"] };

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let shallow = Tracker::new(ground, "ten", 10)?;
    let deep = Tracker::new(ground, "million", 1_000_000)?;
    let mut floor = Floor::new(ground)?;
    let mut contenders = vec![floor.contender()];
    for tracker in [&shallow, &deep] {
        contenders.push(tracker.acquiring());
        contenders.push(tracker.releasing());
    }
    let times = rounds(ROUNDS, &mut contenders)?;
    drop(contenders);
    let mut rows = rows(&times).ok_or("nothing was measured")?;

    let start: Contender<'_> = Box::new(|| floor.process());
    let version: Contender<'_> =
        Box::new(|| timed(|| succeed(command(&shallow.program, &shallow.at).arg("--version"))));
    let times = rounds(ROUNDS, &mut [start, version])?;
    let [empty, version] = times.as_slice() else { return Err("nothing was measured".into()) };
    rows.extend(row("jit --version", ("an empty Rust program", empty), version, VERSION_AT_MOST));
    Ok(rows)
}

fn rows(times: &[Vec<Duration>]) -> Option<Vec<Row>> {
    let [floor, acquire, release, deep_acquire, deep_release] = times else { return None };
    let under = ("an empty process + append + fdatasync", floor);
    Some(vec![
        row("jit claim acquire", under, acquire, AT_MOST)?,
        row("jit claim release", under, release, AT_MOST)?,
        row("jit claim acquire, 1 M records behind it", ("10 records", acquire), deep_acquire, DEEP_AT_MOST)?,
        row("jit claim release, 1 M records behind it", ("10 records", release), deep_release, DEEP_AT_MOST)?,
    ])
}

fn row(work: &str, peer: (&str, &Vec<Duration>), ours: &[Duration], at_most: f64) -> Option<Row> {
    let (name, peer) = peer;
    let ratio = Spread::of_ratios(ours, peer)?;
    Some(Row::of_times(work, (name, Spread::of_times(peer)?), Spread::of_times(ours)?, ratio, at_most))
}

/// A repository that issues are tracked in, with one issue.
struct Tracker {
    program: PathBuf,
    at: PathBuf,
    issue: String,
}

impl Tracker {
    /// A repository with so many records in the log of its claims.
    fn new(ground: &Ground, name: &str, records: usize) -> Result<Self, Failure> {
        let mut tracker =
            Self { program: shipped(ground, "jit")?, at: ground.folder(name)?, issue: String::new() };
        succeed(command("git", &tracker.at).args(["init", "-q"]))?;
        succeed(tracker.jit(&["init"]).arg("--quiet"))?;
        let created = tracker.jit(&["-q", "issue", "create", "--title", "Measured"]);
        tracker.issue = said(created)?;
        fill_log(&log(&tracker.at.join(".git/jit")), records)?;
        // The projection of what was filled in is caught up with once, not while measuring.
        succeed(&mut tracker.acquire())?;
        succeed(&mut tracker.release())?;
        Ok(tracker)
    }

    fn jit(&self, args: &[&str]) -> Command {
        let mut command = command(&self.program, &self.at);
        command.env("JIT_AGENT_ID", "agent:measured").env("JIT_CONFIG_HOME", &self.at).args(args);
        command
    }

    fn acquire(&self) -> Command {
        self.jit(&["claim", "acquire", &self.issue])
    }

    fn release(&self) -> Command {
        self.jit(&["claim", "release", &self.issue])
    }

    fn acquiring(&self) -> Contender<'_> {
        Box::new(|| {
            let time = timed(|| succeed(&mut self.acquire()))?;
            succeed(&mut self.release())?;
            Ok(time)
        })
    }

    fn releasing(&self) -> Contender<'_> {
        Box::new(|| {
            succeed(&mut self.acquire())?;
            timed(|| succeed(&mut self.release()))
        })
    }
}

/// What a command prints.
fn said(mut command: Command) -> Result<String, Failure> {
    let output = command.stdout(std::process::Stdio::piped()).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn log(control: &Path) -> Log {
    let paths = Paths {
        log: control.join("claims.jsonl"),
        index: control.join("claims.index.json"),
        guard: control.join("locks/claims.lock"),
    };
    Log::new(Sys::os(), paths, Settings { words: WORDS, ..Settings::default() })
}
