//! Runs the commands that the documentation shows, as a reader would type them: a page that does not work
//! is a bug like any other.

use std::path::Path;

use crate::child::Child;
use crate::report::Outcome;
use crate::tidy::Tree;
use crate::tidy::markdown::{Promise, shell_blocks};

/// Runs each block of commands that is marked as tested, each in a shell of its own.
pub(super) fn run(root: &Path) -> Outcome {
    let tree = match Tree::load(root) {
        Ok(tree) => tree,
        Err(why) => return Outcome::one(false, why),
    };
    let (mut passed, mut failed) = (0, Vec::new());
    for (page, text) in tree.with_ending(&[".md"]) {
        for block in shell_blocks(text).into_iter().filter(|block| block.promise == Promise::Tested) {
            println!("--- {page}:{}\n{}", block.line, block.commands);
            if shell(root, &block.commands) {
                passed += 1;
            } else {
                failed.push(format!("{page}:{}", block.line));
            }
        }
    }
    Outcome::Ran { passed, failed: failed.len(), note: failed.join(", ") }
}

fn shell(root: &Path, commands: &str) -> bool {
    Child::new(root, "bash", &["-euo", "pipefail", "-c", commands]).run().ok
}
