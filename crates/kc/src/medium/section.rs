//! One transaction: what a command is about is read in it, the kernel is asked in it, and rows, history and
//! counter change in it together. Dropping it without a commit leaves everything as it was.

use std::collections::BTreeMap;
use std::path::Path;

use holdfast_kernel::{
    Answer, Cause, Claim, Command, Event, Fence, Lease, LeaseId, Limits, Mode, Name, Policy, Stamp, Table,
    apply, check, decide,
};
use holdfast_store::{CounterId, Error, Held, Result, write_event};
use rusqlite::{OptionalExtension, Params, Transaction};

use super::failure::{damaged, failed};
use super::row::{COLUMNS, Columns, token};
use crate::secret::{Secret, Token};

/// A transaction.
pub struct Section<'c> {
    tx: Transaction<'c>,
    path: &'c Path,
    secret: &'c Secret,
}

/// Where the counter stands.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Which counter.
    pub counter: CounterId,
    /// The number that the next event has.
    pub next: Fence,
}

/// How a lease ended whose token is shown again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Its deadline passed, and somebody took it over.
    Expired,
    /// It was given back or taken away.
    Otherwise,
}

impl<'c> Section<'c> {
    pub(super) const fn new(tx: Transaction<'c>, path: &'c Path, secret: &'c Secret) -> Self {
        Self { tx, path, secret }
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

    /// Where the counter stands.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn position(&self) -> Result<Position> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?));
        let (counter, next) = self.one("SELECT counter, next_fence FROM vault", [], read)?;
        let wrong = |what: &dyn std::fmt::Display| damaged(self.path, "the counter", what);
        Ok(Position {
            counter: counter.parse().map_err(|error| wrong(&error))?,
            next: Fence::new(next).map_err(|error| wrong(&error))?,
        })
    }

    /// The lease on a document.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn on(&self, doc: &Name) -> Result<Option<Lease>> {
        let found = self.leases("WHERE doc_id = ?1", [doc.as_str()])?;
        Ok(found.into_iter().next())
    }

    /// All leases.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(&self) -> Result<Table> {
        self.table(self.leases("", [])?)
    }

    /// The leases that a claim is about.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn claimed(&self, claim: &Claim) -> Result<Table> {
        self.scope(&Command::Check(claim.clone()), Limits::NONE)
    }

    /// Proof that the claim is in force, for as long as this transaction lasts.
    ///
    /// # Errors
    /// The refusal if it is not; otherwise what failed.
    pub fn hold<'t>(&self, table: &'t Table, claim: &Claim, now: &Stamp) -> Result<Held<'t>> {
        let lease = check(table, claim, now)?;
        Ok(Held::vouch(lease, self.position()?.counter))
    }

    /// Has the kernel decide a command, and writes what it causes. It counts once the section is committed.
    ///
    /// # Errors
    /// The refusal if it is not allowed; otherwise what failed.
    pub fn decide(&self, policy: &Policy, command: &Command, now: &Stamp) -> Result<Answer> {
        if matches!(command, Command::Acquire(wanted) if wanted.mode == Mode::Shared) {
            return Err(Error::Unsupported { path: self.path.to_path_buf(), what: "a shared lease" });
        }
        let position = self.position()?;
        let before = self.scope(command, policy.limits)?;
        let decision = decide(&before, policy, command, now, position.next)?;
        if !decision.events.is_empty() {
            self.write(&before, &decision.events, &position)?;
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

    /// How the lease on this document ended that a token proved; none if it never proved one that ended.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn ended(&self, doc: &Name, shown: &Token) -> Result<Option<Ended>> {
        // Only ended tokens are looked up here, and those open nothing: how long it takes tells nobody much.
        let query = "SELECT event FROM lineage_lock_events WHERE ended_token = ?1 AND doc_id = ?2";
        let found: Option<String> = self
            .cached(query)?
            .query_row((shown.to_string(), doc.as_str()), |row| row.get(0))
            .optional()
            .map_err(failed(self.path, "read"))?;
        Ok(found.map(|word| if word == EXPIRED { Ended::Expired } else { Ended::Otherwise }))
    }

    /// The rows that a command is about. Only limits and a sweep look at all of them.
    fn scope(&self, command: &Command, limits: Limits) -> Result<Table> {
        let by_id = |id: LeaseId| self.leases("WHERE lease_id = ?1", [id.to_string()]);
        let on = |doc: &Name| self.leases("WHERE doc_id = ?1", [doc.as_str()]);
        let found = match command {
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
        self.table(found)
    }

    fn table(&self, leases: Vec<Lease>) -> Result<Table> {
        let each_once: BTreeMap<LeaseId, Lease> = leases.into_iter().map(|lease| (lease.id, lease)).collect();
        Table::restore(each_once.into_values()).map_err(|error| damaged(self.path, "the locks", error))
    }

    fn leases(&self, which: &str, params: impl Params) -> Result<Vec<Lease>> {
        let mut query = self.cached(&format!("SELECT {COLUMNS} FROM lineage_edit_locks {which}"))?;
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
        self.run("UPDATE vault SET next_fence = ?1", [next.get()])
    }

    fn put(&self, row: &Columns) -> Result<()> {
        let statement = format!(
            "INSERT INTO lineage_edit_locks ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (doc_id) DO UPDATE SET owner = ?2, token = ?3, fence = ?4, acquired_at_ms = ?5,
             expires_at_ms = ?6, lease_id = ?7, record = ?8"
        );
        let Columns { doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record } = row;
        let params = (doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record);
        self.run(&statement, params)
    }

    /// Writes one event into the history.
    fn remember(&self, table: &Table, event: &Event, sequence: Fence) -> Result<()> {
        let lease = |id: &LeaseId| table.get(*id);
        let (word, about, ended) = match event {
            Event::Granted { lease } => ("granted", Some(lease), None),
            Event::Renewed { lease: id, .. } => ("renewed", lease(id), None),
            Event::Beaten { lease: id, .. } => ("beaten", lease(id), None),
            Event::Released { lease: id, .. } => ("released", lease(id), lease(id)),
            Event::Transferred { from, lease: to, .. } => ("transferred", Some(to), lease(from)),
            Event::Evicted { lease: id, cause: Cause::Expired, .. } => (EXPIRED, lease(id), lease(id)),
            Event::Evicted { lease: id, cause: Cause::Dead, .. } => ("dead", lease(id), lease(id)),
            Event::Evicted { lease: id, cause: Cause::Forced { .. }, .. } => {
                ("evicted", lease(id), lease(id))
            }
        };
        let doc = about.map(|lease| lease.resource.as_str());
        let token = ended.map(|lease| token(lease, self.secret).to_string());
        let record = String::from_utf8_lossy(&write_event(event, sequence)).into_owned();
        let statement = "INSERT INTO lineage_lock_events (sequence, event, doc_id, ended_token, record)
                         VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(statement, (sequence.get(), word, doc, token, record))
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

/// What the history calls the end of a lease whose deadline passed.
const EXPIRED: &str = "expired";
