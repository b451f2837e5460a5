//! The issues that are wanted, in the order that is wanted.

use std::cmp::Reverse;

use crate::error::{Error, Result};
use crate::issues::{Glance, Issues, Priority, Scope, Seen};
use crate::queries::{Claimed, Filter};

/// In which order issues are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The oldest first.
    Created,
    /// What was changed last first.
    Updated,
    /// What matters most first.
    Priority,
    /// By title.
    Title,
}

impl Order {
    /// The order that a word names.
    ///
    /// # Errors
    /// When it names none.
    pub fn parse(word: &str) -> Result<Self> {
        match word {
            "created" => Ok(Self::Created),
            "updated" => Ok(Self::Updated),
            "priority" => Ok(Self::Priority),
            "title" => Ok(Self::Title),
            other => Err(Error::BadValue {
                what: "--sort",
                given: other.to_owned(),
                why: "expected one of created, updated, priority, title".to_owned(),
            }),
        }
    }
}

/// What issues are ordered by: one of these says something, the others are alike.
pub type Rank = (Option<Priority>, Option<Reverse<Box<str>>>, Option<Box<str>>);

/// The rank of an issue in this order.
#[must_use]
pub fn rank(order: Option<Order>, priority: Priority, created: &str, updated: &str, title: &str) -> Rank {
    match order {
        None => (None, None, None),
        Some(Order::Created) => (None, None, Some(created.into())),
        Some(Order::Updated) => (None, Some(Reverse(updated.into())), None),
        Some(Order::Priority) => (Some(priority), None, None),
        Some(Order::Title) => (None, None, Some(title.to_lowercase().into())),
    }
}

/// Which issues are wanted, and how.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Those that pass it.
    pub filter: Filter,
    /// Those that this agent holds or is meant to do.
    pub whose: Option<String>,
    /// In this order; by id if none is given.
    pub order: Option<Order>,
    /// At most so many.
    pub most: Option<usize>,
}

/// Issues that were found.
pub struct Listed<T> {
    /// What was kept of each.
    pub found: Vec<T>,
    /// How many more there are.
    pub more: usize,
}

/// What is kept of each issue. Only who wants whole issues has every file read.
#[derive(Clone, Copy)]
pub enum Each<'a, T> {
    /// What can be told at a glance.
    Glance(&'a (dyn Fn(&Glance<'_>) -> T + Sync)),
    /// What takes the whole issue, such as its JSON.
    Whole(&'a (dyn Fn(&Seen<'_>) -> T + Sync)),
}

/// The issues that are wanted; `keep` says what is kept of each.
///
/// # Errors
/// When they cannot be read.
pub fn list<T: Send>(
    issues: &Issues<'_>,
    claimed: &Claimed,
    scope: Scope,
    wanted: &Wanted,
    keep: Each<'_, T>,
) -> Result<Listed<T>> {
    let is_own = |issue: &Glance<'_>| {
        let Some(agent) = wanted.whose.as_deref() else { return true };
        claimed.holder(issue.id) == Some(agent) || issue.assignee == Some(agent)
    };
    let ranked = |issue: &Glance<'_>| {
        (wanted.filter.wants(issue) && is_own(issue))
            .then(|| rank(wanted.order, issue.priority, issue.created_at, issue.updated_at, issue.title))
    };
    let scan = match keep {
        Each::Glance(keep) => issues.glance(scope, |issue| Some((ranked(issue)?, keep(issue))))?,
        Each::Whole(keep) => issues.scan(scope, |seen| Some((ranked(&seen.glance())?, keep(seen))))?,
    };
    issues.warn(&scan.problems);
    let mut found = scan.found;
    if wanted.order.is_some() {
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    let most = wanted.most.unwrap_or(usize::MAX);
    let more = found.len().saturating_sub(most);
    found.truncate(most);
    Ok(Listed { found: found.into_iter().map(|(_, kept)| kept).collect(), more })
}
