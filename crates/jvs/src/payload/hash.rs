//! The root hash of a payload: one number for names, kinds, permission bits, contents, link targets, hard
//! links and extended attributes. Times and owners are kept by a copy but not hashed: they may change when
//! a repository is moved to another machine.
//!
//! Entries come in the order of their raw paths and everything of variable length has its length before it,
//! so that no name and no content can imitate another entry.

use std::fmt;
use std::str::FromStr;

use super::{Scan, What};

const DOMAIN: &[u8] = b"jvs payload 1\n";

/// The hash of a whole payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootHash(blake3::Hash);

impl fmt::Display for RootHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.to_hex().fmt(f)
    }
}

impl FromStr for RootHash {
    type Err = blake3::HexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(text).map(Self)
    }
}

/// What an entry holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Nothing of its own: a directory, or what is left out.
    Nothing,
    /// A file with this many bytes and this hash.
    File(u64, blake3::Hash),
    /// A second name of the file at this index.
    Link(usize),
    /// Where a symbolic link leads.
    Target(Vec<u8>),
}

/// What was read of one entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hashed {
    /// What it holds.
    pub content: Content,
    /// Its extended attributes, sorted by name.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Hashed {
    /// An entry without extended attributes.
    #[must_use]
    pub const fn plain(content: Content) -> Self {
        Self { content, attributes: Vec::new() }
    }
}

/// The hash of all entries; pipes, sockets and devices are no part of it.
pub(super) fn root(scan: &Scan, hashed: &[Hashed]) -> RootHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(DOMAIN);
    for (entry, hashed) in scan.entries.iter().zip(hashed) {
        let (kind, mode) = match entry.what {
            What::Directory => (b'd', entry.mode),
            What::File => (b'f', entry.mode),
            What::Symlink => (b'l', 0),
            What::Other => continue,
        };
        sized(&mut hasher, &entry.path);
        hasher.update(&[kind]);
        hasher.update(&mode.to_le_bytes());
        content(&mut hasher, scan, &hashed.content);
        hasher.update(&(hashed.attributes.len() as u64).to_le_bytes());
        for (name, value) in &hashed.attributes {
            sized(&mut hasher, name);
            sized(&mut hasher, value);
        }
    }
    RootHash(hasher.finalize())
}

fn content(hasher: &mut blake3::Hasher, scan: &Scan, content: &Content) {
    match content {
        Content::Nothing => {
            hasher.update(b"-");
        }
        Content::File(len, hash) => {
            hasher.update(b"=").update(&len.to_le_bytes()).update(hash.as_bytes());
        }
        Content::Link(first) => {
            hasher.update(b"h");
            sized(hasher, scan.entries.get(*first).map_or(&[], |entry| entry.path.as_slice()));
        }
        Content::Target(target) => {
            hasher.update(b">");
            sized(hasher, target);
        }
    }
}

fn sized(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

#[cfg(test)]
mod tests {
    use super::super::{Entry, Mark};
    use super::*;

    fn entry(path: &[u8], what: What) -> Entry {
        let mark = Mark { identity: (1, 1), len: 0, modified_ns: 0, changed_ns: 0 };
        Entry { path: path.to_vec(), what, mode: 0o644, owner: (0, 0), links: 1, mark }
    }

    fn of(entries: &[(&[u8], What, Hashed)]) -> RootHash {
        let scan = Scan { entries: entries.iter().map(|(path, what, _)| entry(path, *what)).collect() };
        let hashed: Vec<Hashed> = entries.iter().map(|(_, _, hashed)| hashed.clone()).collect();
        root(&scan, &hashed)
    }

    fn file(text: &[u8]) -> Hashed {
        Hashed::plain(Content::File(text.len() as u64, blake3::hash(text)))
    }

    #[test]
    fn no_two_trees_have_the_same_hash() {
        let tagged = Hashed { attributes: vec![(b"user.a".to_vec(), b"b".to_vec())], ..file(b"x") };
        let merged = Hashed { attributes: vec![(b"user.ab".to_vec(), b"".to_vec())], ..file(b"x") };
        let target = |text: &[u8]| Hashed::plain(Content::Target(text.to_vec()));
        let trees: Vec<RootHash> = vec![
            of(&[]),
            of(&[(b"a", What::File, file(b"x"))]),
            of(&[(b"b", What::File, file(b"x"))]),
            of(&[(b"a", What::File, file(b"y"))]),
            of(&[(b"a", What::Directory, Hashed::plain(Content::Nothing))]),
            of(&[(b"a", What::Symlink, target(b"x"))]),
            of(&[(b"ax", What::Symlink, target(b""))]),
            of(&[(b"a", What::File, tagged)]),
            of(&[(b"a", What::File, merged)]),
            of(&[(b"a", What::File, file(b"x")), (b"b", What::File, file(b"x"))]),
            of(&[(b"a", What::File, file(b"x")), (b"b", What::File, Hashed::plain(Content::Link(0)))]),
            // A name that looks like the end of one entry and the beginning of the next.
            of(&[(b"a\0\0\0\0\0\0\0\x01b", What::File, file(b"x"))]),
        ];
        for (index, one) in trees.iter().enumerate() {
            assert_eq!(trees.iter().position(|other| other == one), Some(index));
        }
    }

    #[test]
    fn a_pipe_is_no_part_of_the_hash_and_a_hash_reads_back() {
        let with = of(&[(b"p", What::Other, Hashed::plain(Content::Nothing))]);
        assert_eq!(with, of(&[]));
        assert_eq!(with.to_string().parse::<RootHash>().unwrap(), with);
    }
}
