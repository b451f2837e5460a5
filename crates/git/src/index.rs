//! The index: what the next commit is made of. Read by hand, because every commit waits for it and starting
//! git costs more than all the rest. A form that is not known here is no error: [`read`] says so, and git
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

/// Reads the part of the index at `path` that lies below the directory `prefix`; none if it has a form that
/// only git reads: split, sparse, in conflict, or damaged.
pub(crate) fn read(files: &dyn Files, path: &Path, prefix: &[u8]) -> Result<Option<Index>> {
    let Some(bytes) = paths::read_if_there(files, path, LARGEST)? else {
        return Ok(Some(Index::default()));
    };
    Ok(parse(&bytes, prefix))
}

fn parse(bytes: &[u8], prefix: &[u8]) -> Option<Index> {
    let mut reader = Reader { rest: bytes.get(..bytes.len().checked_sub(20)?)? };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.u32()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut index = Index::default();
    let mut name = Vec::new();
    for _ in 0..reader.u32()? {
        if let Some(entry) = reader.entry(version, &mut name, prefix)? {
            index.entries.push(entry);
        }
    }
    while !reader.rest.is_empty() {
        let (kind, len) = (reader.take(4)?, usize::try_from(reader.u32()?).ok()?);
        let content = reader.take(len)?;
        match kind {
            b"TREE" => index.trees = cache::parse(content, prefix)?,
            // Small letters mark what must be understood.
            [first, ..] if first.is_ascii_lowercase() => return None,
            _ => {}
        }
    }
    Some(index)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// The next entry, if it lies below `prefix` and has content. `name` is that of the one before and
    /// becomes that of this one.
    fn entry(&mut self, version: u32, name: &mut Vec<u8>, prefix: &[u8]) -> Option<Option<Entry>> {
        let whole = self.rest;
        let fixed = self.take(FLAGS_AT + 2)?;
        let flags = u16_at(fixed, FLAGS_AT)?;
        let more = if flags & EXTENDED == 0 { 0 } else { u16_at(self.take(2)?, 0)? };
        let shared = if version == 4 { name.len().checked_sub(self.varint()?)? } else { 0 };
        let len = self.rest.iter().position(|byte| *byte == 0)?;
        name.truncate(shared);
        name.extend(self.take(len)?);
        if version == 4 {
            self.take(1)?;
        } else {
            let used = whole.len() - self.rest.len();
            self.take(8 - used % 8)?;
        }
        if !is_below(name, prefix) || more & INTENT_TO_ADD != 0 {
            return Some(None);
        }
        if flags & STAGE != 0 {
            return None;
        }
        let mode = u32::from_be_bytes(fixed.get(MODE_AT..MODE_AT + 4)?.try_into().ok()?);
        let id = ObjectId::from_bytes(fixed.get(ID_AT..FLAGS_AT)?)?;
        Some(Some(Entry { path: name.clone(), mode: Mode::from_bits(mode)?, id }))
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
