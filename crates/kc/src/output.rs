//! What reaches a terminal or a pipe, and in which form. Only this file prints.

use std::io::{self, Write as _};
use std::process::ExitCode;

use holdfast_door::{Clean, print, typed_wrong};
use serde_json::Value;

use crate::error::Error;

/// What a command has to say.
#[derive(Debug)]
pub enum Said {
    /// These fields, beside `"status":"ok"`.
    Fields(Value),
    /// This text, as it is.
    Text(Clean),
    /// It has said everything already.
    Nothing,
}

/// Prints what a command has to say.
#[must_use]
pub fn said(said: &Said) -> ExitCode {
    let text = match said {
        Said::Fields(fields) => Clean::json(&with_status(fields)),
        Said::Text(text) => text.clone(),
        Said::Nothing => Clean::default(),
    };
    match print(&[text]) {
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

/// Prints what clap has to say, and says how to end.
#[must_use]
pub fn clap(error: &clap::Error) -> ExitCode {
    let no_document = None::<fn(&str) -> Value>;
    if typed_wrong(error, no_document) { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

fn with_status(fields: &Value) -> Value {
    let mut all = serde_json::Map::new();
    all.insert("status".into(), "ok".into());
    all.extend(fields.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

fn note(text: &str) {
    // There is nobody to tell that nobody can be told anything.
    let _ = writeln!(io::stderr(), "{}", Clean::line(text));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Clean, with_status};

    #[test]
    fn an_answer_has_its_status_beside_its_fields() {
        assert_eq!(
            Clean::json(&with_status(&json!({ "lease": 1 }))).as_str(),
            "{\"lease\":1,\"status\":\"ok\"}"
        );
    }
}
