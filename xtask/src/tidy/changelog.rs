//! The changelog has a place for what comes next, and its versions are in order.

use super::{Finding, Tree};

const PAGE: &str = "CHANGELOG.md";

/// A changelog that is missing, has no section to write to, or is out of order.
pub(super) fn shape(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else { return vec![Finding::new(PAGE, 0, "is missing")] };
    let sections: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(number, line)| Some((number + 1, line.strip_prefix("## [")?.split_once(']')?.0)))
        .collect();
    match sections.split_first() {
        Some(((_, "Unreleased"), versions)) => misplaced(versions),
        Some(_) => misplaced(&sections),
        None => vec![Finding::new(PAGE, 0, "has neither `## [Unreleased]` nor a version")],
    }
}

/// Versions that are none, or that stand below an older one.
fn misplaced(versions: &[(usize, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut newest = None;
    for (line, name) in versions {
        match number(name) {
            None => findings.push(Finding::new(PAGE, *line, format!("`{name}` is no version"))),
            Some(version) if newest.is_some_and(|newest| version >= newest) => {
                findings.push(Finding::new(PAGE, *line, format!("{name} stands below an older version")));
            }
            version => newest = version,
        }
    }
    findings
}

fn number(name: &str) -> Option<[u64; 3]> {
    let parts: Option<Vec<u64>> = name.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        shape(&Tree::of(&[(PAGE, text)])).len()
    }

    #[test]
    fn a_changelog_in_order_passes() {
        assert_eq!(found("# Changelog\n\n## [Unreleased]\n\n## [0.10.0] - 2026-05-02\n\n## [0.9.0]\n"), 0);
        assert_eq!(found("## [1.0.0]\n"), 0);
    }

    #[test]
    fn a_missing_empty_or_disordered_one_is_found() {
        assert_eq!(shape(&Tree::default()).len(), 1);
        assert_eq!(found("# Changelog\n"), 1);
        assert_eq!(found("## [0.9.0]\n## [0.10.0]\n"), 1);
        assert_eq!(found("## [soon]\n"), 1);
    }
}
