//! What a command stands on: the machine, the printer, where it was started and who asks. Nothing here is
//! worked out before somebody needs it.

use std::path::{Path, PathBuf};

use holdfast_sys::Sys;

use crate::agent::AgentId;
use crate::cli::Global;
use crate::config::AgentFile;
use crate::error::{Error, Result};
use crate::output::Printer;
use crate::vars::Vars;

/// What a command stands on.
pub struct Context {
    /// The machine.
    pub sys: Sys,
    /// Where output goes.
    pub printer: Printer,
    /// What the environment says.
    pub vars: Vars,
    /// The directory to work in.
    pub start: PathBuf,
    agent_flag: Option<String>,
}

/// Who asks.
pub struct Identity {
    /// The agent.
    pub agent: AgentId,
    /// What its file says besides.
    pub file: AgentFile,
}

impl Context {
    /// The context that the flags and the environment give.
    ///
    /// # Errors
    /// When it cannot be told where the program was started.
    pub fn new(sys: Sys, global: &Global, vars: Vars) -> Result<Self> {
        let given = global.directory.clone().unwrap_or_default();
        let start = match &vars.directory {
            _ if given.is_absolute() => given,
            Ok(directory) => directory.join(given),
            Err(error) => {
                let source = std::io::Error::from(error.kind());
                return Err(
                    holdfast_sys::Error::new("find", Path::new("the current directory"), source).into()
                );
            }
        };
        Ok(Self { sys, printer: Printer::new(global), vars, start, agent_flag: global.agent_id.clone() })
    }

    /// A file of the user's.
    #[must_use]
    pub fn user_file(&self, name: &str) -> Option<PathBuf> {
        self.vars.config_home.as_ref().map(|home| home.join(name))
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

    fn named(&self, file: &AgentFile) -> Result<Option<AgentId>> {
        if let Some(text) = &self.agent_flag {
            return AgentId::new(text).map(Some);
        }
        if let Some(text) = &self.vars.agent_id {
            return AgentId::new(&text.to_string_lossy()).map(Some);
        }
        file.agent.id.as_deref().map(AgentId::new).transpose()
    }
}
