//! How numbers, texts and the looks of files are written in a cache: as short as can be read quickly. Whatever is read may be
//! hostile; what cannot be read is nothing.

use holdfast_git::ObjectId;

use super::{Signature, Signatures};

/// What stands in the place of a length: of a text that is not there, and before a length that is longer than a byte says.
const NONE: u8 = u8::MAX;
const LONG: u8 = NONE - 1;

/// How long a signature is that needs all its bytes, and one that does not.
const WIDE: usize = 4 * LONG_LEN;
const NARROW: usize = 3 * SHORT_LEN + LONG_LEN;
const SHORT_LEN: usize = 4;
const LONG_LEN: usize = 8;

/// The bits that say which files were there, and the one that says how long signatures are.
const FILE_FLAGS: u8 = 0b111;
const WIDE_FLAG: u8 = 0b1000;

/// Bytes that are being made.
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    /// How a directory and its files look: first which of them are there and how long each is, then each of those.
    pub(super) fn signatures(&mut self, signatures: &Signatures) {
        let there = || std::iter::once(&signatures.directory).chain(signatures.files.iter().flatten());
        let is_wide = there().any(|signature| narrow(signature).is_none());
        let mut flags = if is_wide { WIDE_FLAG } else { 0 };
        for (number, file) in signatures.files.iter().enumerate() {
            flags |= u8::from(file.is_some()) << number;
        }
        self.0.push(flags);
        for signature in there() {
            match narrow(signature).filter(|_| !is_wide) {
                Some(narrow) => self.0.extend_from_slice(&narrow),
                None => self.wide(signature),
            }
        }
    }

    pub(super) fn optional_signature(&mut self, signature: Option<&Signature>) {
        self.0.push(u8::from(signature.is_some()));
        if let Some(signature) = signature {
            self.wide(signature);
        }
    }

    fn wide(&mut self, signature: &Signature) {
        let Signature { inode, len, modified, changed } = *signature;
        for part in [inode, len, modified.cast_unsigned(), changed.cast_unsigned()] {
            self.long(part);
        }
    }

    pub(super) fn long(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) -> Option<()> {
        self.length(text.len())?;
        self.0.extend_from_slice(text.as_bytes());
        Some(())
    }

    pub(super) fn texts(&mut self, texts: &Texts) -> Option<()> {
        self.length(texts.lengths.0.len())?;
        self.length(texts.all.len())?;
        self.0.extend_from_slice(&texts.lengths.0);
        self.0.extend_from_slice(texts.all.as_bytes());
        Some(())
    }

    /// A length: one byte, unless it is a long one.
    fn length(&mut self, length: usize) -> Option<()> {
        match u8::try_from(length) {
            Ok(short) if short < LONG => self.0.push(short),
            _ => {
                self.0.push(LONG);
                self.0.extend_from_slice(&u32::try_from(length).ok()?.to_le_bytes());
            }
        }
        Some(())
    }
}

/// A signature of which nothing takes more than four bytes but when it was last changed; most often that was not long after it
/// was modified.
fn narrow(signature: &Signature) -> Option<[u8; NARROW]> {
    let Signature { inode, len, modified, changed } = *signature;
    let parts = [inode, len, changed.checked_sub(modified)?.try_into().ok()?];
    let mut bytes = [0; NARROW];
    let (short, long) = bytes.split_at_mut_checked(NARROW - LONG_LEN)?;
    for (room, part) in short.chunks_exact_mut(SHORT_LEN).zip(parts) {
        room.copy_from_slice(&u32::try_from(part).ok()?.to_le_bytes());
    }
    long.copy_from_slice(&changed.to_le_bytes());
    Some(bytes)
}

/// How a directory and its files looked, as it was written down. What nobody asks for is not read.
#[derive(Clone, Copy)]
pub(in super::super) struct Looks<'a> {
    flags: u8,
    bytes: &'a [u8],
}

impl Looks<'_> {
    /// How the directory looked.
    pub(in super::super) fn directory(&self) -> Option<Signature> {
        self.signature(0)
    }

    /// Whether it had the file of that number.
    pub(in super::super) const fn has(&self, file: u32) -> bool {
        self.flags >> file & 1 == 1
    }

    /// How that file looked, if there was one.
    pub(in super::super) fn file(&self, file: u32) -> Option<Signature> {
        let before = self.flags & ((1 << file) - 1);
        if self.has(file) { self.signature(1 + before.count_ones()) } else { None }
    }

    fn signature(&self, number: u32) -> Option<Signature> {
        let (number, is_wide) = (usize::try_from(number).ok()?, self.flags & WIDE_FLAG != 0);
        let size = if is_wide { WIDE } else { NARROW };
        let mut reader = Reader { bytes: self.bytes.get(number * size..)?, at: 0 };
        if is_wide {
            return reader.wide();
        }
        let (inode, len, after) = (reader.short()?, reader.short()?, reader.short()?);
        let changed = reader.long()?.cast_signed();
        let modified = changed.wrapping_sub(after.into());
        Some(Signature { inode: inode.into(), len: len.into(), modified, changed })
    }
}

/// Texts, and lists of them, that are written one behind the other, with their lengths before all of them: so whoever reads
/// them looks only once whether they are text.
pub(super) struct Texts {
    lengths: Writer,
    all: String,
}

impl Default for Texts {
    fn default() -> Self {
        Self { lengths: Writer(Vec::with_capacity(32)), all: String::with_capacity(256) }
    }
}

impl Texts {
    /// Adds a text, or that there is none.
    pub(super) fn add(&mut self, text: Option<&str>) -> Option<()> {
        match text {
            None => self.lengths.0.push(NONE),
            Some(text) => {
                self.lengths.length(text.len())?;
                self.all.push_str(text);
            }
        }
        Some(())
    }

    pub(super) fn list<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Option<()> {
        let texts: Vec<&str> = texts.collect();
        self.lengths.length(texts.len())?;
        texts.into_iter().try_for_each(|text| self.add(Some(text)))
    }
}

/// Bytes that are being read.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// A number of four bytes.
    pub(super) fn short(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    /// A number of eight bytes.
    pub(super) fn long(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn wide(&mut self) -> Option<Signature> {
        let (inode, len, modified, changed) = (self.long()?, self.long()?, self.long()?, self.long()?);
        Some(Signature { inode, len, modified: modified.cast_signed(), changed: changed.cast_signed() })
    }

    pub(super) fn looks(&mut self) -> Option<Looks<'a>> {
        let flags = self.byte()?;
        let size = if flags & WIDE_FLAG == 0 { NARROW } else { WIDE };
        let files = usize::try_from((flags & FILE_FLAGS).count_ones()).ok()?;
        Some(Looks { flags, bytes: self.take((1 + files) * size)? })
    }

    /// A signature, or that there is none.
    pub(super) fn optional_signature(&mut self) -> Option<Option<Signature>> {
        let is_there = self.byte()? != 0;
        if is_there { self.wide().map(Some) } else { Some(None) }
    }

    pub(super) fn tree(&mut self) -> Option<ObjectId> {
        let length = self.byte()?;
        ObjectId::from_bytes(self.take(length.into())?)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = self.length()??;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub(super) fn texts(&mut self) -> Option<Said<'a>> {
        let (lengths, all) = (self.length()??, self.length()??);
        let lengths = Reader { bytes: self.take(lengths)?, at: 0 };
        Some(Said { lengths, rest: std::str::from_utf8(self.take(all)?).ok()? })
    }

    /// A length, or that there is none.
    fn length(&mut self) -> Option<Option<usize>> {
        Some(match self.byte()? {
            NONE => None,
            LONG => Some(usize::try_from(self.short()?).ok()?),
            short => Some(short.into()),
        })
    }
}

/// Texts that are being read, in their order.
pub(super) struct Said<'a> {
    lengths: Reader<'a>,
    rest: &'a str,
}

impl<'a> Said<'a> {
    /// The next text, or that there is none.
    pub(super) fn next(&mut self) -> Option<Option<&'a str>> {
        let Some(length) = self.lengths.length()? else { return Some(None) };
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(Some(text))
    }

    pub(super) fn list(&mut self) -> Option<Vec<&'a str>> {
        let mut texts = Vec::new();
        for _ in 0..self.lengths.length()?? {
            texts.push(self.next()??);
        }
        Some(texts)
    }

    /// Passes over a list.
    pub(super) fn pass_list(&mut self) -> Option<()> {
        (0..self.lengths.length()??).try_for_each(|_| self.next()?.map(drop))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Reader, Signature, Signatures, Texts, Writer};

    proptest! {
        #[test]
        fn signatures_are_read_as_they_were_written(
            directory in signature(),
            files in proptest::array::uniform3(proptest::option::of(signature())),
        ) {
            let mut into = Writer(Vec::new());
            into.signatures(&Signatures { directory, files });
            into.optional_signature(Some(&directory));
            into.optional_signature(None);
            let mut reader = Reader { bytes: &into.0, at: 0 };
            let looks = reader.looks().unwrap();
            prop_assert_eq!(looks.directory(), Some(directory));
            prop_assert_eq!([0, 1, 2].map(|file| looks.file(file)), files);
            prop_assert_eq!([0, 1, 2].map(|file| looks.has(file)), files.map(|file| file.is_some()));
            prop_assert_eq!(reader.optional_signature(), Some(Some(directory)));
            prop_assert_eq!(reader.optional_signature(), Some(None));
            prop_assert_eq!(reader.at, into.0.len());
        }

        #[test]
        fn texts_are_read_as_they_were_written(
            texts in proptest::collection::vec(proptest::option::of(".{0,300}"), 0..6),
            lists in proptest::collection::vec(proptest::collection::vec(".{0,9}", 0..5), 0..4),
            passed in 0usize..4,
        ) {
            let mut all = Texts::default();
            for text in &texts {
                all.add(text.as_deref()).unwrap();
            }
            for list in &lists {
                all.list(list.iter().map(String::as_str)).unwrap();
            }
            let mut into = Writer(Vec::new());
            into.texts(&all).unwrap();
            let mut said = Reader { bytes: &into.0, at: 0 }.texts().unwrap();
            for text in &texts {
                prop_assert_eq!(said.next(), Some(text.as_deref()));
            }
            for (number, list) in lists.iter().enumerate() {
                if number == passed {
                    prop_assert_eq!(said.pass_list(), Some(()));
                } else {
                    prop_assert_eq!(said.list().unwrap(), list.iter().map(String::as_str).collect::<Vec<_>>());
                }
            }
            prop_assert_eq!(said.next(), None);
        }
    }

    /// Most are of files that were put in their place at once; some need all their bytes.
    fn signature() -> impl Strategy<Value = Signature> {
        let usual = (0u64..5_000_000, 0u64..5_000, any::<i64>(), 0i64..5_000_000_000);
        let usual =
            usual.prop_map(|(inode, len, changed, after)| (inode, len, changed.wrapping_sub(after), changed));
        prop_oneof![3 => usual, 1 => any::<(u64, u64, i64, i64)>()]
            .prop_map(|(inode, len, modified, changed)| Signature { inode, len, modified, changed })
    }
}
