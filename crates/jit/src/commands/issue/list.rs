//! `jit issue list` and `jit query all`.

use holdfast_door::Clean;

use crate::cli::{ListFilters, Sort};
use crate::context::Context;
use crate::output::pieces::listed;
use crate::output::rows::{Row, Rows};
use crate::output::{Form, Report};
use holdfast_tracker::Session;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Priority, Scope, Seen};
use holdfast_tracker::queries::{Claimed, Filter, Item};

/// What is kept of an issue, for the form that is wanted.
enum Kept {
    Json(Clean),
    Id(IssueId),
    Row(Row),
}

/// What issues are ordered by: one of these says something, the others are alike.
pub type Rank = (Option<Priority>, Option<std::cmp::Reverse<Box<str>>>, Option<Box<str>>);

/// The rank of an issue in this order.
#[must_use]
pub fn rank(sort: Option<Sort>, priority: Priority, created: &str, updated: &str, title: &str) -> Rank {
    match sort {
        None => (None, None, None),
        Some(Sort::Created) => (None, None, Some(created.into())),
        Some(Sort::Updated) => (None, Some(std::cmp::Reverse(updated.into())), None),
        Some(Sort::Priority) => (Some(priority), None, None),
        Some(Sort::Title) => (None, None, Some(title.to_lowercase().into())),
    }
}

impl ListFilters {
    /// The filter that was typed.
    ///
    /// # Errors
    /// When a word is not known.
    pub fn parse(&self, session: &Session) -> Result<Filter> {
        let filter = self.filters.parse()?;
        match &self.since {
            Some(since) => filter.since(since, &session.sys().clock.now()?),
            None => Ok(filter),
        }
    }

    /// Whose issues are wanted alone.
    ///
    /// # Errors
    /// When nobody says who asks.
    pub fn whose(&self, session: &Session) -> Result<Option<String>> {
        Ok(if self.mine { Some(session.agent()?.id.to_string()) } else { None })
    }

    /// How many are shown at most.
    #[must_use]
    pub fn most(&self, context: &Context) -> usize {
        most(context, self.limit, self.all)
    }
}

/// How many lines a list has at most: as many as was typed, else what one can look through on a terminal.
#[must_use]
pub fn most(context: &Context, limit: Option<usize>, all: bool) -> usize {
    match limit {
        Some(limit) => limit,
        None if all || !context.printer.is_for_eyes() => usize::MAX,
        None => 50,
    }
}

/// That there are more than those that are shown, for people.
#[must_use]
pub fn more_words(more: usize) -> String {
    if more == 0 { String::new() } else { format!("and {more} more; --all shows them\n") }
}

/// Lists the issues that are wanted.
///
/// # Errors
/// When they cannot be read.
pub fn run(context: &Context, session: &Session, scope: Scope, typed: &ListFilters) -> Result<Report> {
    let (filter, whose) = (typed.parse(session)?, typed.whose(session)?);
    let form = context.printer.form();
    let issues = Issues::new(session);
    let claimed = Claimed::or_none(session)?;
    let is_own = |seen: &Seen<'_>| {
        let Some(agent) = whose.as_deref() else { return true };
        claimed.holder(seen.id) == Some(agent) || seen.issue.assignee.as_deref() == Some(agent)
    };
    let scan = issues.scan(scope, |seen| {
        let issue = &seen.issue;
        (filter.wants(seen) && is_own(seen)).then(|| {
            let kept = match form {
                Form::Json => Kept::Json(Clean::json(&Item::new(&issues, seen, &claimed))),
                Form::Brief => Kept::Id(seen.id),
                Form::Text => Kept::Row(Row::new(seen)),
            };
            let (created, updated) = (&*issue.created_at, &*issue.updated_at);
            (rank(typed.sort, issue.priority, created, updated, &issue.title), kept)
        })
    })?;
    issues.warn(&scan.problems);
    let mut found = scan.found;
    if typed.sort.is_some() {
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    let more = found.len().saturating_sub(typed.most(context));
    found.truncate(typed.most(context));
    let (mut objects, mut brief, mut rows) = (Vec::new(), String::new(), Vec::new());
    for (_, kept) in found {
        match kept {
            Kept::Json(object) => objects.push(object),
            Kept::Id(id) => brief.push_str(&format!("{id}\n")),
            Kept::Row(row) => rows.push(row),
        }
    }
    let table = || {
        if rows.is_empty() && more == 0 {
            return nothing(scope, filter.is_open() && whose.is_none()).into();
        }
        let paint = context.printer.paint();
        Rows { claimed: &claimed, handles: issues.handles(), paint }.table(rows.into_iter())
            + more_words(more)
    };
    let report = Report::of(form, table, || brief.into());
    Ok(if form == Form::Json { report.pieces(listed("issues", objects, more)) } else { report })
}

/// What to do when there is nothing.
const fn nothing(scope: Scope, is_open: bool) -> &'static str {
    match scope {
        _ if !is_open => "no matching issues; jit issue list shows all\n",
        Scope::Local => "no issues in this worktree; jit issue list shows what can be seen from it\n",
        Scope::All | Scope::Nearest => "no issues yet; make one: jit create 'what it is about'\n",
    }
}
