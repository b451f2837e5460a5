//! Sixty-four processes at once on one log of claims, and on one repository: against as many that do nothing but take a
//! lock, append and flush.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::fixture::{Worker, handle};
use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, rate};

const PROCESSES: usize = 64;
const ROUNDS: usize = 7;
/// How many records each process writes in a round: half of them claims, half of them releases.
const RECORDS: usize = 20;
/// How many records each writes that is a command of its own.
const COMMANDS: usize = 4;
const AT_LEAST: f64 = 0.7;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let append = shipped(ground, "append")?;
    let rows = [loops(ground, &append)?, commands(ground, &append)?];
    rows.into_iter().collect::<Option<Vec<Row>>>().ok_or_else(|| "nothing was measured".into())
}

/// Takes something and gives it back in the log in `folder`, half as often as it is told.
///
/// # Errors
/// When that is not possible.
pub fn work(folder: &Path, times: usize, number: usize) -> Result<(), Failure> {
    let (worker, log) = (Worker::new(number)?, handle(folder));
    (0..times / 2).try_for_each(|_| worker.acquire_and_release(&log))
}

/// Processes that go on and on.
fn loops(ground: &Ground, append: &Path) -> Result<Option<Row>, Failure> {
    let claims = shipped(ground, "claims")?;
    let (bare, log) = (ground.folder("bare")?, ground.folder("log")?);
    let start = |program: &Path, at: &Path, number: usize| {
        let mut command = command(program, at);
        command.arg(at).arg(RECORDS.to_string()).arg(number.to_string());
        command
    };
    let floor: Contender<'_> = Box::new(|| together(|number| vec![start(append, &bare, number)]));
    let ours: Contender<'_> = Box::new(|| together(|number| vec![start(&claims, &log, number)]));
    let times = rounds(ROUNDS, &mut [floor, ours])?;
    Ok(row("claims and releases of 64 processes on one log", "lock, append, fdatasync", &times, RECORDS))
}

/// Processes that are one command each, one after the other in each of many shells.
fn commands(ground: &Ground, append: &Path) -> Result<Option<Row>, Failure> {
    let (bare, at, program) =
        (ground.folder("commands")?, ground.folder("repository")?, shipped(ground, "jit")?);
    succeed(command("git", &at).args(["init", "-q"]))?;
    let jit = |number: usize, args: &[&str]| {
        let mut command = command(&program, &at);
        command.env("JIT_AGENT_ID", format!("agent:{number}")).env("JIT_CONFIG_HOME", &at).args(args);
        command
    };
    succeed(&mut jit(0, &["-q", "init"]))?;
    let issues: Result<Vec<String>, Failure> = (0..PROCESSES)
        .map(|_| {
            let mut create = jit(0, &["-q", "issue", "create", "--title", "Measured"]);
            let said = create.stdout(std::process::Stdio::piped()).output()?.stdout;
            Ok(String::from_utf8(said)?.trim().to_owned())
        })
        .collect();
    let issues = issues?;
    let once = |_: usize| -> Vec<Command> {
        let one = || {
            let mut command = command(append, &bare);
            command.arg(&bare).arg("1");
            command
        };
        (0..COMMANDS).map(|_| one()).collect()
    };
    let floor: Contender<'_> = Box::new(|| together(once));
    let ours: Contender<'_> = Box::new(|| {
        together(|number| {
            let issue = issues.get(number).map_or("", String::as_str);
            let verb = |turn: usize| if turn.is_multiple_of(2) { "acquire" } else { "release" };
            (0..COMMANDS).map(|turn| jit(number, &["claim", verb(turn), issue])).collect()
        })
    });
    let times = rounds(ROUNDS, &mut [floor, ours])?;
    let peer = "a process: lock, append, fdatasync";
    Ok(row("jit claim acquire and release, 64 at once", peer, &times, COMMANDS))
}

/// How long it takes until all processes have run their commands, each one after the other.
fn together(commands: impl Fn(usize) -> Vec<Command>) -> Result<Duration, Failure> {
    let all: Vec<Vec<Command>> = (0..PROCESSES).map(commands).collect();
    timed(|| {
        std::thread::scope(|scope| {
            let run = |commands: Vec<Command>| {
                scope.spawn(move || commands.into_iter().try_for_each(|mut command| succeed(&mut command)))
            };
            let threads: Vec<_> = all.into_iter().map(run).collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| "a process was not waited for")?)
        })
    })
}

fn row(work: &str, peer: &str, times: &[Vec<Duration>], records: usize) -> Option<Row> {
    let [floor, ours] = times else { return None };
    let per_second =
        |times: &[Duration]| Some((PROCESSES * records) as f64 / Spread::of_times(times)?.middle);
    // Of rates, not of times: ours by theirs.
    let ratio = Spread::of_ratios(floor, ours)?;
    Some(Row {
        work: work.into(),
        peer: format!("{peer} {}", rate(per_second(floor)?)),
        ours: rate(per_second(ours)?),
        ratio: Some(ratio),
        aim: Aim::bound(format!("≥ {AT_LEAST}×"), ratio.middle >= AT_LEAST),
    })
}
