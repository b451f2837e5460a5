//! Why not, with what a person needs to go on: who holds it, until when, when to try again.
//!
//! The texts name agents and places. A door whose holders are secret nonces prints its own.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::{Fence, Lease, LeaseId, Millis, RefusalKind, Resource, TtlRange};

/// Which limit was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitKind {
    /// Leases of one agent.
    LeasesPerAgent,
    /// Leases in the table.
    LeasesPerTable,
    /// Indefinite leases of one agent.
    IndefinitePerAgent,
    /// Indefinite leases in the table.
    IndefinitePerTable,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeasesPerAgent => "leases of one agent",
            Self::LeasesPerTable => "leases in all",
            Self::IndefinitePerAgent => "indefinite leases of one agent",
            Self::IndefinitePerTable => "indefinite leases in all",
        })
    }
}

/// Why a command is refused. Nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// Others hold the resource, or have just stopped holding it.
    #[error("{} is held by {}{}", blocker.resource, blocker.holder, Wait { others: *others, retry_after: *retry_after })]
    Held {
        /// The lease that stands in the way the longest; of equals the one with the largest id.
        blocker: Box<Lease>,
        /// How many more stand in the way.
        others: usize,
        /// When to try again; never by itself if the lease is indefinite.
        retry_after: Option<Millis>,
    },
    /// A lease that stands in the way was stamped in the future: a clock is wrong, so nobody can tell
    /// whether it is over.
    #[error(
        "{} is held by {}, stamped {ahead} in the future where clocks may be {} apart: \
         set the clock that is wrong, or evict the lease {}",
        blocker.resource, blocker.holder, blocker.skew, blocker.id
    )]
    ClockSkew {
        /// That lease.
        blocker: Box<Lease>,
        /// How far in the future.
        ahead: Millis,
    },
    /// The caller holds it already, and the policy refuses to say so twice.
    #[error("{} is already held by the same holder, by the lease {}", lease.resource, lease.id)]
    AlreadyHeld {
        /// The caller's lease.
        lease: Box<Lease>,
    },
    /// The caller holds it shared and wants to write, or to be the only one who holds it.
    #[error("{} is held shared, by the lease {}: release it and acquire it exclusively", lease.resource, lease.id)]
    HeldShared {
        /// The caller's lease.
        lease: Box<Lease>,
    },
    /// There is no such lease: it was released, taken away, or never granted.
    #[error("there is no lease {lease}: it was released, taken away or never granted")]
    NotFound {
        /// The id that was given.
        lease: LeaseId,
    },
    /// Somebody else holds the lease.
    #[error("the lease {} on {} is held by {}, and only its holder may do this", lease.id, lease.resource, lease.holder)]
    NotHolder {
        /// That lease.
        lease: Box<Lease>,
    },
    /// The lease is past its deadline.
    #[error("the lease {} on {} ended {ago} ago: acquire {} anew", lease.id, lease.resource, lease.resource)]
    Expired {
        /// That lease.
        lease: Box<Lease>,
        /// How long ago it ended.
        ago: Millis,
    },
    /// The lease is indefinite and was silent for too long.
    #[error("the lease {} on {} is stale, no beat for {silent}: beat it first", lease.id, lease.resource)]
    Stale {
        /// That lease.
        lease: Box<Lease>,
        /// How long it was silent.
        silent: Millis,
    },
    /// The write presents a grant that is no longer the resource's.
    #[error("fence {presented} on {resource} is not in force: {}", Holders(current))]
    FencedOut {
        /// What was about to be written.
        resource: Resource,
        /// The fence that was presented.
        presented: Fence,
        /// Whoever holds the resource by now.
        current: Vec<Lease>,
    },
    /// The lease is finite: it lives by renewal, not by beats.
    #[error("the lease {} on {} has a deadline: renew it instead", lease.id, lease.resource)]
    NotIndefinite {
        /// That lease.
        lease: Box<Lease>,
    },
    /// The lease is indefinite: it has no length to change.
    #[error("the lease {} on {} has no deadline to move: beat it instead", lease.id, lease.resource)]
    NotFinite {
        /// That lease.
        lease: Box<Lease>,
    },
    /// The length asked for is not allowed.
    #[error("a lease of {asked} is not allowed: it may last {range}")]
    TtlOutOfRange {
        /// What was asked for.
        asked: Millis,
        /// What is allowed.
        range: TtlRange,
    },
    /// The lease would end when no date can be written any more.
    #[error("a lease of {ttl} would end after the last date that can be written: is the clock right?")]
    DeadlineTooFar {
        /// How long it was to last.
        ttl: Millis,
    },
    /// This kind of holder may not hold without a deadline.
    #[error("a lease without a deadline is not allowed for this kind of holder")]
    IndefiniteForbidden,
    /// A lease without a deadline needs a reason.
    #[error("a lease without a deadline needs a reason")]
    ReasonRequired,
    /// Too much is held already.
    #[error("the limit of {limit} {kind} is reached: release one first")]
    LimitReached {
        /// Which limit.
        kind: LimitKind,
        /// Its value.
        limit: u32,
    },
    /// The id of the new grant is taken.
    #[error("there is already a lease {lease}: try again with another id")]
    DuplicateId {
        /// The id.
        lease: LeaseId,
    },
    /// A lease was to be handed to somebody who holds the resource already.
    #[error("{} is already held by {}, by the lease {}", lease.resource, lease.holder, lease.id)]
    SameHolder {
        /// Their lease.
        lease: Box<Lease>,
    },
    /// The counter that numbers grants has come to its end.
    #[error("the counter of fences is used up")]
    FencesExhausted,
    /// The counter is behind what it has given out: it was lost or set back, and going on would give two
    /// grants the same number.
    #[error("the counter stands at {next}, but {} was granted with fence {} already", lease.resource, lease.fence)]
    CounterBehind {
        /// Where the counter stands.
        next: Fence,
        /// A lease that has a number it has not reached.
        lease: Box<Lease>,
    },
}

impl Refusal {
    /// Which refusal it is.
    #[must_use]
    pub const fn kind(&self) -> RefusalKind {
        match self {
            Self::Held { .. } => RefusalKind::Held,
            Self::ClockSkew { .. } => RefusalKind::ClockSkew,
            Self::AlreadyHeld { .. } => RefusalKind::AlreadyHeld,
            Self::HeldShared { .. } => RefusalKind::HeldShared,
            Self::NotFound { .. } => RefusalKind::NotFound,
            Self::NotHolder { .. } => RefusalKind::NotHolder,
            Self::Expired { .. } => RefusalKind::Expired,
            Self::Stale { .. } => RefusalKind::Stale,
            Self::FencedOut { .. } => RefusalKind::FencedOut,
            Self::NotIndefinite { .. } => RefusalKind::NotIndefinite,
            Self::NotFinite { .. } => RefusalKind::NotFinite,
            Self::TtlOutOfRange { .. } => RefusalKind::TtlOutOfRange,
            Self::DeadlineTooFar { .. } => RefusalKind::DeadlineTooFar,
            Self::IndefiniteForbidden => RefusalKind::IndefiniteForbidden,
            Self::ReasonRequired => RefusalKind::ReasonRequired,
            Self::LimitReached { .. } => RefusalKind::LimitReached,
            Self::DuplicateId { .. } => RefusalKind::DuplicateId,
            Self::SameHolder { .. } => RefusalKind::SameHolder,
            Self::FencesExhausted => RefusalKind::FencesExhausted,
            Self::CounterBehind { .. } => RefusalKind::CounterBehind,
        }
    }

    /// Somebody else's lease that stands in the way, if one does: to wait means to wait for its end.
    #[must_use]
    pub const fn blocker(&self) -> Option<&Lease> {
        match self {
            Self::Held { blocker, .. } | Self::ClockSkew { blocker, .. } => Some(blocker),
            Self::AlreadyHeld { .. }
            | Self::HeldShared { .. }
            | Self::NotFound { .. }
            | Self::NotHolder { .. }
            | Self::Expired { .. }
            | Self::Stale { .. }
            | Self::FencedOut { .. }
            | Self::NotIndefinite { .. }
            | Self::NotFinite { .. }
            | Self::TtlOutOfRange { .. }
            | Self::DeadlineTooFar { .. }
            | Self::IndefiniteForbidden
            | Self::ReasonRequired
            | Self::LimitReached { .. }
            | Self::DuplicateId { .. }
            | Self::SameHolder { .. }
            | Self::FencesExhausted
            | Self::CounterBehind { .. } => None,
        }
    }

    /// The code that `spec/errors.md` explains.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind().code()
    }
}

/// What to expect of a resource that is held.
struct Wait {
    others: usize,
    retry_after: Option<Millis>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.others > 0 {
            write!(f, " and {} more", self.others)?;
        }
        match self.retry_after {
            Some(span) => write!(f, ": try again in {span}, or sooner if it is released"),
            None => f.write_str(" without a deadline: it is free once it is released or evicted"),
        }
    }
}

/// Who holds a resource.
struct Holders<'a>(&'a [Lease]);

impl fmt::Display for Holders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else { return f.write_str("nobody holds it") };
        write!(f, "it is held by {} with fence {}", first.holder, first.fence)?;
        if others.is_empty() { Ok(()) } else { write!(f, " and {} more", others.len()) }
    }
}
