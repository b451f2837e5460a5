//! Questions about issues as whole commands, against `git status` of the same repository: both have to look at
//! every file once. Repositories have a thousand, ten thousand and a hundred thousand issues.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::process::{command, shipped, succeed};
use crate::row::{Aim, Row};
use crate::stats::Spread;
use crate::tracker::{Sample, generate};

const ROUNDS: usize = 15;
const FEW_ROUNDS: usize = 5;
const SMALL: (usize, &str) = (1_000, "1 k");
const MIDDLE: (usize, &str) = (10_000, "10 k");
const LARGE: (usize, &str) = (100_000, "100 k");

const STATUS_AT_MOST: f64 = 1.0;
const REMEMBERED_AT_MOST: f64 = 0.3;
const GROWTH_AT_MOST: f64 = 12.0;
const WRITE_AT_MOST: f64 = 1.2;
const DONE_AT_MOST: f64 = 3.0;
const COLD_AT_MOST: f64 = 2.0;
const VALIDATE_AT_MOST: f64 = 3.0;
const MEMORY_AT_MOST: u64 = 100 << 20;

/// Where a Linux machine can be told to forget what it has read; only its administrator may.
const FORGET: &str = "/proc/sys/vm/drop_caches";

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let small = Repository::new(ground, SMALL)?;
    let middle = Repository::new(ground, MIDDLE)?;
    let large = Repository::new(ground, LARGE)?;
    let mut rows = Vec::new();
    for repository in [&middle, &large] {
        for question in LISTS {
            rows.push(warm(repository, question, REMEMBERED_AT_MOST)?);
        }
    }
    for question in middle.questions() {
        rows.push(warm(&middle, &question, STATUS_AT_MOST)?);
    }
    for (question, larger) in middle.questions().into_iter().zip(large.questions()) {
        rows.push(growth((&middle, question.as_slice()), (&large, larger.as_slice()))?);
    }
    rows.extend(writes(&small, &large)?);
    for repository in [&middle, &large] {
        rows.extend(linked(repository)?);
    }
    rows.push(compare(
        ("validate all, 10 k issues", "query all"),
        ROUNDS,
        [middle.asking(&["query", "all"]), middle.asking(&["validate", "all"])],
        VALIDATE_AT_MOST,
    )?);
    rows.push(cold(ground, &middle)?);
    for question in
        [&["query", "available"][..], &["issue", "list"], &["issue", "list", "--json"], &["search", "parser"]]
    {
        rows.push(memory(&large, (&large.at, ""), question)?);
    }
    let linked = (&*large.linked(), " in a linked worktree");
    for question in [&["query", "available"][..], &["issue", "list"], &["issue", "list", "--json"]] {
        rows.push(memory(&large, linked, question)?);
    }
    Ok(rows)
}

/// The questions that need no more of an issue than is remembered of it.
const LISTS: [&[&str]; 4] = [&["query", "available"], &["status"], &["prime"], &["claim", "next"]];

/// A repository that issues are tracked in.
struct Repository {
    program: PathBuf,
    at: PathBuf,
    size: &'static str,
    sample: Sample,
}

impl Repository {
    fn new(ground: &Ground, (count, size): (usize, &'static str)) -> Result<Self, Failure> {
        eprintln!("making {size} issues …");
        let at = ground.folder(size)?;
        let program = shipped(ground, "jit")?;
        succeed(git(&at).args(["init", "-q", "-b", "main"]))?;
        let sample = generate(&at, count)?;
        let made = Self { program, at, size, sample };
        succeed(&mut made.jit(&["-q", "init"]))?;
        succeed(git(&made.at).args(["add", "-A"]))?;
        succeed(git(&made.at).args(["commit", "-qm", "issues"]))?;
        succeed(git(&made.at).args(["gc", "-q"]))?;
        succeed(git(&made.at).arg("status"))?;
        // The first write makes the control plane, in which it is remembered what was read.
        succeed(&mut made.jit(&[
            "-q",
            "claim",
            "acquire",
            &made.sample.open,
            "--ttl",
            "0",
            "--reason",
            "it is measured",
        ]))?;
        succeed(&mut made.jit(&["-q", "query", "available"]))?;
        Ok(made)
    }

    fn jit(&self, args: &[&str]) -> Command {
        jit(&self.program, &self.at, args)
    }

    /// Where its linked worktree is.
    fn linked(&self) -> PathBuf {
        self.at.with_extension("linked")
    }

    fn asking<'a>(&'a self, args: &'a [&'a str]) -> Contender<'a> {
        Box::new(move || timed(|| succeed(&mut self.jit(args))))
    }

    fn status(&self) -> Contender<'_> {
        Box::new(|| timed(|| succeed(git(&self.at).arg("status"))))
    }

    fn questions(&self) -> Vec<Vec<&str>> {
        let prefix = self.sample.one.get(..20).unwrap_or(&self.sample.one);
        vec![
            vec!["query", "all"],
            vec!["issue", "list"],
            vec!["search", "parser"],
            vec!["issue", "show", prefix],
        ]
    }
}

fn jit(program: &Path, at: &Path, args: &[&str]) -> Command {
    let mut command = command(program, at);
    command.env("JIT_AGENT_ID", "agent:measured").env("JIT_CONFIG_HOME", at).args(args);
    command
}

fn git(at: &Path) -> Command {
    let mut command = command("git", at);
    // What git tidies on its own, behind the back of a commit, would be measured as well.
    command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
    for (name, value) in [("NAME", "measured"), ("EMAIL", "measured@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    command
}

/// The question without what differs from one repository to the next.
fn name(question: &[&str]) -> String {
    question.iter().take(2).copied().collect::<Vec<_>>().join(" ")
}

fn warm(repository: &Repository, question: &[&str], at_most: f64) -> Result<Row, Failure> {
    compare(
        (&format!("{}, {} issues", name(question), repository.size), "git status"),
        ROUNDS,
        [repository.status(), repository.asking(question)],
        at_most,
    )
}

fn growth(fewer: (&Repository, &[&str]), more: (&Repository, &[&str])) -> Result<Row, Failure> {
    compare(
        (&format!("{}, {} issues", name(more.1), more.0.size), fewer.0.size),
        FEW_ROUNDS,
        [fewer.0.asking(fewer.1), more.0.asking(more.1)],
        GROWTH_AT_MOST,
    )
}

/// Making and changing one issue must not depend on how many there are.
fn writes(small: &Repository, large: &Repository) -> Result<Vec<Row>, Failure> {
    let create = ["issue", "create", "--title", "Measured"];
    let mut rows = vec![compare(
        ("issue create, 100 k issues", small.size),
        ROUNDS,
        [small.asking(&create), large.asking(&create)],
        WRITE_AT_MOST,
    )?];
    let Sample { open, done, .. } = &large.sample;
    succeed(&mut large.jit(&["claim", "acquire", done, "--ttl", "0", "--reason", "it is measured"]))?;
    rows.push(compare(
        ("issue update, 100 k issues", small.size),
        ROUNDS,
        [updating(small, &small.sample.open), updating(large, open)],
        WRITE_AT_MOST,
    )?);
    // Whether a finished one has landed is for the commit to say, and git's list of 100 k names is read for it.
    let path = format!("HEAD:.jit/issues/{done}/issue.json");
    rows.push(compare(
        ("issue update of one that is done, 100 k issues", "git rev-parse of its file"),
        ROUNDS,
        [
            Box::new(|| timed(|| succeed(git(&large.at).args(["rev-parse", "-q", &path])))),
            updating(large, done),
        ],
        DONE_AT_MOST,
    )?);
    Ok(rows)
}

fn updating<'a>(repository: &'a Repository, id: &'a str) -> Contender<'a> {
    let mut number = 0;
    Box::new(move || {
        number += 1;
        let title = format!("Changed for the {number}th time");
        timed(|| succeed(&mut repository.jit(&["issue", "update", id, "--title", &title])))
    })
}

/// The same questions in a linked worktree, which has to look at the files of the main one as well.
fn linked(repository: &Repository) -> Result<Vec<Row>, Failure> {
    let at = repository.linked();
    succeed(git(&repository.at).args(["worktree", "add", "-q", "-b", "linked"]).arg(&at))?;
    succeed(&mut jit(&repository.program, &at, &["-q", "init"]))?;
    succeed(git(&at).arg("status"))?;
    succeed(&mut jit(&repository.program, &at, &["-q", "query", "available"]))?;
    let mut rows = Vec::new();
    for question in LISTS {
        let there: Contender<'_> =
            Box::new(|| timed(|| succeed(&mut jit(&repository.program, &at, question))));
        let status: Contender<'_> = Box::new(|| timed(|| succeed(git(&at).arg("status"))));
        let work = format!("{} in a linked worktree, {} issues", name(question), repository.size);
        rows.push(compare((&work, "git status there"), ROUNDS, [status, there], REMEMBERED_AT_MOST)?);
    }
    Ok(rows)
}

/// The first question after a clone, with nothing of it in memory where the machine lets us forget.
fn cold(ground: &Ground, repository: &Repository) -> Result<Row, Failure> {
    let clones = ground.folder("clones")?;
    let mut number = 0;
    let mut fresh = || -> Result<PathBuf, Failure> {
        number += 1;
        let at = clones.join(number.to_string());
        succeed(git(&repository.at).args(["clone", "-q", "."]).arg(&at))?;
        succeed(command("sync", &clones).arg("--file-system").arg(&clones))?;
        // Only an administrator may; the row says which of both it was.
        let _ = std::fs::write(FORGET, "3");
        Ok(at)
    };
    let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
    let [status, ours] = &mut times;
    for _ in 0..FEW_ROUNDS {
        let at = fresh()?;
        status.push(timed(|| succeed(git(&at).arg("status")))?);
        let at = fresh()?;
        ours.push(timed(|| succeed(&mut jit(&repository.program, &at, &["query", "available"])))?);
    }
    let forgets = std::fs::OpenOptions::new().write(true).open(FORGET).is_ok();
    let how = if forgets { "nothing in memory" } else { "files still in memory" };
    row((&format!("query available after a clone, 10 k issues, {how}"), "git status"), &times, COLD_AT_MOST)
}

/// The most memory that a command had at once in a worktree.
fn memory(repository: &Repository, (at, named): (&Path, &str), question: &[&str]) -> Result<Row, Failure> {
    let mut child = jit(&repository.program, at, question).stderr(Stdio::null()).spawn()?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut most = 0;
    while child.try_wait()?.is_none() {
        // The system keeps the highest figure, so the last look before the end tells.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) << 10);
        std::thread::yield_now();
    }
    Ok(Row {
        work: format!("memory of {}{named}, {} issues", question.join(" "), repository.size),
        peer: "–".into(),
        ours: format!("{} MB", most >> 20),
        ratio: None,
        aim: Aim::bound("< 100 MB", most > 0 && most < MEMORY_AT_MOST),
    })
}

fn compare(
    names: (&str, &str),
    count: usize,
    mut contenders: [Contender<'_>; 2],
    at_most: f64,
) -> Result<Row, Failure> {
    row(names, &rounds(count, &mut contenders)?, at_most)
}

fn row((work, peer): (&str, &str), times: &[Vec<Duration>], at_most: f64) -> Result<Row, Failure> {
    let row = || {
        let [peers, ours] = times else { return None };
        let ratio = Spread::of_ratios(ours, peers)?;
        Some(Row::of_times(work, (peer, Spread::of_times(peers)?), Spread::of_times(ours)?, ratio, at_most))
    };
    row().ok_or_else(|| "nothing was measured".into())
}
