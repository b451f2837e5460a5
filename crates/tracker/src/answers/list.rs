//! The issues that are wanted, in the order that is wanted.

use std::cmp::Reverse;
use std::ops::ControlFlow;

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

impl Wanted {
    /// Whether this is one of them.
    fn wants(&self, issue: &Glance<'_>, claimed: &Claimed) -> bool {
        let is_own = |agent: &str| claimed.holder(issue.id) == Some(agent) || issue.assignee == Some(agent);
        self.filter.wants(issue) && self.whose.as_deref().is_none_or(is_own)
    }

    /// Whether all are wanted, in the order of their ids.
    fn is_everything(&self) -> bool {
        self.filter.is_open() && self.whose.is_none() && self.order.is_none() && self.most.is_none()
    }
}

/// Issues that were found.
pub struct Listed<T> {
    /// What was kept of each.
    pub found: Vec<T>,
    /// How many more there are.
    pub more: usize,
}

/// The issues that are wanted, as far as lists have to know them; `keep` says what is kept of each.
///
/// # Errors
/// When they cannot be read.
pub fn list<T: Send>(
    issues: &Issues<'_>,
    claimed: &Claimed,
    scope: Scope,
    wanted: &Wanted,
    keep: impl Fn(&Glance<'_>) -> T + Sync,
) -> Result<Listed<T>> {
    let ranked = |issue: &Glance<'_>| {
        let rank = || rank(wanted.order, issue.priority, issue.created_at, issue.updated_at, issue.title);
        wanted.wants(issue, claimed).then(rank)
    };
    let scan = issues.glance(scope, |issue| Some((ranked(issue)?, keep(issue))))?;
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

/// Hands on the issues that are wanted one after the other, whole: what `keep` makes of each. Only what is wanted is read,
/// and not all of it is in memory at once. Says how many more there are, unless whoever takes them has enough.
///
/// # Errors
/// When they cannot be read; nothing was handed on then.
pub fn walk<T: Send, B>(
    issues: &Issues<'_>,
    claimed: &Claimed,
    scope: Scope,
    wanted: &Wanted,
    keep: impl Fn(&Seen<'_>) -> T + Sync,
    take: impl FnMut(T) -> ControlFlow<B>,
) -> Result<ControlFlow<B, usize>> {
    let (which, more) = if wanted.is_everything() {
        (None, 0)
    } else {
        let Listed { found, more } = list(issues, claimed, scope, wanted, |issue| issue.id)?;
        (Some(found), more)
    };
    // Somebody may have changed it since.
    let look = |seen: &Seen<'_>| wanted.wants(&seen.glance(), claimed).then(|| keep(seen));
    let (taken, problems) = issues.walk(scope, which.as_deref(), look, take)?;
    // What is wrong was said of all before some were chosen.
    if which.is_none() {
        issues.warn(&problems);
    }
    Ok(taken.map_continue(|()| more))
}
