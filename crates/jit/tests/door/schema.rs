//! What programs get is what `jit schema` says: real output of every command that has a schema is held to it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::bench::Bench;

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
            "properties" => members(value, schema, root, at),
            "additionalProperties" => Ok(()),
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

fn members(value: &Value, schema: &Map<String, Value>, root: &Value, at: &str) -> Result<(), String> {
    let (Some(object), rules) = (value.as_object(), schema["properties"].as_object().unwrap()) else {
        return Ok(());
    };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !object.contains_key(name.as_str().unwrap()) {
            return Err(format!("{at} has no {name}"));
        }
    }
    for (name, value) in object {
        match rules.get(name) {
            Some(rule) => hold(value, rule, root, &format!("{at}.{name}"))?,
            None => return Err(format!("{at} has a member {name} that the schema does not name")),
        }
    }
    Ok(())
}

#[test]
fn real_output_fits_the_schema() {
    let bench = Bench::new();
    let schemas = bench.jit(&["schema"]).ok().json()["schemas"].clone();
    let args = ["-q", "issue", "create", "--title", "t", "--description", "d", "--label", "l,m"];
    let first = bench.jit(&args).ok().stdout.trim().to_owned();
    let second = bench.jit(&["-q", "issue", "create", "--title", "u", "--depends-on", &first]).ok().stdout;
    let second = second.trim();
    bench.issue("v");
    let mut held = BTreeSet::new();
    let mut check = |name: &str, args: &[&str]| {
        let answer = bench.jit(&[&["--json"], args].concat());
        let schema = &schemas[name];
        hold(&answer.json(), schema, schema, name).unwrap_or_else(|why| panic!("{why}\n{answer}"));
        held.insert(name.to_owned());
    };
    check("claim acquire", &["claim", "acquire", &first, "--ttl", "0", "--reason", "long"]);
    check("claim renew", &["claim", "renew", &bench.claimed("agent:a").1]);
    bench.jit(&["issue", "update", &first, "--assignee", "agent:z"]).ok();
    check("claim next", &["claim", "next"]);
    check("claim list", &["claim", "list"]);
    check("claim status", &["claim", "status", "--issue", &first]);
    check("error", &["claim", "next", "--label", "none"]);
    check("error", &["nonsense"]);
    check("error", &["issue", "show", "01K"]);
    check("graph show", &["graph", "show", second, "--show-claims"]);
    check("graph downstream", &["graph", "downstream", &first]);
    check("graph roots", &["graph", "roots"]);
    check("graph export", &["graph", "export", "--format", "dot"]);
    check("issue list", &["issue", "list"]);
    check("issue show", &["issue", "show", &first]);
    check("issue show", &["issue", "show", second]);
    check("query all", &["query", "all"]);
    check("query available", &["query", "available"]);
    check("query blocked", &["query", "blocked"]);
    check("search", &["search", "d"]);
    check("status", &["status"]);
    let known: BTreeSet<String> = schemas.as_object().unwrap().keys().cloned().collect();
    assert_eq!(held, known, "every schema is held to real output");
    let one = bench.jit(&["schema", "issue", "show"]).ok().json();
    assert_eq!(one, schemas["issue show"]);
    bench.jit(&["schema", "nonsense"]).fails(6);
}

#[test]
fn what_does_not_fit_is_noticed() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "type": ["integer", "null"] }, "b": { "enum": ["x"] }, "c": { "oneOf": [
            { "const": 1 }, { "type": "integer" }
        ] } }
    });
    for (text, fits) in [
        (r#"{"a":1}"#, true),
        (r#"{"a":null,"b":"x","c":2}"#, true),
        (r#"{}"#, false),
        (r#"{"a":"1"}"#, false),
        (r#"{"a":1,"b":"y"}"#, false),
        (r#"{"a":1,"c":1}"#, false),
        (r#"{"a":1,"d":1}"#, false),
        ("[]", false),
    ] {
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(hold(&value, &schema, &schema, "it").is_ok(), fits, "{text}");
    }
}
