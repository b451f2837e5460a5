//! Puts an event into a table. It accepts exactly what [`decide`](crate::decide) could have produced on
//! that table under some policy, so that a damaged or forged history is named instead of believed.

use crate::{Cause, Event, Inconsistent, Lease, LeaseId, Millis, Stamp, Table, Term};

/// Puts `event` into `table`.
///
/// # Errors
/// When the event cannot have happened to this table; the table is then as it was.
pub fn apply(table: &mut Table, event: &Event) -> Result<(), Inconsistent> {
    match event {
        Event::Granted { lease } => {
            begins(lease)?;
            table.place(lease.clone(), None)
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
    table.place(lease.clone(), Some(from))
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
