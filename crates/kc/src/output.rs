//! What reaches a terminal or a pipe. Only this file prints. Names from outside lose what a terminal would
//! act on, and a pipe that was closed ends quietly.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;

/// What a command has to say.
#[derive(Debug)]
pub enum Said {
    /// These fields, beside `"status":"ok"`.
    Fields(Value),
    /// This text, as it is.
    Text(String),
    /// It has said everything already.
    Nothing,
}

/// Prints what a command has to say.
#[must_use]
pub fn said(said: &Said) -> ExitCode {
    let text = match said {
        Said::Fields(fields) => json_line(&with_status(fields)),
        Said::Text(text) => text.clone(),
        Said::Nothing => String::new(),
    };
    match print(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            note(&format!("KC_LINEAGE_QUERY_FAILED: cannot write the answer: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints an error: its code and what it says.
#[must_use]
pub fn error(error: &Error) -> ExitCode {
    note(&format!("{}: {error}", error.code()));
    ExitCode::FAILURE
}

/// Prints what clap has to say: help, a version, or what was typed wrong.
#[must_use]
pub fn clap(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// The value as one line of JSON. Marks that turn the direction of text are written as escapes, which mean the
/// same to every reader but a terminal.
pub fn json_line(value: &impl Serialize) -> String {
    // These are types of ours, whose keys are text: they always have a JSON form.
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if hostile(c) {
            // Writing to memory cannot fail. All of these lie below U+10000.
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    line
}

fn with_status(fields: &Value) -> Value {
    let mut all = serde_json::Map::new();
    all.insert("status".into(), "ok".into());
    all.extend(fields.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

/// Prints to stdout. Whoever closed it has read enough.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// There is nobody to tell that nobody can be told anything.
fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", clean(text));
}

/// The text without what a terminal would act on.
fn clean(text: &str) -> String {
    text.chars().map(|c| if hostile(c) { '\u{fffd}' } else { c }).collect()
}

fn hostile(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{clean, json_line, with_status};

    #[test]
    fn what_a_terminal_would_act_on_is_replaced_or_escaped() {
        assert_eq!(clean("a\x1b[31mb\u{202e}c\nd"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d");
        let value = json!({ "owner": "ann\u{202e}\u{85}ü" });
        let line = json_line(&value);
        assert_eq!(line, "{\"owner\":\"ann\\u202e\\u0085ü\"}\n");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }

    #[test]
    fn an_answer_has_its_status_beside_its_fields() {
        assert_eq!(json_line(&with_status(&json!({ "lease": 1 }))), "{\"lease\":1,\"status\":\"ok\"}\n");
    }
}
