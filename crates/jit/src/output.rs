//! What reaches a terminal or a pipe. Only this file prints. Names from outside lose what a terminal would
//! act on, a pipe that was closed ends quietly, and colour is for terminals only.
#![expect(clippy::disallowed_methods, reason = "NO_COLOR and TERM are the terminal's business")]

use std::io::{self, IsTerminal, Write as _};

use holdfast_sys::os;
use serde::Serialize;
use serde_json::Value;

use crate::cli::Global;
use crate::error::{Error, Exit};
use crate::grid::{Cell, Paint, grid};

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
    pub text: String,
    /// For `-q`: what a script needs.
    pub brief: String,
    /// For `--json`.
    pub json: Value,
    /// For `--json` in place of `json`, where a document is too large to be held twice: its text, in pieces.
    pub pieces: Vec<String>,
    /// How it ended.
    pub exit: Exit,
}

impl Report {
    /// A report of something that went well.
    pub fn new(text: impl Into<String>, json: &impl Serialize) -> Self {
        // These are types of ours, whose keys are text: they always have a JSON form.
        let json = serde_json::to_value(json).unwrap_or_default();
        Self { text: text.into(), brief: String::new(), json, pieces: Vec::new(), exit: Exit::Ok }
    }

    /// A report in the one form that is wanted.
    #[must_use]
    pub fn of(form: Form, text: impl FnOnce() -> String, brief: impl FnOnce() -> String) -> Self {
        let mut report = Self::new(String::new(), &Value::Null);
        match form {
            Form::Text => report.text = text(),
            Form::Brief => report.brief = brief(),
            Form::Json => {}
        }
        report
    }

    /// What `--json` prints, as a value.
    #[must_use]
    pub fn document(&self) -> Value {
        if self.pieces.is_empty() {
            return self.json.clone();
        }
        // The pieces are ours, and together they are one document.
        serde_json::from_str(&self.pieces.concat()).unwrap_or_default()
    }

    /// This report, with the pieces of a JSON document.
    #[must_use]
    pub fn pieces(mut self, pieces: Vec<String>) -> Self {
        self.pieces = pieces;
        self
    }

    /// This report, with what `-q` prints.
    #[must_use]
    pub fn brief(mut self, brief: impl Into<String>) -> Self {
        self.brief = brief.into();
        self
    }

    /// This report, of something that ended like this.
    #[must_use]
    pub const fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

/// Where output goes and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    json: bool,
    quiet: bool,
    colour: bool,
    paint: Paint,
}

impl Printer {
    /// As the flags say.
    #[must_use]
    pub fn new(global: &Global) -> Self {
        let asked = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let wanted = asked && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb");
        let colour = wanted && io::stderr().is_terminal();
        let paint = Paint::new(wanted && io::stdout().is_terminal()).within(os::columns());
        Self { json: global.json, quiet: global.quiet, colour, paint }
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
    #[must_use]
    pub fn report(&self, report: &Report) -> Exit {
        let printed = match self.form() {
            Form::Json if !report.pieces.is_empty() => print(&report.pieces),
            Form::Json => print(&[report.json.to_string()]),
            Form::Brief => print(std::slice::from_ref(&report.brief)),
            Form::Text => print(std::slice::from_ref(&report.text)),
        };
        match printed {
            Ok(()) => report.exit,
            Err(error) => {
                self.note("error", &format!("cannot write the answer: {error}"));
                Exit::Io
            }
        }
    }

    /// Prints an error and says how to end.
    #[must_use]
    pub fn error(&self, error: &Error) -> Exit {
        self.note("error", &error.to_string());
        for cause in error.causes() {
            self.note("cause", &cause);
        }
        if let Some(hint) = error.hint() {
            self.note("hint", &hint);
        }
        if self.json {
            // The exit code tells the same to whoever cannot read this.
            let _ = print(&[error.document().to_string()]);
        }
        error.exit()
    }

    /// Prints a warning.
    pub fn warn(&self, text: &str) {
        self.note("warning", text);
    }

    /// Prints a line of a story that is told while it happens, for people only.
    pub fn live(&self, text: &str) {
        if self.form() == Form::Text {
            self.line(text);
        }
    }

    /// Prints a line at once.
    pub fn line(&self, text: &str) {
        // Whoever does not listen misses it.
        let _ = print(&[format!("{text}\n")]);
    }

    /// Prints a word on what is going on, for people only.
    pub fn progress(&self, text: &str) {
        if !self.quiet {
            self.note("note", text);
        }
    }

    fn note(&self, kind: &str, text: &str) {
        let text = clean(text);
        let (on, off) = match (self.colour, kind) {
            (true, "error") => ("\x1b[1;31m", "\x1b[0m"),
            (true, "warning") => ("\x1b[1;33m", "\x1b[0m"),
            (true, _) => ("\x1b[1m", "\x1b[0m"),
            (false, _) => ("", ""),
        };
        // There is nobody to tell that nobody can be told anything.
        let _ = writeln!(io::stderr(), "{on}{kind}:{off} {text}");
    }
}

/// Prints what clap has to say: help, a version, or what was typed wrong.
pub fn clap(error: &clap::Error, json: bool) -> Exit {
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Ok;
    }
    if json {
        let said = error.render().to_string();
        let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let _ = print(&[Error::Usage(first.to_owned()).document().to_string()]);
    }
    Exit::Usage
}

/// Prints to stdout, and the end of a line where there is none. Whoever closed it has read enough.
fn print(pieces: &[String]) -> io::Result<()> {
    let Some(last) = pieces.iter().rfind(|piece| !piece.is_empty()) else { return Ok(()) };
    let mut out = io::stdout().lock();
    let done = pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes()));
    let done = done.and_then(|()| if last.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
    match done.and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// The text without what a terminal would act on.
#[must_use]
pub fn clean(text: &str) -> String {
    let hostile = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hostile(c) { '\u{fffd}' } else { c }).collect()
}

/// Rows as aligned columns under a heading.
#[must_use]
pub fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    let rows = rows.iter().map(|row| row.each_ref().map(|cell| Cell::plain(cell.as_str())));
    grid(Paint::new(false), heading, rows.collect())
}

#[cfg(test)]
mod tests {
    use super::{clean, table};

    #[test]
    fn what_a_terminal_would_act_on_is_replaced() {
        assert_eq!(clean("a\x1b[31mb\u{202e}c\td"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d");
        assert_eq!(clean("ümläut\n"), "ümläut\n");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["ä".to_owned(), "1".to_owned()], ["long".to_owned(), "2".to_owned()]];
        assert_eq!(table(["A", "B"], &rows), "A     B\nä     1\nlong  2\n");
    }
}
