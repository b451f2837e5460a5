//! Every history of a small world, to its end: from each table that can be reached, every command at every
//! time of a grid, until no table is new. Ids and fences are renamed after each step, because the rules only
//! compare them; so the tables are finitely many, and all of them are visited.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use holdfast_kernel::{
    Acquire, Again, BootId, Claim, Command, Decision, Fence, KindRule, Lease, LeaseId, Limits, Mode, Policy,
    Request, Stamp, Table, Tags, Term, Transfer, apply, decide,
};

use crate::invariants;
use crate::support::make::{boot, fence, holder, id, ms, named, range, text, wall};
use crate::world::Taken;

const HOLDERS: [&str; 3] = ["agent:a@1", "agent:a@2", "agent:b@1"];

/// A small world: who is in it, what is allowed, and when things can happen.
struct Small {
    holders: usize,
    policy: Policy,
    grid: Vec<Stamp>,
    requests: Vec<Request>,
}

fn policy() -> Policy {
    Policy {
        again: Again::Return,
        rule: KindRule { ttl: range(1, 3), indefinite: true },
        kinds: BTreeMap::new(),
        skew: ms(1),
        grace: ms(1),
        stale_after: ms(2),
        limits: Limits::NONE,
    }
}

/// One boot, whose wall clock was set back on the way.
fn one_boot(times: &[u64]) -> Vec<Stamp> {
    times.iter().map(|ms| boot(100 + ms % 3, 0xb0, *ms)).collect()
}

impl Small {
    fn commands(&self, table: &Table) -> Vec<Command> {
        let mut all = vec![Command::Sweep];
        for n in 0..self.holders {
            all.extend(self.acquires(n, table));
        }
        for lease in table.iter() {
            (0..self.holders).for_each(|n| all.extend(about(lease, n)));
        }
        all
    }

    fn acquires(&self, n: usize, table: &Table) -> Vec<Command> {
        let mut all = Vec::new();
        // Whoever finds somebody dead, it is the same; so one of them does.
        let dead = [None].into_iter().chain(table.iter().filter(|_| n == 0).map(|lease| Some(lease.id)));
        for dead in dead {
            for mode in [Mode::Exclusive, Mode::Shared] {
                for request in &self.requests {
                    all.push(Command::Acquire(Acquire {
                        id: free_id(n, table),
                        resource: named("x"),
                        holder: holder(HOLDERS[n]),
                        mode,
                        request: *request,
                        reason: Some(text("why")),
                        tags: Tags::none(),
                        dead: dead.into_iter().collect(),
                    }));
                }
            }
        }
        all
    }

    /// Visits everything and checks every step; says how much there was.
    fn explore(&self) -> (usize, usize, usize) {
        let mut seen = BTreeSet::from([key(&Table::new())]);
        let mut waiting = VecDeque::from([(Table::new(), 0)]);
        let (mut steps, mut deepest) = (0, 0);
        while let Some((table, depth)) = waiting.pop_front() {
            deepest = deepest.max(depth);
            self.grid.iter().for_each(|now| invariants::of_table(&table, &self.policy, now));
            for command in self.commands(&table) {
                for now in &self.grid {
                    let taken = self.take(&table, &command, now);
                    invariants::of_step(&taken);
                    steps += 1;
                    let after = (taken.after != table).then(|| renamed(&taken.after));
                    if let Some(after) = after.filter(|after| seen.insert(key(after))) {
                        waiting.push_back((after, depth + 1));
                    }
                }
            }
        }
        (seen.len(), steps, deepest)
    }

    fn take(&self, table: &Table, command: &Command, now: &Stamp) -> Taken {
        let next = fence(100);
        let outcome = decide(table, &self.policy, command, now, next);
        let mut after = table.clone();
        for event in outcome.iter().flat_map(|decision: &Decision| &decision.events) {
            apply(&mut after, event).expect("what was decided can happen");
        }
        let (before, policy, command, now) = (table.clone(), self.policy.clone(), command.clone(), *now);
        Taken { before, policy, command, now, next, outcome, after }
    }
}

/// What holder `n` can try with a lease.
fn about(lease: &Lease, n: usize) -> Vec<Command> {
    let (id, by) = (lease.id, holder(HOLDERS[n]));
    let mut all = vec![
        Command::Renew { lease: id, holder: by.clone(), ttl: None },
        Command::Renew { lease: id, holder: by.clone(), ttl: Some(ms(3)) },
        Command::Beat { lease: id, holder: by.clone() },
        Command::Release { lease: id, holder: by.clone() },
        Command::Evict { lease: id, by: by.clone(), reason: text("gone") },
    ];
    let (resource, fence) = (lease.resource.clone(), lease.fence);
    all.push(Command::Check(Claim { resource, lease: id, holder: by.clone(), fence }));
    all.push(Command::Transfer(Transfer {
        lease: id,
        holder: lease.holder.clone(),
        id: LeaseId::new(50),
        to: by,
        reason: text("over"),
        tags: Tags::none(),
    }));
    all
}

/// Two ids for each holder: it may take anew what it has still in the table.
fn free_id(n: usize, table: &Table) -> LeaseId {
    let ids = [id(n as u128 + 1), id(n as u128 + 11)];
    if table.get(ids[0]).is_none() { ids[0] } else { ids[1] }
}

fn place(lease: &Lease) -> u64 {
    HOLDERS.iter().position(|who| holder(who) == lease.holder).unwrap() as u64 + 1
}

/// The same table with ids and fences that only depend on who holds what.
fn renamed(table: &Table) -> Table {
    let renamed = table.iter().map(|lease| Lease {
        id: id(place(lease).into()),
        fence: Fence::new(place(lease)).unwrap(),
        granted: *lease.last_sign(),
        ..lease.clone()
    });
    Table::restore(renamed).unwrap()
}

type Key = Vec<(u64, Mode, bool, u64, u64, Option<(BootId, u64)>)>;

fn key(table: &Table) -> Key {
    let one = |lease: &Lease| {
        let (indefinite, span, sign) = match &lease.term {
            Term::Finite { ttl, from } => (false, ttl.get(), from),
            Term::Indefinite { beat, stale_after } => (true, stale_after.get(), beat),
        };
        (
            place(lease),
            lease.mode,
            indefinite,
            span,
            sign.wall_ms(),
            sign.boot().map(|boot| (boot.id, boot.ms)),
        )
    };
    table.iter().map(one).collect()
}

#[expect(clippy::disallowed_macros, reason = "says how much was visited")]
fn explored(what: &str, small: &Small) -> usize {
    let (tables, steps, depth) = small.explore();
    println!("{what}: {tables} tables, {steps} steps, {depth} deep, complete");
    tables
}

#[test]
fn all_histories_of_three_holders_within_one_boot() {
    let small = Small {
        holders: 3,
        policy: policy(),
        grid: one_boot(&[0, 1, 2, 4]),
        requests: vec![Request::Finite(ms(2)), Request::Indefinite],
    };
    assert!(explored("three holders, one boot", &small) > 1_000);
}

#[test]
fn all_histories_of_two_holders_across_boots() {
    let reboots = [boot(103, 0xb1, 0), boot(105, 0xb1, 2), wall(100), wall(106)];
    let small = Small {
        holders: 2,
        policy: policy(),
        grid: [one_boot(&[0, 1, 2, 3, 4, 5]), reboots.to_vec()].concat(),
        requests: vec![Request::Finite(ms(1)), Request::Finite(ms(2)), Request::Indefinite],
    };
    assert!(explored("two holders, across boots", &small) > 1_000);
}

#[test]
fn all_histories_under_limits_without_patience() {
    let limits = Limits { leases_per_agent: 1, indefinite_per_table: 1, ..Limits::NONE };
    let small = Small {
        holders: 3,
        policy: Policy { again: Again::Refuse, skew: ms(0), grace: ms(0), limits, ..policy() },
        grid: one_boot(&[0, 1, 2, 3]),
        requests: vec![Request::Finite(ms(2)), Request::Indefinite],
    };
    assert!(explored("three holders, limits", &small) > 100);
}
