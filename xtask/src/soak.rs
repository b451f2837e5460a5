//! `cargo xtask soak`: what is tried with real programs and in the simulator, one after the other and again with other seeds,
//! until the time is over. Agents work, are killed and stopped, disks and servers fail, on every engine. How it went is kept
//! in `spec/track-record.md`, in the place of the soak before.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::child::{Child, Ended};
use crate::report::Outcome;
use crate::suite::tally;
use crate::{package, programs, tools};

const PAGE: &str = "spec/track-record.md";
const HEADING: &str = "## The last soak\n";

/// What is tried, where the claims are kept meanwhile, and which tests that is.
struct Trial {
    what: &'static str,
    engine: &'static str,
    tests: &'static str,
}

const TRIALS: [Trial; 9] = [
    Trial {
        what: "agents that claim, work, land and are killed",
        engine: "the log of a clone",
        tests: "package(holdfast-jit) and test(/^(trials|crowd|kill|race|dispatch|run_steps)::/)",
    },
    Trial {
        what: "agents in several clones that die and sleep",
        engine: "a git server",
        tests: "package(holdfast-jit) and test(/^(machines|clones)::|^machine_trials::agents_(in|who)_/)",
    },
    Trial {
        what: "agents in several clones, and leaders that are killed",
        engine: "etcd",
        tests: "(package(holdfast-jit) and test(/^etcd::|^machine_trials::agents_whose_/)) or \
                (package(holdfast-remote) and binary(etcd))",
    },
    Trial {
        what: "disks that fail or are full, damage, clocks, power",
        engine: "the log of a clone",
        tests: "package(holdfast-jit) and test(/^(faults|run_faults|damage|mending|clock|power|cuts|calls)::/)",
    },
    Trial {
        what: "media and registers that fail",
        engine: "all media, and simulated registers",
        tests: "(package(holdfast-store) and kind(test)) or (package(holdfast-remote) and kind(test) and not binary(etcd))",
    },
    Trial {
        what: "jit, killed and without power at every call",
        engine: "simulated files",
        tests: "package(holdfast-jit) and binary(simulated)",
    },
    Trial {
        what: "jvs, killed, stopped and cut off",
        engine: "records of a worktree",
        tests: "package(holdfast-jvs) and (binary(crash) or test(/^(kill|stopped|steal|shells|clock|tamper)::/))",
    },
    Trial {
        what: "kc_cli, killed and frozen",
        engine: "SQLite",
        tests: "package(holdfast-kc) and test(/^(kill|power|faults|frozen|hostile)::/)",
    },
    Trial {
        what: "ic, with holders that keep dying",
        engine: "lock directories",
        tests: "package(holdfast-ic) and (binary(interleavings) or test(/^(stress|turns|shells)::/))",
    },
];

/// Seeds of the simulator in each round.
const SEEDS: u64 = 2_000;

/// How often something was tried, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    times: u64,
    passed: usize,
    failed: usize,
}

/// What was seen until now.
#[derive(Debug, Default)]
struct Seen {
    /// Of each trial, in their order.
    trials: Vec<Tally>,
    simulated: Tally,
    /// What failed, and what to type to have it again.
    notes: Vec<String>,
}

/// Goes on for so many minutes, then writes down how it went.
#[must_use]
pub fn run(root: &Path, minutes: u32) -> bool {
    match soak(root, minutes) {
        Ok(good) => good,
        Err(why) => {
            eprintln!("{why}");
            false
        }
    }
}

fn soak(root: &Path, minutes: u32) -> Result<bool, String> {
    tools::all_there()?;
    if !tests(root, &["--no-run"]).run().ok {
        return Err(
            "the tests do not build, or cargo-nextest is not installed: cargo install cargo-nextest".into()
        );
    }
    let simulator = programs::target(root).join("debug/holdfast-sim").display().to_string();
    let (commit, start) = (said(root, "git", &["log", "-1", "--format=%h"]), Instant::now());
    let length = Duration::from_secs(u64::from(minutes) * 60);
    let mut seen = Seen { trials: vec![Tally::default(); TRIALS.len()], ..Seen::default() };
    // Two soaks of one commit try different worlds.
    let mut seed = SystemTime::UNIX_EPOCH.elapsed().map_err(|why| why.to_string())?.as_secs();
    // Everything is tried once, however short the time is: what was left out would look like what has passed.
    let is_over = |is_first: bool| !is_first && start.elapsed() >= length;
    let mut is_first = true;
    while !is_over(is_first) {
        for (trial, tally) in TRIALS.iter().zip(&mut seen.trials) {
            if !is_over(is_first) {
                attempt(root, trial, seed, tally, &mut seen.notes);
            }
        }
        if !is_over(is_first) {
            simulate(root, &simulator, seed, &mut seen);
        }
        seed += SEEDS;
        is_first = false;
    }
    let text = told(&headline(root, &commit, minutes, start.elapsed()), &seen);
    println!("{text}");
    keep(root, &text)?;
    Ok(seen.trials.iter().chain([&seen.simulated]).all(|tally| tally.failed == 0))
}

/// Tests as they are built by hand: with what all members of the workspace ask of its dependencies.
fn tests(root: &Path, words: &[&str]) -> Child {
    Child::cargo(root, &[&["nextest", "run", "--workspace"], words].concat()).without("CARGO_INCREMENTAL")
}

fn attempt(root: &Path, trial: &Trial, seed: u64, tally: &mut Tally, notes: &mut Vec<String>) {
    println!("\n=== {}, {}: seed {seed}", trial.what, trial.engine);
    let words = ["--no-fail-fast", "--status-level=fail", "--final-status-level=fail", "-E", trial.tests];
    let ended = tests(root, &words).env("HOLDFAST_FIRST_SEED", &seed.to_string()).run();
    tally.times += 1;
    if let Outcome::Ran { passed, failed, note } = tally::outcome(&ended) {
        tally.passed += passed;
        tally.failed += failed;
        if failed > 0 {
            let which = failures(&ended);
            let which = if which.is_empty() { note } else { which.join(", ") };
            notes.push(format!("{}: {which}, with `HOLDFAST_FIRST_SEED={seed}`", trial.what));
        }
    }
}

/// The tests that failed, each once: `FAIL [   1.2s] (3/9) holdfast-jit::door crowd::many`.
fn failures(ended: &Ended) -> Vec<String> {
    let words = ["FAIL [", "TIMEOUT [", "ABORT [", "SIGKILL [", "SIGSEGV [", "SIGABRT ["];
    let name = |line: &str| {
        let line = line.trim_start();
        let is_failure = words.iter().any(|word| line.starts_with(word));
        is_failure.then(|| format!("`{}`", line.rsplit([' ', ']']).next().unwrap_or(line)))
    };
    let mut names: Vec<String> = ended.err.lines().chain(ended.out.lines()).filter_map(name).collect();
    names.sort();
    names.dedup();
    names
}

fn simulate(root: &Path, simulator: &str, seed: u64, seen: &mut Seen) {
    let (seeds, start) = (SEEDS.to_string(), seed.to_string());
    println!("\n=== the simulator: {seeds} seeds from {start}");
    let ended = Child::new(root, simulator, &["random", "--seeds", &seeds, "--start", &start]).run();
    seen.simulated.times += 1;
    match (ended.ok, runs(&ended.out)) {
        (true, Some(runs)) => seen.simulated.passed += runs,
        (_, runs) => {
            seen.simulated.failed += 1;
            let how = if runs.is_some() { "a promise was broken" } else { ended.how.as_str() };
            seen.notes.push(format!("{how}: `cargo sim random --seeds {seeds} --start {start}`"));
        }
    }
}

/// How many runs the last line tells of: `seed 0 to seed 1999: 8000 runs, 4226074 calls, 0 violations, 14 s`.
fn runs(said: &str) -> Option<usize> {
    let (before, _) = said.lines().rfind(|line| line.contains(" violations, "))?.split_once(" runs, ")?;
    before.rsplit(' ').next()?.parse().ok()
}

fn said(root: &Path, program: &str, words: &[&str]) -> String {
    Child::new(root, program, words).env("LC_ALL", "C").quiet().run().out.trim().to_owned()
}

fn headline(root: &Path, commit: &str, minutes: u32, took: Duration) -> String {
    let day = said(root, "date", &["-u", "+%-d %B %Y"]);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let took = took.as_secs() / 60;
    format!(
        "`cargo xtask soak --minutes {minutes}` on {commit}, {day}: {took} minutes on {processors} processors"
    )
}

fn told(headline: &str, seen: &Seen) -> String {
    let mut text = format!(
        "{headline}.\n\n| what was tried | claims in | times | passed | failed |\n|---|---|---|---|---|\n"
    );
    let rows = TRIALS.iter().map(|trial| (trial.what, trial.engine, "tests")).zip(&seen.trials);
    let simulator = ("random worlds in the simulator", "every medium", "runs");
    for ((what, engine, unit), tally) in rows.chain([(simulator, &seen.simulated)]) {
        let Tally { times, passed, failed } = tally;
        let _ = writeln!(text, "| {what} | {engine} | {times} | {passed} {unit} | {failed} |");
    }
    if !seen.notes.is_empty() {
        text.push('\n');
    }
    for note in &seen.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

/// Puts it in the place of what stood there.
fn keep(root: &Path, text: &str) -> Result<(), String> {
    let path = root.join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    package::write(&path, replaced(&page, text)?.as_bytes())
}

fn replaced(page: &str, text: &str) -> Result<String, String> {
    let (before, after) =
        page.split_once(HEADING).ok_or_else(|| format!("{PAGE} has no `{}`", HEADING.trim()))?;
    let rest = after.find("\n## ").and_then(|at| after.get(at..)).unwrap_or_default();
    Ok(format!("{before}{HEADING}\n{text}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_result_takes_the_place_of_the_one_before() {
        let page = "# Track record\n\n## The last soak\n\nbefore\n\n## Next\n\ntext\n";
        let next = replaced(page, "after\n").unwrap();
        assert_eq!(next, "# Track record\n\n## The last soak\n\nafter\n\n## Next\n\ntext\n");
        assert_eq!(replaced(&next, "after\n").unwrap(), next);
        let last = "# Track record\n\n## The last soak\n";
        assert_eq!(replaced(last, "after\n").unwrap(), "# Track record\n\n## The last soak\n\nafter\n");
        assert!(replaced("# Track record\n", "after\n").is_err());
    }

    #[test]
    fn runs_are_counted_and_not_seeds() {
        let said = "seed 999 reached: 4003 runs, 2139935 calls, 0 violations\n\
                    seed 70 to seed 2069: 8000 runs, 4226074 calls, 0 violations, 14 s\n";
        assert_eq!(runs(said), Some(8_000));
        assert_eq!(
            runs("seed 999 reached: 4003 runs, 2139935 calls, 0 violations\n"),
            None,
            "it was cut off"
        );
        assert_eq!(runs(""), None);
    }

    #[test]
    fn what_failed_is_named_once() {
        let err = "        FAIL [   0.005s] (1/2) holdfast-jit::door crowd::many\n\
                   \x20    TIMEOUT [ 900.000s] (2/2) holdfast-jit::door kill::nine\n\
                   ────────────\n     Summary [   0.1s] 2 tests run: 0 passed, 1 failed, 1 timed out, 0 skipped\n\
                   \x20       FAIL [   0.005s] (1/2) holdfast-jit::door crowd::many\n";
        let ended = Ended { ok: false, how: String::new(), out: String::new(), err: err.into() };
        assert_eq!(failures(&ended), ["`crowd::many`", "`kill::nine`"]);
    }

    #[test]
    fn everything_that_was_tried_and_failed_is_told() {
        let mut seen = Seen { trials: vec![Tally::default(); TRIALS.len()], ..Seen::default() };
        seen.simulated = Tally { times: 2, passed: 16_000, failed: 0 };
        let good = told("today", &seen);
        assert!(good.starts_with("today.\n\n| what") && good.ends_with("| 2 | 16000 runs | 0 |\n"), "{good}");
        assert_eq!(good.lines().count(), 2 + 2 + TRIALS.len() + 1, "{good}");
        seen.notes.push("`many` failed".into());
        assert!(told("today", &seen).ends_with("|\n\n- `many` failed\n"));
    }
}
