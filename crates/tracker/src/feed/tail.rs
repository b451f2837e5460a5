//! The end of a log that grows: what was written since it was looked at last. A line counts once it is whole. A log that is
//! shorter than it was, or another file, is read from its beginning; whoever reads knows what it has seen.

use std::path::Path;

use holdfast_sys::{Identity, Open, Sys};
use serde_json::Value;

use crate::error::Result;

/// How much is read at once.
const PIECE: usize = 1 << 20;

/// A line of a log.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Line {
    /// What tells it from all others of its log.
    pub(super) mark: String,
    /// The event.
    pub(super) event: Value,
}

/// How far a log was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tail {
    file: Option<Identity>,
    offset: u64,
}

impl Tail {
    /// The lines that are new.
    pub(super) fn read(&mut self, sys: &Sys, path: &Path) -> Result<Vec<Line>> {
        let stat = match sys.files.stat(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            stat => stat?,
        };
        if self.file != Some(stat.identity) || stat.len < self.offset {
            *self = Self { file: Some(stat.identity), offset: 0 };
        }
        if stat.len == self.offset {
            return Ok(Vec::new());
        }
        let handle = sys.files.open(path, Open::Read)?;
        let mut found = Vec::new();
        loop {
            let bytes = handle.read_from(self.offset, PIECE)?;
            let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(found) };
            self.offset += end as u64 + 1;
            found.extend(lines(bytes.get(..end).unwrap_or_default()));
        }
    }

    /// The lines that were added to the log before it was put aside, if it was since it was read last.
    pub(super) fn rest(&self, sys: &Sys, path: &Path, aside: &Path) -> Result<Vec<Line>> {
        let identity = |path: &Path| sys.files.stat(path).map(|stat| stat.identity).ok();
        if self.file.is_none() || identity(path) == self.file || identity(aside) != self.file {
            return Ok(Vec::new());
        }
        let handle = sys.files.open(aside, Open::Read)?;
        Ok(lines(&handle.read_from(self.offset, usize::MAX)?))
    }

    /// Whether the log has not been read further than this.
    pub(super) const fn is_whole(&self, most: u64) -> bool {
        self.offset <= most
    }

    /// The lines that were read last, as many as are in so many bytes.
    pub(super) fn before(&self, sys: &Sys, path: &Path, most: u64) -> Result<Vec<Line>> {
        let from = self.offset.saturating_sub(most);
        let handle = match sys.files.open(path, Open::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            handle => handle?,
        };
        let length = usize::try_from(self.offset - from).unwrap_or(usize::MAX);
        let bytes = handle.read_from(from, length)?;
        let start = match from {
            0 => 0,
            _ => bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1),
        };
        Ok(lines(bytes.get(start..).unwrap_or_default()))
    }
}

/// The events in a text; what is none is left out.
pub(super) fn lines(bytes: &[u8]) -> Vec<Line> {
    let parsed = |line: &[u8]| {
        let event: Value = serde_json::from_slice(line).ok()?;
        let mark = match (event.get("id").and_then(Value::as_str), event.get("sequence")) {
            (Some(id), _) => id.to_owned(),
            (None, Some(number)) => number.as_u64()?.to_string(),
            (None, None) => short(line),
        };
        Some(Line { mark, event })
    };
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).filter_map(parsed).collect()
}

/// What stands for a line that has no number.
fn short(line: &[u8]) -> String {
    blake3::hash(line).to_hex().chars().take(26).collect()
}
