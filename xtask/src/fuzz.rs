//! Builds and runs the fuzz targets with plain stable Rust: coverage is a pass of the compiler, and the
//! fuzzer itself is a crate that needs a C++ compiler. Safe code needs no sanitizer beside that.

use std::path::{Path, PathBuf};

use crate::args::Hunt;
use crate::child::{self, Child, is_there};
use crate::report::Outcome;

/// What makes the compiler count edges and comparisons for the fuzzer, with every assertion on.
const FLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks --cfg fuzzing";

/// The longest input, and how long one may take before it counts as a hang.
const BOUNDS: [&str; 4] = ["-max_len=16384", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"];

/// Where the targets are.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join("fuzz")
}

/// The step of the test command: lints the targets, builds them, runs each for a while.
pub(crate) fn step(root: &Path, seconds: Option<u32>) -> Outcome {
    let Some(seconds) = seconds else {
        return Outcome::skipped("only in a long run; the tests of crates/hostile change the same seeds");
    };
    if !is_there("c++") {
        return Outcome::skipped("the fuzzer needs a C++ compiler: apt-get install g++");
    }
    let fuzzer = match Fuzzer::build(root) {
        Ok(fuzzer) => fuzzer,
        Err(why) => return Outcome::one(false, why),
    };
    let hunts: Vec<bool> = fuzzer.targets.iter().map(|target| fuzzer.hunt(target, seconds)).collect();
    let passed = hunts.iter().filter(|ok| **ok).count();
    let note = format!("{passed} targets, {seconds} s each, and their lints");
    Outcome::Ran { passed: passed + 1, failed: hunts.len() - passed, note }
}

/// A hunt that somebody asked for by name.
#[must_use]
pub fn hunt(root: &Path, wanted: &Hunt) -> bool {
    let fuzzer = match Fuzzer::build(root) {
        Ok(fuzzer) => fuzzer,
        Err(why) => {
            eprintln!("{why}");
            return false;
        }
    };
    if let Some(target) = wanted.target.as_ref().filter(|target| !fuzzer.targets.contains(target)) {
        eprintln!("there is no target {target}; there are: {}", fuzzer.targets.join(", "));
        return false;
    }
    if let (Some(target), Some(input)) = (&wanted.target, &wanted.input) {
        return fuzzer.replay(target, input);
    }
    let chosen =
        fuzzer.targets.iter().filter(|target| wanted.target.as_ref().is_none_or(|want| want == *target));
    let found: Vec<&String> = chosen.filter(|target| !fuzzer.hunt(target, wanted.seconds)).collect();
    found.is_empty()
}

/// The targets, built.
struct Fuzzer {
    root: PathBuf,
    programs: PathBuf,
    targets: Vec<String>,
}

impl Fuzzer {
    fn build(root: &Path) -> Result<Self, String> {
        let targets = targets(root)?;
        let host = host(root).ok_or("rustc does not say for which machine it builds")?;
        let words = ["build", "--release", "--all-targets", "--target", &host];
        if !Child::linting_cargo(&folder(root), &words).env("RUSTFLAGS", FLAGS).run().ok {
            return Err("the fuzz targets do not build or do not pass their lints".into());
        }
        let programs = folder(root).join("target").join(host).join("release");
        Ok(Self { root: root.to_path_buf(), programs, targets })
    }

    /// Runs one target from its seeds on, for so many seconds. What it learns goes into an ignored folder.
    fn hunt(&self, target: &str, seconds: u32) -> bool {
        let corpus = folder(&self.root).join("corpus").join(target);
        let artifacts = folder(&self.root).join("artifacts").join(target);
        for folder in [&corpus, &artifacts] {
            if let Err(why) = std::fs::create_dir_all(folder) {
                eprintln!("cannot make {}: {why}", folder.display());
                return false;
            }
        }
        let time = format!("-max_total_time={seconds}");
        let prefix = format!("-artifact_prefix=fuzz/artifacts/{target}/");
        let folders = [format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}")];
        let mut words = vec![time.as_str(), &prefix];
        words.extend(BOUNDS);
        words.extend(folders.iter().map(String::as_str));
        let ended = self.program(target, &words).quiet().run();
        child::say(&format!("{target}: {}", summary(&ended.err)));
        if !ended.ok {
            eprintln!("{}", ended.err);
        }
        ended.ok
    }

    fn replay(&self, target: &str, input: &str) -> bool {
        self.program(target, &[input]).run().ok
    }

    fn program(&self, target: &str, words: &[&str]) -> Child {
        Child::new(&self.root, &self.programs.join(target).to_string_lossy(), words)
    }
}

/// What libFuzzer prints at its end: how much it ran.
fn summary(output: &str) -> String {
    let runs = output.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    runs.map_or_else(|| "it did not come to its end".into(), |runs| format!("{} runs", runs.trim()))
}

/// The names of the targets, from the manifest that cargo builds them by.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let path = folder(root).join("Cargo.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
    let manifest: toml::Table = text.parse().map_err(|why| format!("fuzz/Cargo.toml: {why}"))?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |bin: &toml::Value| bin.get("name").and_then(toml::Value::as_str).map(Into::into);
    Ok(bins.iter().filter_map(name).collect())
}

/// The machine that rustc builds for. Named in the build so that the flags leave build scripts alone.
fn host(root: &Path) -> Option<String> {
    let about = Child::new(root, "rustc", &["-vV"]).quiet().run().out;
    about.lines().find_map(|line| line.strip_prefix("host: ")).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_a_line_in_its_page() {
        let root = crate::repository::root();
        let page = std::fs::read_to_string(folder(&root).join("README.md")).unwrap();
        let targets = targets(&root).unwrap();
        assert!(!targets.is_empty());
        for target in targets {
            let seeds = std::fs::read_dir(folder(&root).join("seeds").join(&target)).unwrap().count();
            assert!(seeds > 0, "{target} has no seeds");
            assert!(page.contains(&format!("| `{target}` |")), "fuzz/README.md does not explain {target}");
        }
    }

    #[test]
    fn a_target_that_stopped_early_is_told_from_one_that_ran() {
        assert_eq!(summary("x\nstat::number_of_executed_units: 12\n"), "12 runs");
        assert_eq!(summary("panicked"), "it did not come to its end");
    }
}
