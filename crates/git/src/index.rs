//! The index: what the next commit is made of. Read by hand, because every commit waits for it and starting
//! git costs more than all the rest. A form that is not known here is no error: [`parse`] says so, and git
//! itself is asked. It is never written.

mod cache;
mod pieces;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::objects::Mode;
use crate::{Environment, ObjectId, Repository};
pub(crate) use pieces::Source;
use pieces::{PIECE, Pieces};

/// The bytes of an entry before its flags: times, numbers, mode, owner, size; and its object.
const CHANGED_AT: usize = 0;
const MODIFIED_AT: usize = 8;
const INODE_AT: usize = 20;
const MODE_AT: usize = 24;
const SIZE_AT: usize = 36;
const ID_AT: usize = 40;
const FLAGS_AT: usize = 60;

/// The bytes behind everything.
const CHECKSUM: u64 = 20;

/// More than an entry takes whose name a file system would have.
const LONGEST_ROW: usize = 8 << 10;

/// In the flags: a second pair of them follows.
const EXTENDED: u16 = 0x4000;
/// In the flags: how long the name is.
const NAME_LENGTH: u16 = 0x0fff;
/// In the flags: which side of a conflict it is.
const STAGE: u16 = 0x3000;
/// In the flags: the file is to be taken for unchanged without a look.
const ASSUME_VALID: u16 = 0x8000;
/// In the second flags: only the name was added, no content.
const INTENT_TO_ADD: u16 = 0x2000;

/// A file in the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
}

/// A file in the index, and the one in the worktree that it was written for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
    /// When anything about that file had last changed, in seconds and nanoseconds.
    pub(crate) changed: (u32, u32),
    /// When its content had.
    pub(crate) modified: (u32, u32),
    pub(crate) inode: u32,
    pub(crate) size: u32,
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

/// The tree of the directory `prefix`, if the index knows that nothing in it changed since it was written.
/// Most commits touch nothing there, and then no entry need be taken apart.
pub(crate) fn tree(source: &Source<'_>, prefix: &[u8]) -> Option<ObjectId> {
    let mut reader = Reader::new(source)?;
    reader.rows(|_| Some(()))?;
    let mut found = None;
    reader.extensions(|pieces, len| {
        // The list names every directory; one near the top stands early in it.
        let within = |part| cache::find(pieces.ahead(part)?, prefix);
        found = [PIECE.min(len), len].into_iter().find_map(within);
        Some(())
    })?;
    found
}

/// The part of an index that lies below the directory `prefix`; none if it has a form that only git reads:
/// split, sparse, in conflict, or damaged.
pub(crate) fn parse(source: &Source<'_>, prefix: &[u8]) -> Option<Index> {
    let mut reader = Reader::new(source)?;
    let mut index = Index::default();
    let mut name = Vec::new();
    reader.rows(|row| {
        row.name(&mut name)?;
        if is_below(&name, prefix) && row.more & INTENT_TO_ADD == 0 {
            index.entries.push(row.entry(&name)?);
        }
        Some(())
    })?;
    reader.extensions(|pieces, len| {
        index.trees = cache::parse(pieces.ahead(len)?, prefix)?;
        Some(())
    })?;
    Some(index)
}

/// Every file in the index with what is known of the one in the worktree; none if it has a form that only git reads, or a
/// file that is not looked at like others.
pub(crate) fn marks(source: &Source<'_>) -> Option<Vec<Mark>> {
    let mut reader = Reader::new(source)?;
    let (mut marks, mut name) = (Vec::new(), Vec::new());
    reader.rows(|row| {
        row.name(&mut name)?;
        marks.push(row.mark(&name)?);
        Some(())
    })?;
    reader.extensions(|_, _| Some(()))?;
    Some(marks)
}

/// An entry as it is written.
struct Row<'a> {
    /// How many bytes it takes.
    len: usize,
    fixed: &'a [u8],
    flags: u16,
    more: u16,
    /// How many bytes of the name before are not in this one; none if it is written out.
    dropped: Option<usize>,
    rest_of_name: &'a [u8],
}

impl<'a> Row<'a> {
    /// The entry that these bytes begin with.
    fn read(bytes: &'a [u8], version: u32) -> Option<Self> {
        let mut rest = bytes;
        let fixed = take(&mut rest, FLAGS_AT + 2)?;
        let flags = u16_at(fixed, FLAGS_AT)?;
        let more = if flags & EXTENDED == 0 { 0 } else { u16_at(take(&mut rest, 2)?, 0)? };
        let dropped = if version == 4 { Some(varint(&mut rest)?) } else { None };
        // The flags say how long a name is, unless it is longer than they can say or not all of it is here.
        let said = usize::from(flags & NAME_LENGTH);
        let known = dropped.is_none() && said < usize::from(NAME_LENGTH) && rest.get(said) == Some(&0);
        let end = if known { said } else { rest.iter().position(|byte| *byte == 0)? };
        let rest_of_name = take(&mut rest, end)?;
        let used = bytes.len() - rest.len();
        let len = used + if version == 4 { 1 } else { 8 - used % 8 };
        Some(Self { len, fixed, flags, more, dropped, rest_of_name })
    }

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

impl Row<'_> {
    /// What it says of the file in the worktree; none if that is not looked at like others.
    fn mark(&self, name: &[u8]) -> Option<Mark> {
        if self.flags & ASSUME_VALID != 0 || self.more != 0 {
            return None;
        }
        let Entry { path, mode, id } = self.entry(name)?;
        let number = |at: usize| Some(u32::from_be_bytes(self.fixed.get(at..at + 4)?.try_into().ok()?));
        let time = |at: usize| Some((number(at)?, number(at + 4)?));
        let (changed, modified) = (time(CHANGED_AT)?, time(MODIFIED_AT)?);
        Some(Mark { path, mode, id, changed, modified, inode: number(INODE_AT)?, size: number(SIZE_AT)? })
    }
}

struct Reader<'a> {
    pieces: Pieces<'a>,
    version: u32,
    /// How many entries there are.
    count: u32,
}

impl<'a> Reader<'a> {
    /// At the first entry of an index.
    fn new(source: &'a Source<'a>) -> Option<Self> {
        let mut pieces = Pieces::new(source, CHECKSUM)?;
        if pieces.take(4)? != b"DIRC" {
            return None;
        }
        let (version, count) = (pieces.u32()?, pieces.u32()?);
        (2..=4).contains(&version).then_some(Self { pieces, version, count })
    }

    /// Shows every entry.
    fn rows(&mut self, mut show: impl FnMut(&Row<'_>) -> Option<()>) -> Option<()> {
        for _ in 0..self.count {
            let row = Row::read(self.pieces.up_to(LONGEST_ROW)?, self.version)?;
            let len = row.len;
            show(&row)?;
            self.pieces.skip(len)?;
        }
        Some(())
    }

    /// Behind the entries: shows the list of known trees, if there is one, and how long it is. None if
    /// something there must be understood and is not.
    fn extensions(&mut self, mut trees: impl FnMut(&mut Pieces<'_>, usize) -> Option<()>) -> Option<()> {
        while !self.pieces.is_at_end() {
            let kind: [u8; 4] = self.pieces.take(4)?.try_into().ok()?;
            let len = usize::try_from(self.pieces.u32()?).ok()?;
            match &kind {
                b"TREE" => trees(&mut self.pieces, len)?,
                // Small letters mark what must be understood.
                [first, ..] if first.is_ascii_lowercase() => return None,
                _ => {}
            }
            self.pieces.skip(len)?;
        }
        Some(())
    }
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

/// How many bytes of the name before are not in this one.
fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut byte = *take(bytes, 1)?.first()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *take(bytes, 1)?.first()?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some(value)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Whether a path lies in the directory `prefix`, or is it. Everything lies in the one without a name.
pub(crate) fn is_below(path: &[u8], prefix: &[u8]) -> bool {
    match path.strip_prefix(prefix) {
        Some(rest) => prefix.is_empty() || rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::pieces::{PIECE, Source};
    use super::{Index, is_below, parse, tree};
    use crate::ObjectId;

    #[test]
    fn a_directory_is_no_beginning_of_a_name() {
        assert!(is_below(b".jit", b".jit") && is_below(b".jit/a", b".jit"));
        assert!(!is_below(b".jitter/a", b".jit") && !is_below(b".ji", b".jit"));
        assert!(is_below(b"a/b", b"") && is_below(b"", b""));
    }

    /// An index of version 2 with so many files in `.jit/`, as git writes it.
    fn written(count: usize) -> Vec<u8> {
        let mut index = [b"DIRC\0\0\0\x02", &u32::try_from(count).unwrap().to_be_bytes()[..]].concat();
        for n in 0..count {
            let name = format!(".jit/issues/{n:026}/issue.json");
            let start = index.len();
            index.extend([0; 24]);
            index.extend(0o100_644_u32.to_be_bytes());
            index.extend([0; 12]);
            index.extend([7; 20]);
            index.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            index.extend(name.as_bytes());
            let used = index.len() - start;
            index.resize(index.len() + 8 - used % 8, 0);
        }
        let mut trees = format!("\0{count} 1\n").into_bytes();
        trees.extend([1; 20]);
        trees.extend(format!(".jit\0{count} 1\n").as_bytes());
        trees.extend([2; 20]);
        trees.extend(format!("issues\0{count} {count}\n").as_bytes());
        trees.extend([3; 20]);
        for n in 0..count {
            trees.extend(format!("{n:026}\x001 0\n").as_bytes());
            trees.extend([4; 20]);
        }
        for (kind, content) in [(b"TREE", &trees[..]), (b"ZZZZ", &[9; 70_000])] {
            index.extend(kind);
            index.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
            index.extend(content);
        }
        index.extend([0; 20]);
        index
    }

    #[test]
    fn an_index_is_the_same_however_many_pieces_it_takes() {
        for count in [0, 1, 300, 3_000] {
            let bytes = written(count);
            assert!(count < 3_000 || bytes.len() > 10 * PIECE);
            let index = parse(&Source::of(&bytes), b".jit").unwrap();
            assert_eq!(index.entries.len(), count);
            assert!(index.entries.is_sorted_by(|a, b| a.path < b.path));
            assert_eq!(index.trees.len(), count + 2, "`.jit`, `issues` and one for each");
            let known = tree(&Source::of(&bytes), b".jit");
            assert_eq!(known, ObjectId::from_bytes(&[2; 20]));
            assert_eq!(tree(&Source::of(&bytes), b"src"), None);
            let last = format!(".jit/issues/{:026}", count.saturating_sub(1));
            assert_eq!(tree(&Source::of(&bytes), last.as_bytes()).is_some(), count > 0);
        }
    }

    #[test]
    fn an_index_that_was_cut_off_is_none() {
        let bytes = written(400);
        assert!(parse(&Source::of(&bytes), b".jit").is_some());
        for end in (0..bytes.len()).step_by(997) {
            let cut = &bytes[..end];
            assert_eq!(parse(&Source::of(cut), b".jit"), None::<Index>, "{end}");
            assert_eq!(tree(&Source::of(cut), b".jit"), None, "{end}");
        }
    }

    #[test]
    fn what_must_be_understood_and_is_not_spoils_what_came_before() {
        let mut bytes = written(3);
        let at = bytes.windows(4).rposition(|kind| kind == b"ZZZZ").unwrap();
        bytes[at] = b'z';
        assert_eq!((parse(&Source::of(&bytes), b".jit"), tree(&Source::of(&bytes), b".jit")), (None, None));
    }

    proptest! {
        #[test]
        fn garbage_is_no_index(bytes in proptest::collection::vec(any::<u8>(), 0..300), version in 2u8..5) {
            let head = [b"DIRC\0\0\0", &[version][..], b"\0\0\0\x03"].concat();
            let _ = parse(&Source::of(&[&head[..], &bytes].concat()), b".jit");
            let index = parse(&Source::of(&bytes), b".jit");
            prop_assert_eq!(index.filter(|_| !bytes.starts_with(b"DIRC")), None);
        }
    }
}
