//! `cargo xtask soak --hours N`: the trials with real programs and the simulator, one after the other and again with other
//! seeds, until the time is over. Agents work, are killed and stopped, disks and servers fail, on every engine. The result is
//! kept in `spec/track-record.md`.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::child::Child;
use crate::report::Outcome;
use crate::suite::{steps::first_seed, tally};
use crate::{package, programs};

const PAGE: &str = "spec/track-record.md";
const HEADING: &str = "## The last soak\n";

/// What is tried in turn, and which tests that is.
const TRIALS: [(&str, &str); 6] = [
    (
        "agents that claim, work, land and are killed",
        "package(holdfast-jit) and test(/^(trials|crowd|kill|dispatch)::/)",
    ),
    (
        "several clones on a git server and on etcd",
        "package(holdfast-jit) and test(/^(machine_trials|machines|etcd)::/)",
    ),
    ("failing disks and signals", "package(holdfast-jit) and test(/^(faults|run_faults|power|cuts)::/)"),
    ("media and registers that fail", "package(holdfast-remote) or (package(holdfast-store) and kind(test))"),
    (
        "jvs and kc_cli killed and cut off",
        "(package(holdfast-jvs) or package(holdfast-kc)) and test(/kill|power|faults|race|crash/)",
    ),
    ("ic under stress", "package(holdfast-ic) and test(/stress|turns|shells/)"),
];

/// Seeds of the simulator in each round.
const SEEDS: u64 = 5_000;

/// What was seen until now.
#[derive(Debug, Default)]
struct Tally {
    rounds: u64,
    passed: usize,
    failed: usize,
    runs: u64,
    notes: Vec<String>,
}

/// Goes on for so many minutes, then writes down how it went.
#[must_use]
pub fn run(root: &Path, minutes: u32) -> bool {
    let Some(simulator) = programs::to_test(root, "holdfast-sim") else { return false };
    if !Child::linting_cargo(root, &["nextest", "run", "--workspace", "--all-features", "--no-run"]).run().ok
    {
        return false;
    }
    let (start, length) = (Instant::now(), Duration::from_secs(u64::from(minutes) * 60));
    let mut seen = Tally::default();
    let mut seed = u64::from(first_seed(root));
    while start.elapsed() < length {
        for (name, which) in TRIALS {
            if start.elapsed() >= length {
                break;
            }
            trial(root, name, which, seed, &mut seen);
        }
        simulate(root, &simulator, seed, &mut seen);
        seen.rounds += 1;
        seed += SEEDS;
    }
    let text = told(root, &seen, start.elapsed());
    println!("{text}");
    let kept = keep(root, &text);
    if let Err(why) = &kept {
        eprintln!("{why}");
    }
    kept.is_ok() && seen.failed == 0
}

fn trial(root: &Path, name: &str, which: &str, seed: u64, seen: &mut Tally) {
    let words = [
        "nextest",
        "run",
        "--workspace",
        "--all-features",
        "--no-fail-fast",
        "--status-level=fail",
        "-E",
        which,
    ];
    let ended = Child::linting_cargo(root, &words).env("HOLDFAST_FIRST_SEED", &seed.to_string()).run();
    if let Outcome::Ran { passed, failed, note } = tally::outcome(&ended) {
        seen.passed += passed;
        seen.failed += failed;
        if failed > 0 {
            seen.notes.push(
                format!("{name} with HOLDFAST_FIRST_SEED={seed}: {failed} failed {note}")
                    .trim_end()
                    .to_owned(),
            );
        }
    }
}

fn simulate(root: &Path, simulator: &str, seed: u64, seen: &mut Tally) {
    let (seeds, start) = (SEEDS.to_string(), seed.to_string());
    let ended = Child::new(root, simulator, &["random", "--seeds", &seeds, "--start", &start]).run();
    let last = ended.out.lines().last().unwrap_or("it did not come to its end").to_owned();
    let runs = last.split_whitespace().find_map(|word| word.replace(',', "").parse::<u64>().ok());
    seen.runs += runs.unwrap_or(0);
    if !ended.ok {
        seen.failed += 1;
        seen.notes.push(format!("simulation from seed {seed}: {last}"));
    }
}

fn told(root: &Path, seen: &Tally, took: Duration) -> String {
    let commit = Child::new(root, "git", &["log", "-1", "--format=%h of %cs"]).quiet().run().out;
    let mut text = format!(
        "`cargo xtask soak` on {}, for {} minutes: {} rounds, {} tests passed, {} failed, {} simulated runs.\n",
        commit.trim(),
        took.as_secs() / 60,
        seen.rounds,
        seen.passed,
        seen.failed,
        seen.runs
    );
    for note in &seen.notes {
        text.push_str(&format!("- {note}\n"));
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
}
