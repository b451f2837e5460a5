//! A file that is read from its beginning to its end, a piece at a time: an index may be many megabytes long,
//! little of it is wanted, and memory that was never used before costs more than the reading.

use std::path::Path;

use holdfast_sys::{Files, Kind};

use crate::{Error, Result, paths};

/// How much is read at once.
pub(super) const PIECE: usize = 32 << 10;

/// Adds what is from an offset on, so many bytes at most; none when that failed.
type Read<'a> = Box<dyn Fn(&mut Vec<u8>, u64, usize) -> Option<()> + 'a>;

/// Where the bytes come from.
pub(crate) struct Source<'a> {
    read: Read<'a>,
    len: u64,
}

impl Source<'_> {
    /// The file at `path`, symbolic links followed; none if there is none.
    pub(crate) fn open(files: &dyn Files, path: &Path) -> Result<Option<Self>> {
        let Some(handle) = paths::if_there(paths::open(files, path))? else { return Ok(None) };
        let stat = handle.stat()?;
        if stat.kind != Kind::File {
            return Err(Error::NotAFile { path: path.to_path_buf() });
        }
        let read = move |into: &mut Vec<u8>, at, limit| handle.read_more(into, at, limit).ok();
        Ok(Some(Self { read: Box::new(read), len: stat.len }))
    }
}

/// What is still to come of a source.
pub(super) struct Pieces<'a> {
    source: &'a Source<'a>,
    /// Where it ends for us.
    end: u64,
    /// Where in it the piece begins.
    at: u64,
    piece: Vec<u8>,
    /// How much of the piece is behind us.
    used: usize,
}

impl<'a> Pieces<'a> {
    /// A source without its last bytes; none if it has not so many.
    pub(super) fn new(source: &'a Source<'a>, without: u64) -> Option<Self> {
        let end = source.len.checked_sub(without)?;
        Some(Self { source, end, at: 0, piece: Vec::new(), used: 0 })
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.at + self.used as u64 >= self.end
    }

    /// What comes next: so many bytes, or all that are left.
    pub(super) fn up_to(&mut self, len: usize) -> Option<&[u8]> {
        let from = self.at + self.piece.len() as u64;
        if self.piece.len() - self.used < len && from < self.end {
            self.piece.drain(..self.used);
            self.at += std::mem::take(&mut self.used) as u64;
            let left = usize::try_from(self.end - from).ok()?;
            let wanted = len.max(PIECE).saturating_sub(self.piece.len());
            (self.source.read)(&mut self.piece, from, wanted.min(left))?;
        }
        let rest = self.piece.get(self.used..)?;
        Some(rest.get(..len).unwrap_or(rest))
    }

    /// What comes next: so many bytes, none if they are not there.
    pub(super) fn ahead(&mut self, len: usize) -> Option<&[u8]> {
        self.up_to(len).filter(|bytes| bytes.len() == len)
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&[u8]> {
        self.ahead(len)?;
        let from = self.used;
        self.used += len;
        self.piece.get(from..self.used)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Goes past so many bytes, without reading those that were not read yet.
    pub(super) fn skip(&mut self, len: usize) -> Option<()> {
        if len <= self.piece.len() - self.used {
            self.used += len;
            return Some(());
        }
        let to = self.at.checked_add(self.used as u64)?.checked_add(len as u64)?;
        self.piece.clear();
        (self.at, self.used) = (to, 0);
        (to <= self.end).then_some(())
    }
}

#[cfg(test)]
impl<'a> Source<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let read = |into: &mut Vec<u8>, at: u64, limit: usize| {
            let rest = bytes.get(usize::try_from(at).ok()?..)?;
            into.extend(rest.iter().take(limit));
            Some(())
        };
        Self { read: Box::new(read), len: bytes.len() as u64 }
    }
}
