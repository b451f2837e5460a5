//! Making and changing issues as whole commands, one and many at once: against the least that the same files can cost, and
//! against git, which has to look at each of them too. And what a claim of somebody else has to wait for meanwhile.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{Floor, command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::{Spread, time};
use crate::tracker::exported;

const ROUNDS: usize = 61;
const FEW_ROUNDS: usize = 5;
const ISSUES: usize = 10_000;
const CHANGED: usize = 1_000;
const LABELS: usize = 20_000;

const CREATE_AT_MOST: f64 = 2.0;
const IMPORT_AT_MOST: f64 = 10.0;
const LABELS_AT_MOST: f64 = 2.0;
const BESIDE_AT_MOST: f64 = 1.2;

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let mut rows = vec![create(ground)?, import(ground)?, update(ground)?];
    rows.extend(labels(ground)?);
    Ok(rows)
}

/// A repository in which issues are tracked.
struct Repository {
    program: PathBuf,
    at: PathBuf,
}

impl Repository {
    fn new(ground: &Ground, name: &str) -> Result<Self, Failure> {
        let made = Self { program: shipped(ground, "jit")?, at: ground.folder(name)? };
        succeed(command("git", &made.at).args(["init", "-q", "-b", "main"]))?;
        succeed(made.jit("measured").args(["-q", "init"]))?;
        Ok(made)
    }

    fn jit(&self, who: &str) -> Command {
        let mut command = command(&self.program, &self.at);
        command.env("JIT_AGENT_ID", format!("agent:{who}")).env("JIT_CONFIG_HOME", &self.at);
        command
    }

    /// Makes an issue, and says which.
    fn issue(&self) -> Result<String, Failure> {
        let mut create = self.jit("measured");
        let create = create.args(["-q", "issue", "create", "--title", "Measured"]).stdout(Stdio::piped());
        Ok(String::from_utf8(create.output()?.stdout)?.trim().to_owned())
    }
}

/// The floor is a process that puts one durable file in its place.
fn create(ground: &Ground) -> Result<Row, Failure> {
    let repository = Repository::new(ground, "create")?;
    let (floor, at) = (Floor::new(ground)?, ground.folder("replaced")?);
    let text = vec![b'x'; 400];
    let mut number = 0;
    let least: Contender<'_> = Box::new(|| {
        number += 1;
        let (beside, place) = (at.join("beside"), at.join(number.to_string()));
        let process = floor.process()?;
        let written = timed(|| {
            let mut file = File::create(&beside)?;
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&beside, &place)?;
            Ok(File::open(&at)?.sync_all()?)
        })?;
        Ok(process + written)
    });
    let ours: Contender<'_> = Box::new(|| {
        timed(|| succeed(repository.jit("measured").args(["issue", "create", "--title", "Measured"])))
    });
    let times = rounds(ROUNDS, &mut [least, ours])?;
    compared(("issue create", "an empty process + write, fsync, rename, fsync"), &times, CREATE_AT_MOST)
}

/// Many issues at once, against what git needs to take them up.
fn import(ground: &Ground) -> Result<Row, Failure> {
    let lines = ground.folder("lines")?.join("issues.jsonl");
    std::fs::write(&lines, exported(ISSUES))?;
    let mut times = [Vec::new(), Vec::new()];
    let [git, ours] = &mut times;
    for round in 0..FEW_ROUNDS {
        let repository = Repository::new(ground, &format!("import-{round}"))?;
        ours.push(timed(|| succeed(repository.jit("measured").arg("import").arg(&lines)))?);
        git.push(timed(|| succeed(command("git", &repository.at).args(["add", ".jit"])))?);
        std::fs::remove_dir_all(&repository.at)?;
    }
    compared(("import of 10 k issues", "git add of their files"), &times, IMPORT_AT_MOST)
}

/// One change of many issues, against what git needs to take it up.
fn update(ground: &Ground) -> Result<Row, Failure> {
    let repository = Repository::new(ground, "update")?;
    succeed(repository.jit("measured").args(["-q", "config", "set", "worktree.enforce_leases", "off"]))?;
    let lines = repository.at.join("issues.jsonl");
    std::fs::write(&lines, exported(CHANGED))?;
    succeed(repository.jit("measured").arg("-q").arg("import").arg(&lines))?;
    let names = std::fs::read_dir(repository.at.join(".jit/issues"))?;
    let ids: Result<Vec<_>, std::io::Error> = names.map(|entry| Ok(entry?.file_name())).collect();
    let ids = ids?;
    let mut times = [Vec::new(), Vec::new()];
    let [git, ours] = &mut times;
    for round in 0..FEW_ROUNDS {
        succeed(command("git", &repository.at).args(["add", ".jit"]))?;
        let priority = if round.is_multiple_of(2) { "high" } else { "low" };
        let mut update = repository.jit("measured");
        update.args(["-q", "issue", "update"]).args(&ids).args(["--priority", priority]);
        ours.push(timed(|| succeed(&mut update))?);
        git.push(timed(|| succeed(command("git", &repository.at).args(["add", ".jit"])))?);
    }
    compared(("issue update of 1 k issues", "git add of their files"), &times, IMPORT_AT_MOST)
}

/// An update with many labels, and a claim of somebody else beside it.
fn labels(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let repository = Repository::new(ground, "labels")?;
    let other = repository.issue()?;
    let (mut updates, mut alone, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS / 3 {
        let large = repository.issue()?;
        succeed(repository.jit("measured").args(["claim", "acquire", &large]))?;
        alone.push(claim(&repository, &other)?);
        let start = Instant::now();
        let mut update = labelling(&repository, &large)?;
        // The labels have to be read before they can be in anybody's way.
        until(|| has_begun(&repository.at, &large), &mut update)?;
        beside.push(claim(&repository, &other)?);
        if !update.wait()?.success() {
            return Err("the labels were not added".into());
        }
        updates.push(start.elapsed());
    }
    let took = Spread::of_times(&updates).ok_or("nothing was measured")?;
    Ok(vec![
        Row {
            work: "issue update with 20 k labels".into(),
            peer: "–".into(),
            ours: time(took.middle),
            ratio: None,
            aim: Aim::bound(format!("< {LABELS_AT_MOST} s"), took.middle < LABELS_AT_MOST),
        },
        compared(
            ("claim acquire beside an update with 20 k labels", "alone"),
            &[alone, beside],
            BESIDE_AT_MOST,
        )?,
    ])
}

/// How long a claim of somebody who has nothing to do with it takes.
fn claim(repository: &Repository, issue: &str) -> Result<Duration, Failure> {
    let took = timed(|| succeed(repository.jit("other").args(["claim", "acquire", issue])))?;
    succeed(repository.jit("other").args(["claim", "release", issue]))?;
    Ok(took)
}

fn labelling(repository: &Repository, issue: &str) -> Result<Child, Failure> {
    let mut update = repository.jit("measured");
    update.args(["-q", "issue", "update", issue]);
    let all: Vec<String> = (0..LABELS).map(|number| format!("label-{number:05}")).collect();
    // One argument has an end before all of them have.
    for some in all.chunks(5_000) {
        update.arg("--label").arg(some.join(","));
    }
    Ok(update.spawn()?)
}

/// Whether somebody holds the lock of an issue.
fn has_begun(at: &Path, issue: &str) -> bool {
    let name = format!(".git/jit/locks/issue-{}.lock", issue.get(24..).unwrap_or_default());
    let Ok(lock) = File::open(at.join(name)) else { return false };
    lock.try_lock_shared().is_err()
}

fn until(is_so: impl Fn() -> bool, child: &mut Child) -> Result<(), Failure> {
    while !is_so() && child.try_wait()?.is_none() {
        std::thread::yield_now();
    }
    Ok(())
}

fn compared((work, peer): (&str, &str), times: &[Vec<Duration>], at_most: f64) -> Result<Row, Failure> {
    let row = || {
        let [peers, ours] = times else { return None };
        let ratio = Spread::of_ratios(ours, peers)?;
        Some(Row::of_times(work, (peer, Spread::of_times(peers)?), Spread::of_times(ours)?, ratio, at_most))
    };
    row().ok_or_else(|| "nothing was measured".into())
}
