//! The number that orders grants. It is drawn from a medium's counter and only comparable within it.

use core::fmt;

/// A position of a medium's counter. A grant's fence is larger than every fence granted before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fence(u64);

impl Fence {
    /// The first number that a counter gives out.
    pub const FIRST: Self = Self(1);

    /// The largest one: what a JSON number carries exactly in every language. A counter may stand there,
    /// but nothing is granted with it.
    pub const LAST: Self = Self((1 << 53) - 1);

    /// The fence with this number.
    ///
    /// # Errors
    /// When the number is zero or larger than [`Fence::LAST`].
    pub const fn new(number: u64) -> Result<Self, FenceError> {
        if number == 0 || number > Self::LAST.0 {
            return Err(FenceError { number });
        }
        Ok(Self(number))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The fence `steps` after this one, if the counter goes that far.
    #[must_use]
    pub fn plus(self, steps: u64) -> Option<Self> {
        self.0.checked_add(steps).and_then(|n| Self::new(n).ok())
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number that no counter gives out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{number} is no fence: fences go from 1 to 2^53 - 1")]
pub struct FenceError {
    /// The number that was given.
    pub number: u64,
}
