//! Trees of files as a snapshot sees them: looked at, copied, hashed, removed. Publishing decides nothing by
//! what is in them.
//!
//! A tree is handled through [`Trees`], because a hundred thousand files need more than one call at a time:
//! [`OsTrees`] copies on all cores and flushes the file system once, [`PlainTrees`] goes through
//! [`holdfast_sys::Files`] call by call, so that the simulator can crash between any two of them.

mod hash;
mod os;
mod plain;
mod progress;

use std::path::Path;

pub use hash::{Content, Hashed, RootHash};
pub use os::OsTrees;
pub use plain::PlainTrees;
pub use progress::Progress;

use crate::error::Result;

/// What an entry of a tree is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, which is never followed.
    Symlink,
    /// A pipe, a socket or a device: there is nothing in it to keep.
    Other,
}

/// What changes when somebody writes to an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Which file it is.
    pub identity: (u64, u64),
    /// Its length.
    pub len: u64,
    /// When its content changed, in nanoseconds since 1970.
    pub modified_ns: i128,
    /// When anything of it changed, in nanoseconds since 1970.
    pub changed_ns: i128,
}

/// Something in a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The raw bytes of its path below the root.
    pub path: Vec<u8>,
    pub what: What,
    /// Its permission bits.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// How many names it has, here and elsewhere.
    pub links: u64,
    /// What changes when somebody writes to it.
    pub mark: Mark,
}

/// Everything in a tree, sorted by the raw bytes of the paths. The root itself is not part of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scan {
    /// The entries.
    pub entries: Vec<Entry>,
}

impl Scan {
    /// The first path that is not the same in both, if there is one.
    #[must_use]
    pub fn difference<'a>(&'a self, later: &'a Self) -> Option<&'a [u8]> {
        let pairs = self.entries.iter().zip(&later.entries);
        let changed = pairs.into_iter().find(|(before, after)| before != after).map(|(before, _)| before);
        let extra = || {
            let shorter = self.entries.len().min(later.entries.len());
            self.entries.get(shorter).or_else(|| later.entries.get(shorter))
        };
        changed.or_else(extra).map(|entry| entry.path.as_slice())
    }

    /// When the last change happened, in milliseconds since 1970.
    #[must_use]
    pub fn newest_ms(&self) -> i128 {
        self.entries.iter().map(|entry| entry.mark.changed_ns / 1_000_000).max().unwrap_or(0)
    }

    /// How many files there are, and how many bytes in them.
    #[must_use]
    pub fn size(&self) -> (u64, u64) {
        let files = self.entries.iter().filter(|entry| entry.what == What::File);
        files.fold((0, 0), |(count, bytes), entry| (count + 1, bytes + entry.mark.len))
    }

    /// For every entry the index of the first one that is the same file, if there is an earlier one.
    #[must_use]
    pub fn hard_links(&self) -> Vec<Option<usize>> {
        let mut first = std::collections::BTreeMap::new();
        let linked = |(index, entry): (usize, &Entry)| {
            if entry.what != What::File || entry.links < 2 {
                return None;
            }
            let known = *first.entry(entry.mark.identity).or_insert(index);
            (known != index).then_some(known)
        };
        self.entries.iter().enumerate().map(linked).collect()
    }
}

/// Everything in a tree, and what was read of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The entries.
    pub scan: Scan,
    /// What each of them holds, in the same order.
    pub hashed: Vec<Hashed>,
}

impl Listing {
    /// The hash of everything.
    #[must_use]
    pub fn root(&self) -> RootHash {
        hash::root(&self.scan, &self.hashed)
    }
}

/// What is known of a tree once all of it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// The hash of everything.
    pub root: RootHash,
    /// How many files there are, hard links counted each.
    pub files: u64,
    /// How many directories.
    pub directories: u64,
    /// How many symbolic links.
    pub symlinks: u64,
    /// How many bytes are in the files.
    pub bytes: u64,
    /// How many pipes, sockets and devices were left out.
    pub skipped: u64,
    /// Whether every file shares its blocks with the one that it was copied from.
    pub reflinked: bool,
}

impl Summary {
    /// What the entries and their hashes amount to.
    #[must_use]
    pub fn new(scan: &Scan, hashed: &[Hashed], reflinked: bool) -> Self {
        let count = |what| scan.entries.iter().filter(|entry| entry.what == what).count() as u64;
        let (files, bytes) = scan.size();
        Self {
            root: hash::root(scan, hashed),
            files,
            directories: count(What::Directory),
            symlinks: count(What::Symlink),
            bytes,
            skipped: count(What::Other),
            reflinked,
        }
    }
}

/// What can be done with a tree.
pub trait Trees: Send + Sync {
    /// Everything below `root`, which must be a directory and no symbolic link.
    ///
    /// # Errors
    /// When it cannot be read.
    fn scan(&self, root: &Path) -> Result<Scan>;

    /// Copies what was scanned at `from` to `to`, which is an empty directory. When it returns, all of it is
    /// durable, except for the name of `to` itself.
    ///
    /// # Errors
    /// When it cannot be copied, or something has become something else since the scan.
    fn copy(&self, from: &Path, scan: &Scan, to: &Path, progress: &Progress) -> Result<Summary>;

    /// Reads everything below `root`.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, root: &Path, progress: &Progress) -> Result<Listing>;

    /// What everything below `root` amounts to.
    ///
    /// # Errors
    /// When it cannot be read.
    fn digest(&self, root: &Path, progress: &Progress) -> Result<Summary> {
        let Listing { scan, hashed } = self.read(root, progress)?;
        Ok(Summary::new(&scan, &hashed, false))
    }

    /// Removes a tree with its root; what is gone already is no failure.
    ///
    /// # Errors
    /// When something cannot be removed.
    fn remove(&self, root: &Path) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::{Entry, Mark, Scan, What};

    fn entry(path: &str, inode: u64) -> Entry {
        let mark = Mark { identity: (1, inode), len: 3, modified_ns: 5, changed_ns: 5_000_000 };
        Entry { path: path.into(), what: What::File, mode: 0o644, owner: (0, 0), links: 2, mark }
    }

    #[test]
    fn two_scans_differ_at_the_first_entry_that_is_not_the_same() {
        let scan = |entries: &[Entry]| Scan { entries: entries.to_vec() };
        let (a, b) = (entry("a", 1), entry("b", 2));
        let mut written = b.clone();
        written.mark.changed_ns += 1;
        let both = scan(&[a.clone(), b.clone()]);
        assert_eq!(both.difference(&both.clone()), None);
        assert_eq!(both.difference(&scan(&[a.clone(), written])), Some(&b"b"[..]));
        assert_eq!(both.difference(&scan(std::slice::from_ref(&a))), Some(&b"b"[..]));
        assert_eq!(scan(&[a]).difference(&both), Some(&b"b"[..]));
        assert_eq!(both.newest_ms(), 5);
    }

    #[test]
    fn names_of_one_file_are_links_to_the_first_of_them() {
        let scan = Scan { entries: vec![entry("a", 1), entry("b", 2), entry("c", 1), entry("d", 1)] };
        assert_eq!(scan.hard_links(), [None, None, Some(0), Some(0)]);
    }
}
