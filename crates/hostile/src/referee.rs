//! Watches a table through a script and asserts what the rules promise. It never repeats how `decide`
//! comes to its answer; it only looks at what was there before and what is there after.

use holdfast_kernel::{
    Answer, Command, Decision, Event, Fence, Holder, Lease, LeaseId, Millis, Mode, Policy, Refusal, Stamp,
    Standing, Table, Term, apply, decide,
};

/// A table under watch.
pub(crate) struct Referee {
    policy: Policy,
    table: Table,
    next: Fence,
    last_fence: Option<Fence>,
    history: Vec<Event>,
}

impl Referee {
    /// An empty table whose first event gets the number `next`.
    #[must_use]
    pub(crate) const fn new(policy: Policy, next: Fence) -> Self {
        Self { policy, table: Table::new(), next, last_fence: None, history: Vec::new() }
    }

    /// Puts a command to `decide` and checks what comes back.
    pub(crate) fn ask(&mut self, command: &Command, now: &Stamp) {
        let next = self.next;
        let decided = decide(&self.table, &self.policy, command, now, next);
        let again = decide(&self.table, &self.policy, command, now, next);
        assert_eq!(decided, again, "the same question has one answer");
        match decided {
            Ok(decision) => self.accept(command, &decision, now),
            Err(refusal) => self.check_refusal(&refusal, now),
        }
    }

    /// Checks that the events alone give the table, and so do the leases.
    pub(crate) fn finish(self) {
        let mut replayed = Table::new();
        for event in &self.history {
            assert_eq!(apply(&mut replayed, event), Ok(()), "an event that was applied once applies again");
        }
        assert_eq!(replayed, self.table, "replay gives the state");
        let carried = Table::restore(self.table.iter().cloned());
        assert_eq!(carried, Ok(self.table), "the leases alone give the table");
    }

    fn accept(&mut self, command: &Command, decision: &Decision, now: &Stamp) {
        let before = self.table.clone();
        for event in &decision.events {
            assert_eq!(event.at(), now, "an event happens when it is decided");
            self.check_ending(&before, command, event, now);
            // A medium may be cut off after any event, so each must leave a lawful table.
            assert_eq!(apply(&mut self.table, event), Ok(()), "what is decided can be applied");
            self.check_fence(event);
            self.check_one_writer();
            self.history.push(event.clone());
            self.next = self.next.plus(1).expect("a decision leaves the counter a position");
        }
        self.check_answer(command, decision, &before, now);
    }

    /// Nobody loses a lease that is in force, except by his own hand, by force or by death.
    fn check_ending(&self, before: &Table, command: &Command, event: &Event, now: &Stamp) {
        let (Event::Evicted { lease: id, .. } | Event::Released { lease: id, .. }) = event else { return };
        let lease = before.get(*id).expect("only what is there ends");
        match command {
            Command::Acquire(wanted) if wanted.dead.contains(id) => {}
            Command::Acquire(wanted) if wanted.holder == lease.holder => {
                assert!(is_over(lease, now), "a holder's own lease ends when it is over");
            }
            Command::Transfer(wanted) if wanted.to == lease.holder => {
                assert!(is_over(lease, now), "the receiver's own lease ends when it is over");
            }
            Command::Acquire(_) | Command::Transfer(_) | Command::Sweep => {
                assert!(is_open(lease, now), "others wait for deadline, skew and grace");
            }
            Command::Release { holder, .. } => {
                assert_eq!(*holder, lease.holder, "only the holder gives back")
            }
            Command::Evict { .. } => {}
            other => panic!("{other:?} ends no lease"),
        }
    }

    fn check_fence(&mut self, event: &Event) {
        let (Event::Granted { lease } | Event::Transferred { lease, .. }) = event else { return };
        assert_eq!(lease.fence, self.next, "a fence is the position of its grant");
        assert!(self.last_fence.is_none_or(|last| last < lease.fence), "fences rise");
        self.last_fence = Some(lease.fence);
    }

    fn check_one_writer(&self) {
        for lease in self.table.iter() {
            let near = |other: &&Lease| other.id != lease.id && other.resource.overlaps(&lease.resource);
            for other in self.table.iter().filter(near) {
                if lease.holder == other.holder {
                    assert_ne!(lease.resource, other.resource, "a holder has one lease on a resource");
                } else {
                    assert!(lease.mode.admits(other.mode), "an exclusive lease is alone");
                }
            }
        }
    }

    fn check_answer(&self, command: &Command, decision: &Decision, before: &Table, now: &Stamp) {
        match &decision.answer {
            Answer::Granted(lease) | Answer::Transferred(lease) => {
                assert_eq!(self.table.get(lease.id), Some(lease), "what is granted is there");
                assert!(!is_over(lease, now), "no lease is born dead");
            }
            Answer::Renewed(lease) | Answer::Beaten(lease) => {
                let old = owned(before, lease.id, command);
                assert!(!is_over(old, now), "over is over");
                assert_eq!(self.table.get(lease.id), Some(lease), "what is prolonged is there");
                assert_eq!(old.fence, lease.fence, "to prolong is no grant");
            }
            Answer::Released(lease) | Answer::Evicted(lease) => {
                assert_eq!(before.get(lease.id), Some(lease), "only what was there ends");
                assert_eq!(self.table.get(lease.id), None, "what ended is gone");
            }
            Answer::Swept(leases) => {
                assert!(self.table.iter().all(|lease| !is_open(lease, now)), "nothing is left to sweep");
                assert_eq!(before.len() - self.table.len(), leases.len(), "each one swept was there");
            }
            Answer::AlreadyHeld(lease) => {
                assert_eq!(*before, self.table, "asking again changes nothing");
                assert!(!is_over(lease, now), "what is over is not held");
            }
            Answer::Valid(lease) => {
                assert_eq!(*before, self.table, "a check changes nothing");
                assert_eq!(owned(before, lease.id, command), lease, "a write is its holder's");
                assert!(guards(lease, now), "a write needs a lease in force");
            }
        }
    }

    /// A refusal that says when to try again must be right about it.
    fn check_refusal(&self, refusal: &Refusal, now: &Stamp) {
        match refusal {
            Refusal::Held { blocker, retry_after, .. } => {
                assert_eq!(self.table.get(blocker.id), Some(&**blocker), "the blocker is there");
                if let Some(then) = retry_after.and_then(|span| later(now, span)) {
                    assert!(is_open(blocker, &then), "then it can be taken over");
                }
            }
            Refusal::Expired { lease, .. } => assert!(is_over(lease, now), "only what is over expired"),
            Refusal::ClockSkew { blocker, ahead } => {
                assert!(*ahead > blocker.skew, "skew is beyond its bound")
            }
            Refusal::FencedOut { presented, current, .. } => {
                assert!(current.iter().all(|lease| self.table.get(lease.id) == Some(lease)), "{presented}");
            }
            Refusal::AlreadyHeld { .. }
            | Refusal::HeldShared { .. }
            | Refusal::NotFound { .. }
            | Refusal::NotHolder { .. }
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
            | Refusal::CounterBehind { .. } => {}
        }
    }
}

/// The lease, after checking that the command came from its holder.
fn owned<'a>(before: &'a Table, id: LeaseId, command: &Command) -> &'a Lease {
    let lease = before.get(id).expect("only what is there is kept");
    assert_eq!(Some(&lease.holder), asker(command), "only the exact holder");
    lease
}

const fn asker(command: &Command) -> Option<&Holder> {
    match command {
        Command::Renew { holder, .. } | Command::Beat { holder, .. } => Some(holder),
        Command::Check(claim) => Some(&claim.holder),
        _ => None,
    }
}

/// Past its deadline, computed apart from [`Lease::standing`].
fn is_over(lease: &Lease, now: &Stamp) -> bool {
    match lease.term {
        Term::Finite { ttl, from } => now.since(&from).forward() >= ttl,
        Term::Indefinite { .. } => false,
    }
}

/// Past its deadline, skew and grace.
fn is_open(lease: &Lease, now: &Stamp) -> bool {
    match lease.term {
        Term::Finite { ttl, from } => {
            let wait = ttl.plus(lease.skew.plus(lease.grace));
            now.since(&from).forward() >= wait
        }
        Term::Indefinite { .. } => false,
    }
}

fn guards(lease: &Lease, now: &Stamp) -> bool {
    let in_force = matches!(lease.standing(now), Standing::Live { .. } | Standing::Beating);
    in_force && !is_over(lease, now) && lease.mode == Mode::Exclusive
}

/// The moment `span` after `now`, if the calendar goes that far.
fn later(now: &Stamp, span: Millis) -> Option<Stamp> {
    let then = now.plus(span);
    (then.since(now).forward() == span && then.wall_ms() - now.wall_ms() == span.get()).then_some(then)
}
