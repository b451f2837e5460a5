//! Standard output: answers, and what clap has to say.

use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;

use serde_json::Value;

use crate::text::{Clean, clean, is_acted_on};

/// How much of an answer is written at once.
const AT_ONCE: usize = 64 << 10;

/// An answer on its way out, piece by piece.
#[derive(Debug)]
pub struct Answer {
    out: BufWriter<io::StdoutLock<'static>>,
    /// What the last piece that has any text ended with.
    last: Option<u8>,
    done: io::Result<()>,
}

impl Answer {
    /// One of which nothing is written yet.
    #[must_use]
    pub fn new() -> Self {
        Self { out: BufWriter::with_capacity(AT_ONCE, io::stdout().lock()), last: None, done: Ok(()) }
    }

    /// Writes one more piece; whether more can be written.
    pub fn put(&mut self, piece: &Clean) -> ControlFlow<()> {
        let text = piece.as_str().as_bytes();
        if self.done.is_ok() {
            self.done = self.out.write_all(text);
            self.last = text.last().copied().or(self.last);
        }
        if self.done.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Writes the end of the line where there is none.
    ///
    /// # Errors
    /// The answer did not get out.
    pub fn end(mut self) -> io::Result<()> {
        self.done?;
        if self.last.is_some_and(|last| last != b'\n') {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}

impl Default for Answer {
    fn default() -> Self {
        Self::new()
    }
}

/// What became of an answer that need not be heard: whoever closed the pipe has read enough.
///
/// # Errors
/// The answer did not get out.
pub fn or_enough(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// Prints the pieces of an answer, and the end of a line where there is none. Whoever closed the pipe has read
/// enough.
///
/// # Errors
/// The answer did not get out.
pub fn print(pieces: &[Clean]) -> io::Result<()> {
    or_enough(deliver(pieces))
}

/// As [`print()`], for an answer that somebody has to hear: a closed pipe has not read it.
///
/// # Errors
/// The answer did not get out.
pub fn deliver(pieces: &[Clean]) -> io::Result<()> {
    let mut answer = Answer::new();
    // What went wrong is said at the end.
    let _ = pieces.iter().try_for_each(|piece| answer.put(piece));
    answer.end()
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
