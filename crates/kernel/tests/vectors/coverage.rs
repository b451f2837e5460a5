//! Nothing is left out: every rule and every way a command can end is in some vector.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::run::{list, read};
use crate::support::files::{self, snake, variants};

/// Every value that some vector has under this key, at any depth below a key of that name.
fn under<'a>(value: &'a Value, outer: &str, key: &str, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| under(item, outer, key, found)),
        Value::Object(fields) => {
            for (name, inner) in fields {
                if name == outer {
                    let single = std::slice::from_ref(inner);
                    let these = inner.as_array().map_or(single, Vec::as_slice);
                    found.extend(these.iter().filter_map(|one| one.get(key)?.as_str()));
                }
                under(inner, outer, key, found);
            }
        }
        _ => {}
    }
}

fn all() -> Vec<(String, Value)> {
    list().into_iter().map(|file| (file.clone(), read(&file))).collect()
}

fn seen<'a>(all: &'a [(String, Value)], outer: &str, key: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    all.iter().for_each(|(_, topic)| under(topic, outer, key, &mut found));
    found
}

fn missing(wanted: &[String], seen: &BTreeSet<&str>) -> Vec<String> {
    assert!(!wanted.is_empty(), "the source was not understood");
    wanted.iter().filter(|one| !seen.contains(one.as_str())).cloned().collect()
}

#[test]
fn every_refusal_is_in_a_vector_under_the_code_of_its_name() {
    let all = all();
    let codes: Vec<String> = variants("crates/kernel/src/refusal.rs", "Refusal")
        .iter()
        .map(|name| snake(name).to_uppercase())
        .collect();
    assert_eq!(missing(&codes, &seen(&all, "refusal", "code")), [""; 0]);
}

#[test]
fn every_answer_event_command_and_cause_is_in_a_vector() {
    let all = all();
    for (file, name, outer) in [
        ("crates/kernel/src/answer.rs", "Answer", "answer"),
        ("crates/kernel/src/event.rs", "Event", "events"),
        ("crates/kernel/src/event.rs", "Cause", "cause"),
        ("crates/kernel/src/command.rs", "Command", "command"),
        ("crates/kernel/src/command.rs", "Request", "request"),
        ("crates/kernel/src/lease.rs", "Standing", "standing"),
        ("crates/kernel/src/lease.rs", "Term", "term"),
    ] {
        let wanted: Vec<String> = variants(file, name).iter().map(|variant| snake(variant)).collect();
        assert_eq!(missing(&wanted, &seen(&all, outer, "type")), [""; 0], "{name}");
    }
    let kinds: Vec<String> =
        variants("crates/kernel/src/refusal.rs", "LimitKind").iter().map(|variant| snake(variant)).collect();
    assert_eq!(missing(&kinds, &seen(&all, "refusal", "kind")), [""; 0]);
}

#[test]
fn every_event_that_cannot_have_happened_is_in_a_vector() {
    let all = all();
    let steps = all.iter().flat_map(|(_, topic)| topic["cases"].as_array().unwrap());
    let steps = steps.flat_map(|case| case["steps"].as_array().unwrap());
    let seen = steps.filter_map(|step| step.get("inconsistent")?.as_str()).collect();
    let wanted: Vec<String> = variants("crates/kernel/src/inconsistent.rs", "Inconsistent")
        .iter()
        .map(|variant| snake(variant))
        .collect();
    assert_eq!(missing(&wanted, &seen), [""; 0]);
}

#[test]
fn every_rule_is_in_a_vector_and_every_rule_in_a_vector_is_one() {
    let all = all();
    let cases = all.iter().flat_map(|(_, topic)| topic["cases"].as_array().unwrap());
    let told: BTreeSet<&str> =
        cases.flat_map(|case| case["rules"].as_array().unwrap()).map(|rule| rule.as_str().unwrap()).collect();
    let spec = files::read("spec/lease.md");
    let rules: BTreeSet<&str> =
        spec.lines().filter_map(|line| line.strip_prefix("## ")?.split_whitespace().next()).collect();
    assert_eq!(told, rules);
}

#[test]
fn the_browser_file_stays_within_what_a_browser_has() {
    let topic = read("browser.json");
    let cases = topic["cases"].as_array().unwrap();
    for case in cases {
        assert_eq!(case["policy"], cases[0]["policy"], "one policy");
        assert_eq!(case["policy"]["again"], "refuse");
        for step in case["steps"].as_array().unwrap() {
            assert!(step.get("policy").is_none() && step.get("apply").is_none(), "{}", case["name"]);
            assert!(step["now"]["boot"].is_null(), "only the wall clock");
            let kinds = ["acquire", "renew", "release", "check"];
            let kind = step["command"]["type"].as_str();
            assert!(step.get("look").is_some() || kind.is_some_and(|kind| kinds.contains(&kind)));
            let resource = step["command"].get("resource");
            assert!(resource.is_none_or(|resource| resource == "project"), "one resource");
            assert!(step["command"].get("mode").is_none_or(|mode| mode == "exclusive"));
        }
    }
}

#[test]
fn no_two_cases_of_a_file_have_the_same_name() {
    for (file, topic) in all() {
        let mut names = BTreeSet::new();
        for case in topic["cases"].as_array().unwrap() {
            assert!(names.insert(case["name"].as_str().unwrap()), "{} is twice in {file}", case["name"]);
        }
    }
}
