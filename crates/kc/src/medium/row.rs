//! A document's row of `lineage_edit_locks`: the last fence that the document was granted, and the lease that has it.
//! The columns are what people and programs ask for; `record` is the whole lease. Once a record has ended the lease
//! only the fence is left, so that a history which lost its last records cannot have it granted again.
//! A row whose columns, record and token do not agree was not written here, and is damage.

use holdfast_kernel::{Lease, Mode};
use holdfast_store::{Codec, CounterId, Json, Stored, Unreadable};
use rusqlite::Row;

use super::position::Position;
use crate::secret::{Secret, Token};

/// The columns in the order in which [`Columns::read`] takes them.
macro_rules! columns {
    () => {
        "lineage_edit_locks.doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record"
    };
}
pub(super) use columns;

/// All rows.
pub(super) const ALL: &str = concat!("SELECT ", columns!(), " FROM lineage_edit_locks");

/// The row of one lease.
pub(super) const BY_ID: &str = concat!("SELECT ", columns!(), " FROM lineage_edit_locks WHERE lease_id = ?1");

/// A row in the place of the one that the document had.
pub(super) const PUT: &str = "INSERT OR REPLACE INTO lineage_edit_locks
    (doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

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
}

impl Columns {
    /// The row that a statement gave, from the column `first` on.
    pub(super) fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            doc_id: row.get(first)?,
            owner: row.get(first + 1)?,
            token: row.get(first + 2)?,
            fence: row.get(first + 3)?,
            acquired_at_ms: row.get(first + 4)?,
            expires_at_ms: row.get(first + 5)?,
            lease_id: row.get(first + 6)?,
            record: row.get(first + 7)?,
        })
    }

    /// The row of a document with this lease.
    pub(super) fn of(lease: &Lease, counter: CounterId, secret: &Secret) -> Self {
        Self {
            owner: Some(lease.holder.agent.as_str().to_owned()),
            token: Some(token(lease, secret).to_string()),
            acquired_at_ms: Some(lease.granted.wall_ms()),
            expires_at_ms: lease.deadline().map(|at| at.wall_ms()),
            lease_id: Some(lease.id.to_string()),
            // What was written is JSON in UTF-8.
            record: String::from_utf8(Json.write(lease, counter)).ok(),
            ..Self::after(lease.resource.as_str().to_owned(), lease.fence.get())
        }
    }

    /// The row of a document whose last lease, with this fence, has ended.
    pub(super) const fn after(doc_id: String, fence: u64) -> Self {
        Self {
            doc_id,
            owner: None,
            token: None,
            fence,
            acquired_at_ms: None,
            expires_at_ms: None,
            lease_id: None,
            record: None,
        }
    }

    /// The lease that no record has ended, if there is one and all of the row says so.
    pub(super) fn lease(&self, position: &Position, secret: &Secret) -> Result<Option<Lease>, String> {
        position.covers(self.fence)?;
        let Some(record) = &self.record else {
            let is_bare = *self == Self::after(self.doc_id.clone(), self.fence);
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
        self.doc_id == lease.resource.as_str()
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
    secret.token(&lease.resource, &lease.holder.agent, lease.granted.wall_ms(), lease.fence)
}
