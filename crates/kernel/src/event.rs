//! What happened. Events are the truth that media keep; a table is what is left after applying them.

use crate::{Holder, Lease, LeaseId, Millis, Stamp, Text};

/// Why a lease ended without its holder's doing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Its deadline passed.
    Expired,
    /// Its holder was found dead.
    Dead,
    /// Somebody took it away.
    Forced {
        /// Who did.
        by: Holder,
        /// The reason given.
        reason: Text,
    },
}

/// One transition of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A resource was granted.
    Granted {
        /// The lease as it is from now on.
        lease: Lease,
    },
    /// A finite lease was prolonged.
    Renewed {
        /// The lease that it happened to.
        lease: LeaseId,
        /// How long it lasts from `at`.
        ttl: Millis,
        /// The moment of the decision.
        at: Stamp,
    },
    /// The holder of an indefinite lease gave a sign of life.
    Beaten {
        /// The lease that it happened to.
        lease: LeaseId,
        /// The moment of the decision.
        at: Stamp,
    },
    /// A lease was given back.
    Released {
        /// The lease that it happened to.
        lease: LeaseId,
        /// The moment of the decision.
        at: Stamp,
    },
    /// A lease was handed over: `from` ended and `lease` began in one step.
    Transferred {
        /// Which lease ended.
        from: LeaseId,
        /// The new holder's lease; its grant is the moment of the hand-over.
        lease: Lease,
        /// The reason given.
        why: Text,
    },
    /// A lease ended without its holder's doing.
    Evicted {
        /// The lease that it happened to.
        lease: LeaseId,
        /// When it was noticed or done.
        at: Stamp,
        /// What ended it.
        cause: Cause,
    },
}

impl Event {
    /// The lease that it happened to; the new one, if it was handed over.
    #[must_use]
    pub const fn lease(&self) -> LeaseId {
        match self {
            Self::Granted { lease } | Self::Transferred { lease, .. } => lease.id,
            Self::Renewed { lease, .. }
            | Self::Beaten { lease, .. }
            | Self::Released { lease, .. }
            | Self::Evicted { lease, .. } => *lease,
        }
    }

    /// When it happened.
    #[must_use]
    pub const fn at(&self) -> &Stamp {
        match self {
            Self::Granted { lease } | Self::Transferred { lease, .. } => &lease.granted,
            Self::Renewed { at, .. }
            | Self::Beaten { at, .. }
            | Self::Released { at, .. }
            | Self::Evicted { at, .. } => at,
        }
    }
}
