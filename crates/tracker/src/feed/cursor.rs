//! How far each log was read, as a text that can be given back.

use std::collections::BTreeMap;
use std::fmt;

use super::tail::Line;
use super::{CLAIMS, Happened, Kind};

/// More than the cursor of a thousand worktrees.
const LONGEST: usize = 64 << 10;

/// How far each log was read: the mark of its last line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Cursor(BTreeMap<String, String>);

impl Cursor {
    /// The cursor that a text is.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let body = text.strip_prefix("1~").filter(|_| text.len() <= LONGEST)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let mut marks = BTreeMap::new();
        for part in body.split('~').filter(|part| !part.is_empty()) {
            let (name, mark) = part.split_once('.')?;
            if name.is_empty() || mark.is_empty() || !name.chars().all(fits) || !mark.chars().all(fits) {
                return None;
            }
            marks.insert(name.to_owned(), mark.to_owned());
        }
        Some(Self(marks))
    }

    /// Whether it can be an earlier place of a stream that is here: it names no log that is not there, and no claim that
    /// has not happened.
    pub(super) fn is_within(&self, here: &Self) -> bool {
        self.0.keys().all(|name| here.0.contains_key(name))
            && self.number(CLAIMS).is_none_or(|number| here.number(CLAIMS).is_some_and(|now| number <= now))
    }

    /// The mark of the last line of a log.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The same as a number, if it is one.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// Goes past a line; nothing happened if it was passed before.
    pub(super) fn pass(&mut self, name: &str, line: Line) -> Option<Happened> {
        if name == CLAIMS
            && let (Some(last), Ok(next)) = (self.number(name), line.mark.parse::<u64>())
            && next <= last
        {
            return None;
        }
        self.0.insert(name.to_owned(), line.mark);
        let kind = if name == CLAIMS { Kind::Claim } else { Kind::Issue };
        Some(Happened { cursor: self.to_string(), kind, event: line.event })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("1~")?;
        self.0.iter().try_for_each(|(name, mark)| write!(f, "{name}.{mark}~"))
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_cursor_is_its_text() {
        for text in ["1~", "1~control.17~", "1~control.17~wt-1a2b3c4d.01K8ZZZZZZ0000000000000001~"] {
            assert_eq!(Cursor::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_cursor_is_told() {
        let long = format!("1~{}", "control.1~".repeat(10_000));
        for text in ["", "17", "2~", "1~control", "1~.5", "1~a.", "1~../x.5~", "1~a.b c~", "1~a.1.2~", &long]
        {
            assert_eq!(Cursor::parse(text), None, "{text:.40}");
        }
    }

    #[test]
    fn a_cursor_from_elsewhere_is_told() {
        let here = Cursor::parse("1~control.17~wt-1.A~").unwrap();
        for (text, within) in
            [("1~control.17~", true), ("1~control.18~", false), ("1~wt-2.A~", false), ("1~", true)]
        {
            assert_eq!(Cursor::parse(text).unwrap().is_within(&here), within, "{text}");
        }
    }
}
