//! The history: one row of `lineage_lock_events` for each transition, only ever added to. Whoever writes it and
//! whoever checks it make a row in the same way, so a row that differs was not written here.

use std::collections::BTreeMap;

use holdfast_kernel::{Cause, Event, Fence, Table};
use holdfast_store::write_event;
use rusqlite::Row;

use super::row::token;
use crate::secret::Secret;

/// All rows in their order, the columns in the order in which [`Entry::read`] takes them.
pub(super) const ENTRIES: &str = "SELECT sequence, event, doc_id, expired_token, record, previous FROM lineage_lock_events ORDER BY sequence";

/// One more row.
pub(super) const ADD: &str = "INSERT INTO lineage_lock_events
    (sequence, event, doc_id, expired_token, record, previous) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// A row of the history.
#[derive(PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) sequence: u64,
    pub(super) event: String,
    pub(super) doc_id: String,
    pub(super) expired_token: Option<String>,
    pub(super) record: String,
    /// The number of the record before it about the same document; 0 for the first one.
    pub(super) previous: u64,
}

impl Entry {
    /// The row of an event that happens to this table with this number, after the last records about the documents.
    ///
    /// # Errors
    /// When it speaks of a lease that is not there, or cannot be written.
    pub(super) fn of(
        table: &Table,
        event: &Event,
        sequence: Fence,
        secret: &Secret,
        last: &Last,
    ) -> Result<Self, String> {
        let known = |id| table.get(id).ok_or("an event speaks of a lease that is not there");
        let (word, lease) = match event {
            Event::Granted { lease } => (GRANTED, lease),
            Event::Renewed { lease, .. } => ("renewed", known(*lease)?),
            Event::Beaten { lease, .. } => ("beaten", known(*lease)?),
            Event::Released { lease, .. } => ("released", known(*lease)?),
            Event::Transferred { from, .. } => ("transferred", known(*from)?),
            Event::Evicted { lease, cause: Cause::Expired, .. } => (EXPIRED, known(*lease)?),
            Event::Evicted { lease, cause: Cause::Dead, .. } => ("dead", known(*lease)?),
            Event::Evicted { lease, cause: Cause::Forced { .. }, .. } => ("evicted", known(*lease)?),
        };
        Ok(Self {
            sequence: sequence.get(),
            event: word.to_owned(),
            doc_id: lease.resource.text().to_owned(),
            // Only whoever let a lease run out is told so; every other token that ended proves nothing.
            expired_token: (word == EXPIRED).then(|| token(lease, secret).to_string()),
            record: String::from_utf8(write_event(event, sequence)).map_err(|error| error.to_string())?,
            previous: last.of(lease.resource.text()),
        })
    }

    /// The row that a statement gave.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            sequence: row.get(0)?,
            event: row.get(1)?,
            doc_id: row.get(2)?,
            expired_token: row.get(3)?,
            record: row.get(4)?,
            previous: row.get(5)?,
        })
    }
}

/// The last records about documents, by document. One that is not in it has none.
#[derive(Default)]
pub(super) struct Last(BTreeMap<String, u64>);

impl Last {
    pub(super) fn of(&self, doc_id: &str) -> u64 {
        self.0.get(doc_id).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, doc_id: &str, last: u64) {
        self.0.insert(doc_id.to_owned(), last);
    }
}

/// Whether this event leaves its document to nobody.
pub(super) fn is_end(event: &str) -> bool {
    !matches!(event, GRANTED | "renewed" | "beaten" | "transferred")
}

const GRANTED: &str = "granted";

/// What the history calls the end of a lease whose deadline passed.
const EXPIRED: &str = "expired";
