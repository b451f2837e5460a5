//! A document's row of `lineage_edit_locks`: the last fence that the document was granted, the lease that has it, and the
//! number of the last record about the document. The columns are what people and programs ask for; `record` is the
//! whole lease. Once a record has ended the lease only the numbers are left, so that a history which lost its last
//! records cannot have the fence granted again.
//! A row whose columns, record and token do not agree, or that does not fit the last record about its document, was not
//! written here, and is damage.

use holdfast_kernel::{Lease, Mode};
use holdfast_store::{Codec, CounterId, Json, Stored, Unreadable};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::history::is_end;
use super::position::Position;
use crate::secret::{Secret, Token};

/// The columns in the order in which [`Found::read`] takes them: those of the row, and what the history says.
macro_rules! columns {
    ($doc:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM lineage_lock_events AS first WHERE first.doc_id = ",
            $doc,
            " AND first.previous = 0), locks.doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, ",
            "locks.record, last, latest.event, latest.doc_id"
        )
    };
}
pub(super) use columns;

/// All rows.
pub(super) const ALL: &str = concat!(
    "SELECT ",
    columns!("locks.doc_id"),
    " FROM lineage_edit_locks AS locks LEFT JOIN lineage_lock_events AS latest ON latest.sequence = locks.last"
);

/// The row of one lease.
pub(super) const BY_ID: &str = concat!(
    "SELECT ",
    columns!("locks.doc_id"),
    " FROM lineage_edit_locks AS locks LEFT JOIN lineage_lock_events AS latest ON latest.sequence = locks.last
     WHERE lease_id = ?1"
);

/// A row in the place of the one that the document had.
pub(super) const PUT: &str = "INSERT OR REPLACE INTO lineage_edit_locks
    (doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record, last)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// The row of a document that nobody was granted yet.
pub(super) const ADD: &str = "INSERT INTO lineage_edit_locks (doc_id, fence) VALUES (?1, 0)";

/// Documents whose row is missing.
pub(super) const ROWLESS: &str =
    "SELECT count(*) FROM documents WHERE doc_id NOT IN (SELECT doc_id FROM lineage_edit_locks)";

/// What there is about a document: its row, and what the history says.
pub(super) struct Found {
    /// Whether the history has records about it.
    pub(super) has_records: bool,
    /// Its row.
    pub(super) row: Option<Columns>,
    /// The event and the document of the record that the row names as the last one.
    latest: Option<(String, String)>,
}

impl Found {
    /// What a statement gave, from the column `first` on.
    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let is_there =
            |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(first + column)? != ValueRef::Null);
        Ok(Self {
            has_records: row.get(first)?,
            row: if is_there(1)? { Some(Columns::read(row, first + 1)?) } else { None },
            latest: if is_there(10)? { Some((row.get(first + 10)?, row.get(first + 11)?)) } else { None },
        })
    }

    /// The lease that no record has ended, if there is one and everything says so. A document that `is_known` has a
    /// row from the day it was added.
    pub(super) fn lease(
        &self,
        is_known: bool,
        position: &Position,
        secret: &Secret,
    ) -> Result<Option<Lease>, String> {
        match &self.row {
            None if is_known || self.has_records => Err("its row is missing".into()),
            None => Ok(None),
            Some(row) => {
                let lease = row.lease(position, secret)?;
                self.fits(row, lease.is_some()).map(|()| lease)
            }
        }
    }

    /// Whether the row is what the last record about the document leaves.
    fn fits(&self, row: &Columns, is_held: bool) -> Result<(), String> {
        let last = row.last;
        match &self.latest {
            None if last == 0 && row.fence == 0 && !is_held && !self.has_records => Ok(()),
            None if last == 0 => Err("its history has records that it does not know".into()),
            None => Err(format!("record {last} was the last one about it, and is missing")),
            Some((_, doc)) if *doc != row.doc_id => Err(format!("record {last} is not about it")),
            Some((event, _)) if is_held == is_end(event) => {
                Err(format!("record {last}, the last one about it, says something else"))
            }
            // Whoever has it was granted it with that record or before; whoever had it, before its end.
            Some(_) if row.fence > last - u64::from(!is_held) || row.fence == 0 => {
                Err(format!("fence {} does not fit record {last}, the last one about it", row.fence))
            }
            Some(_) => Ok(()),
        }
    }
}

/// A row as it stands in the table.
#[derive(PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) doc_id: String,
    pub(super) owner: Option<String>,
    pub(super) token: Option<String>,
    pub(super) fence: u64,
    pub(super) acquired_at_ms: Option<u64>,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) lease_id: Option<String>,
    pub(super) record: Option<String>,
    pub(super) last: u64,
}

impl Columns {
    /// The row that a statement gave, from the column `first` on.
    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            doc_id: row.get(first)?,
            owner: row.get(first + 1)?,
            token: row.get(first + 2)?,
            fence: row.get(first + 3)?,
            acquired_at_ms: row.get(first + 4)?,
            expires_at_ms: row.get(first + 5)?,
            lease_id: row.get(first + 6)?,
            record: row.get(first + 7)?,
            last: row.get(first + 8)?,
        })
    }

    /// The row of a document with this lease; `last` is the last record about it.
    ///
    /// # Errors
    /// What is wrong with the lease's record: without one the document would look free.
    pub(super) fn of(lease: &Lease, counter: CounterId, secret: &Secret, last: u64) -> Result<Self, String> {
        Ok(Self {
            owner: Some(lease.holder.agent.as_str().to_owned()),
            token: Some(token(lease, secret).to_string()),
            acquired_at_ms: Some(lease.granted.wall_ms()),
            expires_at_ms: lease.deadline().map(|at| at.wall_ms()),
            lease_id: Some(lease.id.to_string()),
            record: Some(String::from_utf8(Json.write(lease, counter)).map_err(|error| error.to_string())?),
            ..Self::after(lease.resource.text().to_owned(), lease.fence.get(), last)
        })
    }

    /// The row of a document whose last lease, with this fence, the record `last` has ended.
    pub(super) const fn after(doc_id: String, fence: u64, last: u64) -> Self {
        Self {
            doc_id,
            owner: None,
            token: None,
            fence,
            acquired_at_ms: None,
            expires_at_ms: None,
            lease_id: None,
            record: None,
            last,
        }
    }

    /// The lease that no record has ended, if there is one and all of the row says so.
    fn lease(&self, position: &Position, secret: &Secret) -> Result<Option<Lease>, String> {
        position.covers(self.fence)?;
        let Some(record) = &self.record else {
            let is_bare = *self == Self::after(self.doc_id.clone(), self.fence, self.last);
            return if is_bare { Ok(None) } else { Err(DISAGREE.into()) };
        };
        let Stored { lease, counter } = Json.read(record.as_bytes()).map_err(|error| match error {
            Unreadable::Damaged(what) => what,
            Unreadable::Newer(version) => format!("its record has version {version}"),
        })?;
        if counter != Some(position.counter) {
            return Err("its fence was drawn from another counter".into());
        }
        if lease.mode != Mode::Exclusive {
            return Err("it cannot have been granted here".into());
        }
        // In constant time, because the token is what a thief would try to guess.
        if self.token.as_deref().and_then(Token::parse) != Some(token(&lease, secret)) {
            return Err("its token was not made with the secret of this vault".into());
        }
        if self.agrees(&lease) { Ok(Some(lease)) } else { Err(DISAGREE.into()) }
    }

    /// Whether the columns say what the record says.
    fn agrees(&self, lease: &Lease) -> bool {
        self.doc_id == lease.resource.text()
            && self.owner.as_deref() == Some(lease.holder.agent.as_str())
            && self.fence == lease.fence.get()
            && self.acquired_at_ms == Some(lease.granted.wall_ms())
            && self.expires_at_ms == lease.deadline().map(|at| at.wall_ms())
            && self.lease_id == Some(lease.id.to_string())
    }
}

const DISAGREE: &str = "its columns and its record say different things";

/// The token that proves a lease.
pub(super) fn token(lease: &Lease, secret: &Secret) -> Token {
    secret.token(lease.resource.text(), &lease.holder.agent, lease.granted.wall_ms(), lease.fence)
}
