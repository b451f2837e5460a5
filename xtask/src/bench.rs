//! The benchmarks: built as they would be shipped, then asked for their table. Some of them run
//! the simulator or a door.

use std::path::Path;

use crate::child::Child;

/// Runs the benchmarks, or those with `name` in their name. The table is theirs.
#[must_use]
pub fn run(root: &Path, name: Option<&str>) -> bool {
    let simulator = ["build", "--profile", "sim", "--quiet", "--package", "holdfast-sim"];
    if !Child::cargo(root, &simulator).run().ok {
        return false;
    }
    if !Child::cargo(root, &["build", "--release", "--quiet", "--package", "holdfast-jvs"]).run().ok {
        return false;
    }
    let words = ["run", "--release", "--quiet", "--package", "holdfast-benches", "--"];
    let words: Vec<&str> = words.into_iter().chain(name).collect();
    Child::cargo(root, &words).run().ok
}
