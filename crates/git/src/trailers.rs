//! Trailers of a commit message: the `Key: value` lines of its last paragraph, by the rules of
//! `git interpret-trailers`. Where git's rules are odd they are kept, because git is who reads them next.

mod block;

use std::collections::BTreeSet;
use std::fmt;

use crate::Config;
use crate::config::Entry;
use block::{Block, Line};

/// How a message is read.
#[derive(Clone, Debug)]
pub struct Style {
    /// What a comment line begins with. Not empty.
    pub comment: Vec<u8>,
    /// Whether a line `---` ends the message, as in a mailed patch. Never in a commit.
    pub divider: bool,
}

impl Default for Style {
    /// Of a commit: comments begin with `#`, and `---` means nothing.
    fn default() -> Self {
        Self { comment: b"#".to_vec(), divider: false }
    }
}

impl Style {
    /// Of a commit, with the comment mark that is configured. `auto` lets git pick one for each message that
    /// it opens in an editor; `#` stands for it, as it does for git everywhere else.
    #[must_use]
    pub fn configured(config: &Config) -> Self {
        let is_mark = |entry: &&Entry| matches!(&entry.key[..], b"core.commentchar" | b"core.commentstring");
        let mark = config.entries().iter().rev().find(is_mark).and_then(|entry| entry.value.clone());
        let mark = mark.filter(|mark| !mark.is_empty() && mark != b"auto");
        mark.map_or_else(Self::default, |comment| Self { comment, divider: false })
    }
}

/// One trailer.
#[derive(Clone, PartialEq, Eq)]
pub struct Trailer {
    /// Its key. Case means nothing in a key.
    pub key: Vec<u8>,
    /// Its value, without the breaks of lines that a long one has.
    pub value: Vec<u8>,
}

impl Trailer {
    /// A trailer, if it can be one: the key is of letters, digits and dashes, and the value of one line.
    #[must_use]
    pub fn new(key: &str, value: &str) -> Option<Self> {
        let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let one_line = !value.contains(['\n', '\r', '\0']);
        let trailer = Self { key: key.into(), value: crate::paths::trim(value.as_bytes()).to_vec() };
        (plain && one_line).then_some(trailer)
    }

    /// What two trailers that say the same have in common.
    fn identity(&self) -> (Vec<u8>, Vec<u8>) {
        (self.key.to_ascii_lowercase(), self.value.clone())
    }

    /// Whether its key is this one.
    #[must_use]
    pub fn is(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key.as_bytes())
    }
}

impl fmt::Debug for Trailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key.escape_ascii(), self.value.escape_ascii())
    }
}

/// The trailers of a message, in their order.
#[must_use]
pub fn parse(message: &[u8], style: &Style) -> Vec<Trailer> {
    let block = Block::find(message, style);
    let trailer = |line| match line {
        Line::Trailer { key, value, .. } => Some(Trailer { key: key.to_vec(), value: unfolded(value) }),
        Line::Other(_) => None,
    };
    block.lines(message, style).into_iter().filter_map(trailer).collect()
}

/// The message with these trailers at the end of its trailers. One that is there already, with the same key
/// and value, is not added again.
#[must_use]
pub fn add(message: &[u8], style: &Style, trailers: &[Trailer]) -> Vec<u8> {
    rewrite(message, style, |_| true, trailers)
}

/// The message without the trailers whose key is one of `keys`, and with these at the end.
#[must_use]
pub fn replace(message: &[u8], style: &Style, keys: &[&str], trailers: &[Trailer]) -> Vec<u8> {
    rewrite(message, style, |trailer| !keys.iter().any(|key| trailer.is(key)), trailers)
}

fn rewrite(message: &[u8], style: &Style, keep: impl Fn(&Trailer) -> bool, added: &[Trailer]) -> Vec<u8> {
    let mut message = message.to_vec();
    if message.last().is_some_and(|byte| *byte != b'\n') {
        message.push(b'\n');
    }
    let block = Block::find(&message, style);
    // A commit may touch thousands of things and name each of them.
    let mut there = BTreeSet::new();
    let mut out = Vec::new();
    for line in block.lines(&message, style) {
        match line {
            Line::Other(text) => out.extend(text),
            Line::Trailer { key, value, text } => {
                let trailer = Trailer { key: key.to_vec(), value: unfolded(value) };
                if keep(&trailer) {
                    out.extend(text);
                    there.insert(trailer.identity());
                }
            }
        }
    }
    let mut new = Vec::new();
    for trailer in added {
        if there.insert(trailer.identity()) {
            new.extend([&trailer.key[..], b": ", &trailer.value, b"\n"].concat());
        }
    }
    let at = text_end(&out, style);
    out.splice(at..at, new);
    block.replaced(&message, &out)
}

/// Where the last line of a block ends that is neither blank nor a comment. What is added belongs there:
/// behind a blank line it would be a paragraph of its own.
fn text_end(block: &[u8], style: &Style) -> usize {
    let (mut end, mut at) = (0, 0);
    for line in block.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if !line.starts_with(&style.comment) && !crate::paths::trim(line).is_empty() {
            end = at;
        }
    }
    end
}

/// The value on one line: a break and the white space after it count as one space.
fn unfolded(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
        out.extend(rest.get(..at).unwrap_or_default());
        out.push(b' ');
        rest = rest.get(at + 1..).unwrap_or_default();
        let next = rest.iter().position(|byte| !crate::paths::is_space(*byte)).unwrap_or(rest.len());
        rest = rest.get(next..).unwrap_or_default();
    }
    out.extend(rest);
    crate::paths::trim(&out).to_vec()
}
