//! The specification is executable: every numbered rule names the tests that hold it, and they exist.
//!
//! A rule starts with its number (`L-12`), whatever marks stand before it, and reaches to the next rule or
//! heading. Somewhere in it stands `Test: ` or `Tests: ` and then the names in backquotes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Tree};

/// Rules without a test, with a test that is not there, or with a number that is taken.
pub(super) fn untested_rules(tree: &Tree) -> Vec<Finding> {
    let tests = tests(tree);
    let mut findings = Vec::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for (path, text) in tree.with_ending(&[".md"]).filter(|(path, _)| path.starts_with("spec/")) {
        for rule in rules(text) {
            let finding = |what: String| Finding::new(path, rule.line, format!("{} {what}", rule.number));
            if let Some(there) = known.insert(rule.number.clone(), format!("{path}:{}", rule.line)) {
                findings.push(finding(format!("is there twice, also at {there}")));
            }
            let named = named_tests(&rule.text);
            if named.is_empty() {
                findings.push(finding("names no test".into()));
            }
            let missing = named.iter().filter(|name| !tests.contains(last_part(name)));
            findings
                .extend(missing.map(|name| finding(format!("names the test `{name}`, which is not there"))));
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

/// The number that a line starts with: `### L-3 …`, `**L-3** …`, `- L-3: …`, `| L-3 | …`.
fn number(line: &str) -> Option<String> {
    let start = line.trim_start_matches(|c: char| "#*|-`_ ".contains(c));
    let (prefix, rest) = start.split_once('-')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let ends = rest.get(digits.len()..)?.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '-');
    let is_prefix = (1..=3).contains(&prefix.len()) && prefix.chars().all(|c| c.is_ascii_uppercase());
    (is_prefix && !digits.is_empty() && ends).then(|| format!("{prefix}-{digits}"))
}

/// The names in backquotes after `Test:` or `Tests:`, up to the end of the paragraph.
fn named_tests(rule: &str) -> Vec<&str> {
    let clause = |marker| rule.split(marker).skip(1).filter_map(|rest: &str| rest.split("\n\n").next());
    let quoted = |text: &'_ str| -> Vec<(usize, usize)> {
        let marks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
        marks.chunks_exact(2).filter_map(|pair| Some((*pair.first()? + 1, *pair.last()?))).collect()
    };
    let clauses = clause("Test: ").chain(clause("Tests: "));
    clauses.flat_map(|text| quoted(text).into_iter().filter_map(|(from, to)| text.get(from..to))).collect()
}

/// A test may be named with its file or module: `decide::over_is_over`.
fn last_part(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The names of all tests: functions below an attribute that makes them one.
fn tests(tree: &Tree) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (_, text) in tree.with_ending(&[".rs"]) {
        let mut marked = false;
        for line in text.lines().map(str::trim) {
            marked |= line == "#[test]" || line.starts_with("#[test_case") || line.starts_with("#[rstest");
            if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split(['(', '<']).next()) {
                if marked {
                    names.insert(name);
                }
                marked = false;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let source = "#[test]\nfn it_holds() {}\nfn it_helps() {}\n";
        let tree = Tree::of(&[("spec/a.md", page), ("crates/a/tests/a.rs", source)]);
        untested_rules(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_rule_with_its_test_passes_in_every_shape() {
        for page in [
            "### L-1 One writer\n\nText.\n\nTest: `it_holds`\n",
            "**L-1** Text. Tests: `a::it_holds`, `it_holds`.\n",
            "| L-1 | Text. Test: `it_holds` |\n",
            "No rule here, only L-1 in passing.\n",
        ] {
            assert!(found(page).is_empty(), "{page}");
        }
    }

    #[test]
    fn a_rule_without_a_test_or_with_a_wrong_one_is_found() {
        assert_eq!(found("### L-1 Text\n\n## Other\nTest: `it_holds`\n"), ["L-1 names no test"]);
        assert_eq!(found("- L-1 Test: `gone`\n"), ["L-1 names the test `gone`, which is not there"]);
        assert_eq!(found("- L-1 Test: `it_helps`\n").len(), 1);
        assert_eq!(found("- D-7 Text\n- D-8 Test: `it_holds`\n"), ["D-7 names no test"]);
    }

    #[test]
    fn a_number_that_is_taken_is_found() {
        let twice = "- L-1 Test: `it_holds`\n- L-1 Test: `it_holds`\n";
        assert_eq!(found(twice), ["L-1 is there twice, also at spec/a.md:1"]);
    }
}
