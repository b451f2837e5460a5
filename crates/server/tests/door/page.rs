//! What is written about the server holds.

use std::collections::BTreeSet;

use holdfast_server::Own;
use holdfast_trial::Page;
use serde_json::Value;

use crate::bench::Bench;

#[test]
fn the_page_of_errors_has_the_servers_own() {
    let mut lines = vec!["| code | meaning | what to do | HTTP |".to_owned(), "|---|---|---|---|".to_owned()];
    lines.extend(Own::ALL.iter().map(|own| {
        let (code, status, meaning, advice) = own.row();
        format!("| `{code}` | {meaning} | {advice} | {status} |")
    }));
    Page::errors().compare("Codes of jit-server alone", &lines);
}

/// Every reference in a document.
fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn the_description_is_whole() {
    let bench = Bench::new();
    let server = bench.serve();
    let document = server.get("/openapi.json").ok();
    assert_eq!(document["openapi"], "3.1.0");
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in found {
        let path = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(path).is_some(), "{reference} leads nowhere");
    }
    let mut names = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for operation in operations.as_object().unwrap().values() {
            assert!(names.insert(operation["operationId"].to_string()), "{path}");
        }
    }
    assert!(names.len() > 20);
}
