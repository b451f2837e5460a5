//! Whoever tells refusals apart names all of them. A catch-all arm would give a new refusal of the kernel the
//! exit code, the text or the retry of its neighbours, and no compiler would say a word.

use super::{Finding, Tree};

/// Where a test may look for one refusal and be content with "another one".
const TESTS: [&str; 4] = ["/tests/", "/tests.rs", "/conformance/", "crates/hostile/"];

const WHAT: &str = "a catch-all arm beside refusals: name every refusal, or ask for one with `if let`";

/// Arms for "all other" refusals.
pub(super) fn catch_alls(tree: &Tree) -> Vec<Finding> {
    let sources =
        tree.with_ending(&[".rs"]).filter(|(path, _)| !TESTS.iter().any(|part| path.contains(part)));
    sources.flat_map(|(path, text)| in_source(path, text)).collect()
}

fn in_source(path: &str, text: &str) -> Vec<Finding> {
    // Unit tests stand at the end of a file.
    let source = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines: Vec<&str> = source.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| begins_match(line));
    starts
        .filter_map(|(at, line)| catch_all(&lines, at, indent(line)))
        .map(|line| Finding::new(path, line, WHAT))
        .collect()
}

fn begins_match(line: &str) -> bool {
    line.ends_with('{') && line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "match")
}

/// The number of the line with the catch-all, if the match that begins at `start` tells refusals apart. The
/// sources are formatted, so its arms are one step further in than the match itself.
fn catch_all(lines: &[&str], start: usize, depth: usize) -> Option<usize> {
    let body = lines.iter().enumerate().skip(start + 1);
    let inside = body.take_while(|(_, line)| line.is_empty() || indent(line) > depth);
    let arms: Vec<(usize, &str)> = inside
        .filter(|(_, line)| indent(line) == depth + 4)
        .map(|(at, line)| (at + 1, line.trim_start().split(" =>").next().unwrap_or_default()))
        .collect();
    let refusals =
        arms.iter().any(|(_, pattern)| pattern.contains("Refusal::") || pattern.contains("RefusalKind::"));
    let all = arms.iter().find(|(_, pattern)| is_catch_all(pattern));
    all.filter(|_| refusals).map(|(line, _)| *line)
}

fn is_catch_all(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAREFUL: &str = "fn f() {
    match refusal {
        Refusal::Held { .. }
        | Refusal::Stale { .. } => match other {
            1 => 2,
            _ => 3,
        },
        Refusal::NotFound { .. } => 4,
    }
}
";

    #[test]
    fn a_catch_all_beside_refusals_is_found() {
        let careless = CAREFUL.replace("Refusal::NotFound { .. } => 4", "_ => 4");
        let named = CAREFUL.replace("Refusal::NotFound { .. } => 4", "other => g(other)");
        let tree = Tree::of(&[
            ("crates/a/src/careful.rs", CAREFUL),
            ("crates/a/src/careless.rs", &careless),
            ("crates/a/src/named.rs", &named),
            ("crates/a/tests/careless.rs", &careless),
            ("crates/a/src/tested.rs", &format!("#[cfg(test)]\n{careless}")),
        ]);
        let found: Vec<String> = catch_alls(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [format!("crates/a/src/careless.rs:8: {WHAT}"), format!("crates/a/src/named.rs:8: {WHAT}")]
        );
    }
}
