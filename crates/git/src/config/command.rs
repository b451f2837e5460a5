//! Configuration that a command brings along in its environment: `GIT_CONFIG_COUNT` and its pairs, and
//! the `GIT_CONFIG_PARAMETERS` in which `git -c key=value` hands its own to the hooks that it starts.

use std::os::unix::ffi::OsStrExt;

use crate::paths::is_space;
use crate::syntax::Assignment;
use crate::{Environment, Error, Result};

/// What the command sets, in order.
pub(super) fn assignments(env: &Environment) -> Result<Vec<Assignment>> {
    let mut found = Vec::new();
    for (key, value) in &env.config_pairs {
        let key = canonical(key.as_bytes()).ok_or_else(|| bad("GIT_CONFIG_COUNT"))?;
        found.push(Assignment { key, value: Some(value.as_bytes().to_vec()), line: 0 });
    }
    let parameters = env.config_parameters.as_ref().map(|text| text.as_bytes()).unwrap_or_default();
    parameters_into(&mut found, parameters).ok_or_else(|| bad("GIT_CONFIG_PARAMETERS"))?;
    Ok(found)
}

fn bad(variable: &str) -> Error {
    Error::ConfigSyntax { origin: variable.into(), line: 1 }
}

/// Adds the assignments of a list such as `'a.b'='c' 'd.e'= 'f.g=h'`; none if it is not such a list.
fn parameters_into(found: &mut Vec<Assignment>, mut text: &[u8]) -> Option<()> {
    while !text.is_empty() {
        let (word, rest) = dequoted(text)?;
        let (key, value, rest) = match rest {
            [b'=', b'\'', ..] => {
                let (value, rest) = dequoted(rest.get(1..)?)?;
                (word, Some(value), rest)
            }
            [b'=', rest @ ..] => (word, None, rest),
            // The form of old versions: one word holds both.
            _ => match word.iter().position(|byte| *byte == b'=') {
                Some(at) => (word.get(..at)?.to_vec(), Some(word.get(at + 1..)?.to_vec()), rest),
                None => (word, None, rest),
            },
        };
        if rest.first().is_some_and(|byte| !is_space(*byte)) {
            return None;
        }
        found.push(Assignment { key: canonical(&key)?, value, line: 0 });
        let next = rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
        text = rest.get(next..)?;
    }
    Some(())
}

/// The word in single quotes that `text` begins with, and what follows it. A quote or an exclamation mark
/// within stands outside of the quotes, behind a backslash.
fn dequoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"'")?;
    let mut word = Vec::new();
    loop {
        let end = rest.iter().position(|byte| *byte == b'\'')?;
        word.extend(rest.get(..end)?);
        rest = rest.get(end + 1..)?;
        let [b'\\', escaped @ (b'\'' | b'!'), b'\'', more @ ..] = rest else { return Some((word, rest)) };
        word.push(*escaped);
        rest = more;
    }
}

/// The key with its section and name in lower case; none if it is not a key.
fn canonical(key: &[u8]) -> Option<Vec<u8>> {
    let first = key.iter().position(|byte| *byte == b'.')?;
    let last = key.iter().rposition(|byte| *byte == b'.')?;
    let plain = |part: &[u8]| part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let (section, name) = (key.get(..first)?, key.get(last + 1..)?);
    if section.is_empty() || !plain(section) || !plain(name) || !name.first()?.is_ascii_alphabetic() {
        return None;
    }
    let mut lower = section.to_ascii_lowercase();
    lower.extend(key.get(first..=last)?);
    lower.extend(name.to_ascii_lowercase());
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, Option<String>)>> {
        let mut found = Vec::new();
        parameters_into(&mut found, text.as_bytes())?;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Some(found.into_iter().map(|set| (text(set.key), set.value.map(text))).collect())
    }

    #[test]
    fn parameters_in_both_forms() {
        let both = read("'Core.HooksPath'='/a b' 'x.y'= 'p.Q.r=s=t' 'u.v'").unwrap();
        let known = [("core.hookspath", Some("/a b")), ("x.y", None), ("p.Q.r", Some("s=t")), ("u.v", None)];
        let known = known.map(|(key, value)| (key.to_owned(), value.map(str::to_owned)));
        assert_eq!(both, known);
    }

    #[test]
    fn quotes_within_quotes() {
        let odd = read(r"'a.b'='it'\''s'\!''").unwrap();
        assert_eq!(odd, [("a.b".to_owned(), Some("it's!".to_owned()))]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["a.b", "'a.b", "'a.b'='c", "'ab'='c'", "'a.b'x", "'a.b'='c'x", "'.b'='c'", "'a.1'='c'"] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
