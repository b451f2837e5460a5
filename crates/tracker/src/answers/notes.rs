//! A note on an issue.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::issues::Issues;
use crate::notes::{self, Note};

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

/// Adds a note to the issue that was meant; `text` is asked for once that is known to be there.
///
/// # Errors
/// What went wrong.
pub fn add(issues: &Issues<'_>, id: &str, text: impl FnOnce() -> Result<String>) -> Result<NoteOutput> {
    let id = issues.resolve(id)?;
    let title = issues.read(id)?.title;
    let note = notes::add(issues.session(), id, &text()?)?;
    Ok(NoteOutput { note: Noted { note, handle: issues.handle(id), title } })
}
