//! The specification is executable, and so is the page of guarantees: every numbered rule names the tests that hold it, and they exist.
//!
//! A rule starts with a mark and its number (`## L-12`, `**L-12**`, `- L-12`, `| L-12`) and reaches to the next
//! rule or heading. In it stands `Held by: ` or `Test: `, and up to the end of that paragraph, in backquotes,
//! names of tests (`name` or `path/to/file.rs::name`) or of vectors (`vector topic/case`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Finding, Tree};

/// What is promised to users, on one page.
const GUARANTEES: &str = "docs/guarantees.md";

/// Rules without a test, with a test that is not there, or with a number that is taken.
pub(super) fn untested_rules(tree: &Tree) -> Vec<Finding> {
    let known = Known::of(tree);
    let mut findings = Vec::new();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    let pages =
        tree.with_ending(&[".md"]).filter(|(path, _)| path.starts_with("spec/") || *path == GUARANTEES);
    for (path, text) in pages {
        for rule in rules(text) {
            let finding = |what: String| Finding::new(path, rule.line, format!("{} {what}", rule.number));
            if let Some(there) = places.insert(rule.number.clone(), format!("{path}:{}", rule.line)) {
                findings.push(finding(format!("is there twice, also at {there}")));
            }
            let named = named_tests(&rule.text);
            if named.is_empty() {
                findings.push(finding("names no test".into()));
            }
            let missing = named.iter().filter(|name| !known.has(name));
            findings.extend(missing.map(|name| finding(format!("names `{name}`, which is not there"))));
        }
    }
    findings
}

struct Rule {
    number: String,
    line: usize,
    text: String,
}

fn rules(page: &str) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut open = false;
    for (index, line) in page.lines().enumerate() {
        if let Some(number) = number(line) {
            rules.push(Rule { number, line: index + 1, text: String::new() });
            open = true;
        } else if line.starts_with('#') {
            open = false;
        }
        if let Some(rule) = rules.last_mut().filter(|_| open) {
            rule.text.push_str(line);
            rule.text.push('\n');
        }
    }
    rules
}

/// The number that a line starts with, after a mark: what begins a line by chance is no rule.
fn number(line: &str) -> Option<String> {
    let start =
        line.starts_with(['#', '*', '|', '-']).then(|| line.trim_start_matches(['#', '*', '|', '-', ' ']))?;
    let (prefix, rest) = start.split_once('-')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let ends = rest.get(digits.len()..)?.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '-');
    let is_prefix = (1..=3).contains(&prefix.len()) && prefix.chars().all(|c| c.is_ascii_uppercase());
    (is_prefix && !digits.is_empty() && ends).then(|| format!("{prefix}-{digits}"))
}

/// The names in backquotes behind the words that announce them.
fn named_tests(rule: &str) -> Vec<&str> {
    let announced =
        ["Held by: ", "Test: ", "Tests: "].into_iter().flat_map(|words| rule.split(words).skip(1));
    let paragraphs = announced.filter_map(|rest| rest.split("\n\n").next());
    paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2)).collect()
}

/// Everything that a rule may name.
#[derive(Default)]
struct Known<'a> {
    /// Tests, with their files.
    tests: BTreeSet<(&'a str, &'a str)>,
    /// Cases of vectors: `topic/case`.
    cases: BTreeSet<String>,
}

impl<'a> Known<'a> {
    fn of(tree: &'a Tree) -> Self {
        let mut known = Self::default();
        for (path, text) in tree.with_ending(&[".rs"]) {
            known.tests.extend(tests(text).map(|name| (path, name)));
        }
        for (path, text) in tree.with_ending(&[".json"]) {
            if let Some(topic) =
                path.strip_prefix("spec/vectors/").and_then(|path| path.strip_suffix(".json"))
            {
                known.cases.extend(cases(text).into_iter().map(|case| format!("{topic}/{case}")));
            }
        }
        known
    }

    fn has(&self, name: &str) -> bool {
        if let Some(case) = name.strip_prefix("vector ") {
            return self.cases.contains(case);
        }
        match name.split_once(".rs::") {
            Some((file, test)) => self.tests.contains(&(format!("{file}.rs").as_str(), test)),
            None => self.tests.iter().any(|(_, test)| *test == name),
        }
    }
}

/// The tests of a source file: functions below an attribute that makes them one.
fn tests(text: &str) -> impl Iterator<Item = &str> {
    let mut marked = false;
    text.lines().map(str::trim).filter_map(move |line| {
        marked |= line == "#[test]" || line.starts_with("#[rstest");
        let name = line.strip_prefix("fn ").and_then(|rest| rest.split(['(', '<']).next())?;
        std::mem::take(&mut marked).then_some(name)
    })
}

/// The names of a file's vectors.
fn cases(text: &str) -> Vec<String> {
    let page: Value = serde_json::from_str(text).unwrap_or_default();
    let cases = page.get("cases").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    cases.iter().filter_map(|case| case.get("name")?.as_str()).map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let source = "#[test]\nfn it_holds() {}\nfn it_helps() {}\n";
        let vectors = r#"{"cases":[{"name":"one_of_two"}]}"#;
        let tree =
            Tree::of(&[("spec/a.md", page), ("a/tests/a.rs", source), ("spec/vectors/v.json", vectors)]);
        untested_rules(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_rule_with_its_test_passes_in_every_shape() {
        for page in [
            "### L-1 One writer\n\nText.\n\nTest: `it_holds`\n",
            "**L-1** Text. Held by: `a/tests/a.rs::it_holds`, `vector v/one_of_two`.\n",
            "| L-1 | Text. Tests: `it_holds` |\n",
            "No rule here, though a line may begin with\nL-1 in passing.\n",
        ] {
            assert!(found(page).is_empty(), "{page}");
        }
    }

    #[test]
    fn a_rule_without_a_test_or_with_a_wrong_one_is_found() {
        assert_eq!(found("### L-1 Text\n\n## Other\nTest: `it_holds`\n"), ["L-1 names no test"]);
        assert_eq!(found("- D-7 Text\n- D-8 Test: `it_holds`\n"), ["D-7 names no test"]);
        for wrong in
            ["gone", "it_helps", "b/tests/a.rs::it_holds", "vector v/two_of_one", "vector w/one_of_two"]
        {
            let page = format!("- L-1 Test: `it_holds`, `{wrong}`\n");
            assert_eq!(found(&page), [format!("L-1 names `{wrong}`, which is not there")]);
        }
    }

    #[test]
    fn a_number_that_is_taken_is_found() {
        let twice = "- L-1 Test: `it_holds`\n- L-1 Test: `it_holds`\n";
        assert_eq!(found(twice), ["L-1 is there twice, also at spec/a.md:1"]);
    }
}
