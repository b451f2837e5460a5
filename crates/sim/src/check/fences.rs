//! Fences strictly rise per resource, over the whole history, crashes included. A grant counts from the
//! moment that anybody saw it, whoever did and whether or not its own caller lived to hear of it. Only what
//! nobody was promised may be forgotten with the power, and its number be given out again.

use std::collections::BTreeMap;

use holdfast_kernel::{Lease, LeaseId};
use holdfast_store::{CounterId, View};

use crate::history::{Asked, Call, History, Moment, Told};
use crate::words;

/// Two fences that do not rise, if there are any.
#[must_use]
pub fn find(history: &History) -> Option<String> {
    let mut grants: BTreeMap<LeaseId, Grant<'_>> = BTreeMap::new();
    let mut counter = None;
    // Before the first grant that somebody heard of, even the counter may be lost with the power.
    let granted =
        history.calls().iter().filter(|call| call.granted().is_some()).filter_map(|call| call.end).min();
    for call in history.calls() {
        let Some(end) = call.end else { continue };
        if granted.is_some_and(|granted| granted < call.start)
            && let Some(other) = another_counter(call, &mut counter)
        {
            return Some(other);
        }
        for lease in call.mentions() {
            let asked = asked_at(history, lease.id);
            let grant = grants.entry(lease.id).or_insert(Grant {
                lease,
                asked,
                seen: end,
                promised: is_used(history, lease),
            });
            if grant.lease.fence != lease.fence {
                return Some(format!("{} has also fence {}", words::lease(grant.lease), lease.fence));
            }
            grant.seen = grant.seen.min(end);
            grant.promised |= matches!(call.told, Told::Answer(_));
        }
    }
    let all: Vec<_> = grants.into_values().collect();
    all.iter().find_map(|later| all.iter().find_map(|earlier| not_rising(history, earlier, later)))
}

/// One grant, and between which moments it was made.
struct Grant<'a> {
    lease: &'a Lease,
    asked: Option<Moment>,
    seen: Moment,
    /// Whether somebody was told yes because of it.
    promised: bool,
}

/// Whether something was written under a lease.
fn is_used(history: &History, lease: &Lease) -> bool {
    history.calls().iter().any(|call| match &call.asked {
        Asked::Write(claim) => claim.lease == lease.id && call.acted.is_some(),
        _ => false,
    })
}

fn asked_at(history: &History, id: LeaseId) -> Option<Moment> {
    history.calls().iter().find(|call| call.makes() == Some(id)).map(|call| call.start)
}

fn not_rising(history: &History, earlier: &Grant<'_>, later: &Grant<'_>) -> Option<String> {
    let (first, second) = (earlier.lease, later.lease);
    let same = first.resource.overlaps(&second.resource) && first.id != second.id;
    let in_sequence = later.asked.is_some_and(|asked| earlier.seen < asked);
    let wrong = in_sequence && first.fence >= second.fence
        || first.fence == second.fence && earlier.seen <= later.seen;
    if !same || !wrong || is_forgotten(history, earlier, later) {
        return None;
    }
    let (first, second) = (words::lease(first), words::lease(second));
    Some(format!(
        "{second} was granted beside or after {first}, which was seen at {} ms",
        earlier.seen.true_ms
    ))
}

/// Whether the power may have taken the earlier grant before the later one was made.
fn is_forgotten(history: &History, earlier: &Grant<'_>, later: &Grant<'_>) -> bool {
    let between = |loss: &Moment| earlier.seen < *loss && *loss < later.seen;
    !earlier.promised && history.power_losses().iter().any(between)
}

/// Fences mean something only as long as the counter is the same one.
fn another_counter(call: &Call, counter: &mut Option<CounterId>) -> Option<String> {
    let Told::View(View { counter: Some(shown), .. }) = &call.told else { return None };
    let first = counter.get_or_insert(*shown);
    (first != shown).then(|| format!("the counter {first} became {shown}"))
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Mode, Refusal};

    use super::find;
    use crate::check::handmade::{Book, SECOND};
    use crate::history::Told;

    #[test]
    fn a_fence_that_comes_back_is_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = book.grant(a, 1, 7, SECOND);
        book.release(a, &lease);
        book.grant(b, 2, 8, SECOND);
        assert_eq!(find(book.history()), None);
        book.at(20 * SECOND);
        book.grant(a, 3, 8, SECOND);
        assert!(find(book.history()).is_some());
    }

    #[test]
    fn a_fence_that_falls_is_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        book.grant(a, 1, 7, SECOND);
        book.grant(b, 2, 5, SECOND);
        assert!(find(book.history()).is_some());
    }

    #[test]
    fn a_grant_whose_caller_died_counts_once_it_was_seen() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let asked = book.acquire(a, 1, Mode::Exclusive, SECOND);
        book.begin(a, asked);
        let unheard = Box::new(book.lease(a, 1, 4, Mode::Exclusive, SECOND));
        let asked = book.acquire(b, 2, Mode::Exclusive, SECOND);
        book.call(b, asked, Told::Refused(Refusal::Held { blocker: unheard, others: 0, retry_after: None }));
        book.at(20 * SECOND);
        let before = book.history().clone();
        book.grant(b, 3, 4, SECOND);
        assert!(find(book.history()).is_some());
        // With the power everything may go that nobody was promised.
        *book.history_mut() = before;
        book.history_mut().power_lost(0);
        book.grant(b, 3, 4, SECOND);
        assert_eq!(find(book.history()), None);
    }
}
