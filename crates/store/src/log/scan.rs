//! Reading a log line by line: verifies the chain, applies the events, and tells a torn tail, which was
//! never acknowledged, from damage, which was.

use std::path::Path;

use holdfast_kernel::{Fence, Table, apply};
use holdfast_sys::Handle;

use super::buffer::Buffer;
use super::chain::{self, Link};
use super::fold::Fold;
use super::segment::{self, Header};
use crate::json::Words;
use crate::json::read::{self, Entry, Problem};
use crate::{CounterId, Error, Result};

/// The longest line that can be one. The first line of a segment carries all leases.
const LONGEST_LINE: usize = 1 << 28;

/// How far a log has been read, and what that amounts to.
#[derive(Clone)]
pub(super) struct Cursor {
    pub(super) log: CounterId,
    pub(super) segment: u64,
    pub(super) table: Table,
    /// The number of the last line.
    pub(super) sequence: u64,
    /// The hash of the last line.
    pub(super) link: Link,
    /// Where the last line ends.
    pub(super) len: u64,
    /// Where the last append begins, if nothing vouches for its having become durable: its writer may
    /// have died or failed before that.
    pub(super) doubtful: Option<u64>,
}

/// What follows the last good line.
pub(super) enum Tail {
    /// Nothing.
    Clean,
    /// Bytes that were never acknowledged, up to this length of the file.
    Torn {
        /// The length of the file.
        len: u64,
    },
}

/// Whether lines that count together are all there.
enum Whole {
    Yes,
    /// There is no end of the last one that has been read.
    Short,
    /// One of them is not the line that was written.
    Broken,
}

/// Takes in a line at an offset.
type TakeIn<'a> = dyn FnMut(&[u8], u64) -> std::result::Result<(u64, u64), Problem> + 'a;

/// What reading is done with.
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) handle: &'a dyn Handle,
    pub(super) words: &'a Words,
}

impl Cursor {
    /// Reads the first line of a log. Also gives the hash of the line before it, in an earlier segment.
    pub(super) fn at_start(source: &Source<'_>) -> Result<(Self, Link)> {
        let mut buffer = Buffer::default();
        let line = loop {
            let more = buffer.fill(source.handle, 0)?;
            if let Some(end) = memchr::memchr(b'\n', buffer.lines()) {
                break buffer.lines().get(..end).unwrap_or_default();
            }
            if !more || buffer.len() > LONGEST_LINE {
                return Err(Error::damaged(source.path, "the first line", "it does not end"));
            }
        };
        let len = line.len() as u64 + 1;
        let (Header { log, segment, sequence, table, before }, link) =
            Header::read(source.path, line, source.words)?;
        Ok((Self { log, segment, table, sequence, link, len, doubtful: Some(len) }, before))
    }

    /// Reads on to the end of the file, showing every line and the table before it to `visit` and applying
    /// it then.
    pub(super) fn run(&mut self, source: &Source<'_>, visit: &mut dyn FnMut(&Entry, &Table)) -> Result<Tail> {
        let mut table = std::mem::take(&mut self.table);
        let tail = self.read_on(source, &mut |line, _| {
            let entry = read::entry(line, source.words)?;
            visit(&entry, &table);
            apply(&mut table, &entry.event).map_err(|error| error.to_string())?;
            Ok((entry.sequence.get(), entry.batch.get()))
        });
        self.table = table;
        tail
    }

    /// Reads to the end of the file, looking only at what each line does to which lease, and then at the
    /// grants that are left: what [`Cursor::run`] does for histories of millions of lines.
    pub(super) fn rebuild(&mut self, source: &Source<'_>) -> Result<Tail> {
        let mut fold = Fold::new(std::mem::take(&mut self.table), source.words);
        let tail = self.read_on(source, &mut |line, offset| fold.take_in(line, offset))?;
        self.table = fold.finish(source)?;
        Ok(tail)
    }

    /// Shows every line that stands where it was written, with its offset, to `take_in`, which tells its
    /// number and its batch, or what is wrong with it.
    fn read_on(&mut self, source: &Source<'_>, take_in: &mut TakeIn<'_>) -> Result<Tail> {
        let mut buffer = Buffer::default();
        loop {
            let more = buffer.fill(source.handle, self.len)?;
            let mut used = 0;
            for end in memchr::memchr_iter(b'\n', buffer.lines()) {
                let line = buffer.lines().get(used..end).unwrap_or_default();
                let Some(link) = chain::verify(line, self.link) else { return self.judge_tail(source) };
                if let Some(count) = read::together(line) {
                    let rest = buffer.lines().get(used..).unwrap_or_default();
                    match self.all_of(source, rest, count)? {
                        Whole::Yes => {}
                        Whole::Broken => return self.judge_tail(source),
                        // The rest of them may lie behind what has been read of the file.
                        Whole::Short => break,
                    }
                }
                // Whoever wrote this line did so on purpose: what does not fit is damage, not a torn write.
                let position =
                    take_in(line, self.len).map_err(|problem| self.misfit(source, line, problem))?;
                self.advance(source, line, link, position)?;
                used = end + 1;
            }
            buffer.drop_front(used);
            if !more {
                // Lines of which some are missing count as little as a line that has no end.
                return if buffer.is_empty() { Ok(Tail::Clean) } else { self.judge_tail(source) };
            }
            if buffer.len() > LONGEST_LINE {
                return self.judge_tail(source);
            }
        }
    }

    /// Whether all lines that count together with the first of `lines` are there.
    fn all_of(&self, source: &Source<'_>, lines: &[u8], count: u64) -> Result<Whole> {
        let mut link = self.link;
        let mut from = 0;
        for place in 0..count {
            let rest = lines.get(from..).unwrap_or_default();
            let Some(end) = memchr::memchr(b'\n', rest) else { return Ok(Whole::Short) };
            let line = rest.get(..end).unwrap_or_default();
            let Some(next) = chain::verify(line, link) else { return Ok(Whole::Broken) };
            let first = self.sequence + 1;
            if place > 0 && read::batch(line, source.words) != Some(first) {
                let what = format!("only {place} of {count} lines that count together are there");
                return Err(Error::damaged(source.path, self.place(), what));
            }
            (link, from) = (next, from + end + 1);
        }
        Ok(Whole::Yes)
    }

    fn advance(
        &mut self,
        source: &Source<'_>,
        line: &[u8],
        link: Link,
        (sequence, batch): (u64, u64),
    ) -> Result<()> {
        if sequence != self.sequence + 1 || sequence >= Fence::LAST.get() {
            return Err(self.misfit(source, line, format!("its sequence is {sequence}")));
        }
        if batch == sequence {
            self.doubtful = Some(self.len);
        }
        self.sequence = sequence;
        self.link = link;
        self.len += line.len() as u64 + 1;
        Ok(())
    }

    fn misfit(&self, source: &Source<'_>, line: &[u8], problem: Problem) -> Error {
        match segment::newer_version(line) {
            Some(version) => Error::Newer { path: source.path.to_path_buf(), version },
            None => Error::damaged(source.path, self.place(), problem),
        }
    }

    fn place(&self) -> String {
        format!("the line after sequence {}", self.sequence)
    }

    /// Looks at what follows the last good line. A line of a later version is not for this one to judge. An append is made only after the one before it became
    /// durable, so a line of a later append behind the break shows that what is broken was acknowledged.
    fn judge_tail(&self, source: &Source<'_>) -> Result<Tail> {
        let mut offset = self.len;
        let mut buffer = Buffer::default();
        loop {
            let more = buffer.fill(source.handle, offset)?;
            let lines = buffer.lines();
            let later =
                |line: &[u8]| read::batch(line, source.words).is_some_and(|batch| batch > self.sequence + 1);
            if let Some(version) = lines.split(|byte| *byte == b'\n').find_map(segment::newer_version) {
                return Err(Error::Newer { path: source.path.to_path_buf(), version });
            }
            if lines.split(|byte| *byte == b'\n').any(later) {
                return Err(Error::damaged(
                    source.path,
                    self.place(),
                    "it is not the line that was written there",
                ));
            }
            let used = if buffer.len() > LONGEST_LINE { buffer.len() } else { lines.len() };
            buffer.drop_front(used);
            offset += used as u64;
            if !more {
                return Ok(Tail::Torn { len: offset + buffer.len() as u64 });
            }
        }
    }
}
