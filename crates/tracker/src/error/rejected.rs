//! Why a hook stopped something, as the one who is stopped reads it: what, whose, why, and what to type next.

use std::fmt;

use serde::Serialize;

use crate::code::Code;

/// More are counted, not told.
pub(crate) const MOST_TOLD: usize = 20;

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
