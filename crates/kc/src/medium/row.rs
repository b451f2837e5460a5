//! A lease as a row of `lineage_edit_locks`. The columns are what people and programs ask for; `record` is
//! the whole lease. A row whose columns, record and token do not agree was not written here, and is damage.

use holdfast_kernel::{Lease, Mode};
use holdfast_store::{Codec, CounterId, Json, Stored, Unreadable};
use rusqlite::Row;

use super::section::Position;
use crate::secret::{Secret, Token};

/// All rows, the columns in the order in which [`Columns::read`] takes them.
pub(super) const ALL: &str =
    "SELECT doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record
    FROM lineage_edit_locks";

/// The row of one document.
pub(super) const BY_DOCUMENT: &str =
    "SELECT doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record
    FROM lineage_edit_locks WHERE doc_id = ?1";

/// The row of one lease.
pub(super) const BY_ID: &str =
    "SELECT doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record
    FROM lineage_edit_locks WHERE lease_id = ?1";

/// A row in the place of the one that the document had.
pub(super) const PUT: &str = "INSERT INTO lineage_edit_locks
    (doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (doc_id) DO UPDATE SET owner = ?2, token = ?3, fence = ?4, acquired_at_ms = ?5,
    expires_at_ms = ?6, lease_id = ?7, record = ?8";

/// A row as it stands in the table.
pub(super) struct Columns {
    pub(super) doc_id: String,
    pub(super) owner: String,
    pub(super) token: String,
    pub(super) fence: u64,
    pub(super) acquired_at_ms: u64,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) lease_id: String,
    pub(super) record: String,
}

impl Columns {
    /// The row that a statement gave.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            doc_id: row.get(0)?,
            owner: row.get(1)?,
            token: row.get(2)?,
            fence: row.get(3)?,
            acquired_at_ms: row.get(4)?,
            expires_at_ms: row.get(5)?,
            lease_id: row.get(6)?,
            record: row.get(7)?,
        })
    }

    /// The row of a lease.
    pub(super) fn of(lease: &Lease, counter: CounterId, secret: &Secret) -> Self {
        let record = Json.write(lease, counter);
        Self {
            doc_id: lease.resource.as_str().to_owned(),
            owner: lease.holder.agent.as_str().to_owned(),
            token: token(lease, secret).to_string(),
            fence: lease.fence.get(),
            acquired_at_ms: lease.granted.wall_ms(),
            expires_at_ms: lease.deadline().map(|at| at.wall_ms()),
            lease_id: lease.id.to_string(),
            record: String::from_utf8_lossy(&record).into_owned(),
        }
    }

    /// The lease that the row is, if all of the row says so.
    pub(super) fn lease(&self, position: &Position, secret: &Secret) -> Result<Lease, String> {
        let Stored { lease, counter } = Json.read(self.record.as_bytes()).map_err(|error| match error {
            Unreadable::Damaged(what) => what,
            Unreadable::Newer(version) => format!("its record has version {version}"),
        })?;
        if counter != Some(position.counter) {
            return Err("its fence was drawn from another counter".into());
        }
        if lease.fence >= position.next || lease.mode != Mode::Exclusive {
            return Err("it cannot have been granted here".into());
        }
        // In constant time, because the token is what a thief would try to guess.
        if Token::parse(&self.token) != Some(token(&lease, secret)) {
            return Err("its token was not made with the secret of this vault".into());
        }
        if self.agrees(&lease) {
            Ok(lease)
        } else {
            Err("its columns and its record say different things".into())
        }
    }

    /// Whether the columns say what the record says.
    fn agrees(&self, lease: &Lease) -> bool {
        self.doc_id == lease.resource.as_str()
            && self.owner == lease.holder.agent.as_str()
            && self.fence == lease.fence.get()
            && self.acquired_at_ms == lease.granted.wall_ms()
            && self.expires_at_ms == lease.deadline().map(|at| at.wall_ms())
            && self.lease_id == lease.id.to_string()
    }
}

/// The token that proves a lease.
pub(super) fn token(lease: &Lease, secret: &Secret) -> Token {
    secret.token(&lease.resource, &lease.holder.agent, lease.granted.wall_ms(), lease.fence)
}
