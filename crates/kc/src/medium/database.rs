//! One connection to a vault's database, opened so that nothing in the file can do more than be wrong.

use std::path::{Path, PathBuf};
use std::time::Duration;

use holdfast_store::{CounterId, Result};
use holdfast_sys::{Open, Sys};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::failure::{damaged, failed};
use super::schema;
use super::section::Section;
use crate::secret::Secret;

/// How long others may keep the database busy. Each of their transactions takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// No value of ours is nearly as long; a longer one is somebody's trick.
const LONGEST_VALUE: i32 = 1 << 20;

/// An open database.
pub struct Database {
    conn: Connection,
    path: PathBuf,
    secret: Secret,
}

impl Database {
    /// Opens the database at `path`, which must be there and belong to `secret`.
    ///
    /// # Errors
    /// When it cannot be opened, is not the database of a vault, or was made by a later version.
    pub fn open(path: &Path, secret: Secret) -> Result<Self> {
        // SQLite refuses a link anywhere in the path; only the file itself must not be one.
        let real = path.parent().and_then(|parent| parent.canonicalize().ok()).zip(path.file_name());
        let real = real.map_or_else(|| path.to_path_buf(), |(parent, name)| parent.join(name));
        let mut conn = connect(&real).map_err(failed(path, "open"))?;
        schema::check(&mut conn, path)?;
        let mut database = Self { conn, path: path.to_path_buf(), secret };
        database.read()?.belongs()?;
        Ok(database)
    }

    /// Makes an empty database at `path`, durably, unless there is one; says whether it did.
    ///
    /// # Errors
    /// When that failed. There is no half-made database under that name then.
    pub fn create(sys: &Sys, path: &Path, secret: &Secret) -> Result<bool> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let directory = path.parent().unwrap_or(Path::new("."));
        let beside = directory.join(format!(".{name}.new-{:032x}", sys.entropy.nonce()?));
        let made = fill(sys, &beside, secret).and_then(|()| Ok(sys.files.rename_new(&beside, path)?));
        if made.is_err() {
            // Half a database is of no use to anybody; the first failure is the one to report.
            let _ = sys.files.remove_file(&beside);
        }
        match made {
            Err(holdfast_store::Error::Sys(error))
                if error.kind() == std::io::ErrorKind::AlreadyExists && error.path == path =>
            {
                Ok(false)
            }
            made => {
                made?;
                sys.files.sync_dir(directory)?;
                Ok(true)
            }
        }
    }

    /// Begins a transaction that may write: from here on nobody else does.
    ///
    /// # Errors
    /// When the database cannot be had.
    pub fn write(&mut self) -> Result<Section<'_>> {
        Section::begin("BEGIN IMMEDIATE", &self.conn, &self.path, &self.secret)
    }

    /// Begins a transaction that only reads: it sees one moment, and keeps nobody waiting.
    ///
    /// # Errors
    /// When the database cannot be had.
    pub fn read(&mut self) -> Result<Section<'_>> {
        Section::begin("BEGIN DEFERRED", &self.conn, &self.path, &self.secret)
    }

    /// Where the database is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connection, for whoever looks at the tables without changing a lease.
    #[must_use]
    pub const fn connection(&mut self) -> &mut Connection {
        &mut self.conn
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(PATIENCE)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // A statement is planned once, whatever is bound to it; otherwise SQLite may plan it anew at each binding.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_prepared_statement_cache_capacity(32);
    conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON;")?;
    Ok(conn)
}

/// Makes a whole database in a file that nobody else knows of.
fn fill(sys: &Sys, path: &Path, secret: &Secret) -> Result<()> {
    // SQLite gives its own files the permissions of this one.
    drop(sys.files.open(path, Open::New { mode: 0o600 })?);
    let counter = CounterId::new(sys.entropy.lease_id(&sys.clock.now()?)?);
    let run = || -> rusqlite::Result<String> {
        let mut conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.execute_batch("PRAGMA synchronous = FULL;")?;
        let mode = conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        let tx = conn.transaction()?;
        schema::make(&tx)?;
        let first = "INSERT INTO vault (only_row, counter, secret_id) VALUES (1, ?1, ?2)";
        tx.execute(first, (counter.to_string(), secret.id()))?;
        tx.commit()?;
        // The last one who closes it moves everything into the file, flushed.
        conn.close().map_err(|(_, error)| error)?;
        Ok(mode)
    };
    match run().map_err(failed(path, "make"))? {
        mode if mode == "wal" => Ok(()),
        mode => Err(damaged(path, "the journal", format_args!("the file system allows only `{mode}`"))),
    }
}

#[cfg(test)]
mod tests {
    use holdfast_sys::Sys;

    use super::Database;
    use crate::secret::Secret;

    #[test]
    fn a_commit_is_flushed_and_readers_keep_nobody_waiting() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("database");
        let secret = Secret::new([3; 32]);
        assert!(Database::create(&Sys::os(), &path, &secret).unwrap());
        assert!(!Database::create(&Sys::os(), &path, &secret).unwrap());
        let mut database = Database::open(&path, secret).unwrap();
        let conn = database.connection();
        let said = |name| conn.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
        assert_eq!(said("synchronous").unwrap(), 2.into());
        assert_eq!(said("journal_mode").unwrap(), "wal".to_owned().into());
        assert_eq!(said("busy_timeout").unwrap(), 60_000.into());
        assert_eq!(said("trusted_schema").unwrap(), 0.into());
    }
}
