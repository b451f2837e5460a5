//! `jit search`: issues by what is written in them.

use holdfast_door::{Cell, Clean, Colour, grid};

use crate::cli::Search;
use crate::context::Context;
use crate::output::Report;
use crate::output::colours::{priority_cell, state_cell};
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::issues::{Issues, Scope};
use holdfast_tracker::queries::search::{Hit, SearchOutput, Words, sort};

/// Looks for words.
pub fn run(context: &Context, typed: &Search) -> Result<Report> {
    let words = Words::new(&typed.words);
    if words.is_empty() {
        let why = "there is nothing to look for in it".to_owned();
        return Err(Error::BadValue { what: "a search", given: typed.words.join(" "), why });
    }
    let filter = typed.filters.parse()?;
    let session = context.session()?;
    let issues = Issues::new(&session);
    let mut scan = issues.scan(Scope::All, |seen| {
        if filter.is_open() || filter.wants(&seen.glance()) { words.find(&issues, seen) } else { None }
    })?;
    issues.warn(&scan.problems);
    sort(&mut scan.found);
    let total = scan.found.len();
    if typed.limit > 0 {
        scan.found.truncate(typed.limit);
    }
    let text = table(context, &scan.found, total);
    let brief: String = scan.found.iter().map(|hit| format!("{}\n", hit.id)).collect();
    let results = SearchOutput { count: scan.found.len(), results: scan.found, total };
    Ok(Report::new(text, &results).brief(brief))
}

fn table(context: &Context, hits: &[Hit], total: usize) -> Clean {
    if hits.is_empty() {
        return "nothing was found; fewer words find more\n".into();
    }
    let row = |hit: &Hit| {
        [
            Cell::plain(&hit.handle),
            state_cell(hit.state),
            priority_cell(hit.priority),
            Cell::plain(&hit.title),
            Cell::new(hit.snippet.as_deref().unwrap_or_default(), Colour::Dim),
        ]
    };
    let heading = ["ISSUE", "STATE", "PRIORITY", "TITLE", "WHERE"];
    let mut text = grid(context.printer.paint(), heading, hits.iter().map(row).collect());
    if total > hits.len() {
        text += format!("the best {} of {total}; --limit 0 shows all\n", hits.len());
    }
    text
}
