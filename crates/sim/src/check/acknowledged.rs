//! Nothing acknowledged is lost: after crash, power loss and reopening, a lease that somebody was told of
//! is in the table until a call that may have ended it, and what was acknowledged as ended stays ended.

use std::collections::BTreeMap;

use holdfast_kernel::{Answer, Command, Lease, LeaseId};
use holdfast_store::View;

use crate::history::{Asked, Call, History, Moment, Told};
use crate::words;

/// An acknowledged lease or end that is gone, if there is one.
#[must_use]
pub fn find(history: &History) -> Option<String> {
    lost_lease(history).or_else(|| undone_end(history))
}

fn lost_lease(history: &History) -> Option<String> {
    let told = acknowledged(history);
    history.calls().iter().find_map(|look| {
        let Told::View(view) = &look.told else { return None };
        let (lease, _) = told
            .values()
            .filter(|(_, since)| *since < look.start)
            .find(|(lease, _)| is_missing(history, lease, look, view))?;
        Some(format!("{} is not in what {}", words::lease(lease), history.describe(look)))
    })
}

/// Every lease that a caller was told is in force, and since when somebody knows.
fn acknowledged(history: &History) -> BTreeMap<LeaseId, (&Lease, Moment)> {
    let mut told: BTreeMap<LeaseId, (&Lease, Moment)> = BTreeMap::new();
    for call in history.calls() {
        let (Told::Answer(_), Some(end)) = (&call.told, call.end) else { continue };
        for lease in call.shows() {
            let known = told.entry(lease.id).or_insert((lease, end));
            known.1 = known.1.min(end);
        }
    }
    told
}

fn is_missing(history: &History, lease: &Lease, look: &Call, view: &View) -> bool {
    let may_have_ended = |call: &Call| look.end.is_some_and(|end| call.start < end) && may_end(call, lease);
    view.table.get(lease.id).is_none() && !history.calls().iter().any(may_have_ended)
}

/// Whether this call, with this outcome, can be the reason that the lease is gone.
fn may_end(call: &Call, lease: &Lease) -> bool {
    if call.was_denied() {
        return false;
    }
    match &call.asked {
        Asked::Command(Command::Sweep) => match &call.told {
            Told::Answer(Answer::Swept(ended)) => ended.iter().any(|other| other.id == lease.id),
            _ => true,
        },
        Asked::Command(Command::Acquire(wanted)) => {
            let took = call.is_open() || call.granted().is_some();
            let same = wanted.id != lease.id && wanted.resource.overlaps(&lease.resource);
            let in_the_way = !lease.mode.admits(wanted.mode) || lease.holder == wanted.holder;
            took && same && (in_the_way || wanted.dead.contains(&lease.id))
        }
        Asked::Command(Command::Transfer(wanted)) => {
            // What was in the way and ran out makes room.
            let other = lease.resource.pattern().is_some() || wanted.to == lease.holder;
            wanted.lease == lease.id || other
        }
        Asked::Command(_) => call.ends() == Some(lease.id),
        Asked::Write(_) | Asked::View => false,
    }
}

/// A lease that is there although its end was acknowledged.
fn undone_end(history: &History) -> Option<String> {
    let ends: Vec<(LeaseId, Moment)> = history.calls().iter().flat_map(ended).collect();
    history.calls().iter().find_map(|call| {
        let back = |lease: &&Lease| ends.iter().any(|(id, end)| *id == lease.id && *end < call.start);
        let lease = call.shows().find(back)?;
        Some(format!("{} had ended, but: {}", words::lease(lease), history.describe(call)))
    })
}

/// The leases whose end this call acknowledges.
fn ended(call: &Call) -> Vec<(LeaseId, Moment)> {
    let (Told::Answer(answer), Some(end)) = (&call.told, call.end) else { return Vec::new() };
    match answer {
        Answer::Swept(swept) => swept.iter().map(|lease| (lease.id, end)).collect(),
        _ => call.ends().map(|lease| (lease, end)).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Fence, Table};
    use holdfast_store::{CounterId, View};

    use super::find;
    use crate::check::handmade::{Book, SECOND, stamp};
    use crate::history::{Asked, Told};

    fn view(leases: &[&holdfast_kernel::Lease]) -> Told {
        let mut table = Table::new();
        for lease in leases {
            let event = holdfast_kernel::Event::Granted { lease: (*lease).clone() };
            holdfast_kernel::apply(&mut table, &event).unwrap();
        }
        let counter = Some(CounterId::new(holdfast_kernel::LeaseId::new(1)));
        Told::View(View { table, counter, next: Fence::new(9).unwrap(), now: stamp(0) })
    }

    #[test]
    fn a_lost_grant_is_found() {
        let mut book = Book::new();
        let a = book.actor("a");
        let lease = book.grant(a, 1, 1, SECOND);
        book.call(a, Asked::View, view(&[&lease]));
        assert_eq!(find(book.history()), None);
        book.call(a, Asked::View, view(&[]));
        assert!(find(book.history()).unwrap().contains("is not in"));
    }

    #[test]
    fn a_lease_that_was_released_may_be_missing_but_not_come_back() {
        let mut book = Book::new();
        let a = book.actor("a");
        let lease = book.grant(a, 1, 1, SECOND);
        book.release(a, &lease);
        book.call(a, Asked::View, view(&[]));
        assert_eq!(find(book.history()), None);
        book.call(a, Asked::View, view(&[&lease]));
        assert!(find(book.history()).unwrap().contains("had ended"));
    }
}
