//! The index: the leases of a log as they stand, so that opening needs not read the log.
//!
//! It is derived. It says up to which byte, sequence and hash of the log it is true, and carries a hash of
//! itself; whatever of that does not fit makes it worthless, and the log is read instead. It is written in
//! place, because a half-written one is noticed, and replacing a file by renaming costs several times as
//! much as the one durable write that an operation needs.

use std::path::Path;

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::{Handle, Open, Sys};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::chain::{self, Link};
use super::scan::Cursor;
use super::segment;
use crate::json::Words;
use crate::json::write::{NEWEST, Object, VERSION, version_of_all};
use crate::{CounterId, Result};

/// An index larger than this is not read but made anew.
const LARGEST: usize = 1 << 28;

/// What the array of leases stands behind.
const LEASES: &str = ",\"active\":";

/// The file's length is a multiple of this, filled up with spaces, so that it seldom changes.
const BLOCK: usize = 1_024;

/// What stands before the leases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    schema_version: u64,
    #[serde(rename = "generated_at")]
    _generated_at: IgnoredAny,
    sequence: u64,
    #[serde(rename = "stale_threshold_secs")]
    _stale_threshold_secs: IgnoredAny,
    log_id: String,
    segment: u64,
    log_length: u64,
    log_hash: String,
}

/// What the index says, if it can be believed at all. A foreign file in its place is no index.
pub(super) fn read(sys: &Sys, path: &Path, words: &Words) -> Option<Cursor> {
    parse(&bytes(sys, path)?, words)
}

/// Whether the index says that the log is durable up to where `cursor` is.
pub(super) fn vouches(sys: &Sys, path: &Path, cursor: &Cursor) -> bool {
    let Some(bytes) = bytes(sys, path) else { return false };
    verified(&bytes).is_some_and(|(head, _)| {
        head.log_length == cursor.len
            && head.sequence == cursor.sequence
            && head.log_hash == cursor.link.to_string()
    })
}

fn bytes(sys: &Sys, path: &Path) -> Option<Vec<u8>> {
    sys.files.open(path, Open::Read).ok()?.read_from(0, LARGEST).ok()
}

/// What the bytes of an index say: a cursor that is true of the log if the log has that hash there.
pub(super) fn parse(bytes: &[u8], words: &Words) -> Option<Cursor> {
    let (head, leases) = verified(bytes)?;
    segment::countable(head.segment, head.sequence).ok()?;
    Some(Cursor {
        log: head.log_id.parse::<CounterId>().ok()?,
        segment: head.segment,
        table: segment::table(leases, words, head.sequence).ok()?,
        sequence: head.sequence,
        link: Link::parse(head.log_hash.as_bytes())?,
        len: head.log_length,
        doubtful: None,
    })
}

/// The parts of an index that is whole. The leases come last, and nothing before them looks like their key; so they are
/// read once, and not at all by whoever asks for the rest.
fn verified(bytes: &[u8]) -> Option<(Head, &str)> {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let bytes = bytes.get(..end)?;
    // Behind it are spaces, as many as there were leases before; they are compared many at a time.
    let (line, filling) = bytes.split_at_checked(memchr::memrchr(b'}', bytes)? + 1)?;
    if filling.iter().fold(0, |others, byte| others | (byte ^ b' ')) != 0 {
        return None;
    }
    chain::verify(line, Link::START)?;
    let (head, leases) = std::str::from_utf8(chain::body(line)?).ok()?.split_once(LEASES)?;
    let head: Head = serde_json::from_str(&format!("{head}}}")).ok()?;
    (VERSION..=NEWEST).contains(&head.schema_version).then_some((head, leases))
}

/// An index that takes about as much room as the one before it.
fn content(cursor: &Cursor, words: &Words, stale_after: Millis, now: &Stamp, before: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(before + BLOCK);
    let mut object = Object::open(&mut out);
    object.number("schema_version", version_of_all(&cursor.table));
    object.date("generated_at", now);
    object.number("sequence", cursor.sequence);
    object.span("stale_threshold_secs", stale_after);
    object.plain("log_id", &cursor.log);
    object.number("segment", cursor.segment);
    object.number("log_length", cursor.len);
    object.plain("log_hash", &cursor.link);
    segment::leases(object.key("active"), words, &cursor.table, now);
    chain::seal(&mut out, 0, Link::START);
    out
}

/// The index file of a log that is being written.
#[derive(Default)]
pub(super) struct IndexFile {
    handle: Option<Box<dyn Handle>>,
    /// How long the file is.
    len: usize,
    /// How many bytes of the log were written since the index was.
    behind: u64,
}

/// An index up to this size is written after every operation. A larger one waits until it is behind by a
/// sixteenth of its size, so that the cost of an operation does not grow with the number of leases.
const ALWAYS: usize = 1 << 16;

/// How an index is kept.
pub(super) struct Keep<'a> {
    pub(super) path: &'a Path,
    pub(super) mode: u32,
    pub(super) words: &'a Words,
    pub(super) fsync: bool,
}

impl IndexFile {
    /// What the index says, if it is no longer than so many bytes. Whoever has written it reads what it has open: if that is
    /// not at its path any more, it says nothing that is later than what was written there.
    pub(super) fn read_up_to(&self, sys: &Sys, path: &Path, words: &Words, most: u64) -> Option<Cursor> {
        let opened;
        let handle = match &self.handle {
            Some(handle) => handle,
            None => {
                opened = sys.files.open(path, Open::Read).ok()?;
                &opened
            }
        };
        let most = usize::try_from(most).ok()?.min(LARGEST);
        let bytes = handle.read_from(0, most + 1).ok()?;
        if bytes.len() > most { None } else { parse(&bytes, words) }
    }

    /// Brings the index up to date after `written` bytes were added to the log. A failure is no failure
    /// of the operation, which is durable already: the next reader finds the index wanting.
    pub(super) fn update(
        &mut self,
        sys: &Sys,
        keep: &Keep<'_>,
        cursor: &Cursor,
        written: u64,
        stale_after: Millis,
        now: &Stamp,
    ) {
        self.behind += written;
        if self.len > ALWAYS && self.behind * 16 < self.len as u64 {
            return;
        }
        let content = content(cursor, keep.words, stale_after, now, self.len);
        match self.write(sys, keep, content) {
            Ok(()) => self.behind = 0,
            Err(_) => *self = Self::default(),
        }
    }

    fn write(&mut self, sys: &Sys, keep: &Keep<'_>, mut content: Vec<u8>) -> Result<()> {
        let handle = match self.handle.take() {
            Some(handle) => handle,
            None => sys.files.open(keep.path, Open::Create { mode: keep.mode })?,
        };
        let old = usize::try_from(handle.stat()?.len).unwrap_or(usize::MAX);
        let needed = content.len().next_multiple_of(BLOCK);
        let len = if old <= needed.saturating_mul(2) { needed.max(old) } else { needed };
        content.pop();
        content.resize(len - 1, b' ');
        content.push(b'\n');
        handle.write_all_at(&content, 0)?;
        if old > len {
            handle.truncate(len as u64)?;
        }
        if keep.fsync {
            handle.sync()?;
        }
        self.len = len;
        self.handle = Some(handle);
        Ok(())
    }
}
