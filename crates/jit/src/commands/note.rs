//! `jit note`: a note on an issue.

use holdfast_tracker::answers::notes;
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;

use crate::cli;
use crate::commands::issue::piped;
use crate::context::Context;
use crate::output::Report;

/// Adds a note.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &cli::Note) -> Result<Report> {
    let session = context.session()?;
    let text = || match typed.text.as_deref() {
        None | Some("-") => piped(),
        Some(text) => Ok(text.to_owned()),
    };
    let document = notes::add(&Issues::new(&session), &typed.id, text)?;
    let text = format!("noted on {}: {}\n", document.note.handle, document.note.title);
    let brief = document.note.note.id.clone();
    Ok(Report::new(text, &document).brief(brief))
}
