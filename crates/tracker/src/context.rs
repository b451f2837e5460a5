//! What a question stands on: the machine, where it was asked, who asks and who hears the notices. Nothing here is
//! worked out before somebody needs it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_git::Environment;
use holdfast_sys::Sys;

use crate::agent::AgentId;
use crate::config::AgentFile;
use crate::error::{Error, Result};
use crate::notice::{Listener, Notice};

/// What a question stands on.
#[derive(Clone)]
pub struct Context {
    /// The machine.
    pub sys: Sys,
    /// The directory that the question is asked in; absolute.
    pub start: PathBuf,
    /// What git takes from the environment.
    pub git: Environment,
    /// When the author of a commit made it, as git tells its hooks.
    pub author_date: Option<OsString>,
    /// Who asks, if that was said.
    pub agent: Option<OsString>,
    /// Where the user's files are.
    pub config_home: Option<PathBuf>,
    /// Who hears the notices.
    pub listener: Arc<dyn Listener>,
}

/// Who asks.
pub struct Identity {
    /// The agent.
    pub agent: AgentId,
    /// What its file says besides.
    pub file: AgentFile,
}

impl Context {
    /// A file of the user's.
    #[must_use]
    pub fn user_file(&self, name: &str) -> Option<PathBuf> {
        self.config_home.as_ref().map(|home| home.join(name))
    }

    /// Who asks.
    ///
    /// # Errors
    /// When nobody says, or says something that is no agent.
    pub fn identity(&self) -> Result<Identity> {
        let file = AgentFile::load(&self.sys, self.user_file("agent.toml").as_deref())?;
        let agent = self.named(&file)?.ok_or(Error::NoAgent)?;
        Ok(Identity { agent, file })
    }

    /// Who asks, for commands that only say more to somebody they know.
    #[must_use]
    pub fn known_agent(&self) -> Option<AgentId> {
        self.identity().ok().map(|identity| identity.agent)
    }

    /// Lets whoever asks know something besides the answer.
    pub fn notice(&self, notice: &Notice) {
        self.listener.hear(notice);
    }

    fn named(&self, file: &AgentFile) -> Result<Option<AgentId>> {
        if let Some(text) = &self.agent {
            return Ok(Some(AgentId::new(&text.to_string_lossy())?));
        }
        Ok(file.agent.id.as_deref().map(AgentId::new).transpose()?)
    }
}
