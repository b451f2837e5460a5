//! What reaches a terminal or a pipe, and in which form. Only this file prints.

pub mod colours;
pub mod draw;
pub mod lanes;
pub mod leases;
pub mod names;
pub mod pieces;
pub mod rows;
pub mod tips;

use std::ffi::OsString;
use std::io::IsTerminal as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use holdfast_door::{Answer, Clean, Notes, Paint, or_enough, print, typed_wrong};
use serde::Serialize;
use serde_json::Value;

use crate::cli::Global;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::{Error, Result};
use names::Names;
use pieces::Pieces;

/// In which form an answer is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// For people.
    Text,
    /// For `-q`.
    Brief,
    /// For `--json`.
    Json,
}

/// What a command has to say.
#[derive(Debug, Default)]
pub struct Report {
    /// For people.
    pub text: Clean,
    /// For `-q`: what a script needs.
    pub brief: Clean,
    /// For `--json`.
    pub json: Value,
    /// In place of all of these, in the form that is wanted, where an answer is too large to be held twice: its text.
    pub pieces: Option<Pieces>,
    /// How it ended.
    pub exit: Exit,
    /// What is done if nobody can be told.
    pub unheard: Option<Undo>,
}

/// Takes back what nobody can be told of.
pub struct Undo(Box<dyn Fn() -> Result<String>>);

impl Undo {
    /// Takes something back, and says what.
    #[must_use]
    pub fn new(undo: impl Fn() -> Result<String> + 'static) -> Self {
        Self(Box::new(undo))
    }
}

impl std::fmt::Debug for Undo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Undo")
    }
}

impl Report {
    /// A report of something that went well.
    pub fn new(text: impl Into<Clean>, json: &impl Serialize) -> Self {
        let json = made(serde_json::to_value(json));
        Self { text: text.into(), json, ..Self::default() }
    }

    /// A report in the one form that is wanted.
    #[must_use]
    pub fn of(form: Form, text: impl FnOnce() -> Clean, brief: impl FnOnce() -> Clean) -> Self {
        let mut report = Self::new("", &Value::Null);
        match form {
            Form::Text => report.text = text(),
            Form::Brief => report.brief = brief(),
            Form::Json => {}
        }
        report
    }

    /// What `--json` prints, as a value.
    ///
    /// # Errors
    /// When an answer that is made while it is told cannot be made.
    pub fn document(&self) -> Result<Value> {
        let Some(pieces) = &self.pieces else { return Ok(self.json.clone()) };
        Ok(made(serde_json::from_str(pieces.text()?.as_str())))
    }

    /// This report, with the pieces of the answer in the form that is wanted.
    #[must_use]
    pub fn pieces(mut self, pieces: impl Into<Pieces>) -> Self {
        self.pieces = Some(pieces.into());
        self
    }

    /// This report, with what `-q` prints.
    #[must_use]
    pub fn brief(mut self, brief: impl Into<Clean>) -> Self {
        self.brief = brief.into();
        self
    }

    /// This report, of something that is taken back if nobody can be told.
    #[must_use]
    pub fn or_undo(mut self, undo: Option<Undo>) -> Self {
        self.unheard = undo;
        self
    }

    /// This report, of something that ended like this.
    #[must_use]
    pub const fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

/// Our own types always have a JSON form, and pieces of ours make one document.
#[expect(clippy::expect_used, reason = "an empty answer would be taken for one")]
fn made(json: serde_json::Result<Value>) -> Value {
    json.expect("this is a bug in jit, please report it: an answer has no JSON form")
}

/// Where output goes and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    json: bool,
    quiet: bool,
    notes: Notes,
    paint: Paint,
    is_terminal: bool,
}

impl Printer {
    /// As the flags say.
    #[must_use]
    pub fn new(global: &Global) -> Self {
        Self {
            json: global.json,
            quiet: global.quiet,
            notes: Notes::new(),
            paint: Paint::of_answers(),
            is_terminal: std::io::stdout().is_terminal(),
        }
    }

    /// The form that is wanted.
    #[must_use]
    pub const fn form(&self) -> Form {
        match (self.json, self.quiet) {
            (true, _) => Form::Json,
            (false, true) => Form::Brief,
            (false, false) => Form::Text,
        }
    }

    /// Whether somebody looks at the answer: it is text on a terminal.
    #[must_use]
    pub const fn is_for_eyes(&self) -> bool {
        self.is_terminal && !self.json && !self.quiet
    }

    /// Whether somebody looks at what is said besides the answer.
    #[must_use]
    pub const fn is_watched(&self) -> bool {
        self.notes.is_terminal()
    }

    /// The colours of an answer.
    #[must_use]
    pub const fn paint(&self) -> Paint {
        self.paint
    }

    /// Whether one JSON document is asked for.
    #[must_use]
    pub const fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a report and says how to end.
    ///
    /// # Errors
    /// When an answer that is made while it is told cannot be made. Nothing was printed then.
    pub fn report(&self, report: &Report) -> Result<Exit> {
        let mut answer = Answer::new();
        // What went wrong with writing is said at the end.
        let _ = match (&report.pieces, self.form()) {
            (Some(pieces), _) => pieces.tell(&mut |piece| answer.put(piece))?,
            (None, Form::Json) => answer.put(&Clean::json(&report.json)),
            (None, Form::Brief) => answer.put(&report.brief),
            (None, Form::Text) => answer.put(&report.text),
        };
        // Whoever closes a pipe has read enough, but for what it would have to give back.
        let heard = if report.unheard.is_some() { answer.end() } else { or_enough(answer.end()) };
        Ok(match heard {
            Ok(()) => report.exit,
            Err(error) => {
                self.notes.error(&format!("cannot write the answer: {error}"));
                self.take_back(report);
                Exit::Io
            }
        })
    }

    fn take_back(&self, report: &Report) {
        match report.unheard.as_ref().map(|Undo(undo)| undo()) {
            Some(Ok(done)) => self.notes.cause(&done),
            Some(Err(error)) => self.notes.error(&error.to_string()),
            None => {}
        }
    }

    /// Prints an error and says how to end.
    #[must_use]
    pub fn error(&self, error: &Error, names: &Names) -> Exit {
        self.notes.error(&names.put(&error.to_string()));
        for cause in error.causes() {
            self.notes.cause(&names.put(&cause));
        }
        if let Some(hint) = error.hint() {
            self.notes.hint(&names.put(&hint));
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

    /// Prints a line of a story that is told while it happens, for people only.
    pub fn live(&self, text: impl Into<Clean>) {
        if self.form() == Form::Text {
            self.line(text);
        }
    }

    /// Prints a line at once.
    pub fn line(&self, text: impl Into<Clean>) {
        // Whoever does not listen misses it.
        let _ = print(&[text.into(), "\n".into()]);
    }

    /// Prints a word on what is going on, for people only.
    pub fn progress(&self, text: &str) {
        if !self.quiet {
            self.notes.note(text);
        }
    }
}

/// Prints what clap has to say, and says how to end.
pub fn clap(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let json = arguments.iter().any(|argument| argument == "--json");
    if let Some(word) = unknown_command(error)
        && let Some(hint) = tips::meant(&before(arguments, &word), &word)
    {
        return unknown(&word, &hint, json);
    }
    let document = |first: &str| Error::Usage(first.to_owned()).document();
    if typed_wrong(error, json.then_some(document)) { Exit::Usage } else { Exit::Ok }
}

/// The word that is no command, if that is what is wrong.
fn unknown_command(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::InvalidSubcommand => {
            Some(word.clone())
        }
        _ => None,
    }
}

/// What was typed before a word.
fn before(arguments: &[OsString], word: &str) -> Vec<String> {
    let typed = arguments.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    typed.take_while(|argument| argument != word).collect()
}

/// Says that a word is no command, and what was meant.
fn unknown(word: &str, hint: &str, json: bool) -> Exit {
    let notes = Notes::new();
    let message = format!("unknown command '{word}'");
    notes.error(&message);
    notes.hint(hint);
    if json {
        let mut document = Error::Usage(message).document();
        if let Some(place) = document.pointer_mut("/error/hint") {
            *place = Value::String(hint.to_owned());
        }
        // The exit code tells the same to whoever cannot read this.
        let _ = print(&[Clean::json(&document)]);
    }
    Exit::Usage
}
