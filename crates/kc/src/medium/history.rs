//! The history: one row of `lineage_lock_events` for each transition, only ever added to. Whoever writes it and
//! whoever checks it make a row in the same way, so a row that differs was not written here.

use holdfast_kernel::{Cause, Event, Fence, Table};
use holdfast_store::write_event;
use rusqlite::Row;

use super::row::token;
use crate::secret::Secret;

/// All rows in their order, the columns in the order in which [`Entry::read`] takes them.
pub(super) const ENTRIES: &str =
    "SELECT sequence, event, doc_id, expired_token, record FROM lineage_lock_events ORDER BY sequence";

/// One more row.
pub(super) const ADD: &str = "INSERT INTO lineage_lock_events (sequence, event, doc_id, expired_token, record) VALUES (?1, ?2, ?3, ?4, ?5)";

/// A row of the history.
#[derive(PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) sequence: u64,
    pub(super) event: String,
    pub(super) doc_id: String,
    pub(super) expired_token: Option<String>,
    pub(super) record: String,
}

impl Entry {
    /// The row of an event that happens to this table with this number; none if it speaks of a lease that is
    /// not there.
    pub(super) fn of(table: &Table, event: &Event, sequence: Fence, secret: &Secret) -> Option<Self> {
        let known = |id| table.get(id);
        let (word, lease) = match event {
            Event::Granted { lease } => ("granted", lease),
            Event::Renewed { lease, .. } => ("renewed", known(*lease)?),
            Event::Beaten { lease, .. } => ("beaten", known(*lease)?),
            Event::Released { lease, .. } => ("released", known(*lease)?),
            Event::Transferred { from, .. } => ("transferred", known(*from)?),
            Event::Evicted { lease, cause: Cause::Expired, .. } => (EXPIRED, known(*lease)?),
            Event::Evicted { lease, cause: Cause::Dead, .. } => ("dead", known(*lease)?),
            Event::Evicted { lease, cause: Cause::Forced { .. }, .. } => ("evicted", known(*lease)?),
        };
        Some(Self {
            sequence: sequence.get(),
            event: word.to_owned(),
            doc_id: lease.resource.as_str().to_owned(),
            // Only whoever let a lease run out is told so; every other token that ended proves nothing.
            expired_token: (word == EXPIRED).then(|| token(lease, secret).to_string()),
            // What was written is JSON in UTF-8.
            record: String::from_utf8(write_event(event, sequence)).ok()?,
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
        })
    }
}

/// What the history calls the end of a lease whose deadline passed.
const EXPIRED: &str = "expired";
