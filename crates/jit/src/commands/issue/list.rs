//! `jit issue list` and `jit query all`.

use holdfast_door::Clean;

use crate::cli::{Fresh, ListFilters};
use crate::context::Context;
use crate::output::leases::as_of;
use crate::output::pieces::listed;
use crate::output::rows::{Row, Rows};
use crate::output::{Form, Report};
use holdfast_tracker::Session;
use holdfast_tracker::answers::list::{Each, Listed, Wanted, list};
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Glance, Issues, Scope, Seen};
use holdfast_tracker::queries::{Claimed, Filter, Item};

/// What is kept of an issue, for the form that is wanted.
enum Kept {
    Json(Clean),
    Id(IssueId),
    Row(Row),
}

impl Fresh {
    /// Asks the server that keeps the claims, if that was wanted.
    pub fn ask(self, session: &Session) -> Result<()> {
        if self.fresh { session.claims().ask() } else { Ok(()) }
    }
}

impl ListFilters {
    /// The filter that was typed.
    ///
    /// # Errors
    /// When a word is not known.
    pub fn parse(&self, session: &Session) -> Result<Filter> {
        let filter = self.filters.parse()?;
        let filter = match &self.parent {
            Some(parent) => filter.of_parent(Issues::new(session).resolve(parent)?),
            None => filter,
        };
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
    typed.claims.ask(session)?;
    let (filter, whose) = (typed.parse(session)?, typed.whose(session)?);
    let form = context.printer.form();
    let issues = Issues::new(session);
    let claimed = Claimed::or_none(session)?;
    let wanted = Wanted { filter, whose, order: typed.sort.map(Into::into), most: Some(typed.most(context)) };
    let object = |seen: &Seen<'_>| Kept::Json(Clean::json(&Item::new(&issues, seen, &claimed)));
    let id = |issue: &Glance<'_>| Kept::Id(issue.id);
    let row = |issue: &Glance<'_>| Kept::Row(Row::new(issue));
    let each = match form {
        Form::Json => Each::Whole(&object),
        Form::Brief => Each::Glance(&id),
        Form::Text => Each::Glance(&row),
    };
    let Listed { found, more } = list(&issues, &claimed, scope, &wanted, each)?;
    let (mut objects, mut brief, mut rows) = (Vec::new(), String::new(), Vec::new());
    for kept in found {
        match kept {
            Kept::Json(object) => objects.push(object),
            Kept::Id(id) => brief.push_str(&format!("{id}\n")),
            Kept::Row(row) => rows.push(row),
        }
    }
    let table = || {
        if rows.is_empty() && more == 0 {
            return nothing(scope, wanted.filter.is_open() && wanted.whose.is_none()).into();
        }
        let paint = context.printer.paint();
        Rows { claimed: &claimed, handles: issues.handles(), paint }.table(rows.into_iter())
            + more_words(more)
            + as_of(session)
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
