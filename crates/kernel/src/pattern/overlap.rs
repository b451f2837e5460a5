//! Whether two patterns have a path in common. Both are read from left to right at once; what is kept is which pairs
//! of places can be come to by the same text. That is exact, and never more than the product of both lengths.

use alloc::vec::Vec;

use super::{ASK, STAR};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    /// Any letters, none included.
    Star,
    /// One letter.
    Ask,
    Slash,
    Letter(char),
}

/// What `**` at the end has behind it: it stands for one segment at least.
const ANY: &[Token] = &[Token::Star];

/// Whether two patterns have a path in common, and in how many steps that was found.
pub(super) fn judge(a: &str, b: &str) -> (bool, usize) {
    if differ(a.chars(), b.chars()) || differ(a.chars().rev(), b.chars().rev()) {
        return (false, 1);
    }
    let (a, b): (Vec<Token>, Vec<Token>) = (a.chars().map(wild).collect(), b.chars().map(wild).collect());
    paths(&a, &b)
}

/// Whether a pattern matches a path.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    if path.split('/').any(str::is_empty) {
        return false;
    }
    let pattern: Vec<Token> = pattern.chars().map(wild).collect();
    let path: Vec<Token> = path.chars().map(plain).collect();
    paths(&pattern, &path).0
}

/// Whether what stands before the first wildcard of either tells them apart already.
fn differ(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> bool {
    let fixed = |letter: char| letter != STAR && letter != ASK;
    a.zip(b).take_while(|(a, b)| fixed(*a) && fixed(*b)).any(|(a, b)| a != b)
}

const fn wild(letter: char) -> Token {
    match letter {
        STAR => Token::Star,
        ASK => Token::Ask,
        letter => plain(letter),
    }
}

const fn plain(letter: char) -> Token {
    if letter == '/' { Token::Slash } else { Token::Letter(letter) }
}

fn paths(a: &[Token], b: &[Token]) -> (bool, usize) {
    let (mut segments, mut letters) = (Rows::default(), Rows::default());
    let (a, b) = (split(a), split(b));
    let found = segments.meet(&a, &b, |segment| is_deep(segment), |a, b| letters.segments(a, b));
    (found, segments.steps + letters.steps)
}

fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut segments: Vec<&[Token]> = tokens.split(|token| *token == Token::Slash).collect();
    if segments.last().is_some_and(|last| is_deep(last)) {
        segments.push(ANY);
    }
    segments
}

/// Whether the segment is `**`: any number of segments, none included.
fn is_deep(segment: &[Token]) -> bool {
    matches!(segment, [Token::Star, Token::Star])
}

/// For one place of the first sequence and for the one behind it: which places of the second can be come to.
#[derive(Default)]
struct Rows {
    here: Vec<bool>,
    next: Vec<bool>,
    steps: usize,
}

impl Rows {
    /// Whether there is a text that matches both segments.
    fn segments(&mut self, a: &[Token], b: &[Token]) -> bool {
        let agree = |a: &Token, b: &Token| a == b || *a == Token::Ask || *b == Token::Ask;
        if a.contains(&Token::Star) || b.contains(&Token::Star) {
            return self.meet(a, b, |token| *token == Token::Star, agree);
        }
        self.steps += a.len().min(b.len());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b))
    }

    /// Whether both sequences can be read to their ends by one text. What is `many` stands for any number of anything;
    /// of everything else both read one at a time, and have to `agree`.
    fn meet<T>(
        &mut self,
        a: &[T],
        b: &[T],
        many: impl Fn(&T) -> bool,
        mut agree: impl FnMut(&T, &T) -> bool,
    ) -> bool {
        self.here.clear();
        self.here.resize(b.len() + 1, false);
        mark(&mut self.here, 0);
        for x in a.iter().map(Some).chain([None]) {
            self.next.clear();
            self.next.resize(b.len() + 1, false);
            for (at, y) in b.iter().map(Some).chain([None]).enumerate() {
                self.steps += 1;
                if self.here.get(at) != Some(&true) {
                    continue;
                }
                let (x_many, y_many) = (x.is_some_and(&many), y.is_some_and(&many));
                // Whoever stands for many is done, or goes on past what the other reads.
                if (x_many && y.is_some()) || y_many {
                    mark(&mut self.here, at + 1);
                }
                if x_many || (y_many && x.is_some()) {
                    mark(&mut self.next, at);
                }
                if let (Some(x), Some(y)) = (x, y)
                    && !x_many
                    && !y_many
                    && agree(x, y)
                {
                    mark(&mut self.next, at + 1);
                }
            }
            if x.is_some() {
                core::mem::swap(&mut self.here, &mut self.next);
            }
        }
        self.here.last() == Some(&true)
    }
}

fn mark(row: &mut [bool], at: usize) {
    if let Some(place) = row.get_mut(at) {
        *place = true;
    }
}
