//! The benchmarks: built as they would be shipped, with the programs that they run, then asked for their table.

use std::path::Path;

use crate::child::Child;

/// Runs the benchmarks, or those with `name` in their name. The table is theirs.
#[must_use]
pub fn run(root: &Path, name: Option<&str>) -> bool {
    let simulator = ["build", "--profile", "sim", "--quiet", "--package", "holdfast-sim"];
    let doors =
        ["build", "--release", "--quiet", "--package", "holdfast-jit", "--package", "holdfast-benches"];
    if ![&simulator[..], &doors[..]].iter().all(|words| Child::cargo(root, words).run().ok) {
        return false;
    }
    let words = ["run", "--release", "--quiet", "--package", "holdfast-benches", "--"];
    let words: Vec<&str> = words.into_iter().chain(name).collect();
    Child::cargo(root, &words).run().ok
}
