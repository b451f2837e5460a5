//! `agent.toml`: who works here. Read as strictly as everything else; it never comes from a repository.

use std::path::Path;

use holdfast_sys::Sys;

use super::Error;
use super::keys::{AGENT, Agent, Behavior};
use super::layers::{self, Settings};
use super::problem::{Problem, Problems};
use super::source::{Layer, Source};

/// The user's `agent.toml`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentFile {
    /// Who it is.
    pub agent: Agent,
    /// What is done for it by itself.
    pub behavior: Behavior,
    pub(super) settings: Settings,
}

impl AgentFile {
    /// Reads the file; one that is not there says nothing.
    ///
    /// # Errors
    /// When it cannot be read or says what cannot be.
    pub fn load(sys: &Sys, path: Option<&Path>) -> Result<Self, Error> {
        match Self::examine(&Self::sources(sys, path)?) {
            (agent, problems) if problems.is_empty() => Ok(agent),
            (_, problems) => Err(Error::Invalid(Problems(problems))),
        }
    }

    pub(super) fn sources(sys: &Sys, path: Option<&Path>) -> Result<Vec<Source>, Error> {
        path.map(|path| Source::read(sys, Layer::Agent, path))
            .transpose()
            .map(Vec::from_iter)
            .map_err(Error::from)
    }

    pub(super) fn examine(sources: &[Source]) -> (Self, Vec<Problem>) {
        let (settings, problems) = layers::merge(&AGENT, sources);
        let agent = Agent::read(|key| layers::value(&settings, key));
        let behavior = Behavior::read(|key| layers::value(&settings, key));
        (Self { agent, behavior, settings }, problems)
    }
}
