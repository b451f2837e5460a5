//! Patterns once more, as plainly as can be: what they match, by trying every way.

/// Whether a pattern matches a path.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    segments(&pattern, &path)
}

fn segments(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        // At the end it stands for one segment at least.
        (["**"], path) => !path.is_empty(),
        (["**", rest @ ..], path) => (0..=path.len()).any(|taken| segments(rest, &path[taken..])),
        ([first, rest @ ..], [segment, path @ ..]) => {
            let (first, segment): (Vec<char>, Vec<char>) =
                (first.chars().collect(), segment.chars().collect());
            letters(&first, &segment) && segments(rest, path)
        }
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

fn letters(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', rest @ ..], text) => (0..=text.len()).any(|taken| letters(rest, &text[taken..])),
        (['?', rest @ ..], [_, text @ ..]) => letters(rest, text),
        ([letter, rest @ ..], [same, text @ ..]) => letter == same && letters(rest, text),
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}
