//! A vault in a temporary directory, and short ways to use it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use holdfast_kc::{Database, vault};
use holdfast_sys::Sys;
use rusqlite::types::Value as Cell;
use serde_json::Value;

/// The program.
pub(crate) const KC: &str = env!("CARGO_BIN_EXE_kc_cli");

/// A moment to begin with.
pub(crate) const NOW: i64 = 1_700_000_000_000;

/// How long a lease lasts.
pub(crate) const LEASE: i64 = 900_000;

/// Every row of every table, by the table's name.
pub(crate) type Dump = Vec<(String, Vec<Vec<Cell>>)>;

/// A directory with a vault in it.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

/// What the program answered.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// What it said, if it ended well.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        let answer: Value = serde_json::from_str(&self.stdout).unwrap();
        assert_eq!(answer["status"], "ok");
        answer
    }

    /// The code that it failed with.
    pub(crate) fn failed(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{self:?}");
        assert_eq!(self.stderr.matches('\n').count(), 1, "{self:?}");
        self.stderr.split_once(": ").unwrap().0
    }
}

impl Bench {
    /// A vault with these documents.
    pub(crate) fn new(docs: &[&str]) -> Self {
        let bench = Self::empty();
        assert!(vault::init(&Sys::os(), &bench.vault()).unwrap());
        let mut conn = bench.open();
        docs.iter().for_each(|doc| assert!(holdfast_kc::doc_add(&mut conn, doc).unwrap()));
        bench
    }

    /// A directory without a vault.
    pub(crate) fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn vault(&self) -> PathBuf {
        self.dir.path().join("vault")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.vault().join("lineage.sqlite3")
    }

    /// A file beside the vault.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The vault, opened in this process.
    pub(crate) fn open(&self) -> Database {
        vault::open(&Sys::os(), &self.vault()).unwrap()
    }

    /// Another vault with the same content.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::empty();
        std::fs::create_dir(copy.vault()).unwrap();
        for file in std::fs::read_dir(self.vault()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), copy.vault().join(file.file_name())).unwrap();
        }
        copy
    }

    /// The program with these words; `VAULT` among them is the path of the vault.
    pub(crate) fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        let vault = self.vault();
        command.args(words.iter().map(|word| match *word {
            "VAULT" => vault.as_os_str(),
            word => word.as_ref(),
        }));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Answer {
        Answer::from(self.command(KC, words).output().unwrap())
    }

    pub(crate) fn spawn(&self, words: &[&str]) -> Child {
        self.command(KC, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Acquires the lease and gives the token.
    pub(crate) fn acquire(&self, doc: &str, owner: &str, now: i64) -> String {
        holdfast_kc::lineage_lock_acquire(&mut self.open(), doc, owner, now).unwrap().token
    }

    /// Every file of the vault with its bytes.
    pub(crate) fn bytes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = std::fs::read_dir(self.vault()).unwrap();
        files
            .map(|file| file.unwrap().path())
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    }

    /// Every row of every table.
    pub(crate) fn dump(&self) -> Dump {
        let conn = rusqlite::Connection::open(self.database()).unwrap();
        let mut names =
            conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
        let names: Vec<String> =
            names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        names.into_iter().map(|name| (name.clone(), rows(&conn, &name))).collect()
    }

    /// Changes the database behind the program's back.
    pub(crate) fn tamper(&self, statements: &str) {
        rusqlite::Connection::open(self.database()).unwrap().execute_batch(statements).unwrap();
    }
}

fn rows(conn: &rusqlite::Connection, table: &str) -> Vec<Vec<Cell>> {
    let mut query = conn.prepare(&format!("SELECT * FROM {table} ORDER BY 1")).unwrap();
    let columns = query.column_count();
    let cells = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
    query.query_map([], cells).unwrap().collect::<Result<_, _>>().unwrap()
}

/// How much of something: so much, or what the environment says where there is time.
pub(crate) fn more(variable: &str, usual: i64) -> i64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
