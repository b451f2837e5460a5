//! Reading a log line by line: verifies the chain, applies the events, and tells a torn tail, which was
//! never acknowledged, from damage, which was.

use std::path::Path;

use holdfast_kernel::{Table, apply};
use holdfast_sys::Handle;

use super::chain::{self, Link};
use super::read::{self, Entry};
use super::segment::{self, Header};
use super::words::Words;
use crate::{CounterId, Error, Result};

/// How much is read at once.
const CHUNK: usize = 1 << 20;

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

/// What reading is done with.
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) handle: &'a dyn Handle,
    pub(super) words: &'a Words,
}

impl Cursor {
    /// Reads the first line of a log. Also gives the hash of the line before it, in an earlier segment.
    pub(super) fn at_start(source: &Source<'_>) -> Result<(Self, Link)> {
        let mut bytes = Vec::new();
        let end = loop {
            let more = source.handle.read_from(bytes.len() as u64, CHUNK)?;
            let searched = bytes.len();
            bytes.extend_from_slice(&more);
            if let Some(end) = memchr::memchr(b'\n', bytes.get(searched..).unwrap_or_default()) {
                break searched + end;
            }
            if more.is_empty() || bytes.len() > LONGEST_LINE {
                return Err(Error::damaged(source.path, "the first line", "it does not end"));
            }
        };
        let line = bytes.get(..end).unwrap_or_default();
        let len = end as u64 + 1;
        let (Header { log, segment, sequence, table, before }, link) =
            Header::read(source.path, line, source.words)?;
        Ok((Self { log, segment, table, sequence, link, len, doubtful: Some(len) }, before))
    }

    /// Reads on to the end of the file, showing every line to `visit`.
    pub(super) fn run(&mut self, source: &Source<'_>, visit: &mut dyn FnMut(&Entry)) -> Result<Tail> {
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let more = source.handle.read_from(self.len + bytes.len() as u64, CHUNK)?;
            bytes.extend_from_slice(&more);
            let mut used = 0;
            for end in memchr::memchr_iter(b'\n', &bytes) {
                let line = bytes.get(used..end).unwrap_or_default();
                match self.step(source, line)? {
                    Some(entry) => visit(&entry),
                    None => return self.judge_tail(source),
                }
                used = end + 1;
            }
            bytes.drain(..used);
            if more.is_empty() {
                return if bytes.is_empty() { Ok(Tail::Clean) } else { self.judge_tail(source) };
            }
            if bytes.len() > LONGEST_LINE {
                return self.judge_tail(source);
            }
        }
    }

    /// Takes one line in; none if it is not the line that must come next.
    fn step(&mut self, source: &Source<'_>, line: &[u8]) -> Result<Option<Entry>> {
        let Some(link) = chain::verify(line, self.link) else { return Ok(None) };
        // From here on somebody wrote the line on purpose: what does not fit is damage, not a torn write.
        let place = || format!("the line after sequence {}", self.sequence);
        let entry = read::entry(line, source.words).map_err(|problem| {
            segment::newer(source.path, line).unwrap_or_else(|| Error::damaged(source.path, place(), problem))
        })?;
        if entry.sequence.get() != self.sequence + 1 {
            return Err(Error::damaged(source.path, place(), format!("its sequence is {}", entry.sequence)));
        }
        apply(&mut self.table, &entry.event).map_err(|error| Error::damaged(source.path, place(), error))?;
        if entry.batch == entry.sequence {
            self.doubtful = Some(self.len);
        }
        self.sequence = entry.sequence.get();
        self.link = link;
        self.len += line.len() as u64 + 1;
        Ok(Some(entry))
    }

    /// Looks at what follows the last good line. An append is made only after the one before it became
    /// durable, so a line of a later append behind the break shows that what is broken was acknowledged.
    fn judge_tail(&self, source: &Source<'_>) -> Result<Tail> {
        let next = self.sequence + 1;
        let mut offset = self.len;
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let more = source.handle.read_from(offset + bytes.len() as u64, CHUNK)?;
            let at_end = more.is_empty();
            bytes.extend_from_slice(&more);
            let mut used = 0;
            for end in memchr::memchr_iter(b'\n', &bytes) {
                let line = bytes.get(used..end).unwrap_or_default();
                if read::position(line, source.words).is_some_and(|(_, batch)| batch > next) {
                    let place = format!("the line after sequence {}", self.sequence);
                    return Err(Error::damaged(
                        source.path,
                        place,
                        "it is not the line that was written there",
                    ));
                }
                used = end + 1;
            }
            bytes.drain(..used);
            offset += used as u64;
            if at_end {
                return Ok(Tail::Torn { len: offset + bytes.len() as u64 });
            }
            if bytes.len() > LONGEST_LINE {
                offset += bytes.len() as u64;
                bytes.clear();
            }
        }
    }
}
