//! Text that may go to a terminal: a type that cannot be made without taking away what a terminal would act on,
//! so that nothing from outside gets there as it came.

use std::fmt::{self, Display, Write as _};
use std::ops::{Add, AddAssign};

use serde::Serialize;

/// Text that a terminal can show: it has no control characters but ends of lines (and tabs, where [`Clean::page`]
/// and [`Clean::fields`] put them), colours only where [`crate::Paint`] put them, and nothing that turns its direction.
///
/// Whatever becomes one is cleaned on the way. Several are put together with `+`, so that colours stay; text that is
/// formatted anew is cleaned anew.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clean(String);

impl Clean {
    /// The text in one line, for the cells of a table and for what ends with the line.
    #[must_use]
    pub fn line(text: &str) -> Self {
        Self(one_line(text))
    }

    /// A page with its tabs, which no terminal is harmed by.
    #[must_use]
    pub fn page(text: &str) -> Self {
        Self(replaced(text, |c| acts(c) && c != '\n' && c != '\t'))
    }

    /// The value as one line of JSON. What a terminal would act on is written as escapes, which mean the same to
    /// everybody else.
    #[must_use]
    pub fn json(value: &impl Serialize) -> Self {
        Self(json_line(value))
    }

    /// A line that a script can take apart at its tabs: no field has one, nor an end of a line.
    #[must_use]
    pub fn fields(fields: &[&dyn Display]) -> Self {
        let fields: Vec<_> = fields.iter().map(|field| one_line(&field.to_string())).collect();
        Self(format!("{}\n", fields.join("\t")))
    }

    /// These, with `between` between them.
    #[must_use]
    pub fn join(all: &[Self], between: &str) -> Self {
        let all: Vec<&str> = all.iter().map(Self::as_str).collect();
        Self(all.join(&clean(between)))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// This text in a colour: the one place where a terminal is told to act.
    pub(crate) fn within(self, before: &'static str, after: &'static str) -> Self {
        Self(format!("{before}{}{after}", self.0))
    }

    /// Adds so many blanks.
    pub(crate) fn push_blanks(&mut self, number: usize) {
        self.0.extend(std::iter::repeat_n(' ', number));
    }

    /// Adds another one, which has been cleaned.
    pub(crate) fn push(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    /// Ends the line.
    pub(crate) fn push_end(&mut self) {
        self.0.push('\n');
    }

    /// The first bytes of this text, which must end between two characters.
    pub(crate) fn truncate(&mut self, end: usize) {
        self.0.truncate(end);
    }
}

impl From<&str> for Clean {
    fn from(text: &str) -> Self {
        Self(clean(text))
    }
}

impl From<String> for Clean {
    fn from(text: String) -> Self {
        if is_acted_on(&text) { Self(clean(&text)) } else { Self(text) }
    }
}

impl From<&String> for Clean {
    fn from(text: &String) -> Self {
        Self(clean(text))
    }
}

impl From<&Self> for Clean {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<Self>> Add<T> for Clean {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self += more;
        self
    }
}

impl<T: Into<Self>> AddAssign<T> for Clean {
    fn add_assign(&mut self, more: T) {
        self.0.push_str(&more.into().0);
    }
}

impl<T: Into<Self>> FromIterator<T> for Clean {
    fn from_iter<I: IntoIterator<Item = T>>(pieces: I) -> Self {
        pieces.into_iter().fold(Self::default(), Add::add)
    }
}

/// Whether a terminal acts on it: control characters, and marks that turn the direction of text.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without what a terminal would act on, as text to go on with. Its lines stay.
#[must_use]
pub fn clean(text: &str) -> String {
    if is_acted_on(text) { replaced(text, |c| acts(c) && c != '\n') } else { text.to_owned() }
}

fn replaced(text: &str, is_bad: impl Fn(char) -> bool) -> String {
    text.chars().map(|c| if is_bad(c) { '\u{fffd}' } else { c }).collect()
}

/// Whether there is something to clean.
pub(crate) fn is_acted_on(text: &str) -> bool {
    // In blocks, because nearly every text is plain, and a block without a way out is looked at all at once.
    let is_plain = |block: &[u8]| {
        block.iter().fold(true, |plain, byte| plain & (matches!(byte, b' '..=b'~') | (*byte == b'\n')))
    };
    !text.as_bytes().chunks(64).all(is_plain) && text.chars().any(|c| acts(c) && c != '\n')
}

fn one_line(text: &str) -> String {
    let text = clean(text);
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}

fn json_line(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(json) => escaped(json),
        // These are types of ours, whose keys are text: they always have a JSON form.
        #[expect(clippy::panic, reason = "an empty answer would be taken for one")]
        Err(error) => panic!("a value without a JSON form, which is a bug: {error}"),
    }
}

fn escaped(json: String) -> String {
    // JSON escapes what lies below the space, so nothing but what lies above the tilde is left.
    if json.bytes().all(|byte| byte <= b'~') {
        return json;
    }
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        if acts(c) {
            // Writing to memory cannot fail. All of these lie below U+10000.
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Clean;

    #[test]
    fn what_a_terminal_would_act_on_is_replaced() {
        let dirty = "a\x1b[31mb\u{202e}c\td\u{61c}\n";
        let expected = "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\u{fffd}\n";
        assert_eq!(Clean::from(dirty).as_str(), expected);
        assert_eq!(Clean::from(dirty.to_owned()).as_str(), expected);
        assert_eq!(Clean::from(&dirty.to_owned()).as_str(), expected);
        assert_eq!((Clean::default() + dirty).as_str(), expected);
        assert_eq!([dirty].into_iter().collect::<Clean>().as_str(), expected);
        assert_eq!(Clean::join(&["x".into(), "y".into()], "\x1b").as_str(), "x\u{fffd}y");
        assert_eq!(Clean::from("ümläut\n").as_str(), "ümläut\n");
        assert_eq!(Clean::line("a\nb\x07").as_str(), "a b\u{fffd}");
        assert_eq!(Clean::page("a\tb\x07\n").as_str(), "a\tb\u{fffd}\n");
    }

    #[test]
    fn what_is_wrong_is_found_wherever_it_stands() {
        for before in [0, 1, 63, 64, 65, 200] {
            for dirt in ["\x1b", "\x7f", "\u{85}", "\u{202e}"] {
                let text = format!("{}{dirt}x", "y".repeat(before));
                let clean = format!("{}\u{fffd}x", "y".repeat(before));
                assert_eq!(Clean::from(text).as_str(), clean, "{before} {dirt:?}");
            }
        }
    }

    #[test]
    fn a_field_cannot_look_like_two() {
        assert_eq!(Clean::fields(&[&"a\tb", &"c\nd", &7]).as_str(), "a\u{fffd}b\tc d\t7\n");
    }

    #[test]
    fn json_says_the_same_without_it() {
        for (text, line) in [
            ("ann\u{202e}\u{85}ü", "{\"owner\":\"ann\\u202e\\u0085ü\"}"),
            ("\x7f", "{\"owner\":\"\\u007f\"}"),
            ("a\x1b\n", "{\"owner\":\"a\\u001b\\n\"}"),
        ] {
            let value = json!({ "owner": text });
            assert_eq!(Clean::json(&value).as_str(), line);
            assert_eq!(serde_json::from_str::<Value>(line).unwrap(), value);
        }
    }
}
