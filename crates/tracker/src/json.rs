//! Our own types as JSON. They are made of text, numbers and maps with text for keys, so they always have a JSON form;
//! if one had none, an empty file in its place would lose what was there, so that is a bug and ends the program.

use serde::Serialize;

/// The bytes of a file: indented, with a line's end.
#[must_use]
pub(crate) fn file(value: &impl Serialize) -> Vec<u8> {
    let mut text = sure(serde_json::to_vec_pretty(value));
    text.push(b'\n');
    text
}

/// One line, with its end.
#[must_use]
pub(crate) fn line(value: &impl Serialize) -> Vec<u8> {
    let mut text = sure(serde_json::to_vec(value));
    text.push(b'\n');
    text
}

/// One line as text, without its end.
#[must_use]
pub(crate) fn text(value: &impl Serialize) -> String {
    sure(serde_json::to_string(value))
}

/// Indented text, without its end.
#[must_use]
pub(crate) fn indented(value: &impl Serialize) -> String {
    sure(serde_json::to_string_pretty(value))
}

#[expect(
    clippy::expect_used,
    reason = "a type of ours without a JSON form is a bug, and must not become an empty file"
)]
fn sure<T>(made: serde_json::Result<T>) -> T {
    made.expect("this is a bug in jit, please report it: a type of ours has no JSON form")
}
