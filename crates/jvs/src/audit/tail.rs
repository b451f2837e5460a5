//! The end of the audit log, found without reading the rest of it.
//!
//! A crash leaves a line without its end, or with zeros where a sector did not reach the disk; from there on
//! nothing was acknowledged. A last line that is wrong in any other way was not left by a crash.

use super::entry::{Entry, NOTHING_BEFORE};
use super::{Audit, CURRENT};
use crate::error::Result;

/// How much of the end is looked at: many lines of the usual length, and more than one of the longest.
const WINDOW: u64 = 64 * 1_024;

/// Where the log ends.
pub(super) struct Tail {
    /// Where the last good line of the current segment begins.
    pub(super) at: u64,
    /// That line; empty if the segment has none.
    pub(super) last: Vec<u8>,
    /// Where it ends.
    pub(super) end: u64,
    /// What a crash left behind it.
    pub(super) torn: Option<Vec<u8>>,
    /// The number of the last line; 0 if there is none.
    pub(super) seq: u64,
    /// Its hash.
    pub(super) hash: String,
}

impl Audit {
    pub(super) fn tail(&self) -> Result<Tail> {
        let found = self.end_of(CURRENT)?;
        if !found.last.is_empty() {
            return Ok(found);
        }
        let archived = self.segments()?.into_iter().rfind(|name| name != CURRENT);
        let Some(name) = archived else { return Ok(found) };
        let before = self.end_of(&name)?;
        if before.torn.is_some() || before.last.is_empty() {
            return Err(self.broken(&name, "an archived segment has no end"));
        }
        Ok(Tail { seq: before.seq, hash: before.hash, ..found })
    }

    /// The number of the first line of the current segment.
    pub(super) fn first_of_current(&self) -> Result<u64> {
        let Some(file) = self.open(CURRENT)? else { return Ok(1) };
        let bytes = file.read_from(0, super::LONGEST_LINE)?;
        let line = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(Entry::read(line).map_err(|why| self.broken(CURRENT, why))?.0.seq)
    }

    fn end_of(&self, name: &str) -> Result<Tail> {
        let mut tail =
            Tail { at: 0, last: Vec::new(), end: 0, torn: None, seq: 0, hash: NOTHING_BEFORE.to_owned() };
        let Some(file) = self.open(name)? else { return Ok(tail) };
        let start = file.stat()?.len.saturating_sub(WINDOW);
        let window = file.read_from(start, usize::try_from(2 * WINDOW).unwrap_or(usize::MAX))?;
        // The window begins in the middle of a line, unless it begins with the file.
        let cut = if start == 0 { 0 } else { after_newline(&window) };
        let mut at = cut;
        for piece in window.get(cut..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            if is_torn(piece) {
                tail.torn = window.get(at..).map(<[u8]>::to_vec);
                break;
            }
            tail.at = start + at as u64;
            tail.last = piece.to_vec();
            at += piece.len();
        }
        tail.end = start + at as u64;
        if !tail.last.is_empty() {
            let (entry, hash) = Entry::read(&tail.last).map_err(|why| self.broken(name, why))?;
            (tail.seq, tail.hash) = (entry.seq, hash);
        } else if start > 0 {
            return Err(self.broken(name, "there is no whole line at its end"));
        }
        Ok(tail)
    }
}

/// Whether a crash can have left this.
pub(super) fn is_torn(piece: &[u8]) -> bool {
    !piece.ends_with(b"\n") || piece.contains(&0)
}

fn after_newline(window: &[u8]) -> usize {
    window.iter().position(|byte| *byte == b'\n').map_or(window.len(), |at| at + 1)
}
