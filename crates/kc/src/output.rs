//! What reaches a terminal or a pipe, and in which form. Only this file prints.

use std::io::{self, Write as _};
use std::process::ExitCode;

use holdfast_door::{Clean, print, typed_wrong};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::undelivered::Granted;

/// What a command has to say.
#[derive(Debug)]
pub enum Said {
    /// These fields, beside `"status":"ok"`.
    Fields(Map<String, Value>),
    /// This text, as it is.
    Text(Clean),
    /// It has said everything already.
    Nothing,
}

/// What a command did, for whoever cannot be told what it has to say.
pub enum Done {
    /// It looked.
    Nothing,
    /// It changed something.
    Something,
    /// It acquired a lease, which is worth nothing without the token.
    Lease(Box<Granted>),
}

/// Prints what a command has to say.
#[must_use]
pub fn said(said: Said, done: Done) -> ExitCode {
    let text = match said {
        Said::Fields(fields) => Clean::json(&with_status(fields)),
        Said::Text(text) => text,
        Said::Nothing => Clean::default(),
    };
    let undelivered = match done {
        Done::Nothing => print(&[text]).map_err(|why| format!("cannot write the answer: {why}")),
        Done::Something => {
            print(&[text]).map_err(|why| format!("it was done, but the answer cannot be written: {why}"))
        }
        Done::Lease(granted) => token(text.as_str())
            .map_err(|why| format!("cannot write the answer: {why}: {}", granted.give_back())),
    };
    match undelivered {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            note(&format!("KC_LINEAGE_QUERY_FAILED: {why}"));
            ExitCode::FAILURE
        }
    }
}

/// Prints a line with a token. Whoever closed the pipe before has not read it.
fn token(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush())
}

/// Prints an error: its code and what it says.
#[must_use]
pub fn error(error: &Error) -> ExitCode {
    note(&format!("{}: {error}", error.code()));
    ExitCode::FAILURE
}

/// Prints what clap has to say, and says how to end.
#[must_use]
pub fn clap(error: &clap::Error) -> ExitCode {
    let no_document = None::<fn(&str) -> Value>;
    if typed_wrong(error, no_document) { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

fn with_status(mut fields: Map<String, Value>) -> Value {
    fields.insert("status".into(), "ok".into());
    Value::Object(fields)
}

fn note(text: &str) {
    // There is nobody to tell that nobody can be told anything.
    let _ = writeln!(io::stderr(), "{}", Clean::line(text));
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::{Clean, with_status};

    #[test]
    fn an_answer_has_its_status_beside_its_fields() {
        let fields = Map::from_iter([("lease".to_owned(), 1.into())]);
        assert_eq!(Clean::json(&with_status(fields)).as_str(), "{\"lease\":1,\"status\":\"ok\"}");
    }
}
