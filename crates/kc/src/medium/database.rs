//! One connection to a vault's database, opened so that nothing in the file can do more than be wrong.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdfast_store::{CounterId, Error, Result};
use holdfast_sys::{Open, Stat, Sys};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::failure::{busy, damaged, failed};
use super::schema;
use super::section::Section;
use crate::secret::Secret;

/// How long others may keep the database busy. Each of their transactions takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// No value of ours is nearly as long; a longer one is somebody's trick.
const LONGEST_VALUE: i32 = 1 << 20;

/// How often others may change a database that can only be read while somebody looks at it.
const LOOKS: usize = 100;

/// An open database.
pub struct Database {
    conn: Connection,
    sys: Sys,
    path: PathBuf,
    secret: Secret,
    /// What the file was like when it was opened, if neither it nor what SQLite keeps beside it can be written. Such
    /// a connection takes no locks and believes for ever what it has read once.
    frozen: Option<Stat>,
}

impl Database {
    /// Opens the database at `path`, which must be there and belong to `secret`.
    ///
    /// # Errors
    /// When it cannot be opened, is not the database of a vault, or was made by a later version.
    pub fn open(sys: &Sys, path: &Path, secret: Secret) -> Result<Self> {
        let (conn, frozen) = attach(sys, path)?;
        let mut database = Self { conn, sys: sys.clone(), path: path.to_path_buf(), secret, frozen };
        schema::check(&mut database.conn, path)?;
        database.read()?.belongs()?;
        Ok(database)
    }

    /// Makes an empty database at `path`, durably, unless there is one; says whether it did.
    ///
    /// # Errors
    /// When that failed. There is no half-made database under that name then.
    pub fn create(sys: &Sys, path: &Path, secret: &Secret) -> Result<bool> {
        let (directory, name) = place(path)?;
        let beside = directory.join(format!(".{}.new-{:032x}", name.display(), sys.entropy.nonce()?));
        let made = fill(sys, &beside, secret).and_then(|()| Ok(sys.files.rename_new(&beside, path)?));
        if made.is_err() {
            // Half a database is of no use to anybody; the first failure is the one to report.
            for suffix in ["", "-journal", "-wal", "-shm"] {
                let _ = sys.files.remove_file(&with_suffix(&beside, suffix));
            }
        }
        match made {
            Err(Error::Sys(error)) if error.kind() == io::ErrorKind::AlreadyExists && error.path == path => {
                Ok(false)
            }
            made => {
                made?;
                sys.files.sync_dir(directory)?;
                Ok(true)
            }
        }
    }

    /// Has `ask` look at one moment of the database, and keeps nobody waiting. Where the database can only be read,
    /// it may be asked more than once: nothing but what the file is like afterwards shows that nobody changed it.
    ///
    /// # Errors
    /// What `ask` said; otherwise what failed.
    pub fn look<T, E: From<Error>>(
        &mut self,
        ask: impl Fn(&Section<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        for _ in 0..LOOKS {
            let seen = ask(&self.read()?);
            match self.frozen {
                Some(before) if frozen(&self.sys, &self.path)? != Some(before) => {
                    *self = Self::open(&self.sys, &self.path, self.secret.clone())?;
                }
                _ => return seen,
            }
        }
        Err(busy(&self.path).into())
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

/// The directory and the name of a database.
fn place(path: &Path) -> Result<(&Path, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => Ok((Path::new("."), name)),
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(holdfast_sys::Error::new("open", path, io::ErrorKind::InvalidFilename).into()),
    }
}

/// A connection, and what the file was like if it can only be read.
fn attach(sys: &Sys, path: &Path) -> Result<(Connection, Option<Stat>)> {
    // SQLite refuses a link anywhere in the path; only the file itself must not be one.
    let (directory, name) = place(path)?;
    let real =
        directory.canonicalize().map_err(|error| holdfast_sys::Error::new("open", path, error))?.join(name);
    let conn = connect(&real, shared()).map_err(failed(path, "open"))?;
    // A connection that only reads would make files beside the database all the same where it may.
    if !conn.is_readonly(MAIN_DB).map_err(failed(path, "open"))? {
        let settled = settle(&conn);
        if !is_in_a_read_only_directory(&settled) {
            return settled.map(|()| (conn, None)).map_err(failed(path, "open"));
        }
    }
    if let Some(stat) = frozen(sys, path)? {
        let conn = connect(&as_it_is(&real), alone()).map_err(failed(path, "open"))?;
        return settle(&conn).map(|()| (conn, Some(stat))).map_err(failed(path, "open"));
    }
    // Others have a log there. SQLite reads it if they have also left what leads through it.
    match settle(&conn) {
        Err(error) if is_not_to_be_written(&error) => Err(unread(path)),
        settled => settled.map(|()| (conn, None)).map_err(failed(path, "open")),
    }
}

/// Whether SQLite could not make what it keeps beside the database because nobody may make anything there.
fn is_in_a_read_only_directory(settled: &rusqlite::Result<()>) -> bool {
    let code = settled.as_ref().err().and_then(rusqlite::Error::sqlite_error);
    code.is_some_and(|failure| failure.extended_code == rusqlite::ffi::SQLITE_READONLY_DIRECTORY)
}

/// Whether SQLite could not make, or not write, what it keeps beside the database.
fn is_not_to_be_written(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// What the file is like, if everything that was committed is in it: none if there is a log beside it.
fn frozen(sys: &Sys, path: &Path) -> Result<Option<Stat>> {
    let stat = sys.files.stat(path)?;
    match sys.files.stat(&with_suffix(path, "-wal")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(stat)),
        log => Ok((log?.len == 0).then_some(stat)),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The address of a database that nobody changes, as far as SQLite is told.
fn as_it_is(path: &Path) -> PathBuf {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(*byte))
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    PathBuf::from(address + "?immutable=1")
}

fn unread(path: &Path) -> Error {
    let log = with_suffix(path, "-wal");
    let why = format!(
        "{} holds changes that are not in it yet, and they cannot be read here: open the vault once where it can be written",
        log.display()
    );
    holdfast_sys::Error::new("open", path, io::Error::new(io::ErrorKind::ReadOnlyFilesystem, why)).into()
}

fn shared() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW
}

fn alone() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(PATIENCE)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // A statement is planned once, whatever is bound to it; otherwise SQLite may plan it anew at each binding.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_prepared_statement_cache_capacity(32);
    Ok(conn)
}

/// The settings that need a look into the file, and with it the files that SQLite keeps beside it.
fn settle(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON;")
}

/// Makes a whole database in a file that nobody else knows of.
fn fill(sys: &Sys, path: &Path, secret: &Secret) -> Result<()> {
    // SQLite gives its own files the permissions of this one.
    drop(sys.files.open(path, Open::New { mode: 0o600 })?);
    let counter = CounterId::new(sys.entropy.lease_id(&sys.clock.now()?)?);
    let run = || -> rusqlite::Result<String> {
        let mut conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.execute_batch("PRAGMA synchronous = FULL;")?;
        // Without a log, so that the commit itself writes the file and says if it cannot. What is left in a log is
        // moved into the file when that is closed, and if that fails nobody is told.
        let tx = conn.transaction()?;
        schema::make(&tx)?;
        let first = "INSERT INTO vault (only_row, counter, secret_id) VALUES (1, ?1, ?2)";
        tx.execute(first, (counter.to_string(), secret.id()))?;
        tx.commit()?;
        let mode = conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        conn.close().map_err(|(_, error)| error)?;
        Ok(mode)
    };
    match run().map_err(failed(path, "make"))? {
        mode if mode == "wal" => complete(sys, path),
        mode => Err(damaged(path, "the journal", format_args!("the file system allows only `{mode}`"))),
    }
}

/// Whether everything is in the file: it gets another name, and what is beside it would not.
fn complete(sys: &Sys, path: &Path) -> Result<()> {
    for suffix in ["-journal", "-wal"] {
        match sys.files.stat(&with_suffix(path, suffix)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            there => {
                there?;
                return Err(damaged(path, "the journal", format_args!("`{suffix}` was left beside it")));
            }
        }
    }
    Ok(())
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
        let mut database = Database::open(&Sys::os(), &path, secret).unwrap();
        let conn = database.connection();
        let said = |name| conn.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
        assert_eq!(said("synchronous").unwrap(), 2.into());
        assert_eq!(said("journal_mode").unwrap(), "wal".to_owned().into());
        assert_eq!(said("busy_timeout").unwrap(), 60_000.into());
        assert_eq!(said("trusted_schema").unwrap(), 0.into());
    }
}
