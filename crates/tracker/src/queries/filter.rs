//! Which issues are wanted: every condition that was typed holds, or the issue is left out.

use holdfast_kernel::Stamp;

use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Glance, Priority, State, typed};

/// Which issues are wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    states: Vec<State>,
    priorities: Vec<Priority>,
    assignee: Option<String>,
    labels: Vec<String>,
    unwanted: Vec<String>,
    kinds: Vec<String>,
    since: Option<jiff::Timestamp>,
    parent: Option<String>,
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
            ..Self::default()
        })
    }

    /// The same, of these types only; of all if there are none.
    #[must_use]
    pub fn of_types(mut self, kinds: &[String]) -> Self {
        self.kinds = kinds.to_vec();
        self
    }

    /// The same, of what was changed since then: a moment, or a time before now such as `30m`, `12h` or `7d`.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn since(mut self, text: &str, now: &Stamp) -> Result<Self> {
        let bad = || {
            Error::BadValue {
            what: "--since",
            given: text.to_owned(),
            why: "must be a moment such as 2026-01-31T12:00:00Z or 2026-01-31, or a time such as 30m, 12h or 7d".into(),
        }
        };
        let midnight = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>();
        let moment = match text.parse::<jiff::Timestamp>().or_else(|_| midnight()) {
            Ok(moment) => moment,
            Err(_) => {
                let unit = text.chars().last().ok_or_else(bad)?;
                let secs: i64 = match unit {
                    'm' => 60,
                    'h' => 3_600,
                    'd' => 86_400,
                    'w' => 604_800,
                    _ => return Err(bad()),
                };
                let number = text.strip_suffix(unit).and_then(|number| number.parse::<i64>().ok());
                let back = number.filter(|number| *number >= 0).and_then(|number| number.checked_mul(secs));
                let now = i64::try_from(now.wall_ms()).unwrap_or(i64::MAX);
                let then = back.and_then(|back| now.checked_sub(back.checked_mul(1_000)?)).ok_or_else(bad)?;
                jiff::Timestamp::from_millisecond(then).map_err(|_| bad())?
            }
        };
        self.since = Some(moment);
        Ok(self)
    }

    /// The same, of the parts of an issue only.
    #[must_use]
    pub fn of_parent(mut self, parent: IssueId) -> Self {
        self.parent = Some(parent.to_string());
        self
    }

    /// The same, without the issues that have a label.
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

    /// Whether it takes labels to tell what is wanted.
    pub(super) const fn asks_for_labels(&self) -> bool {
        !self.labels.is_empty() || !self.unwanted.is_empty()
    }

    /// Whether an issue is wanted.
    #[must_use]
    pub fn wants(&self, issue: &Glance<'_>) -> bool {
        (self.states.is_empty() || self.states.contains(&issue.state))
            && (self.priorities.is_empty() || self.priorities.contains(&issue.priority))
            && (self.assignee.is_none() || self.assignee.as_deref() == issue.assignee)
            && self.labels.iter().all(|label| issue.is_labelled(label))
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| **kind == *issue.kind))
            && self
                .since
                .is_none_or(|since| issue.updated_at.parse::<jiff::Timestamp>().is_ok_and(|at| at >= since))
            && (self.parent.is_none() || self.parent.as_deref() == issue.parent)
            && !self.unwanted.iter().any(|label| issue.is_labelled(label))
    }
}
