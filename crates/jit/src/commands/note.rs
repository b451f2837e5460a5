//! `jit note`: a note on an issue.

use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::notes::{self, Note};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli;
use crate::commands::issue::piped;
use crate::context::Context;
use crate::output::Report;

/// A note, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct NoteOutput {
    /// The note.
    pub note: Noted,
}

/// A note, and what it is on.
#[derive(Serialize, JsonSchema)]
pub struct Noted {
    /// The note itself.
    #[serde(flatten)]
    pub note: Note,
    /// What the issue is called where people read and type.
    pub handle: String,
    /// What the issue is about.
    pub title: String,
}

/// Adds a note.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &cli::Note) -> Result<Report> {
    let session = context.session()?;
    let issues = Issues::new(&session);
    let id = issues.resolve(&typed.id)?;
    let title = issues.read(id)?.title;
    let text = match typed.text.as_deref() {
        None | Some("-") => piped()?,
        Some(text) => text.to_owned(),
    };
    let note = notes::add(&session, id, &text)?;
    let handle = issues.handle(id);
    let text = format!("noted on {handle}: {title}\n");
    let brief = note.id.clone();
    Ok(Report::new(text, &NoteOutput { note: Noted { note, handle, title } }).brief(brief))
}
