//! What a pool is doing, in the control plane, for whoever asks from elsewhere. A pool has a lock for as long as it is
//! there, so nobody takes what a killed one has left for the truth.

use std::path::PathBuf;

use holdfast_sys::{Handle, LockMode, Open, os};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::{Error, Result};
use crate::session::Session;

/// More than the state of a pool can be.
const LONGEST: usize = 1 << 22;

/// What a pool is doing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// The version of this form.
    pub schema_version: u32,
    /// What it is called.
    pub name: String,
    /// Whether it is there; a pool that was killed can be started again.
    pub running: bool,
    /// The number of its process.
    pub pid: u32,
    /// When that process was started, as the system counts, so that nobody takes a later one for it.
    pub process_start: u64,
    /// Whether it begins nothing new.
    pub ending: bool,
    /// How many issues landed, or were finished otherwise.
    pub finished: u64,
    /// How many attempts failed.
    pub failed: u64,
    /// Its workers.
    pub workers: Vec<Worker>,
}

/// What a worker is doing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Worker {
    /// Who it is.
    pub agent_id: String,
    /// What it works on, if it does.
    pub task: Option<Task>,
    /// The issue that it worked on last, and what became of that.
    pub last: Option<String>,
}

/// What a worker works on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// The issue.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// Where.
    pub worktree: String,
    /// Where the output goes.
    pub log: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
}

/// A name that can be part of an agent's and of a file's.
///
/// # Errors
/// When it is not.
pub fn checked(name: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= 40 && name.chars().all(fits) && !name.starts_with('-') {
        return Ok(());
    }
    let why = "must be letters, digits, - and _, and not begin with -".to_owned();
    Err(Error::BadValue { what: "the name of a pool", given: name.to_owned(), why })
}

fn folder(session: &Session) -> PathBuf {
    session.control().join("dispatch")
}

fn lock(session: &Session, name: &str) -> Result<Box<dyn Handle>> {
    let mode = session.prepare()?.file();
    let path = session.control().join("locks").join(format!("dispatch-{name}.lock"));
    Ok(session.sys().files.open(&path, Open::Create { mode })?)
}

/// Takes the place of the pool of this name, for as long as the handle is there.
///
/// # Errors
/// When it is not.
pub fn alone(session: &Session, name: &str) -> Result<Box<dyn Handle>> {
    let lock = lock(session, name)?;
    if lock.try_lock(LockMode::Exclusive)? {
        return Ok(lock);
    }
    Err(Error::RunUnderWay(PathBuf::from(format!("the pool '{name}'"))))
}

impl State {
    /// Keeps it for whoever asks.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn write(&self, session: &Session) -> Result<()> {
        let (directory, file) = session.prepare()?.places();
        durable::make_dirs(session.sys(), &folder(session), directory)?;
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::Internal(format!("a pool has no JSON form: {error}")))?;
        let path = folder(session).join(format!("{}.json", self.name));
        Ok(durable::replace(session.sys(), &path, &text, file)?)
    }

    /// Takes it away.
    pub fn remove(&self, session: &Session) {
        // One that stays says that its pool is not there.
        let _ = session.sys().files.remove_file(&folder(session).join(format!("{}.json", self.name)));
    }

    /// The pool of this name, as it stands.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn read(session: &Session, name: &str) -> Result<Option<Self>> {
        checked(name)?;
        let path = folder(session).join(format!("{name}.json"));
        let Some(bytes) = durable::read(session.sys(), &path, LONGEST)? else { return Ok(None) };
        let bad = |error: serde_json::Error| Error::BadFile { path: path.clone(), why: error.to_string() };
        let state: Self = serde_json::from_slice(&bytes).map_err(bad)?;
        let running = !lock(session, name)?.try_lock(LockMode::Exclusive)?;
        Ok(Some(Self { running, ..state }))
    }

    /// Asks its process to end, if it is still the one that wrote this: whoever takes the place of a killed pool has its
    /// lock for a moment before it has said who it is.
    pub fn ask_to_end(&self, session: &Session) {
        let found = session.sys().processes.find(self.pid);
        if found.is_ok_and(|process| process.start == self.process_start) {
            os::ask_to_end(self.pid);
        }
    }

    /// All pools.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn all(session: &Session) -> Result<Vec<Self>> {
        let names = match session.sys().files.list(&folder(session)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            names => names?,
        };
        let names = names.iter().filter_map(|name| name.to_str()?.strip_suffix(".json"));
        let mut all = Vec::new();
        for name in names.filter(|name| checked(name).is_ok()) {
            all.extend(Self::read(session, name)?);
        }
        Ok(all)
    }
}
