//! What a call of a tool gives back, in the form that every revision has. Whatever stands in it has lost what a terminal
//! would act on.

use holdfast_door::Clean;
use serde_json::{Value, json};

use super::advice;
use super::message::part;

/// The result of a landing that has ended.
pub(super) fn finished(is_ok: bool, document: &Value) -> Value {
    if !is_ok {
        return failed(&advice::told(part(document, "/error")));
    }
    let done = part(document, "/finished");
    let mut value = json!({ "status": part(done, "/outcome"), "issue": part(done, "/id") });
    if let Some(members) = value.as_object_mut() {
        for name in ["branch", "commit", "open_gates", "reason"] {
            members.insert(name.to_owned(), done.get(name).cloned().unwrap_or_default());
        }
    }
    success(value)
}

/// The result of a landing that goes on.
pub(super) fn running(issue: &str, stage: &str, since: &str) -> Value {
    success(json!({ "status": "running", "issue": issue, "stage": stage, "since": since }))
}

/// The result of a landing that somebody else has heard the end of.
pub(super) fn lost() -> Value {
    failed("another call of finish was told how this ended; call show\n")
}

pub(super) fn success(value: Value) -> Value {
    let value = cleaned(value);
    json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value, "isError": false })
}

pub(super) fn failed(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": Clean::page(text).as_str() }], "isError": true })
}

/// The value without what a terminal would act on.
fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Clean::page(&text).as_str().into(),
        Value::Array(items) => items.into_iter().map(cleaned).collect(),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (Clean::page(&name).as_str().to_owned(), cleaned(value)))
                .collect(),
        ),
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{failed, success};

    #[test]
    fn nothing_that_a_terminal_acts_on_gets_out() {
        let result = success(json!({ "from_others": { "a\u{1b}": ["b\u{202e}\n\tc"] } }));
        let clean = json!({ "from_others": { "a\u{fffd}": ["b\u{fffd}\n\tc"] } });
        assert_eq!(result["structuredContent"], clean);
        assert_eq!(result["content"][0]["text"], clean.to_string());
        assert_eq!(failed("x\u{1b}[2J")["content"][0]["text"], "x\u{fffd}[2J");
    }
}
