//! Standard output: answers, and what clap has to say.

use std::io::{self, Write as _};

use serde_json::Value;

use crate::text::{Clean, clean, is_acted_on};

/// Prints the pieces of an answer, and the end of a line where there is none. Whoever closed the pipe has read
/// enough.
///
/// # Errors
/// The answer did not get out.
pub fn print(pieces: &[Clean]) -> io::Result<()> {
    match deliver(pieces) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// As [`print()`], for an answer that somebody has to hear: a closed pipe has not read it.
///
/// # Errors
/// The answer did not get out.
pub fn deliver(pieces: &[Clean]) -> io::Result<()> {
    let Some(last) = pieces.iter().map(Clean::as_str).rfind(|piece| !piece.is_empty()) else { return Ok(()) };
    let mut out = io::stdout().lock();
    let done = pieces.iter().try_for_each(|piece| out.write_all(piece.as_str().as_bytes()));
    let done = done.and_then(|()| if last.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
    done.and_then(|()| out.flush())
}

/// Prints what clap has to say: help, a version, or what was typed wrong, which is said in a document too where
/// one is wanted. Whether something was wrong.
#[must_use]
pub fn typed_wrong(error: &clap::Error, document: Option<impl FnOnce(&str) -> Value>) -> bool {
    let (said, is_wrong) = (error.render().to_string(), error.use_stderr());
    // clap repeats what was typed as it is. The exit code tells the same to whoever cannot read this.
    let _ = if error.context().any(|(_, value)| is_acted_on(&value.to_string())) {
        io::stderr().write_all(clean(&said).as_bytes())
    } else {
        error.print()
    };
    if let Some(document) = document.filter(|_| is_wrong) {
        let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let _ = print(&[Clean::json(&document(first))]);
    }
    is_wrong
}
