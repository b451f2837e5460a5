//! What a lease is on: a thing with a name, or all paths of a pattern.

use core::fmt;

use crate::{Name, Pattern};

/// What is held. A name and a pattern have nothing to do with each other, whatever their texts are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Resource {
    /// One thing, which nothing but itself overlaps.
    Name(Name),
    /// All paths that match.
    Pattern(Pattern),
}

impl Resource {
    /// Whether holding the one is holding something of the other. Both ways round it is the same.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(a), Self::Name(b)) => a == b,
            (Self::Pattern(a), Self::Pattern(b)) => a.overlaps(b),
            (Self::Name(_), Self::Pattern(_)) | (Self::Pattern(_), Self::Name(_)) => false,
        }
    }

    /// The name, if it is one.
    #[must_use]
    pub const fn name(&self) -> Option<&Name> {
        match self {
            Self::Name(name) => Some(name),
            Self::Pattern(_) => None,
        }
    }

    /// The pattern, if it is one.
    #[must_use]
    pub const fn pattern(&self) -> Option<&Pattern> {
        match self {
            Self::Pattern(pattern) => Some(pattern),
            Self::Name(_) => None,
        }
    }

    /// The text of the name or of the pattern, to be shown. It does not say which of them it is.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Name(name) => name.as_str(),
            Self::Pattern(pattern) => pattern.as_str(),
        }
    }
}

impl From<Name> for Resource {
    fn from(name: Name) -> Self {
        Self::Name(name)
    }
}

impl From<Pattern> for Resource {
    fn from(pattern: Pattern) -> Self {
        Self::Pattern(pattern)
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
