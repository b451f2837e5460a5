//! `jit issue list` and `jit query all`.

use holdfast_door::Clean;

use crate::context::Context;
use crate::output::pieces::listed;
use crate::output::rows::{Row, Rows};
use crate::output::{Form, Report};
use holdfast_tracker::Session;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Scope};
use holdfast_tracker::queries::{Claimed, Filter, Item};

/// What is kept of an issue, for the form that is wanted.
enum Kept {
    Json(Clean),
    Id(IssueId),
    Row(Row),
}

/// Lists the issues that are wanted.
///
/// # Errors
/// When they cannot be read.
pub fn run(context: &Context, session: &Session, scope: Scope, filter: &Filter) -> Result<Report> {
    let form = context.printer.form();
    let issues = Issues::new(session);
    let claimed = Claimed::or_none(session)?;
    let scan = issues.scan(scope, |seen| {
        filter.wants(seen).then(|| match form {
            Form::Json => Kept::Json(Clean::json(&Item::new(&issues, seen, &claimed))),
            Form::Brief => Kept::Id(seen.id),
            Form::Text => Kept::Row(Row::new(seen)),
        })
    })?;
    issues.warn(&scan.problems);
    let (mut objects, mut brief, mut rows) = (Vec::new(), String::new(), Vec::new());
    for kept in scan.found {
        match kept {
            Kept::Json(object) => objects.push(object),
            Kept::Id(id) => brief.push_str(&format!("{id}\n")),
            Kept::Row(row) => rows.push(row),
        }
    }
    let table = || {
        if rows.is_empty() {
            return nothing(scope, filter).into();
        }
        let paint = context.printer.paint();
        Rows { claimed: &claimed, handles: issues.handles(), paint }.table(rows.into_iter())
    };
    let report = Report::of(form, table, || brief.into());
    Ok(if form == Form::Json { report.pieces(listed("issues", objects)) } else { report })
}

/// What to do when there is nothing.
fn nothing(scope: Scope, filter: &Filter) -> &'static str {
    match scope {
        _ if !filter.is_open() => "no matching issues; jit issue list shows all\n",
        Scope::Local => "no issues in this worktree; jit issue list shows what can be seen from it\n",
        Scope::All | Scope::Nearest => "no issues yet; make one: jit issue create --title '…'\n",
    }
}
