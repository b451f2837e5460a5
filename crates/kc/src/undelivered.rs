//! Leases whose token could not be told to whoever asked: nobody can use or release them, so they are given back, and
//! the document is not closed to everybody until the deadline.
//!
//! The other way would be to answer the same owner at the same moment once more. Both are public, as status shows them:
//! anybody who may ask could then have anybody's token.

use crate::lock::lineage_lock_release;
use crate::medium::Database;
use crate::wire::Lease;

/// A lease that was acquired through a connection.
pub struct Granted {
    /// The connection.
    pub conn: Database,
    /// The lease.
    pub lease: Lease,
}

impl Granted {
    /// Gives it back; says what came of that.
    #[must_use]
    pub fn give_back(mut self) -> String {
        give_back(&mut self.conn, &self.lease)
    }
}

/// Gives a lease back; says what came of that.
pub(crate) fn give_back(conn: &mut Database, lease: &Lease) -> String {
    match lineage_lock_release(conn, &lease.doc_id, &lease.token) {
        Ok(()) => "the lease was given back".into(),
        Err(error) => format!(
            "the lease could not be given back and lasts until {} (ms since 1970): {error}",
            lease.expires_at_ms
        ),
    }
}
