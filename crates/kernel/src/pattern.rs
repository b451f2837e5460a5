//! A set of paths that can be held as one: which texts are patterns, and what they match. It never asks whether a
//! path exists, so that what is about to be made can be held too.

mod overlap;

use alloc::sync::Arc;
use core::fmt;

use crate::name::{LONGEST_NAME, NameError, checked};

/// Stands for any characters within a segment, none included.
const STAR: char = '*';
/// Stands for one character of a segment.
const ASK: char = '?';
/// A segment of its own that stands for any number of segments; at the end for at least one.
const DEEP: &str = "**";
/// What other pattern languages read as something else than itself.
const RESERVED: [char; 5] = ['[', ']', '{', '}', '\\'];

/// A pattern of paths: segments between slashes, relative to a root that the door knows. In a segment `*` stands for any
/// characters and `?` for one; the segment `**` stands for any number of segments, at the end for one at least. It has 1
/// to 512 bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Pattern(Arc<str>);

impl Pattern {
    /// A pattern, if the text is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let checked = checked(text, LONGEST_NAME)?;
        if text.starts_with('/') {
            return Err(PatternError::Rooted);
        }
        if let Some(found) = text.chars().find(|found| RESERVED.contains(found)) {
            return Err(PatternError::Reserved(found));
        }
        for segment in text.split('/') {
            match segment {
                "" => return Err(PatternError::EmptySegment),
                "." | ".." => return Err(PatternError::Dots),
                DEEP => {}
                segment if segment.contains(DEEP) => return Err(PatternError::Stars),
                _ => {}
            }
        }
        Ok(Self(checked))
    }

    /// The pattern as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is a path that both match. Both ways round it is the same.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0 == other.0 || overlap::judge(&self.0, &other.0).0
    }

    /// How many steps it takes to tell whether two patterns overlap: at most four for every pair of their bytes, and
    /// what holds the promise of a bounded time without a clock.
    #[must_use]
    pub fn overlap_steps(&self, other: &Self) -> usize {
        overlap::judge(&self.0, &other.0).1
    }

    /// Whether it matches this path, whose every character stands for itself.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        overlap::matches(&self.0, path)
    }

    /// The segments before the first one that stands for more than itself. Patterns overlap only if those of one begin with
    /// those of the other.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').take_while(|segment| !segment.contains([STAR, ASK]))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// It could not be a name either.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It begins with a slash.
    #[error("it begins with a slash: patterns are relative to the root")]
    Rooted,
    /// It ends with a slash, or has two of them in a row.
    #[error("there is nothing between two slashes or behind the last one")]
    EmptySegment,
    /// A segment is `.` or `..`.
    #[error("a segment is `.` or `..`")]
    Dots,
    /// Two stars stand beside other characters.
    #[error("`**` has to be a segment of its own")]
    Stars,
    /// It has a character that stands for something else elsewhere.
    #[error("`{0}` has no meaning in a pattern: write `?` for a character of that kind")]
    Reserved(char),
}
