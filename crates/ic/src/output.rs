//! What reaches a terminal or a pipe, and in which form. Only this file prints.

use holdfast_door::{Clean, Notes, print, typed_wrong};
use serde_json::Value;

use crate::cli::Global;
use crate::error::{Error, Exit};

/// What a command has to say.
#[derive(Debug)]
pub struct Report {
    /// What was asked for; it is printed in any case.
    pub answer: Clean,
    /// What was done; it is printed only with `-v`.
    pub done: Clean,
    /// For `--json`.
    pub json: Value,
    /// How it ended.
    pub exit: Exit,
}

impl Report {
    /// A report of something that was done.
    #[must_use]
    pub fn done(done: impl Into<Clean>, json: Value) -> Self {
        Self { answer: Clean::default(), done: done.into(), json, exit: Exit::Ok }
    }

    /// A report of something that was asked for.
    #[must_use]
    pub fn answer(answer: impl Into<Clean>, json: Value) -> Self {
        Self { answer: answer.into(), done: Clean::default(), json, exit: Exit::Ok }
    }
}

/// Where output goes and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    json: bool,
    verbose: bool,
    notes: Notes,
}

impl Printer {
    /// As the flags say.
    #[must_use]
    pub fn new(global: &Global) -> Self {
        Self { json: global.json, verbose: global.verbose, notes: Notes::new() }
    }

    /// Prints a report and says how to end.
    #[must_use]
    pub fn report(&self, report: &Report) -> Exit {
        let text = match (self.json, self.verbose) {
            (true, _) if report.json.is_null() => Clean::default(),
            (true, _) => Clean::json(&report.json),
            (false, true) => report.answer.clone() + &report.done,
            (false, false) => report.answer.clone(),
        };
        match print(&[text]) {
            Ok(()) => report.exit,
            Err(error) => {
                self.notes.error(&format!("cannot write the answer: {error}"));
                Exit::Unexpected
            }
        }
    }

    /// Prints an error and says how to end.
    #[must_use]
    pub fn error(&self, error: &Error) -> Exit {
        self.notes.error(&error.to_string());
        for cause in error.causes() {
            self.notes.cause(&cause);
        }
        if let Some(hint) = error.hint() {
            self.notes.hint(&hint);
        }
        if self.json {
            // The exit code tells the same to whoever cannot read this.
            let _ = print(&[Clean::json(&error.document())]);
        }
        error.exit()
    }

    /// Prints a warning.
    pub fn warn(&self, text: &str) {
        self.notes.warning(text);
    }

    /// Prints a word on what is going on, if somebody is there to read it.
    pub fn progress(&self, text: &str) {
        if self.notes.is_terminal() || self.verbose {
            self.notes.note(text);
        }
    }
}

/// Prints what clap has to say, and says how to end.
pub fn clap(error: &clap::Error, json: bool) -> Exit {
    let document = |first: &str| Error::Usage(first.to_owned()).document();
    if typed_wrong(error, json.then_some(document)) { Exit::Usage } else { Exit::Ok }
}
