//! Why not, with what a person needs to go on: who holds it, until when, when to try again.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::{Fence, Lease, LeaseId, Millis, TtlRange};

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

impl core::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
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
    #[error("{} is held by {}", blocker.resource, blocker.holder)]
    Held {
        /// The lease that stands in the way the longest.
        blocker: Box<Lease>,
        /// How many more stand in the way.
        others: usize,
        /// When to try again; never by itself if the lease is indefinite.
        retry_after: Option<Millis>,
    },
    /// A lease that stands in the way was stamped in the future: a clock is wrong, so nobody can tell
    /// whether it is over.
    #[error("the lease of {} on {} was stamped {ahead} in the future", blocker.holder, blocker.resource)]
    ClockSkew {
        /// That lease.
        blocker: Box<Lease>,
        /// How far in the future.
        ahead: Millis,
    },
    /// The caller holds it already, and the policy refuses to say so twice.
    #[error("{} is already held by the same holder", lease.resource)]
    AlreadyHeld {
        /// The caller's lease.
        lease: Box<Lease>,
    },
    /// The caller holds it shared and wants it exclusive.
    #[error("{} is already held by the same holder, but shared", lease.resource)]
    HeldShared {
        /// The caller's lease.
        lease: Box<Lease>,
    },
    /// There is no such lease: it was released, taken away, or never granted.
    #[error("there is no lease {lease}")]
    NotFound {
        /// The id that was given.
        lease: LeaseId,
    },
    /// Somebody else holds the lease.
    #[error("the lease {} is held by {}", lease.id, lease.holder)]
    NotHolder {
        /// That lease.
        lease: Box<Lease>,
    },
    /// The lease is past its deadline.
    #[error("the lease {} on {} ended {ago} ago", lease.id, lease.resource)]
    Expired {
        /// That lease.
        lease: Box<Lease>,
        /// How long ago it ended.
        ago: Millis,
    },
    /// The lease is indefinite and was silent for too long.
    #[error("the lease {} on {} is stale: no beat for {silent}", lease.id, lease.resource)]
    Stale {
        /// That lease.
        lease: Box<Lease>,
        /// How long it was silent.
        silent: Millis,
    },
    /// The write presents a grant that is no longer the resource's.
    #[error("fence {presented} is no longer in force")]
    FencedOut {
        /// The fence that was presented.
        presented: Fence,
        /// Whoever holds the resource by now.
        current: Vec<Lease>,
    },
    /// The lease is finite: it lives by renewal, not by beats.
    #[error("the lease {} has a deadline: it is renewed, not beaten", lease.id)]
    NotIndefinite {
        /// That lease.
        lease: Box<Lease>,
    },
    /// The lease is indefinite: it has no length to change.
    #[error("the lease {} has no deadline, so it cannot be renewed for a time", lease.id)]
    NotFinite {
        /// That lease.
        lease: Box<Lease>,
    },
    /// The length asked for is not allowed.
    #[error("a lease of {asked} is not allowed: it may last from {} to {}", range.min, range.max)]
    TtlOutOfRange {
        /// What was asked for.
        asked: Millis,
        /// What is allowed.
        range: TtlRange,
    },
    /// This kind of holder may not hold without a deadline.
    #[error("a lease without a deadline is not allowed for this kind of holder")]
    IndefiniteForbidden,
    /// A lease without a deadline needs a reason.
    #[error("a lease without a deadline needs a reason")]
    ReasonRequired,
    /// Too much is held already.
    #[error("the limit of {limit} {kind} is reached")]
    LimitReached {
        /// Which limit.
        kind: LimitKind,
        /// Its value.
        limit: u32,
    },
    /// The id of the new grant is taken.
    #[error("there is already a lease {lease}")]
    DuplicateId {
        /// The id.
        lease: LeaseId,
    },
    /// A lease was to be handed to its own holder.
    #[error("the lease {} is already held by {}", lease.id, lease.holder)]
    SameHolder {
        /// That lease.
        lease: Box<Lease>,
    },
    /// The counter that numbers grants has come to its end.
    #[error("the counter of fences is used up")]
    FencesExhausted,
}
