//! The leases as this machine may judge them. A lease of another clone is over only if the wall clock says so **and**
//! it was watched, unchanged, for its term, skew and grace by the boot-time clock of this machine: a wall clock that
//! is wrong takes nothing from anybody.
//!
//! The kernel compares moments of one boot by the boot-time clock. So a lease of another clone is handed to it as if
//! its last sign had come when it was first seen here, if that makes it last longer than the wall clock does.

use holdfast_kernel::{Lease, Millis, Stamp, Standing, Table, Term};

use crate::head::{CloneId, Head};
use crate::local::{Moment, Watched};

/// What a machine believes of other machines' clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// That they may be wrong: their leases have to be watched.
    Watch,
    /// That they are right within the skew.
    Clocks,
}

/// The leases as this machine judges them at `now`.
///
/// # Errors
/// When the head has leases that no table can have.
pub fn judged(
    head: &Head,
    me: CloneId,
    watched: &[Watched],
    now: &Stamp,
    trust: Trust,
) -> Result<Table, String> {
    let judge = |entry: &crate::head::Entry| {
        if entry.stamped_by == me {
            return entry.lease.clone();
        }
        // Machines in namespaces share the id of a boot, not its clock.
        let by_wall = match is_of_boot(entry.lease.last_sign(), now) {
            true => signed(&entry.lease, without_boot(entry.lease.last_sign())),
            false => entry.lease.clone(),
        };
        match trust {
            Trust::Clocks => by_wall,
            Trust::Watch => longer(by_wall, seen_here(&entry.lease, watched, now), now),
        }
    };
    Table::restore(head.entries.values().map(judge)).map_err(|error| error.to_string())
}

/// Since when each lease of another clone is watched, after a read that ended at `now`; none if nothing is new.
#[must_use]
pub fn noted(head: &Head, me: CloneId, watched: &[Watched], now: &Stamp) -> Option<Vec<Watched>> {
    let theirs = head.entries.values().filter(|entry| entry.stamped_by != me);
    let mut notes = Vec::new();
    for entry in theirs {
        let (lease, sign) = (entry.lease.id, entry.lease.last_sign());
        let known = watched.iter().find(|note| note.is_of(lease, sign) && is_of_this_boot(note, now));
        notes.push(known.cloned().unwrap_or_else(|| Watched {
            lease: lease.to_string(),
            sign: Moment::of(sign),
            since: Moment::of(now),
        }));
    }
    (notes != watched).then_some(notes)
}

fn is_of_this_boot(note: &Watched, now: &Stamp) -> bool {
    note.since.stamp().is_some_and(|since| is_of_boot(&since, now))
}

fn is_of_boot(stamp: &Stamp, now: &Stamp) -> bool {
    stamp.boot().map(|boot| boot.id) == now.boot().map(|boot| boot.id)
}

/// How long it has been watched, of how long it has to be; none if the lease has no end.
pub(crate) fn progress(lease: &Lease, watched: &[Watched], now: &Stamp) -> Option<(Millis, Millis)> {
    let Term::Finite { ttl, .. } = lease.term else { return None };
    let note =
        watched.iter().find(|note| note.is_of(lease.id, lease.last_sign()) && is_of_this_boot(note, now));
    let since = note.and_then(|note| note.since.stamp());
    let passed = since.map_or(Millis::ZERO, |since| now.since(&since).forward());
    Some((passed, ttl.plus(lease.skew).plus(lease.grace)))
}

/// The lease as if its last sign had come when this machine first saw it.
fn seen_here(lease: &Lease, watched: &[Watched], now: &Stamp) -> Lease {
    let sign = lease.last_sign();
    let note = watched.iter().find(|note| note.is_of(lease.id, sign) && is_of_this_boot(note, now));
    let since = note.and_then(|note| note.since.stamp()).unwrap_or(*now);
    let wall = i64::try_from(sign.wall_ms()).ok();
    match wall.and_then(|wall| Stamp::new(wall, since.boot()).ok()) {
        Some(stamp) if now.boot().is_some() => signed(lease, stamp),
        // Without a boot-time clock nothing can be watched.
        _ => signed(lease, without_boot(sign)),
    }
}

/// Of two ways to see a lease the one by which it lasts longer; a stamp from the future is for the kernel to refuse.
fn longer(by_wall: Lease, watched: Lease, now: &Stamp) -> Lease {
    if by_wall.ahead_of(now).is_some() || wait(&by_wall, now) >= wait(&watched, now) {
        by_wall
    } else {
        watched
    }
}

/// How long others have to wait for it; none is for ever.
fn wait(lease: &Lease, now: &Stamp) -> (bool, Millis) {
    match lease.standing(now) {
        Standing::Live { left } => (false, left.plus(lease.skew).plus(lease.grace)),
        Standing::Lapsed { takeover_in, .. } => (false, takeover_in),
        Standing::Open { .. } => (false, Millis::ZERO),
        Standing::Beating => (true, Millis::new(1)),
        Standing::Stale { .. } => (true, Millis::ZERO),
    }
}

fn without_boot(stamp: &Stamp) -> Stamp {
    let wall = i64::try_from(stamp.wall_ms()).unwrap_or(i64::MAX);
    Stamp::new(wall, None).unwrap_or(*stamp)
}

fn signed(lease: &Lease, sign: Stamp) -> Lease {
    let term = match lease.term {
        Term::Finite { ttl, .. } => Term::Finite { ttl, from: sign },
        Term::Indefinite { stale_after, .. } => Term::Indefinite { beat: sign, stale_after },
    };
    Lease { term, ..lease.clone() }
}

#[cfg(test)]
mod tests;
