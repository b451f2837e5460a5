//! `apply` takes exactly what `decide` can produce: for every event there is a command that would have
//! caused it on this table, or the table refuses it.

use holdfast_kernel::{
    Acquire, Again, Cause, Command, Decision, Event, Fence, KindRule, Lease, LeaseId, Limits, Millis, Mode,
    Policy, Request, Stamp, Table, Tags, Term, Transfer, TtlRange, apply, decide,
};
use proptest::prelude::*;

use crate::config;
use crate::support::make::{boot, fence, holder, id, ms, named, text, wall};
use crate::world::{history, run};

/// What would have caused the event, if anything could.
fn cause_of(table: &Table, event: &Event) -> Option<(Policy, Command, Stamp, Fence)> {
    let late = fence(1_000_000);
    let plain = policy(Millis::ZERO, Millis::ZERO, ms(1));
    let command = match event {
        Event::Granted { lease } => return Some(granting(lease, Command::Acquire(wanted(lease, lease.id)))),
        Event::Transferred { from, lease, why } => {
            let (holder, to) = (table.get(*from)?.holder.clone(), lease.holder.clone());
            let (reason, tags) = (why.clone(), lease.tags.clone());
            let transfer = Transfer { lease: *from, holder, id: lease.id, to, reason, tags };
            return Some(granting(lease, Command::Transfer(transfer)));
        }
        Event::Renewed { lease, ttl, .. } => {
            let holder = table.get(*lease)?.holder.clone();
            Command::Renew { lease: *lease, holder, ttl: Some(*ttl) }
        }
        Event::Beaten { lease, .. } => {
            Command::Beat { lease: *lease, holder: table.get(*lease)?.holder.clone() }
        }
        Event::Released { lease, .. } => {
            Command::Release { lease: *lease, holder: table.get(*lease)?.holder.clone() }
        }
        Event::Evicted { lease, cause: Cause::Forced { by, reason }, .. } => {
            Command::Evict { lease: *lease, by: by.clone(), reason: reason.clone() }
        }
        // The holder itself comes back.
        Event::Evicted { lease, cause: Cause::Expired, .. } => Command::Acquire(for_good(table.get(*lease)?)),
        Event::Evicted { lease, cause: Cause::Dead, .. } => {
            Command::Acquire(Acquire { dead: vec![*lease], ..for_good(table.get(*lease)?) })
        }
    };
    Some((plain, command, *event.at(), late))
}

fn policy(skew: Millis, grace: Millis, stale_after: Millis) -> Policy {
    Policy {
        again: Again::Return,
        rule: KindRule { ttl: TtlRange { min: ms(0), max: ms(u64::MAX) }, indefinite: true },
        kinds: [].into(),
        skew,
        grace,
        stale_after,
        limits: Limits::NONE,
    }
}

fn granting(lease: &Lease, command: Command) -> (Policy, Command, Stamp, Fence) {
    let stale_after = match lease.term {
        Term::Indefinite { stale_after, .. } => stale_after,
        Term::Finite { .. } => ms(1),
    };
    (policy(lease.skew, lease.grace, stale_after), command, lease.granted, lease.fence)
}

fn wanted(lease: &Lease, id: LeaseId) -> Acquire {
    Acquire {
        id,
        resource: lease.resource.clone(),
        holder: lease.holder.clone(),
        mode: lease.mode,
        request: match lease.term {
            Term::Finite { ttl, .. } => Request::Finite(ttl),
            Term::Indefinite { .. } => Request::Indefinite,
        },
        reason: lease.reason.clone(),
        tags: lease.tags.clone(),
        dead: Vec::new(),
    }
}

/// Asks for the same thing without a deadline, which can be had at any time.
fn for_good(lease: &Lease) -> Acquire {
    let (request, reason) = (Request::Indefinite, Some(text("why")));
    Acquire { request, reason, ..wanted(lease, id(u128::MAX)) }
}

/// An event about anything: a lease of the table or another, in every way that it can be wrong.
#[derive(Clone, Debug)]
struct Draft {
    kind: u8,
    pick: usize,
    known: bool,
    lease: Lease,
    same: bool,
    at: Stamp,
    ttl: u64,
}

fn stamps() -> impl Strategy<Value = Stamp> {
    prop_oneof![
        4 => (100_000..100_200_u64).prop_map(|ms| boot(1_000_000 + ms, 0xb0, ms)),
        2 => (100_000..100_200_u64).prop_map(|ms| wall(1_000_000 + ms)),
        1 => Just(wall(253_402_300_799_999)),
        1 => Just(boot(1_100_000, 0xb0, (1 << 53) - 1)),
    ]
}

fn terms() -> impl Strategy<Value = Term> {
    let span = || prop_oneof![6 => 1..20_u64, 1 => Just(0_u64), 1 => Just(Millis::LONGEST.get()), 1 => Just(Millis::LONGEST.get() + 1)];
    prop_oneof![
        (span(), stamps()).prop_map(|(ttl, from)| Term::Finite { ttl: ms(ttl), from }),
        (span(), stamps()).prop_map(|(span, beat)| Term::Indefinite { beat, stale_after: ms(span) }),
    ]
}

fn leases() -> impl Strategy<Value = Lease> {
    let span = || prop_oneof![6 => 0..4_u64, 1 => Just(Millis::LONGEST.get() + 1)];
    let who = prop::sample::select(vec!["agent:a@1", "agent:a@2", "agent:b@1", "human:c@1"]);
    let position = prop_oneof![30 => 1..60_u64, 1 => Just(Fence::LAST.get())];
    let names = (
        1..4_u128,
        prop::sample::select(vec!["x", "a/b", "z", "~a/*", "~**", "~a/b", "~c/**"]),
        who,
        any::<bool>(),
        position,
    );
    (names, stamps(), prop::bool::weighted(0.8), terms(), span(), span(), any::<bool>()).prop_map(
        |((number, what, who, shared, position), granted, begins, term, skew, grace, reason)| Lease {
            id: id(number),
            resource: named(what),
            holder: holder(who),
            mode: if shared { Mode::Shared } else { Mode::Exclusive },
            fence: fence(position),
            granted,
            term: if begins { begun(term, granted) } else { term },
            skew: ms(skew),
            grace: ms(grace),
            reason: reason.then(|| text("why")),
            tags: Tags::none(),
        },
    )
}

fn begun(term: Term, at: Stamp) -> Term {
    match term {
        Term::Finite { ttl, .. } => Term::Finite { ttl, from: at },
        Term::Indefinite { stale_after, .. } => Term::Indefinite { beat: at, stale_after },
    }
}

fn drafts() -> impl Strategy<Value = Draft> {
    let known = prop::bool::weighted(0.9);
    (
        0..8_u8,
        0..6_usize,
        known,
        leases(),
        any::<bool>(),
        stamps(),
        prop_oneof![5 => 1..20_u64, 1 => Just(0_u64)],
    )
        .prop_map(|(kind, pick, known, lease, same, at, ttl)| Draft {
            kind,
            pick,
            known,
            lease,
            same,
            at,
            ttl,
        })
}

impl Draft {
    fn event(&self, table: &Table) -> Event {
        let about = table.iter().nth(self.pick % table.len().max(1)).filter(|_| self.known);
        let lease = about.map_or(id(7_777_777), |about| about.id);
        let at = self.at;
        match self.kind {
            0 => Event::Granted { lease: self.lease.clone() },
            1 | 2 => {
                let lease_now =
                    about.filter(|_| self.same).map_or_else(|| self.lease.clone(), |old| self.handed(old));
                Event::Transferred { from: lease, lease: lease_now, why: text("over") }
            }
            3 => Event::Renewed { lease, ttl: ms(self.ttl), at },
            4 => Event::Beaten { lease, at },
            5 => Event::Released { lease, at },
            6 => Event::Evicted { lease, at, cause: if self.same { Cause::Dead } else { Cause::Expired } },
            _ => {
                let cause = Cause::Forced { by: self.lease.holder.clone(), reason: text("gone") };
                Event::Evicted { lease, at, cause }
            }
        }
    }

    /// The lease as a hand-over would leave it, which may still be wrong in its fence, id or holder.
    fn handed(&self, old: &Lease) -> Lease {
        let Lease { id, holder, fence, granted, skew, grace, .. } = self.lease.clone();
        Lease {
            id,
            holder,
            fence,
            granted,
            skew,
            grace,
            term: begun(old.term.clone(), granted),
            ..old.clone()
        }
    }
}

proptest! {
    #![proptest_config(config(1_500))]

    #[test]
    fn a_table_takes_exactly_what_can_happen(history in history(), drafts in prop::collection::vec(drafts(), 40)) {
        let table = run(&history, |_| ()).table;
        for draft in drafts {
            let event = draft.event(&table);
            let caused = cause_of(&table, &event)
                .and_then(|(policy, command, now, next)| decide(&table, &policy, &command, &now, next).ok());
            let can_happen = caused.is_some_and(|Decision { events, .. }| events.first() == Some(&event));
            let mut after = table.clone();
            let taken = apply(&mut after, &event);
            prop_assert_eq!(taken.is_ok(), can_happen, "{:?}: {:?}", taken, event);
            prop_assert!(taken.is_ok() || after == table, "a refused event leaves the table as it was");
        }
    }

    #[test]
    fn a_restored_table_is_one_that_can_be(leases in prop::collection::vec(leases(), 0..5)) {
        if let Ok(table) = Table::restore(leases.clone()) {
            crate::invariants::one_writer(&table);
            prop_assert_eq!(table.len(), leases.len());
            prop_assert!(leases.iter().all(|lease| table.get(lease.id) == Some(lease)));
            let mut fences: Vec<_> = leases.iter().map(|lease| (lease.resource.clone(), lease.fence)).collect();
            fences.sort();
            prop_assert!(fences.is_sorted_by(|a, b| a < b), "two grants with one number");
            for lease in table.iter() {
                prop_assert!(lease.skew <= Millis::LONGEST && lease.grace <= Millis::LONGEST);
                prop_assert!(lease.reason.is_some() || lease.deadline().is_some());
            }
        }
    }
}
