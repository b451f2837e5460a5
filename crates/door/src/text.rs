//! Text from outside, as a terminal may see it.

use std::fmt::Write as _;

use serde::Serialize;

/// Whether a terminal acts on it: control characters, and marks that turn the direction of text.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without what a terminal would act on. Its lines stay.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if acts(c) && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// Whether there is something to clean.
pub(crate) fn is_acted_on(text: &str) -> bool {
    text.chars().any(|c| acts(c) && c != '\n')
}

/// The same in one line, for the cells of a table and for what ends with the line.
#[must_use]
pub fn one_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

/// The value as one line of JSON. What a terminal would act on is written as escapes, which mean the same to
/// everybody else.
pub fn json_line(value: &impl Serialize) -> String {
    // These are types of ours, whose keys are text: they always have a JSON form.
    escaped(serde_json::to_string(value).unwrap_or_default())
}

fn escaped(json: String) -> String {
    // JSON escapes what lies below the space, so nothing but what lies above the tilde is left.
    if json.bytes().all(|byte| byte <= b'~') {
        return json;
    }
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        if acts(c) {
            // Writing to memory cannot fail. All of these lie below U+10000.
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{clean, json_line, one_line};

    #[test]
    fn what_a_terminal_would_act_on_is_replaced() {
        assert_eq!(clean("a\x1b[31mb\u{202e}c\td\u{61c}\n"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\u{fffd}\n");
        assert_eq!(clean("ümläut\n"), "ümläut\n");
        assert_eq!(one_line("a\nb\x07"), "a b\u{fffd}");
    }

    #[test]
    fn json_says_the_same_without_it() {
        for (text, line) in [
            ("ann\u{202e}\u{85}ü", "{\"owner\":\"ann\\u202e\\u0085ü\"}"),
            ("\x7f", "{\"owner\":\"\\u007f\"}"),
            ("a\x1b\n", "{\"owner\":\"a\\u001b\\n\"}"),
        ] {
            let value = json!({ "owner": text });
            assert_eq!(json_line(&value), line);
            assert_eq!(serde_json::from_str::<Value>(line).unwrap(), value);
        }
    }
}
