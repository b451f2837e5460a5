//! Patterns as plainly as can be, to hold the kernel's against: every way is tried.

#[expect(clippy::indexing_slicing, reason = "shared with tests of the kernel, where it is allowed")]
#[path = "../../kernel/tests/support/paths.rs"]
mod plain;

/// How long a path is tried: more than the short patterns need that this is asked for.
const LONGEST: usize = 5;

/// Whether a pattern matches a path.
#[must_use]
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    path.split('/').all(|segment| !segment.is_empty()) && plain::matches(pattern, path)
}

/// Whether some short path matches both, by trying all that can be made of their own letters.
#[must_use]
pub(crate) fn common_path(one: &str, two: &str) -> bool {
    let fixed = |letter: &char| !['*', '?'].contains(letter);
    let mut alphabet: Vec<char> = one.chars().chain(two.chars()).filter(fixed).chain(['x', '/']).collect();
    alphabet.sort_unstable();
    alphabet.dedup();
    search(one, two, &alphabet, &mut String::new(), LONGEST)
}

fn search(one: &str, two: &str, alphabet: &[char], path: &mut String, left: usize) -> bool {
    if matches(one, path) && matches(two, path) {
        return true;
    }
    left > 0
        && alphabet.iter().any(|letter| {
            path.push(*letter);
            let found = search(one, two, alphabet, path, left - 1);
            path.pop();
            found
        })
}
