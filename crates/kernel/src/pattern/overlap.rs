//! Whether two patterns have a path in common. Both are read from left to right at once; what is kept is which pairs
//! of places can be come to by the same text. That is exact, and never more than the product of both lengths.

use alloc::vec::Vec;

use super::{ASK, STAR};
use crate::name::LONGEST_NAME;

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
    // A path may be longer than any pattern, and only the second one has a bound.
    paths(&path, &pattern).0
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
    let (mut steps, mut within) = (0, 0);
    let agree = |a: &&[Token], b: &&[Token]| segments(a, b, &mut within);
    let found = meet::<Many, _>(&split(a), &split(b), &mut steps, |segment| is_deep(segment), agree);
    (found, steps + within)
}

/// The segments. Several `**` in a row say no more than one.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut segments: Vec<&[Token]> = tokens.split(|token| *token == Token::Slash).collect();
    segments.dedup_by(|a, b| is_deep(a) && is_deep(b));
    if segments.last().is_some_and(|last| is_deep(last)) {
        segments.push(ANY);
    }
    segments
}

/// Whether the segment is `**`: any number of segments, none included.
fn is_deep(segment: &[Token]) -> bool {
    matches!(segment, [Token::Star, Token::Star])
}

/// Whether there is a text that matches both segments.
fn segments(a: &[Token], b: &[Token], steps: &mut usize) -> bool {
    let agree = |a: &Token, b: &Token| a == b || *a == Token::Ask || *b == Token::Ask;
    let star = |token: &Token| *token == Token::Star;
    if a == ANY || b == ANY {
        *steps += 1;
        return true;
    }
    if !a.contains(&Token::Star) && !b.contains(&Token::Star) {
        *steps += a.len().min(b.len());
        return a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b));
    }
    match (a.len() < Few::MOST, b.len() < Few::MOST) {
        (_, true) => meet::<Few, _>(a, b, steps, star, agree),
        (true, false) => meet::<Few, _>(b, a, steps, star, agree),
        (false, false) => meet::<Many, _>(a, b, steps, star, agree),
    }
}

/// Whether both sequences can be read to their ends by one text. What is `many` stands for any number of anything, and
/// no two of them follow each other; of everything else both read one at a time, and have to `agree`.
fn meet<P: Places, T>(
    a: &[T],
    b: &[T],
    steps: &mut usize,
    many: impl Fn(&T) -> bool,
    mut agree: impl FnMut(&T, &T) -> bool,
) -> bool {
    let mut stars = P::NONE;
    b.iter().enumerate().filter(|(_, y)| many(y)).for_each(|(at, _)| stars.set(at));
    // Which places of the second can be come to while the first is at `x`.
    let mut here = P::NONE;
    here.set(0);
    for x in a {
        *steps += 1;
        if many(x) {
            // It reads whatever the second reads from here on, or nothing.
            here = here.and_all_behind();
            continue;
        }
        here = here.past(stars);
        let mut next = here.both(stars);
        for (at, y) in b.iter().enumerate().filter(|(at, _)| here.has(*at) && !stars.has(*at)) {
            *steps += 1;
            if agree(x, y) {
                next.set(at + 1);
            }
        }
        here = next;
    }
    here.past(stars).has(b.len())
}

/// A set of places in a sequence.
trait Places: Copy {
    const NONE: Self;
    fn has(&self, at: usize) -> bool;
    fn set(&mut self, at: usize);
    /// The places that are in both.
    fn both(self, other: Self) -> Self;
    /// These and all behind the first of them.
    fn and_all_behind(self) -> Self;
    /// These, and those behind the ones that are also in `stars`.
    fn past(self, stars: Self) -> Self;
}

#[derive(Clone, Copy)]
struct Few(u64);

impl Few {
    /// How many places there are.
    const MOST: usize = 64;
}

impl Places for Few {
    const NONE: Self = Self(0);

    fn has(&self, at: usize) -> bool {
        at < Self::MOST && self.0 >> at & 1 == 1
    }

    fn set(&mut self, at: usize) {
        self.0 |= u64::from(at < Self::MOST) << (at % Self::MOST);
    }

    fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn and_all_behind(self) -> Self {
        Self(self.0 | self.0.wrapping_neg())
    }

    fn past(self, stars: Self) -> Self {
        Self(self.0 | (self.0 & stars.0) << 1)
    }
}

/// Places for every character of the longest pattern, the end, and the segment that `**` has behind it.
#[derive(Clone, Copy)]
struct Many([u64; LONGEST_NAME / 64 + 1]);

impl Places for Many {
    const NONE: Self = Self([0; LONGEST_NAME / 64 + 1]);

    fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn set(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn both(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        self
    }

    fn and_all_behind(mut self) -> Self {
        let mut found = false;
        for word in &mut self.0 {
            let any = *word != 0;
            *word = if found { u64::MAX } else { *word | word.wrapping_neg() };
            found |= any;
        }
        self
    }

    fn past(mut self, stars: Self) -> Self {
        let mut carry = 0;
        for (word, star) in self.0.iter_mut().zip(stars.0) {
            let starred = *word & star;
            *word |= starred << 1 | carry;
            carry = starred >> 63;
        }
        self
    }
}
