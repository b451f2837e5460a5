//! The JSON Schema of every command's answer, as one line for each value that can be in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use holdfast_trial::Answer;
use serde_json::Value;

use crate::kept;

#[test]
fn every_answer_keeps_its_shape() {
    let answer = Command::new(env!("CARGO_BIN_EXE_jit")).arg("schema").env_clear().output().unwrap();
    let schemas = Answer::from(answer).ok().json();
    let schemas = schemas["schemas"].as_object().unwrap();
    let mut text = String::new();
    for (command, schema) in schemas {
        writeln!(text, "jit {command}").unwrap();
        let mut lines = BTreeSet::new();
        describe(schema, schema, "", &mut lines);
        for line in lines {
            writeln!(text, "  {}", line.trim()).unwrap();
        }
    }
    kept::compare("schema.txt", &text);
}

/// One line for each value: where it is, what it can be, whether it can be left out.
fn describe(schema: &Value, root: &Value, at: &str, lines: &mut BTreeSet<String>) {
    if let Some(path) = schema["$ref"].as_str() {
        return describe(root.pointer(path.trim_start_matches('#')).unwrap(), root, at, lines);
    }
    for word in ["anyOf", "oneOf"] {
        for choice in schema[word].as_array().into_iter().flatten() {
            describe(choice, root, at, lines);
        }
    }
    for word in ["type", "enum", "const"] {
        if let Some(value) = schema.get(word) {
            lines.insert(format!("{at} {word} {value}"));
        }
    }
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        let required = schema["required"].as_array().is_some_and(|all| all.iter().any(|word| word == name));
        describe(below, root, &format!("{at}.{name}{}", if required { "" } else { "?" }), lines);
    }
    if schema.get("items").is_some() {
        describe(&schema["items"], root, &format!("{at}[]"), lines);
    }
    if schema["additionalProperties"].is_object() {
        describe(&schema["additionalProperties"], root, &format!("{at}.*"), lines);
    }
}
