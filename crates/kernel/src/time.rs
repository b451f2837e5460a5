//! Moments and spans as the rules see them. Nothing here reads a clock.

use core::fmt;

/// The last millisecond of the year 9999, so that every moment has an RFC 3339 form.
const LATEST_WALL_MS: u64 = 253_402_300_799_999;

/// What a JSON number carries exactly in every language.
const LATEST_BOOT_MS: u64 = (1 << 53) - 1;

/// A span of time in whole milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Millis(u64);

impl Millis {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// The shortest span that a lease can be granted for.
    pub const SHORTEST: Self = Self(1);

    /// The longest span that a lease can carry, be it a length, a skew, a grace or a silence: a hundred
    /// years. So no sum of spans overflows, and every number fits a JSON number.
    pub const LONGEST: Self = Self(100 * 366 * 24 * 3_600 * 1_000);

    /// A span of `ms` milliseconds.
    #[must_use]
    pub const fn new(ms: u64) -> Self {
        Self(ms)
    }

    /// A span of `secs` seconds, as long as a span can be if that is too many.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000))
    }

    /// The span in milliseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Both spans together, as long as a span can be if that is too long.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Millis {
    /// Whole seconds where it is a whole number of them, milliseconds otherwise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1_000) {
            write!(f, "{} s", self.0 / 1_000)
        } else {
            write!(f, "{} ms", self.0)
        }
    }
}

/// Which start of which machine a boot-time reading belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BootId(u128);

impl BootId {
    /// The id with these 128 bits.
    #[must_use]
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }

    /// The 128 bits.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }
}

impl fmt::Display for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A reading of the boot-time clock: it never jumps and goes on during suspend, but means nothing
/// outside its own boot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Boot {
    /// The boot that the reading belongs to.
    pub id: BootId,
    /// Milliseconds since that boot.
    pub ms: u64,
}

/// A moment: the wall clock and, where there is one, the boot-time clock.
///
/// Moments have no order of their own: which of two is the later one depends on whether they share a boot,
/// so they are compared with [`Stamp::since`] and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    wall_ms: u64,
    boot: Option<Boot>,
}

impl Stamp {
    /// A moment, if a date can be written for it.
    ///
    /// # Errors
    /// When the wall clock lies before 1970 or after 9999, or the boot-time clock beyond 2⁵³ ms.
    pub fn new(wall_ms: i64, boot: Option<Boot>) -> Result<Self, TimeError> {
        let wall_ms = u64::try_from(wall_ms)
            .ok()
            .filter(|ms| *ms <= LATEST_WALL_MS)
            .ok_or(TimeError::Wall { ms: wall_ms })?;
        match boot {
            Some(boot) if boot.ms > LATEST_BOOT_MS => Err(TimeError::Boot { ms: boot.ms }),
            _ => Ok(Self { wall_ms, boot }),
        }
    }

    /// Milliseconds since 1970 by the wall clock.
    #[must_use]
    pub const fn wall_ms(&self) -> u64 {
        self.wall_ms
    }

    /// The boot-time reading, if the machine had one.
    #[must_use]
    pub const fn boot(&self) -> Option<Boot> {
        self.boot
    }

    /// How much time went by from `earlier` to this moment. Within one boot only the boot-time clock
    /// counts; otherwise the wall clock does.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Elapsed {
        match (self.boot, earlier.boot) {
            (Some(now), Some(then)) if now.id == then.id => Elapsed::between(then.ms, now.ms),
            _ => Elapsed::between(earlier.wall_ms, self.wall_ms),
        }
    }

    /// The moment `span` after this one, at most the last one that can be written.
    #[must_use]
    pub fn plus(&self, span: Millis) -> Self {
        let wall_ms = self.wall_ms.saturating_add(span.get()).min(LATEST_WALL_MS);
        let later = |ms: u64| ms.saturating_add(span.get()).min(LATEST_BOOT_MS);
        Self { wall_ms, boot: self.boot.map(|boot| Boot { id: boot.id, ms: later(boot.ms) }) }
    }

    /// The moment `span` after this one, if it can be written.
    #[must_use]
    pub fn checked_plus(&self, span: Millis) -> Option<Self> {
        let later = self.plus(span);
        let whole = |before: u64, after: u64| after - before == span.get();
        let boots = self.boot.zip(later.boot);
        let exact = whole(self.wall_ms, later.wall_ms) && boots.is_none_or(|(a, b)| whole(a.ms, b.ms));
        exact.then_some(later)
    }
}

/// What lies between two moments; either may be the later one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elapsed {
    /// The second moment is this much later, or the same.
    Forward(Millis),
    /// The second moment is this much earlier: somebody's clock is wrong.
    Backward(Millis),
}

impl Elapsed {
    fn between(then: u64, now: u64) -> Self {
        if now >= then { Self::Forward(Millis(now - then)) } else { Self::Backward(Millis(then - now)) }
    }

    /// The time that went by; none if the clock went backward.
    #[must_use]
    pub const fn forward(self) -> Millis {
        match self {
            Self::Forward(span) => span,
            Self::Backward(_) => Millis::ZERO,
        }
    }

    /// By how much the first moment lies in the future of the second.
    #[must_use]
    pub const fn backward(self) -> Millis {
        match self {
            Self::Forward(_) => Millis::ZERO,
            Self::Backward(span) => span,
        }
    }
}

/// A clock reading that no rule can work with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimeError {
    /// The wall clock is outside 1970–9999.
    #[error("the wall clock reads {ms} ms since 1970, which is no date between 1970 and 9999")]
    Wall {
        /// What it read.
        ms: i64,
    },
    /// The boot-time clock is beyond what a record can carry.
    #[error("the boot-time clock reads {ms} ms, which is beyond 2^53")]
    Boot {
        /// What it read.
        ms: u64,
    },
}
