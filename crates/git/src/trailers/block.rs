//! Where in a message the trailers are. Everything is decided by looking at lines from the end, as git does.

use super::Style;
use crate::paths::{is_space, trim};

/// What follows the comment mark on the line below which `git commit --verbose` shows the change.
const SCISSORS: &[u8] = b" ------------------------ >8 ------------------------\n";

/// Lines that git writes itself. One of them makes a paragraph a block of trailers even if a part of it is
/// none.
const BY_GIT: [&[u8]; 2] = [b"Signed-off-by: ", b"(cherry picked from commit "];

/// The part of a message that holds trailers; empty, at the place for the first one, if there are none.
pub(super) struct Block {
    start: usize,
    end: usize,
}

/// A line of a block, with the lines that continue it.
pub(super) enum Line<'a> {
    Trailer { key: &'a [u8], value: &'a [u8], text: &'a [u8] },
    Other(&'a [u8]),
}

impl Block {
    pub(super) fn find(message: &[u8], style: &Style) -> Self {
        let end = end(message, style);
        Self { start: start(message.get(..end).unwrap_or_default(), style), end }
    }

    /// The lines of the block.
    pub(super) fn lines<'a>(&self, message: &'a [u8], style: &Style) -> Vec<Line<'a>> {
        let mut rest = message.get(self.start..self.end).unwrap_or_default();
        let mut lines = Vec::new();
        while !rest.is_empty() {
            let mut len = line_len(rest);
            let colon = separator(rest);
            while colon.is_some() && rest.get(len).is_some_and(|byte| is_space(*byte)) {
                len += line_len(rest.get(len..).unwrap_or_default());
            }
            let (text, after) = rest.split_at(len);
            lines.push(match colon.filter(|_| !text.starts_with(&style.comment)) {
                Some(at) => {
                    let (key, value) = text.split_at(at);
                    Line::Trailer { key: trim(key), value: trim(value.get(1..).unwrap_or_default()), text }
                }
                None => Line::Other(text),
            });
            rest = after;
        }
        lines
    }

    /// The message with other bytes in the place of the block, and a blank line before them.
    pub(super) fn replaced(&self, message: &[u8], block: &[u8]) -> Vec<u8> {
        let before = message.get(..self.start).unwrap_or_default();
        let after = message.get(self.end..).unwrap_or_default();
        let parted = last_line(before).is_some_and(|at| is_blank(before.get(at..).unwrap_or_default()));
        let gap: &[u8] = if block.is_empty() || parted { b"" } else { b"\n" };
        [before, gap, block, after].concat()
    }
}

/// Where the text of the message ends: before the scissors, the comments and blank lines, and the list of
/// conflicts that old versions of git left there.
fn end(message: &[u8], style: &Style) -> usize {
    let mut len = message.len();
    if style.divider {
        let is_divider =
            |line: &&[u8]| line.starts_with(b"---") && line.get(3).is_some_and(|byte| is_space(*byte));
        len = message
            .split_inclusive(|byte| *byte == b'\n')
            .take_while(|line| !is_divider(line))
            .map(<[u8]>::len)
            .sum();
    }
    let len = len.min(scissors(message, style));
    let mut ignored = None;
    let mut in_conflicts = false;
    let mut at = 0;
    while at < len {
        let line = message.get(at..).unwrap_or_default();
        let within = message.get(at..len).unwrap_or_default();
        if within.starts_with(&style.comment) || line.starts_with(b"\n") {
            ignored = ignored.or(Some(at));
        } else if line.starts_with(b"Conflicts:\n") {
            in_conflicts = true;
            ignored = ignored.or(Some(at));
        } else if in_conflicts && line.starts_with(b"\t") {
            // A path in that list.
        } else if ignored.take().is_some() {
            in_conflicts = false;
        }
        // Git takes a run that begins with the message for none.
        ignored = ignored.filter(|start| *start > 0);
        at += line_len(line);
    }
    ignored.unwrap_or(len)
}

fn scissors(message: &[u8], style: &Style) -> usize {
    let cut = [&style.comment[..], SCISSORS].concat();
    let mut at = 0;
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        if line == cut {
            return at;
        }
        at += line.len();
    }
    message.len()
}

/// Where the block begins in the text of a message; at its end if there is none.
fn start(text: &[u8], style: &Style) -> usize {
    let title = title_len(text, style);
    let mut count = Count::default();
    let mut len = text.len();
    while let Some(at) = text.get(..len).and_then(last_line).filter(|at| *at >= title) {
        let line = text.get(at..).unwrap_or_default();
        if line.starts_with(&style.comment) {
            count.others += std::mem::take(&mut count.continuations);
        } else if !is_blank(line) {
            count.add(line);
        } else if count.seen {
            return if count.is_block() { at + line_len(line) } else { text.len() };
        }
        len = at;
    }
    text.len()
}

/// The first paragraph is the title, whatever it looks like.
fn title_len(text: &[u8], style: &Style) -> usize {
    let is_title = |line: &&[u8]| line.starts_with(&style.comment) || !is_blank(line);
    text.split_inclusive(|byte| *byte == b'\n').take_while(is_title).map(<[u8]>::len).sum()
}

/// What a paragraph, read from its end, is made of.
#[derive(Default)]
struct Count {
    seen: bool,
    by_git: bool,
    trailers: usize,
    others: usize,
    /// Lines that belong to whatever line comes before them.
    continuations: usize,
}

impl Count {
    fn add(&mut self, line: &[u8]) {
        self.seen = true;
        if BY_GIT.iter().any(|prefix| line.starts_with(prefix)) {
            self.by_git = true;
            self.trailers += 1;
            self.continuations = 0;
        } else if separator(line).is_some() {
            self.trailers += 1;
            self.continuations = 0;
        } else if line.first().is_some_and(|byte| is_space(*byte)) {
            self.continuations += 1;
        } else {
            self.others += 1 + std::mem::take(&mut self.continuations);
        }
    }

    fn is_block(&self) -> bool {
        let others = self.others + self.continuations;
        (self.by_git && self.trailers * 3 >= others) || (self.trailers > 0 && others == 0)
    }
}

/// Where the colon is in a line that begins with a key. A key is of letters, digits and dashes; white space
/// may stand before the colon.
fn separator(line: &[u8]) -> Option<usize> {
    let key = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let gap = line.get(key..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (key > 0 && line.get(key + gap) == Some(&b':')).then_some(key + gap)
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().take_while(|byte| **byte != b'\n').all(|byte| is_space(*byte))
}

fn line_len(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |end| end + 1)
}

/// Where the last line begins; none if there is no line.
fn last_line(text: &[u8]) -> Option<usize> {
    let before = text.len().checked_sub(1)?;
    Some(text.get(..before)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1))
}
