//! Texts that people give: checked once, here, and kept as they are from then on.

use crate::error::{Error, Result};

const LONGEST_TITLE: usize = 1_000;
/// The longest description, in bytes.
pub const LONGEST_DESCRIPTION: usize = 1 << 20;
const LONGEST_WORD: usize = 100;

/// A title: one line that says something.
///
/// # Errors
/// When it is none.
pub fn title(text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(bad("--title", text, "must be one line that is not empty"));
    }
    short("--title", text, LONGEST_TITLE)
}

/// A description: any text.
///
/// # Errors
/// When it is longer than anybody reads.
pub fn description(text: &str) -> Result<String> {
    short("--description", text, LONGEST_DESCRIPTION)
}

/// A label: a word, without blanks and commas.
///
/// # Errors
/// When it is none.
pub fn label(text: &str) -> Result<String> {
    let fits = |c: char| !c.is_control() && !c.is_whitespace() && c != ',';
    if text.is_empty() || text.starts_with('-') || !text.chars().all(fits) {
        return Err(bad("--label", text, "must be one word without commas"));
    }
    short("--label", text, LONGEST_WORD)
}

/// The name of whoever is meant to do something.
///
/// # Errors
/// When it is none.
pub fn assignee(text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(bad("--assignee", text, "must be a name on one line"));
    }
    short("--assignee", text, LONGEST_WORD)
}

/// The key of a gate.
///
/// # Errors
/// When it is none.
pub fn key(text: &str) -> Result<String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.starts_with(['-', '.']) || !text.chars().all(fits) {
        return Err(bad("the key of a gate", text, "must consist of lower-case letters, digits, - _ and ."));
    }
    short("the key of a gate", text, LONGEST_WORD)
}

fn short(what: &'static str, text: &str, longest: usize) -> Result<String> {
    if text.len() <= longest {
        return Ok(text.to_owned());
    }
    let begin: String = text.chars().take(40).collect();
    Err(bad(what, &format!("{begin}…"), &format!("longer than the maximum of {longest} bytes")))
}

fn bad(what: &'static str, given: &str, why: &str) -> Error {
    Error::BadValue { what, given: given.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{assignee, description, key, label, title};

    #[test]
    fn what_cannot_be_shown_on_a_line_is_refused() {
        for text in ["", " ", "two\nlines", "\x1b[31mred", &"x".repeat(2_000)] {
            assert!(title(text).is_err() && assignee(text).is_err(), "{text:?}");
        }
        assert_eq!(title("  Für alle  ").unwrap(), "Für alle");
    }

    #[test]
    fn labels_and_keys_are_words() {
        for text in ["ui", "area:net", "größe", "a/b"] {
            assert_eq!(label(text).unwrap(), text);
        }
        for text in ["", "a b", "a,b", "-x", "a\n", &"x".repeat(101)] {
            assert!(label(text).is_err(), "{text:?}");
        }
        assert!(key("unit-tests").is_ok());
        for text in ["", "Tests", "../x", ".x", "a/b"] {
            assert!(key(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_description_has_a_limit() {
        assert!(description("a\nb\tc").is_ok());
        assert!(description(&"x".repeat((1 << 20) + 1)).is_err());
    }
}
