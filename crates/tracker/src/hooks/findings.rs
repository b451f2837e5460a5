//! Everything that a hook found, and what is done about it.

use crate::config::{EnforceLeases, ForeignClaims};
use crate::error::{Error, MOST_TOLD, Problem, Rejected};
use crate::notice::{Listener, Notice};

/// What is done about a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weight {
    /// It stops what was asked for.
    Stops,
    /// It is told.
    Warns,
    /// It does not matter.
    Passes,
}

impl From<EnforceLeases> for Weight {
    fn from(mode: EnforceLeases) -> Self {
        match mode {
            EnforceLeases::Strict => Self::Stops,
            EnforceLeases::Warn => Self::Warns,
            EnforceLeases::Off => Self::Passes,
        }
    }
}

impl From<ForeignClaims> for Weight {
    fn from(mode: ForeignClaims) -> Self {
        match mode {
            ForeignClaims::Reject => Self::Stops,
            ForeignClaims::Warn => Self::Warns,
            ForeignClaims::Allow => Self::Passes,
        }
    }
}

/// Everything that a hook found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Findings {
    stops: Vec<Problem>,
    warns: Vec<Problem>,
}

impl Findings {
    /// Adds a problem, unless it does not matter or was found before.
    pub(super) fn add(&mut self, weight: Weight, problem: Problem) {
        let list = match weight {
            Weight::Stops => &mut self.stops,
            Weight::Warns => &mut self.warns,
            Weight::Passes => return,
        };
        if !list.contains(&problem) {
            list.push(problem);
        }
    }

    /// Whether nothing was found.
    pub(super) const fn is_empty(&self) -> bool {
        self.stops.is_empty() && self.warns.is_empty()
    }

    /// The ids of the issues that something was found about.
    pub(super) fn issues(&self) -> impl Iterator<Item = &str> {
        self.stops.iter().chain(&self.warns).filter_map(|problem| problem.issue_id.as_deref())
    }

    /// Adds everything that was found elsewhere.
    pub(super) fn append(&mut self, other: Self) {
        other.stops.into_iter().for_each(|problem| self.add(Weight::Stops, problem));
        other.warns.into_iter().for_each(|problem| self.add(Weight::Warns, problem));
    }

    /// Tells the warnings; fails if anything stops `what`.
    ///
    /// # Errors
    /// Everything that stops it.
    pub(super) fn settle(self, listener: &dyn Listener, what: &'static str) -> Result<(), Error> {
        for warning in self.warns.iter().take(MOST_TOLD) {
            listener
                .hear(&Notice::HookWarning { message: warning.message.clone(), hint: warning.hint.clone() });
        }
        if self.warns.len() > MOST_TOLD {
            listener.hear(&Notice::MoreHookWarnings(self.warns.len() - MOST_TOLD));
        }
        if self.stops.is_empty() {
            return Ok(());
        }
        Err(Error::Rejected(Box::new(Rejected { what, problems: self.stops })))
    }
}
