//! What reaches a terminal or a pipe. Only this file prints. Names from outside lose what a terminal would
//! act on, a pipe that was closed ends quietly, and colour and progress are for terminals only.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::cli::Global;
use crate::error::{Class, Error};
use crate::payload::Progress;

/// How often progress is shown.
const EVERY: Duration = Duration::from_millis(200);

/// What a command has to say.
#[derive(Debug)]
pub struct Report {
    /// For people.
    pub text: String,
    /// For `--json`.
    pub json: Value,
    /// The exit code.
    pub exit: u8,
}

impl Report {
    /// A report of something that went well.
    pub fn new(text: impl Into<String>, json: &impl Serialize) -> Self {
        // These are types of ours, whose keys are text: they always have a JSON form.
        Self { text: text.into(), json: serde_json::to_value(json).unwrap_or_default(), exit: 0 }
    }

    /// This report, of something that ended like this.
    #[must_use]
    pub const fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

/// Where output goes and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    json: bool,
    colour: bool,
}

impl Printer {
    /// As the flags say.
    #[must_use]
    pub fn new(global: &Global) -> Self {
        #[expect(clippy::disallowed_methods, reason = "NO_COLOR is the terminal's business")]
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { json: global.json, colour: wanted && io::stderr().is_terminal() }
    }

    /// Prints a report and says how to end.
    #[must_use]
    pub fn report(&self, report: &Report) -> u8 {
        let text = if self.json { report.json.to_string() } else { report.text.clone() };
        match print(&text) {
            Ok(()) => report.exit,
            Err(error) => {
                self.note("error", &format!("cannot write the answer: {error}"));
                Class::Io.exit()
            }
        }
    }

    /// Prints an error and says how to end.
    #[must_use]
    pub fn error(&self, error: &Error) -> u8 {
        self.note("error", &format!("{error} ({})", error.class().code()));
        if let Some(hint) = error.advice() {
            self.note("hint", hint);
        }
        if self.json {
            // The exit code tells the same to whoever cannot read this.
            let _ = print(&error.document().to_string());
        }
        error.class().exit()
    }

    /// Prints a warning.
    pub fn warn(&self, text: &str) {
        self.note("warning", text);
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

    /// Does `work`, and shows how far it is if somebody is looking.
    pub fn watch<T>(&self, label: &str, progress: &Progress, work: impl FnOnce() -> T) -> T {
        if !io::stderr().is_terminal() {
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

/// Prints what clap has to say: help, a version, or what was typed wrong.
pub fn clap(error: &clap::Error, json: bool) -> u8 {
    let _ = error.print();
    if !error.use_stderr() {
        return 0;
    }
    if json {
        let said = error.render().to_string();
        let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let _ = print(&Error::usage(first).document().to_string());
    }
    Class::Usage.exit()
}

/// Prints to stdout. Whoever closed it has read enough.
fn print(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let done = out.write_all(text.trim_end().as_bytes()).and_then(|()| out.write_all(b"\n"));
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
    let mut widths = heading.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    line(&mut text, &widths, heading.iter().copied());
    for row in rows {
        line(&mut text, &widths, row.iter().map(String::as_str));
    }
    text
}

fn line<'a>(text: &mut String, widths: &[usize], cells: impl Iterator<Item = &'a str>) {
    let mut row = String::new();
    for (width, cell) in widths.iter().zip(cells) {
        // Writing to memory cannot fail.
        let _ = write!(row, "{:<width$}  ", clean(cell).replace('\n', " "));
    }
    text.push_str(row.trim_end());
    text.push('\n');
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
