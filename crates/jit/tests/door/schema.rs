//! What it takes to fit a schema, and that every command has one. Real output is held to it in `answers`.

use std::collections::BTreeSet;

use clap::{Command, CommandFactory as _};
use holdfast_jit::cli::Cli;
use holdfast_jit::commands::schema::OUTPUTS;
use serde_json::{Map, Value};

/// Holds a value to a schema. It knows the words that our schemas use and stops at every other one, so that
/// nothing is let through because it was not understood.
fn hold(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
    let Some(schema) = schema.as_object() else {
        return if schema == &Value::Bool(true) {
            Ok(())
        } else {
            Err(format!("{at}: nothing fits {schema}"))
        };
    };
    for (word, rule) in schema {
        let fits = match word.as_str() {
            "$schema" | "title" | "description" | "default" | "$defs" | "format" | "required" => Ok(()),
            "$ref" => {
                let path = rule.as_str().and_then(|path| path.strip_prefix('#')).unwrap();
                hold(value, root.pointer(path).unwrap(), root, at)
            }
            "type" => one_of(value, rule).then_some(()).ok_or_else(|| format!("{at} is no {rule}: {value}")),
            "const" => (value == rule).then_some(()).ok_or_else(|| format!("{at} is not {rule}")),
            "enum" => {
                rule.as_array().unwrap().contains(value).then_some(()).ok_or_else(|| format!("{at}: {value}"))
            }
            // It says something of numbers only: others may be allowed beside them.
            "minimum" if !value.is_number() => Ok(()),
            "minimum" => {
                (value.as_f64() >= rule.as_f64()).then_some(()).ok_or_else(|| format!("{at} < {rule}"))
            }
            "items" => each(value, |n, item| hold(item, rule, root, &format!("{at}[{n}]"))),
            "uniqueItems" => Ok(()),
            "anyOf" | "oneOf" => {
                let found = rule.as_array().unwrap().iter().map(|rule| hold(value, rule, root, at));
                let fits = found.clone().filter(Result::is_ok).count();
                let right = if word == "oneOf" { fits == 1 } else { fits > 0 };
                right
                    .then_some(())
                    .ok_or_else(|| format!("{at} fits {fits} of {word}: {:?}", found.collect::<Vec<_>>()))
            }
            "properties" | "additionalProperties" => members(value, schema, root, at),
            other => Err(format!("{at}: the word {other} is not known here")),
        };
        fits?;
    }
    Ok(())
}

fn one_of(value: &Value, types: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the type {other} is not known here"),
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        other => panic!("{other}"),
    }
}

fn each(value: &Value, mut hold: impl FnMut(usize, &Value) -> Result<(), String>) -> Result<(), String> {
    value.as_array().into_iter().flatten().enumerate().try_for_each(|(n, item)| hold(n, item))
}

/// Holds the members of an object to their schemas. Whatever else a schema lets through for the sake of files
/// that newer programs wrote, our own output has only members that it names.
fn members(value: &Value, schema: &Map<String, Value>, root: &Value, at: &str) -> Result<(), String> {
    let Some(object) = value.as_object() else { return Ok(()) };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !object.contains_key(name.as_str().unwrap()) {
            return Err(format!("{at} has no {name}"));
        }
    }
    let rules = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties").filter(|_| rules.is_none());
    for (name, value) in object {
        match rules.and_then(|rules| rules.get(name)).or(others) {
            Some(rule) => hold(value, rule, root, &format!("{at}.{name}"))?,
            None => return Err(format!("{at} has a member {name} that the schema does not name")),
        }
    }
    Ok(())
}

/// Real output of a command, held to what `jit schema` says of it.
pub(crate) fn fits(answer: &Value, schema: &Value, name: &str) {
    assert!(schema.is_object(), "there is no schema of {name}");
    hold(answer, schema, schema, name).unwrap_or_else(|why| panic!("{why}\n{answer}"));
}

/// Whoever adds a command says in which form it answers.
#[test]
fn every_command_has_a_schema_and_every_schema_a_command() {
    let mut root = Cli::command();
    root.build();
    let mut commands = BTreeSet::from(["error".to_owned()]);
    leaves(&root, "", &mut commands);
    let listed: Vec<String> = OUTPUTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert!(listed.is_sorted(), "they are listed in their order");
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), commands);
}

/// The commands with none below them that understand `--json`, hidden ones too: git runs them, but programs may.
fn leaves(command: &Command, path: &str, into: &mut BTreeSet<String>) {
    let mut below = command.get_subcommands().filter(|below| below.get_name() != "help").peekable();
    let is_typed = below.peek().is_none() || !(path.is_empty() || command.is_subcommand_required_set());
    if is_typed && command.get_arguments().any(|arg| arg.get_id() == "json") {
        into.insert(path.to_owned());
    }
    for below in below {
        leaves(below, format!("{path} {}", below.get_name()).trim_start(), into);
    }
}

#[test]
fn what_does_not_fit_is_noticed() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "type": ["integer", "null"] }, "b": { "enum": ["x"] }, "c": { "oneOf": [
            { "const": 1 }, { "type": "integer" }
        ] }, "m": { "type": "object", "additionalProperties": { "type": "integer" } } },
        "additionalProperties": true
    });
    for (text, fits) in [
        (r#"{"a":1}"#, true),
        (r#"{"a":null,"b":"x","c":2}"#, true),
        (r#"{}"#, false),
        (r#"{"a":"1"}"#, false),
        (r#"{"a":1,"b":"y"}"#, false),
        (r#"{"a":1,"c":1}"#, false),
        (r#"{"a":1,"d":1}"#, false),
        (r#"{"a":1,"m":{"x":1}}"#, true),
        (r#"{"a":1,"m":{"x":"1"}}"#, false),
        ("[]", false),
    ] {
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(hold(&value, &schema, &schema, "it").is_ok(), fits, "{text}");
    }
}
