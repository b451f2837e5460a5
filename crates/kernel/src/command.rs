//! What somebody asks for. Ids come in with the command, because the rules have no source of them.

use alloc::vec::Vec;

use crate::{Fence, Holder, Lease, LeaseId, Millis, Mode, Resource, Tags, Text};

/// How long a lease is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// For this long.
    Finite(Millis),
    /// Until somebody ends it.
    Indefinite,
}

/// Asks for a resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acquire {
    /// The id that the grant will have.
    pub id: LeaseId,
    /// What is wanted.
    pub resource: Resource,
    /// For whom.
    pub holder: Holder,
    /// Whether others may hold it too.
    pub mode: Mode,
    /// For how long.
    pub request: Request,
    /// The reason given; a lease without a deadline needs one.
    pub reason: Option<Text>,
    /// What the door wants to keep beside the lease.
    pub tags: Tags,
    /// Leases whose holders the medium found dead inside its exclusive section. The dead write nothing
    /// any more, so nobody has to wait for their deadlines.
    pub dead: Vec<LeaseId>,
}

/// Hands a lease to another holder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The lease to hand over.
    pub lease: LeaseId,
    /// Who holds it.
    pub holder: Holder,
    /// The id that the new grant will have.
    pub id: LeaseId,
    /// Who gets it.
    pub to: Holder,
    /// The reason given for the hand-over.
    pub reason: Text,
    /// What the door wants to keep beside the new lease.
    pub tags: Tags,
}

/// What a guarded write presents: "I hold this, by this grant, with this fence".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// What is about to be written.
    pub resource: Resource,
    /// The grant.
    pub lease: LeaseId,
    /// Who writes.
    pub holder: Holder,
    /// The grant's number.
    pub fence: Fence,
}

impl Lease {
    /// What a write under this lease shows.
    #[must_use]
    pub fn claim(&self) -> Claim {
        Claim {
            resource: self.resource.clone(),
            lease: self.id,
            holder: self.holder.clone(),
            fence: self.fence,
        }
    }
}

/// Everything that can be asked of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Take a resource.
    Acquire(Acquire),
    /// Prolong a finite lease from now on; for an indefinite one it is a beat.
    Renew {
        /// The lease.
        lease: LeaseId,
        /// Who holds it.
        holder: Holder,
        /// For how long; as long as before if not given.
        ttl: Option<Millis>,
    },
    /// Give a sign of life for an indefinite lease.
    Beat {
        /// The lease.
        lease: LeaseId,
        /// Who holds it.
        holder: Holder,
    },
    /// Give a lease back.
    Release {
        /// The lease.
        lease: LeaseId,
        /// Who holds it.
        holder: Holder,
    },
    /// Hand a lease to another holder.
    Transfer(Transfer),
    /// Take a lease away from its holder, whatever its standing.
    Evict {
        /// The lease.
        lease: LeaseId,
        /// Who takes it away.
        by: Holder,
        /// The reason given for the eviction.
        reason: Text,
    },
    /// Record the end of every lease that anybody might take over by now.
    Sweep,
    /// Ask whether a guarded write may go ahead. Changes nothing.
    Check(Claim),
}
