//! What a hook found wrong, as the one who is stopped reads it: what, whose, why, and what to type next.

use std::fmt;

use serde::Serialize;

use crate::code::Code;
use crate::config::{EnforceLeases, ForeignClaims};
use crate::error::Error;
use crate::notice::{Listener, Notice};

/// More are counted, not told.
const MOST_TOLD: usize = 20;

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// What kind of thing, as `spec/errors.md` explains it.
    pub code: Code,
    /// The issue that it is about.
    pub issue_id: Option<String>,
    /// In words.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Problem {
    /// A problem with an issue.
    pub fn with(issue: impl fmt::Display, code: Code, message: String, hint: String) -> Self {
        Self { code, issue_id: Some(issue.to_string()), message, hint }
    }

    /// A problem with something else.
    #[must_use]
    pub const fn of(code: Code, message: String, hint: String) -> Self {
        Self { code, issue_id: None, message, hint }
    }
}

/// What is done about a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
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
pub struct Findings {
    stops: Vec<Problem>,
    warns: Vec<Problem>,
}

impl Findings {
    /// Adds a problem, unless it does not matter or was found before.
    pub fn add(&mut self, weight: Weight, problem: Problem) {
        let list = match weight {
            Weight::Stops => &mut self.stops,
            Weight::Warns => &mut self.warns,
            Weight::Passes => return,
        };
        if !list.contains(&problem) {
            list.push(problem);
        }
    }

    /// Tells the warnings; fails if anything stops `what`.
    ///
    /// # Errors
    /// Everything that stops it.
    pub fn settle(self, listener: &dyn Listener, what: &'static str) -> Result<(), Error> {
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

/// Why a hook stopped something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    /// What was stopped.
    pub what: &'static str,
    /// Why; at least one.
    pub problems: Vec<Problem>,
}

impl Rejected {
    /// Why, in words.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let told = self.problems.iter().take(MOST_TOLD).map(|problem| problem.message.clone());
        let left = self.problems.len().saturating_sub(MOST_TOLD);
        told.chain((left > 0).then(|| format!("and {left} more like these"))).collect()
    }

    /// What to do, each thing once.
    #[must_use]
    pub fn hint(&self) -> String {
        let mut hints: Vec<&str> = Vec::new();
        for problem in self.problems.iter().take(MOST_TOLD) {
            if !hints.contains(&problem.hint.as_str()) {
                hints.push(&problem.hint);
            }
        }
        hints.join("\n      ")
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this {} is rejected", self.what)
    }
}
