//! Words that must not be committed. The words are written here in halves, so that this file passes its
//! own rules.

use super::{Finding, Tree};

/// Notes to oneself, and the macros that stand for them.
const LEFT_TO_DO: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("to", "do!"),
    concat!("unimpl", "emented!"),
];

/// What switches a test off, or every other one.
const SWITCHED_OFF: [&str; 5] = [
    concat!("#[", "ignore"),
    concat!(".sk", "ip("),
    concat!(".on", "ly("),
    concat!("xi", "t("),
    concat!("xde", "scribe("),
];

/// Where people and machines keep their own things.
const MACHINE: [&str; 4] =
    [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

/// Parts of the names of hosts that packages are fetched from: where they are is a setting of whoever
/// builds, not of the repository.
const REGISTRY: [&str; 6] = ["registry", "artifactory", "nexus", "mirror", "pypi", "index.crates"];

/// Notes to oneself.
pub(super) fn left_to_do(tree: &Tree) -> Vec<Finding> {
    let word = |line: &str| LEFT_TO_DO.into_iter().find(|word| has_word(line, word));
    in_lines(tree, &[""], |line| word(line).map(|word| format!("`{word}`: do it, or let it be")))
}

/// Tests that do not run, in Rust and in TypeScript.
pub(super) fn switched_off(tree: &Tree) -> Vec<Finding> {
    let rust = in_lines(tree, &[".rs"], |line| {
        let ignored = SWITCHED_OFF.into_iter().take(1).find(|word| line.contains(word));
        ignored.map(|word| format!("`{word}`: a test that does not run is no test"))
    });
    let script = in_lines(tree, &[".test.ts", ".spec.ts", ".test.mjs"], |line| {
        let off = SWITCHED_OFF.into_iter().skip(1).find(|word| has_word(line, word));
        off.map(|word| format!("`{word}`: every test runs, and all of them"))
    });
    rust.into_iter().chain(script).collect()
}

/// Paths that exist on one machine only.
pub(super) fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let path = |line: &str| MACHINE.into_iter().find(|path| has_absolute(line, path));
    in_lines(tree, &[""], |line| path(line).map(|path| format!("`{path}…` is a path of somebody's machine")))
}

/// Addresses of package registries.
pub(super) fn registry_hosts(tree: &Tree) -> Vec<Finding> {
    in_lines(tree, &[""], |line| {
        let host = hosts(line).find(|host| REGISTRY.iter().any(|part| host.contains(part)))?;
        Some(format!("`{host}`: where packages come from is the builder's setting"))
    })
}

fn in_lines(tree: &Tree, endings: &[&str], find: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_ending(endings) {
        for (number, line) in text.lines().enumerate() {
            findings.extend(find(line).map(|what| Finding::new(path, number + 1, what)));
        }
    }
    findings
}

/// Whether the word stands in the line and not inside a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let open = |c: Option<char>| c.is_none_or(|c| !in_word(c));
    let ends_open = word.ends_with(|c| !in_word(c));
    let starts_open = word.starts_with(|c| !in_word(c));
    line.match_indices(word).any(|(at, _)| {
        let (before, after) =
            (line.get(..at).unwrap_or_default(), line.get(at + word.len()..).unwrap_or_default());
        (starts_open || open(before.chars().next_back())) && (ends_open || open(after.chars().next()))
    })
}

/// Whether the line holds this path from the root on, and not a piece of a longer path or address.
fn has_absolute(line: &str, path: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "/._-}>*~".contains(c);
    line.match_indices(path)
        .any(|(at, _)| !line.get(..at).unwrap_or_default().chars().next_back().is_some_and(inside))
}

/// The hosts of the addresses in a line.
fn hosts(line: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || "/?#\"'`<>)".contains(c);
    line.split("://").skip(1).filter_map(move |address| address.split(ends).next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: fn(&Tree) -> Vec<Finding>, path: &str, line: &str) -> bool {
        !rule(&Tree::of(&[(path, line)])).is_empty()
    }

    #[test]
    fn notes_to_oneself_are_found_and_longer_words_are_not() {
        for word in LEFT_TO_DO {
            assert!(found(left_to_do, "a.rs", &format!("    // {word}: later")), "{word}");
        }
        assert!(!found(left_to_do, "a.sh", &format!("mktemp a.{0}{0}", LEFT_TO_DO[2])));
        assert!(!found(left_to_do, "a.md", "what there is to do"));
    }

    #[test]
    fn tests_that_do_not_run_are_found() {
        assert!(found(switched_off, "a.rs", &format!("{}]", SWITCHED_OFF[0])));
        assert!(found(switched_off, "a.test.ts", &format!("it{}'x')", SWITCHED_OFF[1])));
        assert!(found(switched_off, "a.test.ts", &format!("  {}'x')", SWITCHED_OFF[3])));
        assert!(!found(switched_off, "a.rs", "words.iter().skip(1)"));
        assert!(!found(switched_off, "a.test.ts", "await exit('x')"));
    }

    #[test]
    fn paths_of_a_machine_are_found_and_pieces_of_paths_are_not() {
        for path in MACHINE {
            assert!(found(machine_paths, "a.md", &format!("see `{path}x`")), "{path}");
            assert!(!found(machine_paths, "a.md", &format!("see `src{path}x`")), "{path}");
        }
    }

    #[test]
    fn hosts_of_registries_are_found_and_the_index_is_not() {
        let host = concat!("https://regi", "stry.example.org/x");
        assert!(found(registry_hosts, "package-lock.json", &format!("\"resolved\": \"{host}\"")));
        assert!(!found(
            registry_hosts,
            "Cargo.lock",
            "source = \"registry+https://github.com/rust-lang/crates.io-index\""
        ));
        assert!(!found(registry_hosts, "a.md", "<https://docs.rs/registry>"));
    }
}
