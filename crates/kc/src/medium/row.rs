//! A lease as a row of `lineage_edit_locks`. The columns are what people and programs ask for; `record` is
//! the whole lease. A row whose columns, record and token do not agree was not written here, and is damage.

use holdfast_kernel::{Lease, Mode};
use holdfast_store::{Codec, CounterId, Json, Stored, Unreadable};
use rusqlite::Row;

use super::section::Position;
use crate::secret::{Secret, Token};

/// The columns, in the order in which [`Columns::read`] takes them.
pub(super) const COLUMNS: &str =
    "doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record";

/// A row as it stands in the table.
#[derive(PartialEq, Eq)]
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
        if *self == Self::of(&lease, position.counter, secret) {
            Ok(lease)
        } else {
            Err("its columns and its record say different things".into())
        }
    }
}

/// The token that proves a lease.
pub(super) fn token(lease: &Lease, secret: &Secret) -> Token {
    secret.token(&lease.resource, &lease.holder.agent, lease.granted.wall_ms(), lease.fence)
}
