//! Merging what two sides made of a text, line by line on what it was before. Where they changed the same lines, both
//! versions are kept between marks: nothing that somebody typed is lost. It is the same whichever side asks.

use diffy::{ConflictStyle, MergeOptions};

/// The shortest mark.
const SHORTEST: usize = 7;

/// A text after a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lines {
    /// The text.
    pub(super) text: String,
    /// Whether both sides changed the same lines.
    pub(super) marked: bool,
}

/// Merges what became of `base` on two sides.
pub(super) fn merge(base: &str, one: &str, other: &str) -> Lines {
    // Whoever merges whom, the same comes first.
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    let size = [base, first, second].iter().map(|text| longest_mark(text)).max().unwrap_or(0);
    let size = SHORTEST.max(size + 1);
    // A last line without an end is a line like every other.
    let whole = |text: &str| {
        if text.is_empty() { String::new() } else { format!("{}\n", text.trim_end_matches('\n')) }
    };
    let (base, first, second) = (whole(base), whole(first), whole(second));
    let mut options = MergeOptions::new();
    options.set_conflict_marker_length(size).set_conflict_style(ConflictStyle::Merge);
    let (text, marked) = match options.merge(&base, &first, &second) {
        Ok(text) => (text, false),
        Err(text) => (named(&text, size), true),
    };
    Lines { text: text.trim_end_matches('\n').to_owned(), marked }
}

/// The marks without the names of sides that mean something else to everybody who reads them.
fn named(text: &str, size: usize) -> String {
    let (begin, end) = (format!("{} ours", "<".repeat(size)), format!("{} theirs", ">".repeat(size)));
    let line = |line: &str| {
        if line == begin {
            format!("{} one version", "<".repeat(size))
        } else if line == end {
            format!("{} the other version", ">".repeat(size))
        } else {
            line.to_owned()
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// How long the longest mark in a text is; 0 if there is none.
fn longest_mark(text: &str) -> usize {
    let length = |line: &str| {
        let first = line.chars().next().filter(|first| ['<', '=', '>'].contains(first));
        first.map_or(0, |first| line.chars().take_while(|letter| *letter == first).count())
    };
    text.lines().map(length).filter(|length| *length >= SHORTEST).max().unwrap_or(0)
}

/// Whether a text has marks of a merge that nobody has resolved yet.
#[must_use]
pub fn is_marked(text: &str) -> bool {
    let begins =
        |line: &str, mark: char| line.chars().take_while(|letter| *letter == mark).count() >= SHORTEST;
    text.lines().any(|line| begins(line, '<') && line.ends_with(" one version"))
        || text.lines().any(|line| begins(line, '>') && line.ends_with(" the other version"))
}
