//! What reaches a terminal or a pipe. Only this file prints. Names from outside lose what a terminal would
//! act on, a pipe that was closed ends quietly, and colour is for terminals only.
#![expect(clippy::disallowed_methods, reason = "NO_COLOR is the terminal's business")]

use std::io::{self, IsTerminal, Write as _};

use serde_json::Value;

use crate::cli::Global;
use crate::error::{Error, Exit};

/// What a command has to say.
#[derive(Debug)]
pub struct Report {
    /// What was asked for; it is printed in any case.
    pub answer: String,
    /// What was done; it is printed only with `-v`.
    pub done: String,
    /// For `--json`.
    pub json: Value,
    /// How it ended.
    pub exit: Exit,
}

impl Report {
    /// A report of something that was done.
    #[must_use]
    pub fn done(done: impl Into<String>, json: Value) -> Self {
        Self { answer: String::new(), done: done.into(), json, exit: Exit::Ok }
    }

    /// A report of something that was asked for.
    #[must_use]
    pub fn answer(answer: impl Into<String>, json: Value) -> Self {
        Self { answer: answer.into(), done: String::new(), json, exit: Exit::Ok }
    }
}

/// Where output goes and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    json: bool,
    verbose: bool,
    terminal: bool,
    colour: bool,
}

impl Printer {
    /// As the flags say.
    #[must_use]
    pub fn new(global: &Global) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let terminal = io::stderr().is_terminal();
        Self { json: global.json, verbose: global.verbose, terminal, colour: wanted && terminal }
    }

    /// Prints a report and says how to end.
    #[must_use]
    pub fn report(&self, report: &Report) -> Exit {
        let text = match (self.json, self.verbose) {
            (true, _) if report.json.is_null() => String::new(),
            (true, _) => report.json.to_string(),
            (false, true) => format!("{}{}", report.answer, report.done),
            (false, false) => report.answer.clone(),
        };
        match print(&text) {
            Ok(()) => report.exit,
            Err(error) => {
                self.note("error", &format!("cannot write the answer: {error}"));
                Exit::Unexpected
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
            let _ = print(&error.document().to_string());
        }
        error.exit()
    }

    /// Prints a warning.
    pub fn warn(&self, text: &str) {
        self.note("warning", text);
    }

    /// Prints a word on what is going on, if somebody is there to read it.
    pub fn progress(&self, text: &str) {
        if self.terminal || self.verbose {
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
        let _ = print(&Error::Usage(first.to_owned()).document().to_string());
    }
    Exit::Usage
}

/// Prints to stdout. Whoever closed it has read enough.
fn print(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let text = clean(text);
    let mut out = io::stdout().lock();
    let done = out.write_all(text.trim_end_matches('\n').as_bytes()).and_then(|()| out.write_all(b"\n"));
    match done.and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// The text without what a terminal would act on; lines and columns stay.
#[must_use]
pub fn clean(text: &str) -> String {
    let hostile = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hostile(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn what_a_terminal_would_act_on_is_replaced() {
        assert_eq!(clean("a\x1b[31mb\u{202e}c\td\n"), "a\u{fffd}[31mb\u{fffd}c\td\n");
    }
}
