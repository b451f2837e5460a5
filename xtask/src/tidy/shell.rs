//! Shell scripts stop at the first failure and at the first variable that is not set. A library that scripts
//! read in must not: these would be the options of whoever reads it. It is known by having no first line for
//! the system, only one for shellcheck.

use super::{Finding, Tree};

/// How far down the script may get before it says so: after its first comment.
const HEAD: usize = 12;

/// Scripts that would go on after a failure.
pub(super) fn careless_scripts(tree: &Tree) -> Vec<Finding> {
    tree.shell_scripts()
        .filter(|(_, text)| !is_library(text) && !is_careful(text))
        .map(|(path, _)| {
            Finding::new(path, 1, "lacks `set -eu` or `set -euo pipefail` among its first lines")
        })
        .collect()
}

fn is_library(text: &str) -> bool {
    text.starts_with("# shellcheck shell=")
}

fn is_careful(text: &str) -> bool {
    text.lines().take(HEAD).filter_map(|line| line.strip_prefix("set -")).any(|options| {
        let letters = options.split_whitespace().next().unwrap_or_default();
        letters.contains('e') && letters.contains('u')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_goes_on_after_a_failure_is_found() {
        let tree = Tree::of(&[
            ("good.sh", "#!/bin/sh\n# Why.\nset -eu\n"),
            ("better", "#!/usr/bin/env bash\nset -euo pipefail\n"),
            ("library.sh", "# shellcheck shell=sh\nf() { :; }\n"),
            ("bad.sh", "#!/bin/sh\nset -e\n"),
            ("worse", "#!/bin/bash\necho\n"),
        ]);
        let found: Vec<String> = careless_scripts(&tree).into_iter().map(|finding| finding.file).collect();
        assert_eq!(found, ["bad.sh", "worse"]);
    }
}
