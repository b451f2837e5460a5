//! The first line of a segment: which log it is, where its counter stands, and the leases carried over.
//! Because of it a log can be cut without losing a lease or a fence.

use std::path::Path;

use holdfast_kernel::{Fence, Stamp, Table};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::chain::{self, Link};
use crate::json::Words;
use crate::json::read::{self, Problem};
use crate::json::write::{self, NEWEST, Object, version_of_all};
use crate::{CounterId, Error, Result};

/// What the first line of a segment says.
pub(super) struct Header {
    pub(super) log: CounterId,
    /// The number of the segment, from 1.
    pub(super) segment: u64,
    /// The last number that was given out before this segment.
    pub(super) sequence: u64,
    /// The hash of the line before this segment.
    pub(super) before: Link,
    /// The leases at the beginning of this segment.
    pub(super) table: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    schema_version: u64,
    sequence: u64,
    op: &'a str,
    log_id: &'a str,
    segment: u64,
    #[serde(rename = "opened_at")]
    _opened_at: &'a str,
    previous: &'a str,
    #[serde(borrow)]
    active: &'a RawValue,
    #[serde(rename = "hash")]
    _hash: &'a str,
}

impl Header {
    /// The line, and the hash that it ends with.
    pub(super) fn line(&self, words: &Words, now: &Stamp) -> (Vec<u8>, Link) {
        let mut out = Vec::new();
        let mut line = Object::open(&mut out);
        line.number("schema_version", version_of_all(&self.table));
        line.number("sequence", self.sequence);
        line.text("op", "open");
        line.plain("log_id", &self.log);
        line.number("segment", self.segment);
        line.date("opened_at", now);
        line.plain("previous", &self.before);
        leases(line.key("active"), words, &self.table, now);
        let link = chain::seal(&mut out, 0, self.before);
        (out, link)
    }

    /// Reads the first line (without its end) of the segment at `path`.
    pub(super) fn read(path: &Path, line: &[u8], words: &Words) -> Result<(Self, Link)> {
        let damaged = |what: Problem| Error::damaged(path, "the first line", what);
        if let Some(version) = newer_version(line) {
            return Err(Error::Newer { path: path.to_path_buf(), version });
        }
        let wire: Wire<'_> = serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
        let header = wire.header(words).map_err(damaged)?;
        let link = chain::verify(line, header.before).ok_or_else(|| damaged("its hash is wrong".into()))?;
        Ok((header, link))
    }
}

impl Wire<'_> {
    fn header(&self, words: &Words) -> std::result::Result<Header, Problem> {
        let version = read::version(Some(self.schema_version))?;
        if self.op != "open" {
            return Err("it does not open a log".into());
        }
        countable(self.segment, self.sequence)?;
        let table = table(self.active.get(), words, self.sequence)?;
        if version_of_all(&table) != version {
            return Err(format!("what it carries over is not of format version {version}"));
        }
        Ok(Header {
            log: self.log_id.parse().map_err(|error| format!("`log_id`: {error}"))?,
            segment: self.segment,
            sequence: self.sequence,
            before: Link::parse(self.previous.as_bytes()).ok_or("`previous` is no hash")?,
            table,
        })
    }
}

/// Whether a log can stand there: segments count from 1, and a counter always has a number left.
pub(super) fn countable(segment: u64, sequence: u64) -> std::result::Result<(), Problem> {
    if !(1..=Fence::LAST.get()).contains(&segment) {
        return Err(format!("its segment is {segment}"));
    }
    if sequence >= Fence::LAST.get() {
        return Err(format!("its sequence is {sequence}"));
    }
    Ok(())
}

/// The version of a line that a later version of the program wrote.
pub(super) fn newer_version(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    let Version { schema_version: version } = serde_json::from_slice(line).ok()?;
    (version > NEWEST).then_some(version)
}

/// Writes an array of all leases of a table.
pub(super) fn leases(out: &mut Vec<u8>, words: &Words, table: &Table, now: &Stamp) {
    out.push(b'[');
    for (position, lease) in table.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write::lease(out, words, lease, Some(now));
    }
    out.push(b']');
}

/// The table with the leases of such an array, if they can stand beside each other and the counter has
/// given their numbers out.
pub(super) fn table(leases: &str, words: &Words, sequence: u64) -> std::result::Result<Table, Problem> {
    let leases = read::all_standing(leases, words)?;
    if let Some(lease) = leases.iter().find(|lease| lease.fence.get() > sequence) {
        return Err(format!("fence {} was never given out", lease.fence));
    }
    Table::restore(leases).map_err(|error| error.to_string())
}
