//! The benchmarks: built as they would be shipped, with the programs that they run, then asked for their table.

use std::path::Path;

use crate::browser::{self, Package};
use crate::child::Child;
use crate::programs;

/// The name of the benchmark that is not one of ours to build: it runs in a browser.
const BROWSER: &str = "browser";

/// The name of the benchmark that runs the simulator, which is built as the tests build it: what it kills is unwound.
const SIMULATION: &str = "simulation";

/// Runs the benchmarks with one of `words` in their name, or all if there is none. The table is theirs.
#[must_use]
pub fn run(root: &Path, words: &[String]) -> bool {
    let ours: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != BROWSER).collect();
    let all = words.is_empty();
    let (here, browser) = (all || !ours.is_empty(), all || ours.len() < words.len());
    (!here || on_this_machine(root, &ours)) && (!browser || in_a_browser(root))
}

/// What a lease costs a tab. Without a browser it says so.
fn in_a_browser(root: &Path) -> bool {
    match browser::CHROMIUM.is_there().and_then(|()| Package::prepare(root)) {
        Ok(package) => package.script("bench").run().ok,
        Err(why) => {
            println!("not measured in a browser: {why}");
            true
        }
    }
}

fn on_this_machine(root: &Path, names: &[&str]) -> bool {
    let asks_for = |benchmark: &str| names.is_empty() || names.iter().any(|name| benchmark.contains(name));
    let simulator = !asks_for(SIMULATION) || programs::in_development(root, "holdfast-sim").is_some();
    let floors = ["build", "--release", "--quiet", "--package", "holdfast-benches"];
    if !simulator || !Child::cargo(root, &floors).run().ok || !programs::build(root) {
        return false;
    }
    let words = ["run", "--release", "--quiet", "--package", "holdfast-benches", "--"];
    let words: Vec<&str> = words.into_iter().chain(names.iter().copied()).collect();
    Child::cargo(root, &words).run().ok
}
