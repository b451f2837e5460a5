//! Who asks, from where and on which machine: what a door brings along with a question. Nothing here is worked out
//! before somebody needs it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_git::Environment;
use holdfast_sys::Sys;
use schemars::JsonSchema;
use serde::Serialize;

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
    /// When the author of a commit made it, as git tells its hooks in `GIT_AUTHOR_DATE`.
    pub author_date: Option<OsString>,
    /// The agent that asks, as it was typed.
    pub typed_agent: Option<OsString>,
    /// The agent that asks, as the environment has it.
    pub agent: Option<OsString>,
    /// Whether this is asked by a hook of a push that shows its claims to the server.
    pub publishes: bool,
    /// The password of the user that etcd knows, as the environment has it.
    pub etcd_password: Option<OsString>,
    /// A token of that user, as the environment has it.
    pub etcd_token: Option<OsString>,
    /// Where the user's files are.
    pub config_home: Option<PathBuf>,
    /// Where the user keeps what can be made again.
    pub cache_home: Option<PathBuf>,
    /// Who hears the notices.
    pub listener: Arc<dyn Listener>,
}

/// Who says which agent asks. The first that says something counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// It was typed.
    Flag,
    /// The environment.
    Environment,
    /// The worktree.
    Worktree,
    /// The user's `agent.toml`.
    File,
}

/// The agent that asks.
#[derive(Debug)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Who says so.
    pub told: Told,
    /// The worktree's own agent, if it is another one.
    pub instead_of: Option<AgentId>,
    /// What its file says besides.
    pub file: AgentFile,
}

impl Caller {
    /// Somebody who asks in a directory, with what the environment says; `set` looks up what a variable is set to.
    #[must_use]
    pub fn in_environment(
        sys: Sys,
        start: PathBuf,
        user: u32,
        set: &dyn Fn(&str) -> Option<OsString>,
        listener: Arc<dyn Listener>,
    ) -> Self {
        let git = Environment::read(user, set);
        let set = |name: &str| set(name).filter(|value| !value.is_empty());
        let below = |name: &str, rest: &str| set(name).map(|home| PathBuf::from(home).join(rest));
        let config_home = set("JIT_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| below("XDG_CONFIG_HOME", "jit"))
            .or_else(|| below("HOME", ".config/jit"));
        Self {
            sys,
            start,
            git,
            author_date: set("GIT_AUTHOR_DATE"),
            typed_agent: None,
            agent: set("JIT_AGENT_ID"),
            publishes: set("JIT_PUBLISHES").is_some(),
            etcd_password: set("JIT_ETCD_PASSWORD"),
            etcd_token: set("JIT_ETCD_TOKEN"),
            config_home,
            cache_home: below("XDG_CACHE_HOME", "jit").or_else(|| below("HOME", ".cache/jit")),
            listener,
        }
    }

    /// A file of the user's.
    #[must_use]
    pub fn user_file(&self, name: &str) -> Option<PathBuf> {
        self.config_home.as_ref().map(|home| home.join(name))
    }

    /// The agent that asks; `own` is that of the worktree that it asks in.
    ///
    /// # Errors
    /// When nobody says, or says something that is no agent.
    pub fn agent(&self, own: Option<&str>) -> Result<Agent> {
        let file = AgentFile::load(&self.sys, self.user_file("agent.toml").as_deref())?;
        let said =
            |given: &Option<OsString>| given.as_ref().map(|given| given.to_string_lossy().into_owned());
        let all = [
            (said(&self.typed_agent), Told::Flag),
            (said(&self.agent), Told::Environment),
            (own.map(ToOwned::to_owned), Told::Worktree),
            (file.agent.id.clone(), Told::File),
        ];
        let (text, told) =
            all.into_iter().find_map(|(text, told)| Some((text?, told))).ok_or(Error::NoAgent)?;
        let id = AgentId::new(&text)?;
        let instead_of = own.and_then(|own| AgentId::new(own).ok()).filter(|own| *own != id);
        Ok(Agent { id, told, instead_of, file })
    }

    /// Lets whoever asks know something besides the answer.
    pub fn notice(&self, notice: &Notice) {
        self.listener.hear(notice);
    }
}
