//! The benchmarks: built as they would be shipped, then asked for their table.

use std::path::Path;

use crate::child::Child;

/// Runs the benchmarks, or those with `name` in their name. The table is theirs.
#[must_use]
pub fn run(root: &Path, name: Option<&str>) -> bool {
    let words = ["run", "--release", "--quiet", "--package", "holdfast-benches", "--"];
    let words: Vec<&str> = words.into_iter().chain(name).collect();
    Child::cargo(root, &words).run().ok
}
