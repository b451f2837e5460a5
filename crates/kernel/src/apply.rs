//! Puts an event into a table. It accepts exactly what [`decide`](crate::decide) could have produced on
//! that table under some policy, so that a damaged or forged history is named instead of believed.

use crate::{Cause, Event, Lease, LeaseId, Millis, Name, Stamp, Table, Term};

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

/// Puts `event` into `table`.
///
/// # Errors
/// When the event cannot have happened to this table; the table is then as it was.
pub fn apply(table: &mut Table, event: &Event) -> Result<(), Inconsistent> {
    match event {
        Event::Granted { lease } => {
            begins(lease)?;
            place(table, lease.clone(), None)
        }
        Event::Transferred { from, lease, .. } => transfer(table, *from, lease),
        Event::Renewed { lease, ttl, at } => renew(table, *lease, *ttl, at),
        Event::Beaten { lease, at } => beat(table, *lease, at),
        Event::Evicted { lease, at, cause: Cause::Expired }
            if !known(table, *lease)?.standing(at).is_over() =>
        {
            Err(Inconsistent::NotOver { lease: *lease })
        }
        Event::Released { lease, .. } | Event::Evicted { lease, .. } => {
            table.remove(*lease).map(drop).ok_or(Inconsistent::Unknown { lease: *lease })
        }
    }
}

/// Adds a lease, in the place of the lease `instead` if there is one.
pub(crate) fn place(table: &mut Table, lease: Lease, instead: Option<LeaseId>) -> Result<(), Inconsistent> {
    if !lease.is_lawful() {
        return Err(Inconsistent::Unlawful { lease: lease.id });
    }
    if table.get(lease.id).is_some() {
        return Err(Inconsistent::Duplicate { lease: lease.id });
    }
    for other in table.on(&lease.resource) {
        if other.fence >= lease.fence {
            return Err(Inconsistent::FenceNotRising { resource: lease.resource });
        }
        let in_the_way = !other.mode.admits(lease.mode) || other.holder == lease.holder;
        if in_the_way && Some(other.id) != instead {
            return Err(Inconsistent::TwoHolders { resource: lease.resource, by: other.id });
        }
    }
    if let Some(id) = instead {
        table.remove(id);
    }
    table.insert(lease);
    Ok(())
}

fn transfer(table: &mut Table, from: LeaseId, lease: &Lease) -> Result<(), Inconsistent> {
    let old = in_force(table, from, &lease.granted)?;
    let same_length = match (&old.term, &lease.term) {
        (Term::Finite { ttl: before, .. }, Term::Finite { ttl, .. }) => before == ttl,
        (Term::Indefinite { .. }, Term::Indefinite { .. }) => true,
        _ => false,
    };
    let same_thing = (&old.resource, old.mode, &old.reason) == (&lease.resource, lease.mode, &lease.reason);
    if old.holder == lease.holder || !same_thing || !same_length {
        return Err(Inconsistent::WrongTransfer { lease: from });
    }
    begins(lease)?;
    place(table, lease.clone(), Some(from))
}

fn renew(table: &mut Table, id: LeaseId, ttl: Millis, at: &Stamp) -> Result<(), Inconsistent> {
    let renewed = Term::Finite { ttl, from: *at };
    if in_force(table, id, at)?.is_indefinite() {
        return Err(Inconsistent::WrongTerm { lease: id });
    }
    if !renewed.is_lawful() {
        return Err(Inconsistent::Unlawful { lease: id });
    }
    known_mut(table, id)?.term = renewed;
    Ok(())
}

fn beat(table: &mut Table, id: LeaseId, at: &Stamp) -> Result<(), Inconsistent> {
    match &mut known_mut(table, id)?.term {
        Term::Finite { .. } => Err(Inconsistent::WrongTerm { lease: id }),
        Term::Indefinite { beat, .. } => {
            *beat = *at;
            Ok(())
        }
    }
}

/// A lease runs from the moment of its grant.
fn begins(lease: &Lease) -> Result<(), Inconsistent> {
    if *lease.last_sign() == lease.granted { Ok(()) } else { Err(Inconsistent::Unlawful { lease: lease.id }) }
}

fn in_force<'a>(table: &'a Table, id: LeaseId, at: &Stamp) -> Result<&'a Lease, Inconsistent> {
    let lease = known(table, id)?;
    if lease.standing(at).is_over() { Err(Inconsistent::Over { lease: id }) } else { Ok(lease) }
}

fn known(table: &Table, id: LeaseId) -> Result<&Lease, Inconsistent> {
    table.get(id).ok_or(Inconsistent::Unknown { lease: id })
}

fn known_mut(table: &mut Table, id: LeaseId) -> Result<&mut Lease, Inconsistent> {
    table.get_mut(id).ok_or(Inconsistent::Unknown { lease: id })
}
