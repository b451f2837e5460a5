//! The gates that are defined for everybody: `gates/registry.json`. Changing it concerns everybody who works
//! in the repository; what came of a gate belongs to an issue and is not here.

pub mod outputs;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::AgentId;
use crate::durable;
use crate::error::{Error, Result, WriteError};
use crate::issues::Issues;
use crate::json;
use crate::session::Session;

pub use run::{Outcome, Run};

/// Where the gates are defined, below `.jit/`.
pub const FILE: &str = "gates/registry.json";

/// The longest that a gate's command may be given, in seconds.
pub const LONGEST_TIMEOUT: u64 = 86_400;

/// Who says whether a gate is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Somebody.
    Manual,
    /// A command.
    Command,
}

/// A gate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// Who says whether it is passed.
    pub mode: Mode,
    /// What it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The command that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How long that may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_secs: Option<u64>,
    /// Who may say so: an agent, or a pattern such as `person:*`; anybody if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether whoever works on the issue may not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_author: bool,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

/// All gates, by key.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Registry {
    /// The gates.
    #[serde(default)]
    pub gates: BTreeMap<String, Gate>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

impl Gate {
    /// Checks that somebody may judge it, for an issue that `author` works on. Names are what callers say: this keeps
    /// honest agents apart, and nobody else.
    ///
    /// # Errors
    /// When it may not.
    pub fn may_judge(&self, key: &str, agent: &AgentId, author: Option<&str>) -> Result<()> {
        let agent = agent.to_string();
        let fits = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => agent.starts_with(start),
            None => agent == pattern,
        };
        let why = match &self.by {
            Some(by) if !fits(by) => format!("it is judged by {by}"),
            _ if self.not_author && author == Some(&agent) => {
                "it is not judged by whoever works on the issue".to_owned()
            }
            _ => return Ok(()),
        };
        Err(WriteError::NotJudge { gate: key.to_owned(), agent, why }.into())
    }

    /// What is wrong with its definition.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let timeout = self.timeout_secs.unwrap_or(1);
        match (self.mode, &self.command) {
            (Mode::Command, None) => Some("it has no command"),
            (Mode::Command, Some(command)) if command.trim().is_empty() => Some("its command is empty"),
            (Mode::Manual, Some(_)) => Some("it is manual and has a command"),
            _ if !(1..=LONGEST_TIMEOUT).contains(&timeout) => Some("its timeout is not 1 to 86400 seconds"),
            _ => None,
        }
    }
}

impl Registry {
    /// The gates that are defined, as they are seen from here.
    ///
    /// # Errors
    /// When the file cannot be read, or a definition in it cannot be used.
    pub fn load(session: &Session) -> Result<Self> {
        let copies = Issues::new(session).copies(FILE)?;
        let Some(bytes) = copies.first() else { return Ok(Self::default()) };
        let path = session.data().unwrap_or_else(|| PathBuf::from(crate::workspace::DATA)).join(FILE);
        let bad = |why: String| Error::BadFile { path: path.clone(), why };
        let registry: Self =
            serde_json::from_slice(bytes).map_err(|error| bad(format!("it defines no gates: {error}")))?;
        match registry.gates.iter().find_map(|(key, gate)| gate.fault().map(|fault| (key, fault))) {
            Some((key, fault)) => Err(bad(format!("the gate '{key}' cannot be used: {fault}"))),
            None => Ok(registry),
        }
    }

    /// A gate.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn get(&self, key: &str) -> Result<&Gate> {
        self.gates.get(key).ok_or_else(|| WriteError::NoGate(key.to_owned()).into())
    }

    /// The gates of these names, if all are defined. Reads nothing if none is named.
    ///
    /// # Errors
    /// When one is not.
    pub fn known(session: &Session, keys: &[String]) -> Result<BTreeSet<String>> {
        if keys.is_empty() {
            return Ok(BTreeSet::new());
        }
        let registry = Self::load(session)?;
        keys.iter().map(|key| registry.get(key).map(|_| key.clone())).collect()
    }

    /// Puts the file in the place of what is there. Only under the lock of what concerns everybody.
    ///
    /// # Errors
    /// When that failed.
    pub fn write(&self, session: &Session) -> Result<()> {
        let path = session.own_data()?.join(FILE);
        durable::make_dirs(session.sys(), path.parent().unwrap_or(&path), 0o755)?;
        Ok(durable::replace(session.sys(), &path, &self.bytes(), 0o644)?)
    }

    /// The bytes of its file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        json::file(self)
    }
}
