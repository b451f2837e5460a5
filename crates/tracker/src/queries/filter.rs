//! Which issues are wanted: every condition that was typed holds, or the issue is left out.

use crate::error::Result;
use crate::issues::{Priority, Seen, State, typed};

/// Which issues are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    states: Vec<State>,
    priorities: Vec<Priority>,
    assignee: Option<String>,
    labels: Vec<String>,
    unwanted: Vec<String>,
}

impl Filter {
    /// The filter that was typed.
    ///
    /// # Errors
    /// When a word is not known.
    pub fn parse(
        states: &[String],
        priorities: &[String],
        assignee: Option<&str>,
        labels: &[String],
    ) -> Result<Self> {
        Ok(Self {
            states: states.iter().map(|text| typed("--state", text)).collect::<Result<_>>()?,
            priorities: priorities.iter().map(|text| typed("--priority", text)).collect::<Result<_>>()?,
            assignee: assignee.map(ToOwned::to_owned),
            labels: labels.to_vec(),
            unwanted: Vec::new(),
        })
    }

    /// This one, without the issues that have a label.
    #[must_use]
    pub fn without(mut self, label: &str) -> Self {
        self.unwanted.push(label.to_owned());
        self
    }

    /// Whether everything is wanted.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an issue is wanted.
    #[must_use]
    pub fn wants(&self, seen: &Seen<'_>) -> bool {
        let issue = &seen.issue;
        (self.states.is_empty() || self.states.contains(&issue.state))
            && (self.priorities.is_empty() || self.priorities.contains(&issue.priority))
            && (self.assignee.is_none() || self.assignee.as_deref() == issue.assignee.as_deref())
            && self.labels.iter().all(|label| seen.labels.contains(label))
            && !self.unwanted.iter().any(|label| seen.labels.contains(label))
    }
}
