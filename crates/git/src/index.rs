//! The index: what the next commit is made of. Read by hand, because every commit waits for it and starting
//! git costs more than all the rest. A form that is not known here is no error: [`parse`] says so, and git
//! itself is asked. It is never written.

mod cache;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use crate::objects::Mode;
use crate::{Environment, ObjectId, Repository, Result, paths};

/// Room for millions of files.
const LARGEST: usize = 2 << 30;

/// The bytes of an entry before its flags: times, numbers, mode, owner, size; and its object.
const MODE_AT: usize = 24;
const ID_AT: usize = 40;
const FLAGS_AT: usize = 60;

/// In the flags: a second pair of them follows.
const EXTENDED: u16 = 0x4000;
/// In the flags: which side of a conflict it is.
const STAGE: u16 = 0x3000;
/// In the second flags: only the name was added, no content.
const INTENT_TO_ADD: u16 = 0x2000;

/// A file in the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
}

/// The part of an index below one directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Index {
    /// The files, in the order of their paths.
    pub(crate) entries: Vec<Entry>,
    /// The directories whose tree is known, because nothing in them changed since it was written.
    pub(crate) trees: BTreeMap<Vec<u8>, ObjectId>,
}

/// Where the index of this worktree is; `start` is what a relative name in the environment is relative to.
pub(crate) fn path(repository: &Repository, env: &Environment, start: &Path) -> PathBuf {
    match &env.index_file {
        Some(named) => start.join(named),
        None => repository.git_dir().join("index"),
    }
}

/// The bytes of the index at `path`; none if there is no index.
pub(crate) fn read(files: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>> {
    paths::read_if_there(files, path, LARGEST)
}

/// The tree of the directory `prefix`, if the index knows that nothing in it changed since it was written.
/// Most commits touch nothing there, and then no entry need be taken apart.
pub(crate) fn tree(bytes: &[u8], prefix: &[u8]) -> Option<ObjectId> {
    let mut reader = Reader::new(bytes)?;
    for _ in 0..reader.count {
        reader.row()?;
    }
    cache::find(reader.trees()?, prefix)
}

/// The part of an index that lies below the directory `prefix`; none if it has a form that only git reads:
/// split, sparse, in conflict, or damaged.
pub(crate) fn parse(bytes: &[u8], prefix: &[u8]) -> Option<Index> {
    let mut reader = Reader::new(bytes)?;
    let mut index = Index::default();
    let mut name = Vec::new();
    for _ in 0..reader.count {
        let row = reader.row()?;
        row.name(&mut name)?;
        if is_below(&name, prefix) && row.more & INTENT_TO_ADD == 0 {
            index.entries.push(row.entry(&name)?);
        }
    }
    index.trees = cache::parse(reader.trees()?, prefix)?;
    Some(index)
}

struct Reader<'a> {
    rest: &'a [u8],
    version: u32,
    /// How many entries there are.
    count: u32,
}

/// An entry as it is written.
struct Row<'a> {
    fixed: &'a [u8],
    flags: u16,
    more: u16,
    /// How many bytes of the name before are not in this one; none if it is written out.
    dropped: Option<usize>,
    rest_of_name: &'a [u8],
}

impl Row<'_> {
    /// Makes the name of this entry of that of the one before.
    fn name(&self, name: &mut Vec<u8>) -> Option<()> {
        name.truncate(match self.dropped {
            Some(dropped) => name.len().checked_sub(dropped)?,
            None => 0,
        });
        name.extend(self.rest_of_name);
        Some(())
    }

    /// What it says; none if it is one side of a conflict.
    fn entry(&self, name: &[u8]) -> Option<Entry> {
        if self.flags & STAGE != 0 {
            return None;
        }
        let mode = u32::from_be_bytes(self.fixed.get(MODE_AT..MODE_AT + 4)?.try_into().ok()?);
        let id = ObjectId::from_bytes(self.fixed.get(ID_AT..FLAGS_AT)?)?;
        Some(Entry { path: name.to_vec(), mode: Mode::from_bits(mode)?, id })
    }
}

impl<'a> Reader<'a> {
    /// At the first entry of an index.
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Self { rest: bytes.get(..bytes.len().checked_sub(20)?)?, version: 0, count: 0 };
        if reader.take(4)? != b"DIRC" {
            return None;
        }
        reader.version = reader.u32()?;
        reader.count = reader.u32()?;
        (2..=4).contains(&reader.version).then_some(reader)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// The next entry.
    fn row(&mut self) -> Option<Row<'a>> {
        let whole = self.rest;
        let fixed = self.take(FLAGS_AT + 2)?;
        let flags = u16_at(fixed, FLAGS_AT)?;
        let more = if flags & EXTENDED == 0 { 0 } else { u16_at(self.take(2)?, 0)? };
        let dropped = if self.version == 4 { Some(self.varint()?) } else { None };
        let len = memchr::memchr(0, self.rest)?;
        let rest_of_name = self.take(len)?;
        let used = whole.len() - self.rest.len();
        self.take(if self.version == 4 { 1 } else { 8 - used % 8 })?;
        Some(Row { fixed, flags, more, dropped, rest_of_name })
    }

    /// Behind the entries: the list of known trees, which may be empty. None if something there must be
    /// understood and is not.
    fn trees(&mut self) -> Option<&'a [u8]> {
        let mut trees: &[u8] = &[];
        while !self.rest.is_empty() {
            let (kind, len) = (self.take(4)?, usize::try_from(self.u32()?).ok()?);
            let content = self.take(len)?;
            match kind {
                b"TREE" => trees = content,
                // Small letters mark what must be understood.
                [first, ..] if first.is_ascii_lowercase() => return None,
                _ => {}
            }
        }
        Some(trees)
    }

    /// How many bytes of the name before are not in this one.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Whether a path lies in the directory `prefix`, or is it.
pub(crate) fn is_below(path: &[u8], prefix: &[u8]) -> bool {
    match path.strip_prefix(prefix) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_below, parse};

    #[test]
    fn a_directory_is_no_beginning_of_a_name() {
        assert!(is_below(b".jit", b".jit") && is_below(b".jit/a", b".jit"));
        assert!(!is_below(b".jitter/a", b".jit") && !is_below(b".ji", b".jit"));
    }

    proptest! {
        #[test]
        fn garbage_is_no_index(bytes in proptest::collection::vec(any::<u8>(), 0..300), version in 2u8..5) {
            let head = [b"DIRC\0\0\0", &[version][..], b"\0\0\0\x03"].concat();
            let _ = parse(&[&head[..], &bytes].concat(), b".jit");
            prop_assert_eq!(parse(&bytes, b".jit").filter(|_| !bytes.starts_with(b"DIRC")), None);
        }
    }
}
