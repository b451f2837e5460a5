//! Who asks, from where and on which machine: what a door brings along with a question. Nothing here is worked out
//! before somebody needs it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_git::Environment;
use holdfast_sys::Sys;

use crate::agent::AgentId;
use crate::config::AgentFile;
use crate::error::{Error, Result};
use crate::notice::{Listener, Notice};

/// What a door brings along with a question.
#[derive(Clone)]
pub struct Caller {
    /// The machine.
    pub sys: Sys,
    /// The directory that the question is asked in; absolute.
    pub start: PathBuf,
    /// What git takes from the environment.
    pub git: Environment,
    /// When the author of a commit made it, as git tells its hooks.
    pub author_date: Option<OsString>,
    /// The agent that asks, if that was said.
    pub agent: Option<OsString>,
    /// Where the user's files are.
    pub config_home: Option<PathBuf>,
    /// Where the user keeps what can be made again.
    pub cache_home: Option<PathBuf>,
    /// Who hears the notices.
    pub listener: Arc<dyn Listener>,
}

/// The agent that asks.
#[derive(Debug)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// What its file says besides.
    pub file: AgentFile,
}

impl Caller {
    /// A file of the user's.
    #[must_use]
    pub fn user_file(&self, name: &str) -> Option<PathBuf> {
        self.config_home.as_ref().map(|home| home.join(name))
    }

    /// The agent that asks.
    ///
    /// # Errors
    /// When nobody says, or says something that is no agent.
    pub fn agent(&self) -> Result<Agent> {
        let file = AgentFile::load(&self.sys, self.user_file("agent.toml").as_deref())?;
        let id = match &self.agent {
            Some(given) => AgentId::new(&given.to_string_lossy())?,
            None => AgentId::new(file.agent.id.as_deref().ok_or(Error::NoAgent)?)?,
        };
        Ok(Agent { id, file })
    }

    /// Lets whoever asks know something besides the answer.
    pub fn notice(&self, notice: &Notice) {
        self.listener.hear(notice);
    }
}
