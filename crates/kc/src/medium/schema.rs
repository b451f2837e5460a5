//! The tables, their versions, and the check that a file has exactly them.
//!
//! A database with one more trigger or one column less is refused: whoever can change the tables could
//! otherwise run code of theirs inside a transaction of ours.

use std::path::Path;

use holdfast_store::{Error, Result};
use rusqlite::Connection;

use super::failure::{damaged, failed};

/// "KCLN": what tells a vault's database from every other SQLite file.
const APPLICATION: i64 = 0x4b43_4c4e;

/// The scripts that make the tables; a database of version *n* has had the first *n*.
const MIGRATIONS: &[&str] = &[V1, V2, V3, V4];

const V1: &str = "
CREATE TABLE vault (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  counter TEXT NOT NULL,
  secret_id TEXT NOT NULL
) STRICT;
CREATE TABLE documents (
  doc_id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE lineage_edit_locks (
  doc_id TEXT NOT NULL PRIMARY KEY,
  owner TEXT NOT NULL,
  token TEXT NOT NULL,
  fence INTEGER NOT NULL,
  acquired_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  lease_id TEXT NOT NULL,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE lineage_lock_events (
  sequence INTEGER PRIMARY KEY,
  event TEXT NOT NULL,
  doc_id TEXT NOT NULL,
  expired_token TEXT,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX lineage_expired_tokens ON lineage_lock_events (expired_token)
  WHERE expired_token IS NOT NULL;
CREATE TABLE lineage_overlays (
  overlay_id TEXT NOT NULL PRIMARY KEY,
  doc_id TEXT NOT NULL,
  from_node_id TEXT NOT NULL,
  to_node_id TEXT NOT NULL,
  relation TEXT NOT NULL,
  evidence TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  fence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_overlays_of ON lineage_overlays (doc_id, overlay_id);
";

/// The last fence that was granted, apart from the history: without it, removing the last records would have
/// their fences granted again.
const V2: &str = "
ALTER TABLE vault ADD COLUMN granted INTEGER NOT NULL DEFAULT 0;
UPDATE vault SET granted = (SELECT coalesce(max(sequence), 0) FROM lineage_lock_events);
";

/// The last fence of a document in the row of its lock, which stays when the lease has ended: a page that every grant
/// writes anyway. `vault.granted` is not written any more, and still holds for what was granted before.
const V3: &str = "
CREATE TABLE locks (
  doc_id TEXT NOT NULL PRIMARY KEY,
  owner TEXT,
  token TEXT,
  fence INTEGER NOT NULL,
  acquired_at_ms INTEGER,
  expires_at_ms INTEGER,
  lease_id TEXT,
  record TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO locks SELECT * FROM lineage_edit_locks;
INSERT OR IGNORE INTO locks (doc_id, fence)
  SELECT doc_id, max(sequence) FROM lineage_lock_events WHERE event IN ('granted', 'transferred') GROUP BY doc_id;
DROP TABLE lineage_edit_locks;
ALTER TABLE locks RENAME TO lineage_edit_locks;
";

/// Every document has a row of the locks from the day it is added, with the number of its last record (`last`), and
/// every record the number of the one before it on its document (`previous`): a row or a record that is missing is
/// noticed by whoever asks for the document. The index holds one record a document, so only a first grant writes it.
/// A document whose row was missing before stays without one.
const V4: &str = "
ALTER TABLE lineage_lock_events ADD COLUMN previous INTEGER NOT NULL DEFAULT 0;
UPDATE lineage_lock_events SET previous = before.previous FROM
  (SELECT sequence, lag(sequence, 1, 0) OVER (PARTITION BY doc_id ORDER BY sequence) AS previous
   FROM lineage_lock_events) AS before
  WHERE before.sequence = lineage_lock_events.sequence;
CREATE UNIQUE INDEX lineage_first_records ON lineage_lock_events (doc_id) WHERE previous = 0;
ALTER TABLE lineage_edit_locks ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
UPDATE lineage_edit_locks SET last = ended.last FROM
  (SELECT doc_id, max(sequence) AS last FROM lineage_lock_events GROUP BY doc_id) AS ended
  WHERE ended.doc_id = lineage_edit_locks.doc_id;
INSERT OR IGNORE INTO lineage_edit_locks (doc_id, fence) SELECT doc_id, 0 FROM documents
  WHERE doc_id NOT IN (SELECT doc_id FROM lineage_lock_events);
";

/// Makes the tables of a new database, inside the transaction that `conn` is in.
pub(super) fn make(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "application_id", APPLICATION)?;
    migrate(conn, MIGRATIONS, 0)
}

/// Runs the scripts that a database of this version has not had.
fn migrate(conn: &Connection, scripts: &[&str], version: usize) -> rusqlite::Result<()> {
    scripts.iter().skip(version).try_for_each(|script| conn.execute_batch(script))?;
    conn.pragma_update(None, "user_version", scripts.len())
}

/// Brings an older database up to date, refuses a newer one and one that is not a vault's.
pub(super) fn check(conn: &mut Connection, path: &Path) -> Result<()> {
    let number = |conn: &Connection, name: &str| {
        conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed(path, "read"))
    };
    if number(conn, "application_id")? != APPLICATION {
        return Err(damaged(path, "the header", "it is not the database of a vault"));
    }
    let version = number(conn, "user_version")?;
    match usize::try_from(version) {
        Ok(version) if version == MIGRATIONS.len() => {}
        Ok(version) if (1..MIGRATIONS.len()).contains(&version) => update(conn, path)?,
        Ok(version) if version > MIGRATIONS.len() => {
            return Err(Error::Newer { path: path.to_path_buf(), version: version as u64 });
        }
        _ => return Err(damaged(path, "the header", format_args!("its version is {version}"))),
    }
    if shape(conn).map_err(failed(path, "read"))? == expected().map_err(failed(path, "compare"))? {
        Ok(())
    } else {
        Err(damaged(path, "the tables", "they are not those that this program makes"))
    }
}

/// Others may bring it up to date at the same time, so the version is read again inside.
fn update(conn: &mut Connection, path: &Path) -> Result<()> {
    let mut run = || -> rusqlite::Result<()> {
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let version = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
        migrate(&tx, MIGRATIONS, version)?;
        tx.commit()
    };
    run().map_err(failed(path, "update"))
}

/// Every table, index, trigger and view, as it was written.
fn shape(conn: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let mut query = conn.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// What a database of this version looks like.
fn expected() -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let model = Connection::open_in_memory()?;
    make(&model)?;
    shape(&model)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use super::{APPLICATION, V1, V2, V3, check, migrate};

    #[test]
    fn a_database_gets_exactly_the_scripts_that_it_has_not_had() {
        let scripts = ["CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE TABLE c (x)"];
        let conn = Connection::open_in_memory().unwrap();
        migrate(&conn, &scripts[..1], 0).unwrap();
        migrate(&conn, &scripts, 1).unwrap();
        let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 3);
        let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(tables, 3);
        migrate(&conn, &scripts, 3).unwrap();
    }

    /// A vault of an older version: two documents that were held and given back, and one that is held.
    fn older(scripts: &[&str]) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        conn.pragma_update(None, "application_id", APPLICATION).unwrap();
        migrate(&conn, scripts, 0).unwrap();
        conn.execute_batch(
            "INSERT INTO vault (only_row, counter, secret_id) VALUES (1, 'x', 'y');
             INSERT INTO lineage_lock_events VALUES
               (1, 'granted', 'a', NULL, ''), (2, 'released', 'a', NULL, ''), (3, 'granted', 'a', NULL, ''),
               (4, 'transferred', 'a', NULL, ''), (5, 'released', 'a', NULL, ''), (6, 'granted', 'b', NULL, ''),
               (7, 'expired', 'b', 't', ''), (8, 'granted', 'c', NULL, '');
             INSERT INTO lineage_edit_locks VALUES ('c', 'ann', 'token', 8, 1, 2, 'id', 'record')",
        )
        .unwrap();
        conn
    }

    #[test]
    fn a_vault_of_an_older_version_goes_on_where_it_was_and_forgets_no_fence() {
        for scripts in [&[V1][..], &[V1, V2]] {
            let mut conn = older(scripts);
            check(&mut conn, Path::new("vault")).unwrap();
            let mut query = conn.prepare("SELECT * FROM lineage_edit_locks ORDER BY doc_id").unwrap();
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(3)?, row.get(7)?));
            let rows: Vec<(String, u64, Option<String>)> =
                query.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap();
            let held = ("c".to_owned(), 8, Some("record".to_owned()));
            assert_eq!(rows, [("a".to_owned(), 4, None), ("b".to_owned(), 6, None), held]);
        }
    }

    #[test]
    fn every_document_of_an_older_version_gets_a_row_but_one_whose_row_was_taken_away() {
        for scripts in [&[V1][..], &[V1, V2], &[V1, V2, V3]] {
            let mut conn = older(scripts);
            conn.execute_batch("INSERT INTO documents VALUES ('a'), ('b'), ('c'), ('new')").unwrap();
            check(&mut conn, Path::new("vault")).unwrap();
            let mut query =
                conn.prepare("SELECT doc_id, last FROM lineage_edit_locks ORDER BY doc_id").unwrap();
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let rows: Vec<(String, u64)> =
                query.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap();
            let rows: Vec<(&str, u64)> = rows.iter().map(|(doc, last)| (doc.as_str(), *last)).collect();
            match scripts.len() {
                // Version 3 had a row for every document with records: those that are missing stay so.
                3 => assert_eq!(rows, [("c", 8), ("new", 0)]),
                _ => assert_eq!(rows, [("a", 5), ("b", 7), ("c", 8), ("new", 0)]),
            }
            let mut query =
                conn.prepare("SELECT previous FROM lineage_lock_events ORDER BY sequence").unwrap();
            let chain: Vec<u64> =
                query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
            assert_eq!(chain, [0, 1, 2, 3, 4, 0, 6, 0]);
        }
    }

    #[test]
    fn what_an_older_version_granted_is_not_forgotten_with_its_records() {
        let counted = |conn: &Connection| {
            conn.query_row("SELECT granted FROM vault", [], |row| row.get::<_, u64>(0)).unwrap()
        };
        let mut conn = older(&[V1]);
        check(&mut conn, Path::new("vault")).unwrap();
        assert_eq!(counted(&conn), 8);
        let mut conn = older(&[V1, V2]);
        conn.execute_batch("UPDATE vault SET granted = 8; DELETE FROM lineage_lock_events").unwrap();
        check(&mut conn, Path::new("vault")).unwrap();
        assert_eq!(counted(&conn), 8, "fences of records that were gone before");
    }
}
