//! Every page is in the table of contents of the site: one that is not there is found by nobody.

use super::{Finding, Tree};
use crate::site::source::{SUMMARY, pages};

/// Pages that the site has not.
pub(super) fn unlisted_pages(tree: &Tree) -> Vec<Finding> {
    let Some(summary) = tree.text(SUMMARY) else { return vec![Finding::new(SUMMARY, 0, "is missing")] };
    let listed = pages(summary);
    let written = tree.with_ending(&[".md"]).map(|(path, _)| path);
    let unlisted = written.filter(|path| path.starts_with("docs/") || path.starts_with("spec/"));
    let unlisted = unlisted.filter(|path| *path != SUMMARY && !listed.contains(*path));
    unlisted.map(|path| Finding::new(path, 0, format!("is not in {SUMMARY}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_not_in_the_table_of_contents_is_found() {
        let summary = (SUMMARY, "- [A](a.md)\n- [B](../spec/b.md)\n");
        let pages = [summary, ("docs/a.md", ""), ("spec/b.md", ""), ("README.md", "")];
        assert_eq!(unlisted_pages(&Tree::of(&pages)), []);
        let more = [summary, ("docs/guides/c.md", "")];
        assert_eq!(unlisted_pages(&Tree::of(&more)).len(), 1);
        assert_eq!(unlisted_pages(&Tree::default()).len(), 1);
    }
}
