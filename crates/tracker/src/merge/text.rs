//! A merged file as it is written: indented like every issue's file, with the marks of git around a field that
//! is in conflict.

use serde_json::Value;

use super::Field;
use crate::json;

/// The file with these fields.
pub(super) fn write(fields: &[(String, Field)], size: usize) -> Vec<u8> {
    let mut text = String::from("{\n");
    for (at, (key, field)) in fields.iter().enumerate() {
        let end = if at + 1 == fields.len() { "\n" } else { ",\n" };
        match field {
            Field::Value(value) => text.push_str(&line(key, value, end)),
            Field::Conflict { ours, theirs } => {
                let side = |value: &Option<Value>| {
                    value.as_ref().map(|value| line(key, value, end)).unwrap_or_default()
                };
                let mark = |sign: &str| sign.repeat(size);
                text.push_str(&format!("{} ours\n{}", mark("<"), side(ours)));
                text.push_str(&format!("{}\n{}{} theirs\n", mark("="), side(theirs), mark(">")));
            }
        }
    }
    text.push_str("}\n");
    text.into_bytes()
}

fn line(key: &str, value: &Value, end: &str) -> String {
    let key = json::text(&key);
    let value = json::indented(value).replace('\n', "\n  ");
    format!("  {key}: {value}{end}")
}
