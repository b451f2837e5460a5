//! A second build in another directory, of which every byte has to be the same.

use std::path::Path;

use super::{Made, empty, make, read, shown};
use crate::args::Packages;
use crate::child::Child;
use crate::programs;

/// Builds what is committed once more, elsewhere, and compares the checksums of everything.
pub(super) fn compare(root: &Path, made: &Made) -> Result<(), String> {
    let changed = Child::new(root, "git", &["status", "--porcelain"]).quiet().run().out;
    if !changed.is_empty() {
        return Err(format!("commit first; a second build has only what is committed:\n{changed}"));
    }
    if std::env::var_os("CARGO_TARGET_DIR").is_some() {
        return Err("unset CARGO_TARGET_DIR: a second build in the same directory is none".into());
    }
    let copy = programs::target(root).join("elsewhere/copy");
    empty(&copy)?;
    let cloned = Child::new(root, "git", &["clone", "-q", ".", &shown(&copy)]).run();
    if !cloned.ok {
        return Err(format!("git clone {}", cloned.how));
    }
    let other = make(&copy, &Packages { to: Some(shown(&copy.join("target/dist"))), ..Packages::default() })?;
    let sums = |made: &Made| {
        read(&made.folder.join("SHA256SUMS")).map(|sums| String::from_utf8_lossy(&sums).into_owned())
    };
    let (first, second) = (sums(made)?, sums(&other)?);
    let differ: Vec<&str> =
        first.lines().filter(|line| !second.lines().any(|other| other == *line)).collect();
    if differ.is_empty() && first.lines().count() == second.lines().count() {
        println!("ok      a second build in another directory gave the same bytes");
        Ok(())
    } else {
        Err(format!("a second build in {} gave other bytes:\n{}", copy.display(), differ.join("\n")))
    }
}
