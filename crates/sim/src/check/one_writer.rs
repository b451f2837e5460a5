//! At every instant of true time at most one holder believes that it is alone.
//!
//! A holder believes in its lease from the moment it is told until its own clock reaches the deadline, it
//! gives the lease back, it is told of the loss, or it dies, at the latest with the power. Taking a lease away by force is the one lawful
//! way to leave a holder in a false belief; from then on only the fence protects (see `writes`).
//!
//! A holder is an agent in a place. Processes that act for the same holder share what it knows, and nobody
//! protects them from each other.

use std::collections::BTreeMap;

use holdfast_kernel::{Answer, Lease, LeaseId, Refusal, Stamp};

use crate::history::{ActorId, Asked, Call, History, Moment, Told};
use crate::words;

/// Two beliefs that exclude each other, if there are any.
///
/// Beliefs overlap only if one of them is held when the other begins, so these moments are all that has to
/// be looked at.
#[must_use]
pub fn find(history: &History) -> Option<String> {
    let beliefs = Beliefs::of(history);
    beliefs.all.iter().find_map(|later| {
        let earlier = beliefs.all.iter().find(|earlier| beliefs.clash(earlier, later))?;
        Some(format!(
            "at {} ms {} is told that it holds {}, while {} still believes in {}",
            later.from.true_ms,
            name(history, later.actor),
            words::lease(later.lease),
            name(history, earlier.actor),
            words::lease(earlier.lease),
        ))
    })
}

fn name(history: &History, actor: ActorId) -> &str {
    history.actor(actor).map_or("?", |actor| actor.name.as_str())
}

/// What one actor was told of its lease, once.
struct Belief<'a> {
    actor: ActorId,
    lease: &'a Lease,
    from: Moment,
    /// When its own clock was first seen at or past the deadline.
    over: Option<Moment>,
}

struct Beliefs<'a> {
    history: &'a History,
    all: Vec<Belief<'a>>,
    /// When somebody began to end a lease by name.
    given_up: BTreeMap<LeaseId, Moment>,
    /// When an actor was told that its lease is gone.
    lost: BTreeMap<(ActorId, LeaseId), Moment>,
}

impl<'a> Beliefs<'a> {
    fn of(history: &'a History) -> Self {
        let mut beliefs = Self { history, all: Vec::new(), given_up: BTreeMap::new(), lost: BTreeMap::new() };
        for call in history.calls() {
            if let Some(lease) = call.ends().filter(|_| !call.was_denied()) {
                note(&mut beliefs.given_up, lease, call.start);
            }
            let Some(end) = call.end else { continue };
            if let Some(lease) = lost(call) {
                note(&mut beliefs.lost, (call.by, lease), end);
            }
            if let Some(lease) = held(call) {
                beliefs.all.push(Belief { actor: call.by, lease, from: end, over: None });
            }
        }
        beliefs.all.sort_by_key(|belief| belief.from);
        let clocks = clocks(history);
        for belief in &mut beliefs.all {
            let host = history.actor(belief.actor).map(|actor| actor.host);
            let shown = host.and_then(|host| clocks.get(&host)).into_iter().flatten();
            let is_over =
                |(at, clock): &&(Moment, Stamp)| *at >= belief.from && belief.lease.standing(clock).is_over();
            belief.over = shown.filter(is_over).map(|(at, _)| *at).min();
        }
        beliefs
    }

    /// Whether `earlier` is still believed when `later` begins, and the two exclude each other.
    fn clash(&self, earlier: &Belief<'_>, later: &Belief<'_>) -> bool {
        earlier.from < later.from
            && earlier.lease.holder != later.lease.holder
            && earlier.lease.resource.overlaps(&later.lease.resource)
            && !earlier.lease.mode.admits(later.lease.mode)
            && self.stands(earlier, later.from)
            && self.stands(later, later.from)
    }

    /// Whether a belief is held at a moment.
    fn stands(&self, belief: &Belief<'_>, at: Moment) -> bool {
        let id = belief.lease.id;
        let before = |moment: Option<&Moment>| moment.is_some_and(|moment| *moment < at);
        let end = self.history.actor_end(belief.actor);
        let dead = end.iter().chain(self.history.power_losses()).any(|end| belief.from < *end && *end < at);
        let renewed =
            self.all.iter().any(|other| other.lease.id == id && belief.from < other.from && other.from <= at);
        !dead
            && !renewed
            && belief.over.is_none_or(|over| over > at)
            && !before(self.given_up.get(&id))
            && !before(self.lost.get(&(belief.actor, id)))
    }
}

/// What the clock of each host was seen to show. A wall clock may go back over a deadline that it had
/// reached, so one look at the end would not be enough.
fn clocks(history: &History) -> BTreeMap<usize, Vec<(Moment, Stamp)>> {
    let mut shown: BTreeMap<usize, Vec<(Moment, Stamp)>> = BTreeMap::new();
    for call in history.calls() {
        if let Some(actor) = history.actor(call.by) {
            shown.entry(actor.host).or_default().extend(&call.readings);
        }
        let Some(end) = call.end else { continue };
        for (host, clock) in call.clocks.iter().enumerate() {
            shown.entry(host).or_default().push((end, *clock));
        }
    }
    shown
}

fn note<K: Ord>(moments: &mut BTreeMap<K, Moment>, key: K, moment: Moment) {
    let first = moments.entry(key).or_insert(moment);
    *first = moment.min(*first);
}

/// The lease that the caller may believe in from here on.
fn held(call: &Call) -> Option<&Lease> {
    match &call.told {
        Told::Answer(
            Answer::Granted(lease)
            | Answer::AlreadyHeld(lease)
            | Answer::Renewed(lease)
            | Answer::Beaten(lease),
        ) => Some(lease),
        _ => None,
    }
}

/// The lease that the caller cannot believe in any more.
fn lost(call: &Call) -> Option<LeaseId> {
    let Told::Refused(refusal) = &call.told else { return None };
    match refusal {
        Refusal::NotFound { lease } => Some(*lease),
        Refusal::Expired { lease, .. } | Refusal::NotHolder { lease } => Some(lease.id),
        Refusal::FencedOut { .. } => match &call.asked {
            Asked::Write(claim) => Some(claim.lease),
            Asked::Command(_) | Asked::View => None,
        },
        Refusal::Held { .. }
        | Refusal::ClockSkew { .. }
        | Refusal::AlreadyHeld { .. }
        | Refusal::HeldShared { .. }
        | Refusal::Stale { .. }
        | Refusal::NotIndefinite { .. }
        | Refusal::NotFinite { .. }
        | Refusal::TtlOutOfRange { .. }
        | Refusal::DeadlineTooFar { .. }
        | Refusal::IndefiniteForbidden
        | Refusal::ReasonRequired
        | Refusal::LimitReached { .. }
        | Refusal::DuplicateId { .. }
        | Refusal::SameHolder { .. }
        | Refusal::FencesExhausted
        | Refusal::CounterBehind { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::check::handmade::{Book, SECOND};

    #[test]
    fn two_grants_at_once_are_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        book.grant(a, 1, 1, 10 * SECOND);
        book.at(9 * SECOND + 999);
        book.grant(b, 2, 2, 10 * SECOND);
        let what = find(book.history()).expect("the clash");
        assert!(what.contains("while a still believes"), "{what}");
    }

    #[test]
    fn a_grant_after_the_deadline_is_lawful() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        book.grant(a, 1, 1, 10 * SECOND);
        book.at(10 * SECOND);
        book.grant(b, 2, 2, 10 * SECOND);
        assert_eq!(find(book.history()), None);
    }

    #[test]
    fn a_renewal_prolongs_the_belief() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = book.grant(a, 1, 1, 10 * SECOND);
        book.at(5 * SECOND);
        book.renew(a, &lease);
        book.at(12 * SECOND);
        book.grant(b, 2, 2, 10 * SECOND);
        assert!(find(book.history()).is_some());
    }

    #[test]
    fn a_shared_grant_beside_an_exclusive_one_is_found_and_beside_a_shared_one_is_not() {
        let mut book = Book::new();
        let (a, b, c) = (book.actor("a"), book.actor("b"), book.actor("c"));
        book.grant_shared(a, 1, 1);
        book.grant_shared(b, 2, 2);
        assert_eq!(find(book.history()), None);
        book.grant(c, 3, 3, 10 * SECOND);
        assert!(find(book.history()).is_some());
    }

    #[test]
    fn who_released_was_evicted_or_died_believes_nothing() {
        let die = |book: &mut Book, by, _: &_| book.die(by);
        let lose_power = |book: &mut Book, _, _: &_| book.history_mut().power_lost(0);
        for end in [Book::release, Book::evict, die, lose_power] {
            let mut book = Book::new();
            let (a, b) = (book.actor("a"), book.actor("b"));
            let lease = book.grant(a, 1, 1, 10 * SECOND);
            end(&mut book, a, &lease);
            book.grant(b, 2, 2, 10 * SECOND);
            assert_eq!(find(book.history()), None);
        }
    }
}
