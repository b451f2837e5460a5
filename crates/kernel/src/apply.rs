//! Puts an event into a table. It accepts only what [`decide`](crate::decide) could have produced on that
//! table, so that a damaged or forged history is named instead of believed.

use crate::{Event, Lease, LeaseId, Name, Table, Term};

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
        resource: Name,
        /// The lease that is in the table.
        by: LeaseId,
    },
    /// It grants with a fence that is not larger than one in force.
    #[error("it grants {resource} with a fence that is not larger than an earlier one")]
    FenceNotRising {
        /// The resource.
        resource: Name,
    },
    /// It renews an indefinite lease or beats a finite one.
    #[error("it does not fit the term of the lease {lease}")]
    WrongTerm {
        /// The id.
        lease: LeaseId,
    },
    /// It hands a lease over and changes what is held.
    #[error("it hands the lease {lease} over, but not the same thing")]
    WrongTransfer {
        /// The id.
        lease: LeaseId,
    },
}

/// Puts `event` into `table`.
///
/// # Errors
/// When the event cannot have happened to this table; the table is then as it was.
pub fn apply(table: &mut Table, event: &Event) -> Result<(), Inconsistent> {
    match event {
        Event::Granted { lease } => grant(table, lease, None),
        Event::Transferred { from, lease, .. } => {
            let old = known(table, *from)?;
            if (&old.resource, old.mode) != (&lease.resource, lease.mode) {
                return Err(Inconsistent::WrongTransfer { lease: *from });
            }
            grant(table, lease, Some(*from))
        }
        Event::Renewed { lease, ttl, at } => match &mut known_mut(table, *lease)?.term {
            Term::Finite { ttl: old_ttl, from } => {
                (*old_ttl, *from) = (*ttl, *at);
                Ok(())
            }
            Term::Indefinite { .. } => Err(Inconsistent::WrongTerm { lease: *lease }),
        },
        Event::Beaten { lease, at } => match &mut known_mut(table, *lease)?.term {
            Term::Indefinite { beat, .. } => {
                *beat = *at;
                Ok(())
            }
            Term::Finite { .. } => Err(Inconsistent::WrongTerm { lease: *lease }),
        },
        Event::Released { lease, .. } | Event::Evicted { lease, .. } => {
            table.remove(*lease).map(drop).ok_or(Inconsistent::Unknown { lease: *lease })
        }
    }
}

/// Adds a grant, in the place of the lease `instead` if there is one.
fn grant(table: &mut Table, lease: &Lease, instead: Option<LeaseId>) -> Result<(), Inconsistent> {
    if table.get(lease.id).is_some() {
        return Err(Inconsistent::Duplicate { lease: lease.id });
    }
    for other in table.on(&lease.resource) {
        if other.fence >= lease.fence {
            return Err(Inconsistent::FenceNotRising { resource: lease.resource.clone() });
        }
        let in_the_way = !other.mode.admits(lease.mode) || other.holder == lease.holder;
        if in_the_way && Some(other.id) != instead {
            return Err(Inconsistent::TwoHolders { resource: lease.resource.clone(), by: other.id });
        }
    }
    if let Some(id) = instead {
        table.remove(id);
    }
    table.insert(lease.clone());
    Ok(())
}

fn known(table: &Table, id: LeaseId) -> Result<&Lease, Inconsistent> {
    table.get(id).ok_or(Inconsistent::Unknown { lease: id })
}

fn known_mut(table: &mut Table, id: LeaseId) -> Result<&mut Lease, Inconsistent> {
    table.get_mut(id).ok_or(Inconsistent::Unknown { lease: id })
}
