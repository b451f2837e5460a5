//! Places that belong together and that no compiler ties to each other: what is added at one of them must not be
//! forgotten at the other. CONTRIBUTING.md has the lists; these are the entries that need a rule.

use super::{Finding, Tree};

/// What the types of events begin with.
const KINDS: [&str; 5] = ["claim.", "dep.", "doc.", "gate.", "issue."];
/// Where they are written down.
const EVENTS: &str = "spec/issue-format.md";

/// Events that the specification does not list.
pub(super) fn unlisted_events(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(EVENTS) else { return vec![Finding::new(EVENTS, 0, "it is missing")] };
    let sources = tree.with_ending(&[".rs"]).filter(|(path, _)| path.starts_with("crates/tracker/src/"));
    let mut findings = Vec::new();
    for (path, text) in sources.filter(|(path, _)| !path.contains("/tests")) {
        // Unit tests stand at the end of a file.
        let source = text.split("#[cfg(test)]").next().unwrap_or(text);
        for (number, line) in source.lines().enumerate() {
            let events = line.split('"').skip(1).step_by(2).filter(|word| is_event(word));
            let unlisted = events.filter(|event| !page.contains(&format!("`{event}`")));
            findings.extend(
                unlisted.map(|event| Finding::new(path, number + 1, format!("`{event}` is not in {EVENTS}"))),
            );
        }
    }
    findings
}

fn is_event(word: &str) -> bool {
    let rest = KINDS.iter().find_map(|kind| word.strip_prefix(kind));
    rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase()))
}

/// Media that are not held to the suite that every medium has to pass.
pub(super) fn untried_media(tree: &Tree) -> Vec<Finding> {
    let suites: Vec<&str> = tree
        .with_ending(&[".rs"])
        .filter(|(path, text)| path.contains("/tests/") && text.contains("conformance::"))
        .map(|(_, text)| text)
        .collect();
    let mut findings = Vec::new();
    // Those of the simulator are broken on purpose.
    let shipped = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    for (path, text) in tree.with_ending(&[".rs"]).filter(|(path, _)| shipped(path)) {
        for (number, line) in text.lines().enumerate() {
            let Some(name) = line.strip_prefix("impl Medium for ") else { continue };
            let name = name.trim_end_matches([' ', '{']);
            let is_here = |suite: &&str| suite.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
            if !path.starts_with("crates/sim/") && !suites.iter().any(is_here) {
                let what = format!("no test holds the medium {name} to `holdfast_store::conformance`");
                findings.push(Finding::new(path, number + 1, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_is_not_listed_is_found() {
        let source = "fn f() {\n    event(\"issue.created\", \"gate.lost\", \"doc.Added\");\n}\n";
        let tests = "#[cfg(test)]\nmod tests {\n    const A: &str = \"issue.other\";\n}\n";
        let tree = Tree::of(&[
            ("crates/tracker/src/a.rs", &format!("{source}{tests}")),
            ("crates/jit/src/b.rs", source),
            (EVENTS, "Types: `issue.created`."),
        ]);
        let found: Vec<String> = unlisted_events(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found, [format!("crates/tracker/src/a.rs:2: `gate.lost` is not in {EVENTS}")]);
    }

    #[test]
    fn a_medium_that_no_suite_names_is_found() {
        let tree = Tree::of(&[
            ("crates/store/src/log.rs", "impl Medium for Log {\n}\n"),
            ("crates/store/src/new.rs", "impl Medium for Remote {\n}\n"),
            ("crates/sim/src/broken.rs", "impl Medium for Broken {\n}\n"),
            (
                "crates/store/tests/log.rs",
                "use holdfast_store::conformance::run;\nuse holdfast_store::log::Log;\n",
            ),
        ]);
        let found: Vec<String> = untried_media(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["crates/store/src/new.rs:1: no test holds the medium Remote to `holdfast_store::conformance`"]
        );
    }
}
