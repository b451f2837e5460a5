//! The configuration of `jit`: what the files say, where they say it, and everything that is wrong with
//! them. It reads no environment and prints nothing; a file that is wrong is never partly obeyed.
//!
//! [`keys`] defines every key once. [`Config`] and [`AgentFile`] are what the program reads, [`show`] and
//! [`get`] what a person does, [`set`] and [`reset`] change a file and leave every other byte of it alone.

mod agent;
mod change;
mod edit;
mod error;
mod escalate;
mod form;
mod format;
mod key;
pub mod keys;
mod layers;
mod parse;
mod policy;
mod problem;
mod replace;
mod report;
mod source;
mod suggest;
mod texts;
mod value;
pub mod wire;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use holdfast_sys::Sys;

pub use agent::AgentFile;
pub use change::{Change, Places, Scope, reset, set};
pub use error::Error;
pub use escalate::{Act, Escalation};
pub use form::{Choice, Form, TextForm};
pub(crate) use format::too_old;
pub use key::{Key, Schema, Section};
pub use layers::{Origin, Setting};
pub use problem::{Fault, Problem, ProblemKind, Problems};
pub use report::{Shown, get, show, validate};
pub use source::Layer;
pub use value::Value;
pub use words::{
    EnforceLeases, Engine, ForceEvict, ForeignClaims, Satisfied, Strategy, Via, When, WorktreeMode,
};

use keys::{
    CONFIG, Coordination, Enforcement, Events, GlobalOperations, Kind, Landing, Layout, Locks, Policies, Run,
    Types, Worktree,
};
use layers::Settings;
use source::Source;

/// The files that a configuration is made of. None of them has to be there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    /// The repository's, which wins over
    pub repository: Option<PathBuf>,
    /// the user's, which wins over
    pub user: Option<PathBuf>,
    /// the machine's.
    pub system: Option<PathBuf>,
}

impl Sources {
    /// Reads the files, the weakest first.
    fn read(&self, sys: &Sys) -> Result<Vec<Source>, Error> {
        let layers =
            [(Layer::System, &self.system), (Layer::User, &self.user), (Layer::Repository, &self.repository)];
        let there = layers.into_iter().filter_map(|(layer, path)| path.as_ref().map(|path| (layer, path)));
        there.map(|(layer, path)| Source::read(sys, layer, path).map_err(Error::from)).collect()
    }
}

/// What is configured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// How jit works in git worktrees.
    pub worktree: Worktree,
    /// Leases.
    pub coordination: Coordination,
    /// Leases of one kind of agents, where it has rules of its own.
    pub kinds: BTreeMap<String, Kind>,
    /// What nobody decides alone.
    pub policies: Policies,
    /// What is done when something takes too long or goes wrong, as all files say.
    pub escalations: Vec<Escalation>,
    /// Changes that concern everybody.
    pub global_operations: GlobalOperations,
    /// Lock files.
    pub locks: Locks,
    /// Event logs.
    pub events: Events,
    /// What checks and hooks insist on.
    pub enforcement: Enforcement,
    /// How finished work comes to the branch that everybody builds on.
    pub landing: Landing,
    /// Commands that are run under a claim.
    pub run: Run,
    /// Types of issues.
    pub types: Types,
    /// How the files of the tracker are laid out.
    pub layout: Layout,
}

/// What is configured, and where each value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    values: Values,
    settings: Settings,
}

impl Deref for Config {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

impl Config {
    /// Reads the configuration.
    ///
    /// # Errors
    /// When a file cannot be read or says what cannot be; everything that is wrong is named.
    pub fn load(sys: &Sys, sources: &Sources) -> Result<Self, Error> {
        Self::judged(&sources.read(sys)?)
    }

    /// Reads the configuration with these bytes, of a commit, in the place of the repository's file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_committed(
        sys: &Sys,
        sources: &Sources,
        path: &Path,
        bytes: Option<Vec<u8>>,
    ) -> Result<Self, Error> {
        let mut read = Sources { repository: None, ..sources.clone() }.read(sys)?;
        read.push(Source::of(Layer::Repository, path, bytes));
        Self::judged(&read)
    }

    /// A layout of a later version comes before whatever else is not understood: it is the reason for that.
    fn judged(sources: &[Source]) -> Result<Self, Error> {
        if let Some((path, version)) = sources.iter().find_map(format::later) {
            return Err(Error::Newer { path, version });
        }
        match Self::examine(sources) {
            (config, problems) if problems.is_empty() => Ok(config),
            (_, problems) => Err(Error::Invalid(Problems(problems))),
        }
    }

    fn examine(sources: &[Source]) -> (Self, Vec<Problem>) {
        let (settings, mut problems) = layers::merge(&CONFIG, sources);
        problems.extend(layers::conflicts(&settings));
        let mut escalations = Vec::new();
        for (found, wrong) in sources.iter().map(escalate::parse) {
            escalations.extend(found);
            problems.extend(wrong);
        }
        let value = |key: &str| layers::value(&settings, key);
        let values = Values {
            worktree: Worktree::read(value),
            coordination: Coordination::read(value),
            kinds: layers::kinds(&settings),
            policies: Policies::read(value),
            escalations,
            global_operations: GlobalOperations::read(value),
            locks: Locks::read(value),
            events: Events::read(value),
            enforcement: Enforcement::read(value),
            landing: Landing::read(value),
            run: Run::read(value),
            types: Types::read(value),
            layout: Layout::read(value),
        };
        (Self { values, settings }, problems)
    }

    /// Where the value of a key comes from.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        layers::effective(&CONFIG, &self.settings, key).map_or(Origin::Default, |setting| setting.origin)
    }
}
