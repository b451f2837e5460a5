//! One transaction: what a command is about is read in it, the kernel is asked in it, and rows and
//! history change in it together. Dropping it without a commit leaves everything as it was.

use std::cell::Cell;
use std::path::Path;

use holdfast_kernel::{
    Answer, Claim, Command, Event, Fence, Lease, LeaseId, Limits, Mode, Name, Policy, Stamp, Table, apply,
    check, decide,
};
use holdfast_store::{CounterId, Error, Held, Result, read_event};
use rusqlite::{Params, Transaction};

use super::failure::{damaged, failed};
use super::history::{ADD, ENTRIES, Entry};
use super::row::{ALL, BY_DOCUMENT, BY_ID, Columns, PUT, token};
use crate::secret::{Secret, Token};

/// A transaction.
pub struct Section<'c> {
    tx: Transaction<'c>,
    path: &'c Path,
    secret: &'c Secret,
    /// Where the counter stands, once somebody has asked. Only this transaction moves it.
    position: Cell<Option<Position>>,
}

/// Where the counter stands.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Which counter.
    pub counter: CounterId,
    /// The number that the next event has.
    pub next: Fence,
}

impl<'c> Section<'c> {
    pub(super) const fn new(tx: Transaction<'c>, path: &'c Path, secret: &'c Secret) -> Self {
        Self { tx, path, secret, position: Cell::new(None) }
    }

    /// The transaction, for tables that hold no leases.
    #[must_use]
    pub const fn tx(&self) -> &Transaction<'c> {
        &self.tx
    }

    /// What a failure of `action` in this transaction means.
    pub fn failed(&self, action: &'static str) -> impl Fn(rusqlite::Error) -> Error {
        failed(self.path, action)
    }

    /// Whether the database belongs to the secret that it was opened with.
    pub(super) fn belongs(&self) -> Result<()> {
        let id: String = self.one("SELECT secret_id FROM vault", [], |row| row.get(0))?;
        if id == self.secret.id() {
            Ok(())
        } else {
            Err(damaged(self.path, "the vault", "the secret beside it is not the one it was made with"))
        }
    }

    /// Where the counter stands: after the last record of the history, which is only ever added to.
    ///
    /// # Errors
    /// When it cannot be read, or the history ends before the last grant: a fence could otherwise be granted a
    /// second time.
    pub fn position(&self) -> Result<Position> {
        if let Some(position) = self.position.get() {
            return Ok(position);
        }
        let query = "SELECT counter, granted, coalesce((SELECT max(sequence) FROM lineage_lock_events), 0)
            FROM vault";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?));
        let (counter, granted, last): (String, u64, u64) = self.one(query, [], read)?;
        let wrong = |what: &dyn std::fmt::Display| damaged(self.path, "the counter", what);
        if last < granted {
            return Err(wrong(&format_args!(
                "fence {granted} was granted, and record {last} is the last one"
            )));
        }
        let position = Position {
            counter: counter.parse().map_err(|error| wrong(&error))?,
            next: Fence::new(last.saturating_add(1)).map_err(|error| wrong(&error))?,
        };
        self.position.set(Some(position));
        Ok(position)
    }

    /// The lease on a document, if there is one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn on(&self, doc: &Name) -> Result<Table> {
        self.table(self.leases(BY_DOCUMENT, [doc.as_str()])?)
    }

    /// All leases.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(&self) -> Result<Table> {
        self.table(self.leases(ALL, [])?)
    }

    /// The leases that a command is about. Ids have no index: a door knows the document and need not ask.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn about(&self, command: &Command, limits: Limits) -> Result<Table> {
        let by_id = |id: LeaseId| self.leases(BY_ID, [id.to_string()]);
        let on = |doc: &Name| self.leases(BY_DOCUMENT, [doc.as_str()]);
        let mut found = match command {
            _ if limits != Limits::NONE => return self.all(),
            Command::Sweep => return self.all(),
            Command::Acquire(wanted) => [on(&wanted.resource)?, by_id(wanted.id)?].concat(),
            Command::Check(claim) => [on(&claim.resource)?, by_id(claim.lease)?].concat(),
            Command::Transfer(transfer) => [by_id(transfer.lease)?, by_id(transfer.id)?].concat(),
            Command::Renew { lease, .. }
            | Command::Beat { lease, .. }
            | Command::Release { lease, .. }
            | Command::Evict { lease, .. } => by_id(*lease)?,
        };
        // The lease on the document may be the one with the id.
        found.dedup();
        self.table(found)
    }

    /// Proof that the claim is in force, for as long as this transaction lasts.
    ///
    /// # Errors
    /// The refusal if it is not; otherwise what failed.
    pub fn hold<'t>(&self, table: &'t Table, claim: &Claim, now: &Stamp) -> Result<Held<'t>> {
        let lease = check(table, claim, now)?;
        Ok(Held::vouch(lease, self.position()?.counter))
    }

    /// Has the kernel decide a command on the leases that it is about, and writes what it causes. It counts
    /// once the section is committed.
    ///
    /// # Errors
    /// The refusal if it is not allowed; otherwise what failed.
    pub fn decide(&self, before: &Table, policy: &Policy, command: &Command, now: &Stamp) -> Result<Answer> {
        if matches!(command, Command::Acquire(wanted) if wanted.mode == Mode::Shared) {
            return Err(Error::Unsupported { path: self.path.to_path_buf(), what: "a shared lease" });
        }
        let position = self.position()?;
        let decision = decide(before, policy, command, now, position.next)?;
        if !decision.events.is_empty() {
            self.write(before, &decision.events, &position)?;
        }
        Ok(decision.answer)
    }

    /// Makes it durable.
    ///
    /// # Errors
    /// When that failed: then nothing of it happened.
    pub fn commit(self) -> Result<()> {
        self.tx.commit().map_err(failed(self.path, "write"))
    }

    /// Whether this token proves this lease.
    #[must_use]
    pub fn proves(&self, shown: &Token, lease: &Lease) -> bool {
        *shown == token(lease, self.secret)
    }

    /// The token that proves a lease.
    #[must_use]
    pub fn token(&self, lease: &Lease) -> Token {
        token(lease, self.secret)
    }

    /// Whether a token proved a lease on this document that ran out and was taken over.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn ran_out(&self, doc: &Name, shown: &Token) -> Result<bool> {
        // Such a token opens nothing any more, so how long it takes to find it is nobody's secret.
        let query = "SELECT 1 FROM lineage_lock_events WHERE expired_token = ?1 AND doc_id = ?2";
        let mut query = self.cached(query)?;
        query.exists((shown.to_string(), doc.as_str())).map_err(failed(self.path, "read"))
    }

    /// The table that the history leaves, and the number of its records.
    ///
    /// # Errors
    /// When it cannot be read, or is not one that was written here.
    pub fn replay(&self) -> Result<(Table, u64)> {
        let mut query = self.cached(ENTRIES)?;
        let mut rows = query.query([]).map_err(failed(self.path, "read"))?;
        let (mut table, mut due) = (Table::new(), Fence::FIRST);
        while let Some(row) = rows.next().map_err(failed(self.path, "read"))? {
            let entry = Entry::read(row).map_err(failed(self.path, "read"))?;
            let place = || format!("record {} of its history", entry.sequence);
            self.again(&mut table, due, &entry).map_err(|what| damaged(self.path, place(), what))?;
            due = due.plus(1).unwrap_or(Fence::LAST);
        }
        Ok((table, due.get() - 1))
    }

    /// Lets an entry of the history happen again, if it is the one that is due.
    fn again(&self, table: &mut Table, due: Fence, entry: &Entry) -> std::result::Result<(), String> {
        let (number, event) = read_event(entry.record.as_bytes())?;
        if number != due {
            return Err(format!("{due} was due"));
        }
        if Entry::of(table, &event, due, self.secret).as_ref() != Some(entry) {
            return Err("its columns and its record say different things".into());
        }
        apply(table, &event).map_err(|error| error.to_string())
    }

    fn table(&self, leases: Vec<Lease>) -> Result<Table> {
        Table::restore(leases).map_err(|error| damaged(self.path, "the locks", error))
    }

    fn leases(&self, query: &str, params: impl Params) -> Result<Vec<Lease>> {
        let mut query = self.cached(query)?;
        let rows = query.query_map(params, Columns::read).map_err(failed(self.path, "read"))?;
        let rows: Vec<Columns> = rows.collect::<rusqlite::Result<_>>().map_err(failed(self.path, "read"))?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let position = self.position()?;
        let lease = |row: &Columns| {
            let place = || format!("the lock on {}", row.doc_id.escape_debug());
            row.lease(&position, self.secret).map_err(|what| damaged(self.path, place(), what))
        };
        rows.iter().map(lease).collect()
    }

    /// Writes events: what they leave in the rows, the history, and the counter.
    fn write(&self, before: &Table, events: &[Event], position: &Position) -> Result<()> {
        let mut after = before.clone();
        let mut next = position.next;
        for event in events {
            self.remember(&after, event, next)?;
            apply(&mut after, event).map_err(|error| damaged(self.path, "the locks", error))?;
            next = next.plus(1).ok_or(holdfast_kernel::Refusal::FencesExhausted)?;
        }
        for gone in before.iter().filter(|lease| after.on(&lease.resource).next().is_none()) {
            self.run("DELETE FROM lineage_edit_locks WHERE doc_id = ?1", [gone.resource.as_str()])?;
        }
        for lease in after.iter().filter(|lease| before.get(lease.id) != Some(lease)) {
            self.put(&Columns::of(lease, position.counter, self.secret))?;
        }
        let granted = after.iter().filter(|lease| before.get(lease.id).is_none()).map(|lease| lease.fence);
        if let Some(fence) = granted.max() {
            self.run("UPDATE vault SET granted = ?1", [fence.get()])?;
        }
        self.position.set(Some(Position { next, ..*position }));
        Ok(())
    }

    fn put(&self, row: &Columns) -> Result<()> {
        let Columns { doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record } = row;
        self.run(PUT, (doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record))
    }

    /// Writes one event into the history.
    fn remember(&self, table: &Table, event: &Event, sequence: Fence) -> Result<()> {
        let unknown = || damaged(self.path, "the locks", "an event speaks of a lease that is not there");
        let Entry { sequence, event, doc_id, expired_token, record } =
            Entry::of(table, event, sequence, self.secret).ok_or_else(unknown)?;
        self.run(ADD, (sequence, event, doc_id, expired_token, record))
    }

    fn run(&self, statement: &str, params: impl Params) -> Result<()> {
        self.cached(statement)?.execute(params).map(drop).map_err(failed(self.path, "write"))
    }

    fn one<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.cached(query)?.query_row(params, read).map_err(failed(self.path, "read"))
    }

    fn cached(&self, statement: &str) -> Result<rusqlite::CachedStatement<'_>> {
        self.tx.prepare_cached(statement).map_err(failed(self.path, "read"))
    }
}
