//! Why a history is not believed.

use crate::{LeaseId, Resource};

/// An event that cannot have happened to this table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Inconsistent {
    /// It speaks of a lease that is not there.
    #[error("it speaks of the lease {lease}, which is not there")]
    Unknown {
        /// The id.
        lease: LeaseId,
    },
    /// It grants an id that is taken.
    #[error("it grants the lease {lease} a second time")]
    Duplicate {
        /// The id.
        lease: LeaseId,
    },
    /// It grants what somebody else holds.
    #[error("it grants {resource}, which is held by the lease {by}")]
    TwoHolders {
        /// The resource.
        resource: Resource,
        /// The lease that is in the table.
        by: LeaseId,
    },
    /// It grants with a fence that is not larger than one in force.
    #[error("it grants {resource} with a fence that is not larger than an earlier one")]
    FenceNotRising {
        /// The resource.
        resource: Resource,
    },
    /// It renews an indefinite lease or beats a finite one.
    #[error("it does not fit the term of the lease {lease}")]
    WrongTerm {
        /// The id.
        lease: LeaseId,
    },
    /// It hands a lease over and changes what is held, or hands it to its own holder.
    #[error("it hands the lease {lease} over, but not the same thing to somebody else")]
    WrongTransfer {
        /// The id.
        lease: LeaseId,
    },
    /// It gives a lease terms that no policy grants.
    #[error("it gives the lease {lease} terms that cannot be granted")]
    Unlawful {
        /// The id.
        lease: LeaseId,
    },
    /// It prolongs or hands over what was over.
    #[error("it goes on with the lease {lease} after its end")]
    Over {
        /// The id.
        lease: LeaseId,
    },
    /// It ends a lease as expired before its deadline.
    #[error("it ends the lease {lease} as expired before its deadline")]
    NotOver {
        /// The id.
        lease: LeaseId,
    },
}
