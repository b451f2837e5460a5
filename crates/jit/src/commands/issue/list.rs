//! `jit issue list` and `jit query all`.

use std::ops::ControlFlow;

use holdfast_door::Clean;

use crate::cli::{Fresh, ListFilters};
use crate::context::Context;
use crate::output::leases::as_of;
use crate::output::pieces::{List, Pieces, Take, Told};
use crate::output::rows::{Row, Rows};
use crate::output::{Form, Report};
use holdfast_tracker::Session;
use holdfast_tracker::answers::list::{Listed, Wanted, list, walk};
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::{Issues, Scope, Seen};
use holdfast_tracker::queries::{Claimed, Filter, Item};

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

    /// How many are shown at most, if anything limits it.
    #[must_use]
    pub fn most(&self, context: &Context) -> Option<usize> {
        most(context, self.limit, self.all)
    }
}

/// How many lines a list has at most, if anything limits it: as many as was typed, else what one can look through on a
/// terminal.
#[must_use]
pub fn most(context: &Context, limit: Option<usize>, all: bool) -> Option<usize> {
    limit.or((!all && context.printer.is_for_eyes()).then_some(50))
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
pub fn run(context: &Context, session: Session, scope: Scope, typed: &ListFilters) -> Result<Report> {
    typed.claims.ask(&session)?;
    let (filter, whose) = (typed.parse(&session)?, typed.whose(&session)?);
    let wanted = Wanted { filter, whose, order: typed.sort.map(Into::into), most: typed.most(context) };
    let claimed = Claimed::or_none(&session)?;
    let form = context.printer.form();
    if form == Form::Json {
        let tell = move |take: &mut Take<'_>| tell(&session, &claimed, scope, &wanted, take);
        return Ok(Report::default().pieces(Pieces::new(tell)));
    }
    let issues = Issues::new(&session);
    if form == Form::Brief {
        let Listed { found, .. } = list(&issues, &claimed, scope, &wanted, |issue| issue.id)?;
        let ids: String = found.iter().map(|id| format!("{id}\n")).collect();
        return Ok(Report::default().brief(ids));
    }
    let Listed { found: rows, more } = list(&issues, &claimed, scope, &wanted, Row::new)?;
    if rows.is_empty() && more == 0 {
        let is_open = wanted.filter.is_open() && wanted.whose.is_none();
        return Ok(Report { text: nothing(scope, is_open).into(), ..Report::default() });
    }
    let paint = context.printer.paint();
    let table = Rows { claimed: &claimed, handles: issues.handles(), paint }.table(rows.into_iter());
    Ok(Report { text: table + more_words(more) + as_of(&session), ..Report::default() })
}

/// Tells the issues that are wanted as one JSON document, while they are read.
fn tell(session: &Session, claimed: &Claimed, scope: Scope, wanted: &Wanted, take: &mut Take<'_>) -> Told {
    let issues = Issues::new(session);
    let mut document = List::new("issues", take);
    let object = |seen: &Seen<'_>| Clean::json(&Item::new(&issues, seen, claimed));
    Ok(match walk(&issues, claimed, scope, wanted, object, |object| document.put(&object))? {
        ControlFlow::Continue(more) => document.end(more),
        ControlFlow::Break(()) => ControlFlow::Break(()),
    })
}

/// What to do when there is nothing.
const fn nothing(scope: Scope, is_open: bool) -> &'static str {
    match scope {
        _ if !is_open => "no matching issues; jit issue list shows all\n",
        Scope::Local => "no issues in this worktree; jit issue list shows what can be seen from it\n",
        Scope::All | Scope::Nearest => "no issues yet; make one: jit create 'what it is about'\n",
    }
}
