//! `jit log`: what happened.

use holdfast_door::{Cell, Clean, Colour, grid};
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::journal::{self, Entry};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli;
use crate::commands::issue::list::{more_words, most};
use crate::context::Context;
use crate::output::Report;

/// What happened, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct LogOutput {
    /// The events, the oldest first.
    pub events: Vec<Told>,
    /// How many.
    pub count: usize,
    /// How many older ones there are.
    pub more: usize,
}

/// Something that happened, with what the issue is called.
#[derive(Serialize, JsonSchema)]
pub struct Told {
    /// What happened.
    #[serde(flatten)]
    pub event: Entry,
    /// What the issue is called where people read and type.
    pub handle: Option<String>,
}

/// Shows what happened.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &cli::Log) -> Result<Report> {
    let session = context.session()?;
    let issues = Issues::new(&session);
    let issue = typed.id.as_deref().map(|id| issues.resolve(id)).transpose()?;
    let mut entries = journal::read(&session, issue)?;
    let more = entries.len().saturating_sub(most(context, typed.limit, typed.all).unwrap_or(usize::MAX));
    entries.drain(..more);
    let handle = |entry: &Entry| {
        let id = IssueId::parse(entry.issue_id.as_deref()?)?;
        Some(issues.handle(id))
    };
    let events: Vec<Told> = entries.into_iter().map(|event| Told { handle: handle(&event), event }).collect();
    let row = |told: &Told| {
        let event = &told.event;
        [
            Cell::new(event.at.get(..19).unwrap_or(&event.at), Colour::Dim),
            Cell::plain(told.handle.as_deref().filter(|_| issue.is_none()).unwrap_or_default()),
            Cell::plain(&event.kind),
            Cell::new(event.by.as_deref().unwrap_or_default(), Colour::Cyan),
            Cell::plain(event.text.lines().next().unwrap_or_default()),
        ]
    };
    let mut text = Clean::from(more_words(more));
    if events.is_empty() {
        text += "nothing has happened\n";
    } else {
        let heading = ["WHEN", "ISSUE", "WHAT", "BY", ""];
        text += grid(context.printer.paint(), heading, events.iter().map(row).collect());
    }
    let count = events.len();
    Ok(Report::new(text, &LogOutput { events, count, more }))
}
