//! Keeps `spec/lease.md` executable: every rule names what holds it, and all of that is there.

use serde_json::Value;

use crate::support::files::{list, read};

struct Rule {
    id: String,
    paragraphs: usize,
    tests: Vec<String>,
    vectors: Vec<String>,
}

fn rules() -> Vec<Rule> {
    read("spec/lease.md").split("\n## ").skip(1).map(rule).collect()
}

fn rule(section: &str) -> Rule {
    let (title, body) = section.split_once('\n').unwrap();
    let (text, held) = body.split_once("\nTests: ").unwrap_or((body, ""));
    let (tests, vectors) = held.split_once("\nVectors: ").unwrap_or((held, ""));
    Rule {
        id: title.split_whitespace().next().unwrap().to_owned(),
        paragraphs: text.trim().split("\n\n").count(),
        tests: quoted(tests),
        vectors: quoted(vectors),
    }
}

fn quoted(text: &str) -> Vec<String> {
    text.split('`').enumerate().filter(|(n, _)| n % 2 == 1).map(|(_, name)| name.to_owned()).collect()
}

/// Whether the file has a test function of that name.
fn is_test(source: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&head))
}

fn is_vector(topic: &str, case: &str, rule: &str) -> bool {
    let file = format!("{topic}.json");
    if !list("spec/vectors", ".json").contains(&file) {
        return false;
    }
    let topic: Value = serde_json::from_str(&read(&format!("spec/vectors/{file}"))).unwrap();
    let named = |one: &&Value| one["name"] == case;
    let told = topic["cases"].as_array().unwrap().iter().find(named);
    told.is_some_and(|case| case["rules"].as_array().unwrap().iter().any(|id| id == rule))
}

#[test]
fn rules_are_numbered_one_paragraph_each_and_held_by_something() {
    let rules = rules();
    assert!(rules.len() > 30, "the page was not understood");
    for (n, rule) in (1..).zip(&rules) {
        assert_eq!(rule.id, format!("L-{n}"));
        assert_eq!(rule.paragraphs, 1, "{} is one short paragraph", rule.id);
        assert!(!rule.tests.is_empty(), "{} names no test", rule.id);
        assert!(!rule.vectors.is_empty(), "{} names no vector", rule.id);
    }
}

#[test]
fn whatever_holds_a_rule_is_there() {
    for rule in rules() {
        for name in &rule.tests {
            let (file, test) = name.split_once("::").expect("file::test");
            assert!(is_test(&read(file), test), "{} is held by `{name}`, which is not there", rule.id);
        }
        for name in &rule.vectors {
            let (topic, case) = name.split_once('/').expect("topic/case");
            let there = is_vector(topic, case, &rule.id);
            assert!(there, "{} is held by `{name}`, which is not there or does not name the rule", rule.id);
        }
    }
}

#[test]
fn a_test_is_found_only_under_its_own_name() {
    let source = "#[test]\n    fn one_thing() {}\n\nfn helper() {}\n";
    assert!(is_test(source, "one_thing"));
    assert!(!is_test(source, "one"));
    assert!(!is_test(source, "helper"));
    assert!(!is_vector("exclusive", "one_of_two_gets_it", "L-2"));
    assert!(!is_vector("nothing", "one_of_two_gets_it", "L-1"));
}
