//! There is a sequence of the calls, each between its start and its end, in which the kernel alone would
//! have given every answer. Calls of unknown outcome may have taken effect or not; and as long as nobody
//! was told yes on top of it, a power loss may take that effect back.
//!
//! The search is Wing and Gong's with memoisation. Where no limit ties resources together, those that overlap have a
//! history of their own; that keeps the search short.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_kernel::{Command, Lease, LeaseId, Limits, Policy, Resource};

use crate::history::{Asked, Call, History, Moment, Told};
use crate::model::{Key, Known, Model};

/// More states than any lawful history of our workloads ever needed; past it the history is reported, so
/// that nothing passes unjudged.
const MOST_STATES: usize = 200_000;

/// The part of the history that no sequence explains, if there is one.
#[must_use]
pub fn find(history: &History, policy: &Policy) -> Option<String> {
    let seen = first_seen(history);
    let about = |resources| Known { policy, resources, seen: &seen };
    if policy.limits == Limits::NONE {
        groups(resources(history)).iter().find_map(|group| judge(history, &about(Some(group))))
    } else {
        judge(history, &about(None))
    }
}

/// The resources in groups of which none overlaps another.
fn groups(resources: BTreeSet<&Resource>) -> Vec<BTreeSet<&Resource>> {
    let mut groups: Vec<BTreeSet<&Resource>> = Vec::new();
    for resource in resources {
        let meets = |group: &mut BTreeSet<&Resource>| group.iter().any(|other| other.overlaps(resource));
        let mut group: BTreeSet<&Resource> = groups.extract_if(.., meets).flatten().collect();
        group.insert(resource);
        groups.push(group);
    }
    groups
}

fn first_seen(history: &History) -> BTreeMap<LeaseId, &Lease> {
    let mut seen = BTreeMap::new();
    for lease in history.calls().iter().flat_map(Call::mentions) {
        seen.entry(lease.id).or_insert(lease);
    }
    seen
}

fn resources(history: &History) -> BTreeSet<&Resource> {
    let wanted = history.calls().iter().filter_map(|call| match &call.asked {
        Asked::Command(Command::Acquire(wanted)) => Some(&wanted.resource),
        _ => None,
    });
    wanted.collect()
}

fn judge(history: &History, known: &Known<'_>) -> Option<String> {
    let mut ops: Vec<Op<'_>> =
        history.calls().iter().filter_map(|call| Op::of(history, call, known)).collect();
    ops.extend(history.power_losses().iter().map(|moment| Op::power_loss(*moment)));
    let mut search = Search { ops: &ops, known, visited: BTreeSet::new(), furthest: None };
    if search.explains(Model::default()) {
        return None;
    }
    if search.visited.len() >= MOST_STATES {
        return Some(format!("gave up after {MOST_STATES} states"));
    }
    let (stuck, state) = search.furthest?;
    let blocked = stuck.iter().filter_map(|op| op.call).map(|call| history.describe(call));
    let blocked: Vec<String> = blocked.collect();
    Some(format!("no lawful sequence goes on from {} with any of: {}", state.words(), blocked.join(" | ")))
}

/// One call, or one power loss, as the search sees it.
struct Op<'a> {
    /// None for a power loss.
    call: Option<&'a Call>,
    start: u64,
    /// After this moment it cannot take effect any more.
    end: u64,
    /// Whether it did take effect.
    must: bool,
}

impl<'a> Op<'a> {
    fn of(history: &History, call: &'a Call, known: &Known<'_>) -> Option<Self> {
        let unheard = call.is_open() && matches!(call.asked, Asked::View | Asked::Write(_));
        let other = known.resources.is_some_and(|resources| !is_about(history, call, resources));
        if unheard || other || matches!(call.told, Told::Unusable(_)) {
            return None;
        }
        let end = if call.is_open() { last_chance(history, call) } else { call.end };
        let end = end.map_or(u64::MAX, |end| end.order);
        Some(Self { call: Some(call), start: call.start.order, end, must: !call.is_open() })
    }

    const fn power_loss(moment: Moment) -> Self {
        Self { call: None, start: moment.order, end: moment.order, must: true }
    }

    fn lead(&self, state: &Model, known: &Known<'_>) -> Vec<Model> {
        match self.call {
            None => state.after_power_loss(),
            Some(call) => state.after(call, known),
        }
    }
}

/// Until when a call of unknown outcome can still take effect. Whoever dies does nothing afterwards; but what
/// was half undone, because something had failed, may come back with the next power loss.
fn last_chance(history: &History, call: &Call) -> Option<Moment> {
    if history.may_arrive_late() {
        return None;
    }
    let power_loss = history.power_losses().iter().copied().find(|moment| *moment > call.start);
    power_loss.or_else(|| history.actor_end(call.by).filter(|_| call.told == Told::Nothing))
}

fn is_about(history: &History, call: &Call, resources: &BTreeSet<&Resource>) -> bool {
    let lease = match &call.asked {
        Asked::View | Asked::Command(Command::Sweep) => return true,
        Asked::Write(claim) | Asked::Command(Command::Check(claim)) => {
            return resources.contains(&claim.resource);
        }
        Asked::Command(Command::Acquire(wanted)) => return resources.contains(&wanted.resource),
        Asked::Command(Command::Transfer(wanted)) => wanted.lease,
        Asked::Command(
            Command::Renew { lease, .. }
            | Command::Beat { lease, .. }
            | Command::Release { lease, .. }
            | Command::Evict { lease, .. },
        ) => *lease,
    };
    history.resource_of(lease).is_some_and(|resource| resources.contains(resource))
}

/// Which calls have their place in the sequence.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Placed(Vec<u64>);

impl Placed {
    fn none(calls: usize) -> Self {
        Self(vec![0; calls.div_ceil(64)])
    }

    fn has(&self, call: usize) -> bool {
        self.0.get(call / 64).is_some_and(|word| word >> (call % 64) & 1 == 1)
    }

    /// Places a call, or takes it back.
    fn flip(&mut self, call: Option<usize>) {
        if let Some((call, word)) = call.and_then(|call| Some((call, self.0.get_mut(call / 64)?))) {
            *word ^= 1 << (call % 64);
        }
    }
}

struct Search<'a> {
    ops: &'a [Op<'a>],
    known: &'a Known<'a>,
    visited: BTreeSet<(Placed, Key)>,
    /// The calls that could not be placed when most of the others were, and the state then.
    furthest: Option<(Vec<&'a Op<'a>>, Model)>,
}

impl<'a> Search<'a> {
    /// Goes from call to call without calling itself: a history of some thousand calls would take more than a stack has.
    fn explains(&mut self, state: Model) -> bool {
        let (mut placed, mut path) = (Placed::none(self.ops.len()), Vec::new());
        let mut came = Some((None, state));
        loop {
            if let Some((last, state)) = came.take() {
                placed.flip(last);
                let next = self.candidates(&placed);
                if !next.iter().any(|(_, op)| op.must) {
                    return true;
                }
                let key = state.key();
                if self.visited.len() < MOST_STATES && self.visited.insert((placed.clone(), key.clone())) {
                    path.push(Branch { last, state, key, next, at: 0, leads: None, is_spent: false });
                } else {
                    placed.flip(last);
                }
            }
            let Some(branch) = path.last_mut() else { return false };
            if let Some((index, after)) = branch.lead(self.known) {
                came = Some((Some(index), after));
            } else if let Some(Branch { last, state, next, is_spent, .. }) = path.pop() {
                placed.flip(last);
                if !is_spent {
                    self.remember(&next, &state);
                }
            }
        }
    }

    /// The calls that may come next: none that another unplaced one had already returned before, and no
    /// dead caller's that something later was placed before. Those that returned first come first,
    /// because a medium mostly works in that order.
    fn candidates(&self, placed: &Placed) -> Vec<(usize, &'a Op<'a>)> {
        let all = || self.ops.iter().enumerate();
        let left = || all().filter(|(index, _)| !placed.has(*index));
        let bound = left().filter(|(_, op)| op.must).map(|(_, op)| op.end).min().unwrap_or(u64::MAX);
        let reached =
            all().filter(|(index, _)| placed.has(*index)).map(|(_, op)| op.start).max().unwrap_or(0);
        let mut next: Vec<_> =
            left().filter(|(_, op)| op.start <= bound && (op.must || op.end > reached)).collect();
        next.sort_by_key(|(_, op)| (!op.must, op.end));
        next
    }

    fn remember(&mut self, next: &[(usize, &'a Op<'a>)], state: &Model) {
        let stuck: Vec<_> = next.iter().map(|(_, op)| *op).filter(|op| op.must).collect();
        let bound = |ops: &[&Op<'_>]| ops.iter().map(|op| op.end).min();
        if self.furthest.as_ref().is_none_or(|(before, _)| bound(before) < bound(&stuck)) {
            self.furthest = Some((stuck, state.clone()));
        }
    }
}

/// A state that the search has come to, and what it has not tried from there.
struct Branch<'a> {
    /// The call that was placed last; none at the beginning.
    last: Option<usize>,
    state: Model,
    key: Key,
    next: Vec<(usize, &'a Op<'a>)>,
    /// Which of them is tried, and what it can still lead to.
    at: usize,
    leads: Option<std::vec::IntoIter<Model>>,
    /// Whether nothing else can be gained by trying more.
    is_spent: bool,
}

impl Branch<'_> {
    /// The next call to place, and what it leads to.
    fn lead(&mut self, known: &Known<'_>) -> Option<(usize, Model)> {
        while !self.is_spent
            && let Some((index, op)) = self.next.get(self.at)
        {
            let leads = self.leads.get_or_insert_with(|| op.lead(&self.state, known).into_iter());
            let Some(after) = leads.next() else {
                (self.at, self.leads) = (self.at + 1, None);
                continue;
            };
            // A call that changes nothing and fits here would gain nothing by a later place.
            self.is_spent = op.must && after.key() == self.key && !closes_a_chance(op, &self.next);
            return Some((*index, after));
        }
        None
    }
}

/// Whether a call of unknown outcome can have taken effect before this one only.
fn closes_a_chance(op: &Op<'_>, next: &[(usize, &Op<'_>)]) -> bool {
    next.iter().any(|(_, other)| !other.must && other.end <= op.start)
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Answer, Fence, LeaseId, Mode, Refusal, Table};
    use holdfast_store::{CounterId, View};

    use super::find;
    use crate::check::handmade::{Book, SECOND, policy, stamp};
    use crate::history::{Asked, Told};

    #[test]
    fn a_lawful_history_is_explained() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = book.grant(a, 1, 1, SECOND);
        let lease = book.renew(a, &lease);
        book.write(a, &lease);
        book.release(a, &lease);
        book.grant(b, 2, 4, SECOND);
        assert_eq!(find(book.history(), &policy()), None);
    }

    /// A long trial makes thousands of calls; a test has a stack of two megabytes.
    #[test]
    fn a_history_of_any_length_is_judged() {
        let mut book = Book::new();
        let a = book.actor("a");
        for turn in 1..=1_000_u64 {
            let lease = book.grant(a, turn.into(), 2 * turn - 1, SECOND);
            book.release(a, &lease);
        }
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let found = small.spawn(move || find(book.history(), &policy())).unwrap().join();
        assert_eq!(found.unwrap(), None);
    }

    #[test]
    fn two_grants_of_the_same_thing_are_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        book.grant(a, 1, 1, SECOND);
        book.grant(b, 2, 2, SECOND);
        assert!(find(book.history(), &policy()).unwrap().contains("b: acquire r"));
    }

    #[test]
    fn an_unheard_release_may_have_happened() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = book.grant(a, 1, 1, SECOND);
        let asked = holdfast_kernel::Command::Release { lease: lease.id, holder: lease.holder };
        book.begin(a, Asked::Command(asked));
        book.grant(b, 2, 3, SECOND);
        assert_eq!(find(book.history(), &policy()), None);
    }

    #[test]
    fn an_answer_that_comes_from_the_future_is_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = Box::new(book.lease(a, 1, 1, Mode::Exclusive, SECOND));
        let asked = book.acquire(b, 2, Mode::Exclusive, SECOND);
        book.call(b, asked, Told::Refused(Refusal::Held { blocker: lease, others: 0, retry_after: None }));
        book.grant(a, 1, 1, SECOND);
        assert!(find(book.history(), &policy()).is_some());
    }

    #[test]
    fn the_power_may_take_an_unheard_grant_but_not_one_that_somebody_was_told_of() {
        for told_again in [false, true] {
            let mut book = Book::new();
            let (a, b) = (book.actor("a"), book.actor("b"));
            let asked = book.acquire(a, 1, Mode::Exclusive, SECOND);
            book.begin(a, asked);
            book.die(a);
            let unheard = book.lease(a, 1, 4, Mode::Exclusive, SECOND);
            if told_again {
                let asked = book.acquire(a, 2, Mode::Exclusive, SECOND);
                book.call(a, asked, Told::Answer(Answer::AlreadyHeld(unheard)));
            } else {
                let asked = book.acquire(b, 2, Mode::Exclusive, SECOND);
                let retry_after = Some(holdfast_kernel::Millis::new(SECOND + 300));
                let refusal = Refusal::Held { blocker: Box::new(unheard), others: 0, retry_after };
                book.call(b, asked, Told::Refused(refusal));
            }
            book.history_mut().power_lost(0);
            book.grant(b, 3, 4, SECOND);
            assert_eq!(find(book.history(), &policy()).is_some(), told_again);
        }
    }

    #[test]
    fn what_a_dead_caller_left_half_undone_may_come_back_with_the_power_but_not_by_itself() {
        for power_goes in [true, false] {
            let mut book = Book::new();
            let (a, b) = (book.actor("a"), book.actor("b"));
            let asked = book.acquire(a, 1, Mode::Exclusive, SECOND);
            book.begin(a, asked);
            book.die(a);
            let unheard = book.lease(a, 1, 4, Mode::Exclusive, SECOND);
            let view = |table| {
                let (counter, next) = (Some(CounterId::new(LeaseId::new(1))), Fence::new(5).unwrap());
                Told::View(View { table, counter, next, now: stamp(0) })
            };
            book.call(b, Asked::View, view(Table::new()));
            if power_goes {
                book.history_mut().power_lost(0);
            }
            book.call(b, Asked::View, view(Table::restore([unheard]).unwrap()));
            assert_eq!(find(book.history(), &policy()).is_none(), power_goes);
        }
    }

    #[test]
    fn overlapping_calls_are_put_in_either_order() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let (first, second) =
            (book.acquire(a, 1, Mode::Exclusive, SECOND), book.acquire(b, 2, Mode::Exclusive, SECOND));
        let (first, second) = (book.begin(a, first), book.begin(b, second));
        let blocker = book.lease(b, 2, 1, Mode::Exclusive, SECOND);
        let retry_after = Some(holdfast_kernel::Millis::new(SECOND + 300));
        let refusal = Refusal::Held { blocker: Box::new(blocker.clone()), others: 0, retry_after };
        book.end(first, Told::Refused(refusal));
        book.end(second, Told::Answer(Answer::Granted(blocker)));
        assert_eq!(find(book.history(), &policy()), None);
    }

    #[test]
    fn a_view_that_forgets_is_found() {
        let mut book = Book::new();
        let a = book.actor("a");
        book.grant(a, 1, 1, SECOND);
        let counter = CounterId::new(LeaseId::new(1));
        let next = Fence::new(2).unwrap();
        book.call(
            a,
            Asked::View,
            Told::View(View { table: Table::new(), counter: Some(counter), next, now: stamp(0) }),
        );
        assert!(find(book.history(), &policy()).is_some());
    }
}
