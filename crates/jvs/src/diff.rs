//! What differs between two trees, entry by entry: exactly what makes their root hashes differ, and nothing else.

use std::cmp::Ordering;

use serde::Serialize;

use crate::error::Result;
use crate::payload::{Content, Entry, Listing, Progress, What};
use crate::repo::Repo;
use crate::snapshot;
use crate::worktree::Worktree;

/// How an entry differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is only in the later tree.
    Added,
    /// It is only in the earlier one.
    Deleted,
    /// What it holds, its permissions or its attributes are not the same.
    Modified,
    /// It has become something else: a file, a directory or a symbolic link.
    TypeChanged,
}

impl Change {
    /// The letter that git shows for it.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Modified => 'M',
            Self::TypeChanged => 'T',
        }
    }
}

/// An entry that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The raw bytes of its path.
    pub path: Vec<u8>,
    /// How it differs.
    pub change: Change,
}

/// What differs between two trees, by path.
#[must_use]
pub fn between(before: &Listing, after: &Listing) -> Vec<Difference> {
    let (mut old, mut new) = (kept(before).peekable(), kept(after).peekable());
    let mut found = Vec::new();
    let mut tell = |entry: &Entry, change| found.push(Difference { path: entry.path.clone(), change });
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((_, a)), Some((_, b))) => a.path.cmp(&b.path),
        };
        let one = if order == Ordering::Greater { None } else { old.next() };
        let other = if order == Ordering::Less { None } else { new.next() };
        match (one, other) {
            (Some((_, entry)), None) => tell(entry, Change::Deleted),
            (None, Some((_, entry))) => tell(entry, Change::Added),
            (Some((_, a)), Some((_, b))) if a.what != b.what => tell(b, Change::TypeChanged),
            (Some((at, a)), Some((other, b))) => {
                if !is_same(before, at, a, after, other, b) {
                    tell(b, Change::Modified);
                }
            }
            (None, None) => {}
        }
    }
}

/// The entries that are kept by a snapshot, with their places.
fn kept(listing: &Listing) -> impl Iterator<Item = (usize, &Entry)> {
    listing.scan.entries.iter().enumerate().filter(|(_, entry)| entry.what != What::Other)
}

fn is_same(before: &Listing, at: usize, a: &Entry, after: &Listing, other: usize, b: &Entry) -> bool {
    let same_mode = a.what == What::Symlink || a.mode == b.mode;
    let (Some(one), Some(two)) = (before.hashed.get(at), after.hashed.get(other)) else { return false };
    let same_content = match (&one.content, &two.content) {
        (Content::Link(first), Content::Link(second)) => {
            let path =
                |listing: &Listing, at: usize| listing.scan.entries.get(at).map(|entry| entry.path.clone());
            path(before, *first) == path(after, *second)
        }
        (one, two) => one == two,
    };
    same_mode && same_content && one.attributes == two.attributes
}

/// What is in the payload of a worktree and not in its head, or the other way round.
///
/// # Errors
/// When one of them cannot be read.
pub fn unsaved(repo: &Repo, worktree: &Worktree, progress: &Progress) -> Result<Vec<Difference>> {
    let payload = repo.trees.read(&worktree.payload(repo)?, progress)?;
    let Some(head) = worktree.head else { return Ok(between(&Listing::default(), &payload)) };
    let (descriptor, _) = snapshot::load(repo, head)?;
    if descriptor.root()? == payload.root() {
        return Ok(Vec::new());
    }
    Ok(between(&repo.trees.read(&snapshot::payload(repo, head)?, progress)?, &payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Hashed, Mark, Scan};

    fn listing(entries: &[(&str, What, u32, Content)]) -> Listing {
        let mark = Mark { identity: (1, 1), len: 0, modified_ns: 0, changed_ns: 0 };
        let entry = |(path, what, mode, _): &(&str, What, u32, Content)| Entry {
            path: path.as_bytes().to_vec(),
            what: *what,
            mode: *mode,
            owner: (0, 0),
            links: 1,
            mark,
        };
        let scan = Scan { entries: entries.iter().map(entry).collect() };
        Listing { scan, hashed: entries.iter().map(|(.., content)| Hashed::plain(content.clone())).collect() }
    }

    fn file(text: &str) -> Content {
        Content::File(text.len() as u64, blake3::hash(text.as_bytes()))
    }

    #[test]
    fn every_difference_is_named_and_trees_without_one_have_one_hash() {
        let before = listing(&[
            ("a", What::File, 0o644, file("1")),
            ("b", What::File, 0o644, file("1")),
            ("c", What::Directory, 0o755, Content::Nothing),
            ("d", What::File, 0o644, file("1")),
            ("e", What::File, 0o644, file("1")),
            ("p", What::Other, 0o644, Content::Nothing),
        ]);
        let after = listing(&[
            ("a", What::File, 0o644, file("1")),
            ("b", What::File, 0o644, file("2")),
            ("c", What::Symlink, 0o777, Content::Target(b"a".to_vec())),
            ("d", What::File, 0o755, file("1")),
            ("f", What::File, 0o644, Content::Link(0)),
            ("q", What::Other, 0o644, Content::Nothing),
        ]);
        let shown = |found: Vec<Difference>| -> Vec<String> {
            let line =
                |one: &Difference| format!("{} {}", one.change.letter(), String::from_utf8_lossy(&one.path));
            found.iter().map(line).collect()
        };
        assert_eq!(shown(between(&before, &after)), ["M b", "T c", "M d", "D e", "A f"]);
        assert_eq!(shown(between(&before, &before)), [""; 0]);
        assert_ne!(before.root(), after.root());
        let none: [&str; 0] = [];
        assert_eq!(shown(between(&Listing::default(), &Listing::default())), none);
    }
}
