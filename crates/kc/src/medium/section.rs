//! One transaction: what a command is about is read in it, the kernel is asked in it, and rows and
//! history change in it together. Dropping it without a commit leaves everything as it was.
//!
//! Every statement is compiled once for each connection, those that begin and end a transaction too: right after a
//! flush the processor has forgotten everything, and whatever is not needed costs several times of what it seems to.

use std::cell::{Cell, RefCell};
use std::path::Path;

use holdfast_kernel::{
    Answer, Claim, Command, Event, Fence, Lease, LeaseId, Limits, Mode, Name, Policy, Resource, Stamp, Table,
    apply, check, decide,
};
use holdfast_store::{Error, Held, Result, check_decision, read_event};
use rusqlite::{Connection, Params};

use super::failure::{damaged, failed};
use super::history::{ADD, ENTRIES, Entry, Last};
use super::position::{POSITION, Position, WIDTH, position};
use super::row::{self, ALL, BY_ID, Columns, PUT, ROWLESS, columns, token};
use crate::secret::{Secret, Token};

/// A transaction.
pub struct Section<'c> {
    conn: &'c Connection,
    path: &'c Path,
    secret: &'c Secret,
    /// Where the counter stands, once somebody has asked. Only this transaction moves it.
    position: Cell<Option<Position>>,
    /// The last records about the documents whose rows were read.
    last: RefCell<Last>,
}

/// Everything that a command on a document needs to know, in one statement: the counter, whether there is such a
/// document, its row of the locks, and what the history says of it.
const ON_DOCUMENT: &str = concat!(
    "SELECT ",
    position!(),
    ", EXISTS (SELECT 1 FROM documents WHERE doc_id = ?1), ",
    columns!("?1"),
    " FROM vault LEFT JOIN lineage_edit_locks AS locks ON locks.doc_id = ?1
      LEFT JOIN lineage_lock_events AS latest ON latest.sequence = locks.last"
);

/// What there is about a document.
pub struct Found {
    /// Whether there is such a document.
    pub is_known: bool,
    /// Whether it has a row of the locks, as one has that was removed.
    pub has_row: bool,
    /// The lease on it, if there is one.
    pub table: Table,
}

impl<'c> Section<'c> {
    /// Begins a transaction on a connection that is in none.
    pub(super) fn begin(how: &str, conn: &'c Connection, path: &'c Path, secret: &'c Secret) -> Result<Self> {
        let begun = conn.prepare_cached(how).and_then(|mut begin| begin.execute([]));
        begun.map_err(failed(path, "lock"))?;
        Ok(Self { conn, path, secret, position: Cell::new(None), last: RefCell::default() })
    }

    /// The connection that is in the transaction, for tables that hold no leases.
    #[must_use]
    pub const fn tx(&self) -> &Connection {
        self.conn
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
    /// When it cannot be read, or the history ends before the last grant.
    pub fn position(&self) -> Result<Position> {
        match self.position.get() {
            Some(position) => Ok(position),
            None => self.stands(self.one(POSITION, [], Position::read)?),
        }
    }

    fn stands(&self, read: (String, u64, u64)) -> Result<Position> {
        let position = Position::after(read).map_err(|what| damaged(self.path, "the counter", what))?;
        self.position.set(Some(position));
        Ok(position)
    }

    /// What there is about a document.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn on(&self, doc: &Name) -> Result<Found> {
        let (stands, is_known, found) = self.one(ON_DOCUMENT, [doc.as_str()], |row| {
            Ok((Position::read(row)?, row.get(WIDTH)?, row::Found::read(row, WIDTH + 1)?))
        })?;
        self.stands(stands)?;
        let lease = self.lease(&found, is_known, doc.as_str())?;
        Ok(Found { is_known, has_row: found.row.is_some(), table: self.table(lease)? })
    }

    /// All leases.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(&self) -> Result<Table> {
        match self.one(ROWLESS, [], |row| row.get::<_, u64>(0))? {
            0 => self.table(self.leases(ALL, [])?),
            missing => Err(damaged(self.path, "the locks", format_args!("{missing} rows are missing"))),
        }
    }

    /// Adds the row of a document that was never there.
    ///
    /// # Errors
    /// When that failed.
    pub fn add_row(&self, doc: &Name) -> Result<()> {
        self.run(row::ADD, [doc.as_str()])
    }

    /// The leases that a command is about. Ids have no index: a door knows the document and need not ask.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn about(&self, command: &Command, limits: Limits) -> Result<Table> {
        let by_id = |id: LeaseId| self.leases(BY_ID, [id.to_string()]);
        let on = |resource: &Resource| match resource.name() {
            Some(doc) => Ok::<_, Error>(self.on(doc)?.table.iter().cloned().collect()),
            None => Ok(Vec::new()),
        };
        let mut found: Vec<Lease> = match command {
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
        let unsupported = match command {
            Command::Acquire(wanted) if wanted.mode == Mode::Shared => Some("a shared lease"),
            Command::Acquire(wanted) if wanted.resource.name().is_none() => Some("a lease on a pattern"),
            _ => None,
        };
        if let Some(what) = unsupported {
            return Err(Error::Unsupported { path: self.path.to_path_buf(), what });
        }
        let position = self.position()?;
        let decision = decide(before, policy, command, now, position.next)?;
        check_decision(command, position.next, &decision);
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
        self.run("COMMIT", [])
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
        let (mut table, mut last, mut count) = (Table::new(), Last::default(), 0);
        while let Some(row) = rows.next().map_err(failed(self.path, "read"))? {
            let entry = Entry::read(row).map_err(failed(self.path, "read"))?;
            let place = || format!("record {} of its history", entry.sequence);
            let due = Fence::new(count + 1).map_err(|error| damaged(self.path, place(), error))?;
            self.again(&mut table, &last, due, &entry).map_err(|what| damaged(self.path, place(), what))?;
            last.set(&entry.doc_id, entry.sequence);
            count += 1;
        }
        Ok((table, count))
    }

    /// Lets an entry of the history happen again, if it is the one that is due.
    fn again(
        &self,
        table: &mut Table,
        last: &Last,
        due: Fence,
        entry: &Entry,
    ) -> std::result::Result<(), String> {
        let (number, event) = read_event(entry.record.as_bytes())?;
        if number != due {
            return Err(format!("{due} was due"));
        }
        if Entry::of(table, &event, due, self.secret, last)? != *entry {
            return Err("its columns and its record say different things".into());
        }
        apply(table, &event).map_err(|error| error.to_string())
    }

    fn table(&self, leases: impl IntoIterator<Item = Lease>) -> Result<Table> {
        Table::restore(leases).map_err(|error| damaged(self.path, "the locks", error))
    }

    fn leases(&self, query: &str, params: impl Params) -> Result<Vec<Lease>> {
        let mut query = self.cached(query)?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(1)?, row::Found::read(row, 0)?));
        let rows = query.query_map(params, read).map_err(failed(self.path, "read"))?;
        let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>().map_err(failed(self.path, "read"))?;
        rows.iter().filter_map(|(doc, found)| self.lease(found, false, doc).transpose()).collect()
    }

    /// The lease on a document, if there still is one.
    fn lease(&self, found: &row::Found, is_known: bool, doc: &str) -> Result<Option<Lease>> {
        let place = || format!("the lock on {}", doc.escape_debug());
        let lease = found
            .lease(is_known, &self.position()?, self.secret)
            .map_err(|what| damaged(self.path, place(), what))?;
        if let Some(row) = &found.row {
            self.last.borrow_mut().set(doc, row.last);
        }
        Ok(lease)
    }

    /// Writes events: the history, and what they leave in the rows of their documents.
    fn write(&self, before: &Table, events: &[Event], position: &Position) -> Result<()> {
        let (mut after, mut next, mut docs) = (before.clone(), position.next, Vec::new());
        for event in events {
            docs.push(self.remember(&after, event, next)?);
            apply(&mut after, event).map_err(|error| damaged(self.path, "the locks", error))?;
            next = next.plus(1).ok_or(holdfast_kernel::Refusal::FencesExhausted)?;
        }
        docs.dedup();
        for doc in docs {
            self.put(
                &self
                    .row(before, &after, &doc, position)
                    .map_err(|what| damaged(self.path, "the locks", what))?,
            )?;
        }
        self.position.set(Some(Position { next, ..*position }));
        Ok(())
    }

    /// The row that is left of a document.
    fn row(
        &self,
        before: &Table,
        after: &Table,
        doc: &str,
        position: &Position,
    ) -> std::result::Result<Columns, String> {
        let on = |table: &'_ Table| table.iter().find(|lease| lease.resource.text() == doc).cloned();
        let last = self.last.borrow().of(doc);
        match (on(after), on(before)) {
            (Some(lease), _) => Columns::of(&lease, position.counter, self.secret, last),
            (None, Some(gone)) => Ok(Columns::after(doc.to_owned(), gone.fence.get(), last)),
            (None, None) => Err("an event speaks of a lease that is not there".into()),
        }
    }

    fn put(&self, row: &Columns) -> Result<()> {
        let Columns { doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record, last } =
            row;
        self.run(PUT, (doc_id, owner, token, fence, acquired_at_ms, expires_at_ms, lease_id, record, last))
    }

    /// Writes one event into the history; says which document it is about.
    fn remember(&self, table: &Table, event: &Event, sequence: Fence) -> Result<String> {
        let entry = Entry::of(table, event, sequence, self.secret, &self.last.borrow());
        let Entry { sequence, event, doc_id, expired_token, record, previous } =
            entry.map_err(|what| damaged(self.path, "the locks", what))?;
        self.run(ADD, (sequence, event, &doc_id, expired_token, record, previous))?;
        self.last.borrow_mut().set(&doc_id, sequence);
        Ok(doc_id)
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
        self.conn.prepare_cached(statement).map_err(failed(self.path, "read"))
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        if !self.conn.is_autocommit() {
            // What cannot be taken back now is taken back when the connection is closed.
            let _ = self.conn.execute_batch("ROLLBACK");
        }
    }
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::Name;
    use holdfast_sys::Sys;
    use rusqlite::StatementStatus;

    use super::ON_DOCUMENT;
    use crate::medium::Database;
    use crate::secret::Secret;

    #[test]
    fn the_statement_of_every_command_is_planned_once() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, secret) = (scratch.path().join("database"), Secret::new([3; 32]));
        Database::create(&Sys::os(), &path, &secret).unwrap();
        let mut database = Database::open(&Sys::os(), &path, secret).unwrap();
        let section = database.read().unwrap();
        for doc in ["a", "b", "a"] {
            assert!(!section.on(&Name::new(doc).unwrap()).unwrap().is_known);
        }
        assert_eq!(section.cached(ON_DOCUMENT).unwrap().get_status(StatementStatus::RePrepare), 0);
    }

    #[test]
    fn what_was_not_committed_is_taken_back_and_the_next_one_can_begin() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, secret) = (scratch.path().join("database"), Secret::new([3; 32]));
        Database::create(&Sys::os(), &path, &secret).unwrap();
        let mut database = Database::open(&Sys::os(), &path, secret).unwrap();
        for _ in 0..2 {
            let section = database.write().unwrap();
            section.run("INSERT INTO documents (doc_id) VALUES ('a')", []).unwrap();
            section.add_row(&Name::new("a").unwrap()).unwrap();
            drop(section);
        }
        let section = database.write().unwrap();
        section.run("INSERT INTO documents (doc_id) VALUES ('a')", []).unwrap();
        section.add_row(&Name::new("a").unwrap()).unwrap();
        section.commit().unwrap();
        let section = database.read().unwrap();
        assert!(section.on(&Name::new("a").unwrap()).unwrap().is_known);
    }
}
