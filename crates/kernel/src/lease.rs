//! One lease, and what its own terms say of it at a moment. A lease is judged by what it was granted
//! with, never by today's policy: a promise does not change because somebody edited a setting.

use crate::{Elapsed, Fence, Holder, LeaseId, Millis, Resource, Stamp, Tags, Text};

/// Whether others may hold the resource at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mode {
    /// Nobody else.
    Exclusive,
    /// Everybody who asks for it shared as well.
    Shared,
}

impl Mode {
    /// Whether two holders can have the resource in these modes at once.
    #[must_use]
    pub const fn admits(self, other: Self) -> bool {
        matches!((self, other), (Self::Shared, Self::Shared))
    }

    /// Whether holding in this mode is enough for somebody who asked for `wanted`.
    #[must_use]
    pub const fn covers(self, wanted: Self) -> bool {
        matches!((self, wanted), (Self::Exclusive, _) | (_, Self::Shared))
    }
}

/// How long a lease lasts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// Until `ttl` after `from`.
    Finite {
        /// How long it lasts.
        ttl: Millis,
        /// When it was granted or last renewed.
        from: Stamp,
    },
    /// Until somebody ends it; without a beat for `stale_after` it goes stale.
    Indefinite {
        /// When its holder last gave a sign of life.
        beat: Stamp,
        /// How long a silence is too long.
        stale_after: Millis,
    },
}

impl Term {
    /// Whether a grant can have this term: it is not born dead, and its end can be written.
    pub(crate) fn is_lawful(&self) -> bool {
        let lawful = |span: &Millis| (Millis::SHORTEST..=Millis::LONGEST).contains(span);
        match self {
            Self::Finite { ttl, from } => lawful(ttl) && from.checked_plus(*ttl).is_some(),
            Self::Indefinite { stale_after, .. } => lawful(stale_after),
        }
    }
}

/// A grant that has not been ended by a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The id of this grant.
    pub id: LeaseId,
    /// What is held.
    pub resource: Resource,
    /// Who holds it.
    pub holder: Holder,
    /// Whether others may hold it too.
    pub mode: Mode,
    /// The number of this grant.
    pub fence: Fence,
    /// When it was granted.
    pub granted: Stamp,
    /// How long it lasts.
    pub term: Term,
    /// How far the clocks of those who judge it may be apart.
    pub skew: Millis,
    /// How long others wait after the deadline, on top of the skew.
    pub grace: Millis,
    /// Why it was taken; an indefinite lease always has one.
    pub reason: Option<Text>,
    /// What the door keeps beside it.
    pub tags: Tags,
}

/// What a lease is worth at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Finite, and before its deadline.
    Live {
        /// What is left until the deadline.
        left: Millis,
    },
    /// Indefinite, and heard of lately.
    Beating,
    /// Indefinite, and silent for too long: it blocks others, but guards no write.
    Stale {
        /// Since when nothing was heard.
        silent: Millis,
    },
    /// Over, but others still have to wait for skew and grace.
    Lapsed {
        /// How long it has been over.
        ago: Millis,
        /// When others may take it over.
        takeover_in: Millis,
    },
    /// Over, and anybody may take it over.
    Open {
        /// How long it has been over.
        ago: Millis,
    },
}

impl Standing {
    /// Whether the lease is past its deadline. Over is over: it is never renewed, only taken anew.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::Lapsed { .. } | Self::Open { .. })
    }
}

impl Lease {
    /// What this lease is worth at `now`.
    #[must_use]
    pub fn standing(&self, now: &Stamp) -> Standing {
        match &self.term {
            Term::Finite { ttl, from } => {
                let age = now.since(from).forward().get();
                if age < ttl.get() {
                    return Standing::Live { left: left(*ttl, now.since(from)) };
                }
                let ago = Millis::new(age - ttl.get());
                let wait = self.skew.plus(self.grace);
                if ago < wait {
                    Standing::Lapsed { ago, takeover_in: Millis::new(wait.get() - ago.get()) }
                } else {
                    Standing::Open { ago }
                }
            }
            Term::Indefinite { beat, stale_after } => {
                let silent = now.since(beat).forward();
                if silent < *stale_after { Standing::Beating } else { Standing::Stale { silent } }
            }
        }
    }

    /// Whether some policy could have granted it, by itself and apart from every other lease.
    pub(crate) fn is_lawful(&self) -> bool {
        let explained = self.reason.is_some() || !self.is_indefinite();
        let bounded = self.skew.max(self.grace) <= Millis::LONGEST;
        // The last position is never given out, so that there is always a next one.
        self.term.is_lawful() && explained && bounded && self.fence < Fence::LAST
    }

    /// By how much this lease was stamped in the future of `now`, if that is more than the clocks may be
    /// apart: evidence that one of them is wrong.
    #[must_use]
    pub fn ahead_of(&self, now: &Stamp) -> Option<Millis> {
        let ahead = now.since(self.last_sign()).backward();
        (ahead > self.skew).then_some(ahead)
    }

    /// When its holder was last heard of: the grant, the last renewal or the last beat.
    #[must_use]
    pub const fn last_sign(&self) -> &Stamp {
        match &self.term {
            Term::Finite { from, .. } => from,
            Term::Indefinite { beat, .. } => beat,
        }
    }

    /// The moment at which it is over, if it ever is by itself. Every lease in a table has one that can be
    /// written.
    #[must_use]
    pub fn deadline(&self) -> Option<Stamp> {
        match &self.term {
            Term::Finite { ttl, from } => Some(from.plus(*ttl)),
            Term::Indefinite { .. } => None,
        }
    }

    /// Whether it ends only when somebody ends it.
    #[must_use]
    pub const fn is_indefinite(&self) -> bool {
        matches!(self.term, Term::Indefinite { .. })
    }
}

/// What is left of `ttl`. A lease stamped in the future has more left than it was granted for.
fn left(ttl: Millis, passed: Elapsed) -> Millis {
    Millis::new(ttl.get().saturating_sub(passed.forward().get())).plus(passed.backward())
}
