//! What reaches a terminal or a pipe, and in which form. Only this file prints.

use std::io::{self, Write as _};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use holdfast_door::{Clean, Notes, print, typed_wrong};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::Global;
use crate::error::{Class, Error, Result};
use crate::payload::Progress;

/// How often progress is shown.
const EVERY: Duration = Duration::from_millis(200);

/// What a command has to say.
#[derive(Debug)]
pub struct Report {
    /// For people.
    pub text: Clean,
    /// For `--json`.
    pub json: Value,
    /// The exit code.
    pub exit: u8,
}

impl Report {
    /// A report of something that went well.
    pub fn new(text: impl Into<Clean>, json: &impl Serialize) -> Self {
        match serde_json::to_value(json) {
            Ok(json) => Self { text: text.into(), json, exit: 0 },
            Err(error) => {
                let error =
                    Error::new(Class::Io, format!("a bug in jvs: the answer has no JSON form: {error}"));
                Self { text: format!("{error}\n").into(), json: error.document(), exit: error.class().exit() }
            }
        }
    }

    /// This report, of something that ended like this.
    #[must_use]
    pub const fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// The fields of a record of ours.
///
/// # Errors
/// When it has none, which would be a bug.
pub fn document(record: &impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => Ok(fields),
        other => Err(Error::new(Class::Io, format!("a bug in jvs: a record is no JSON object: {other:?}"))),
    }
}

/// Where output goes and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    json: bool,
    notes: Notes,
}

impl Printer {
    /// As the flags say.
    #[must_use]
    pub fn new(global: &Global) -> Self {
        Self { json: global.json, notes: Notes::new() }
    }

    /// Prints a report and says how to end.
    #[must_use]
    pub fn report(&self, report: &Report) -> u8 {
        let text = match self.json {
            true if report.json.is_null() => Clean::default(),
            true => Clean::json(&report.json),
            false => report.text.clone(),
        };
        match print(&[text]) {
            Ok(()) => report.exit,
            Err(error) => {
                self.notes.error(&format!("cannot write the answer: {error}"));
                Class::Io.exit()
            }
        }
    }

    /// Prints an error and says how to end.
    #[must_use]
    pub fn error(&self, error: &Error) -> u8 {
        self.notes.error(&format!("{error} ({})", error.class().code()));
        if let Some(hint) = error.advice() {
            self.notes.hint(hint);
        }
        if self.json {
            // The exit code tells the same to whoever cannot read this.
            let _ = print(&[Clean::json(&error.document())]);
        }
        error.class().exit()
    }

    /// Prints a warning.
    pub fn warn(&self, text: &str) {
        self.notes.warning(text);
    }

    /// Prints what somebody who waits wants to know.
    pub fn note(&self, text: &str) {
        self.notes.note(text);
    }

    /// Does `work`, and shows how far it is if somebody is looking.
    pub fn watch<T>(&self, label: &str, progress: &Progress, work: impl FnOnce() -> T) -> T {
        if !self.notes.can_rewrite() {
            return work();
        }
        let (done, waiting) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut shown = false;
                while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(EVERY) {
                    let _ = write!(io::stderr(), "\r\x1b[K{label} {}", progress.line());
                    shown = true;
                }
                if shown {
                    let _ = write!(io::stderr(), "\r\x1b[K");
                }
            });
            let result = work();
            drop(done);
            result
        })
    }
}

/// Prints what clap has to say, and says how to end.
pub fn clap(error: &clap::Error, json: bool) -> u8 {
    let document = |first: &str| Error::usage(first).document();
    if typed_wrong(error, json.then_some(document)) { Class::Usage.exit() } else { 0 }
}
