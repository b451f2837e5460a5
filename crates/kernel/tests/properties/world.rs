//! Random histories: steps that are drawn without knowing the table and get their ids and holders from it,
//! so that most of them mean something. Times are small and close together, where the boundaries are.

use holdfast_kernel::{
    Acquire, Again, Boot, BootId, Claim, Command, Decision, Event, Fence, Holder, KindRule, LeaseId, Limits,
    Mode, Policy, Refusal, Request, Stamp, Table, Tags, Transfer, TtlRange, apply, decide,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::make::{fence, holder, ms, named, text};

const HOLDERS: [&str; 4] = ["agent:a@1", "agent:a@2", "agent:b@1", "human:c@1"];
/// Two names, and patterns of which each but the last two has something in common with every other.
pub(crate) const RESOURCES: [&str; 6] = ["x", "a/b", "~a/*", "~**", "~a/b", "~c/**"];

/// How the clocks move before a step.
#[derive(Clone, Debug)]
pub(crate) struct Tick {
    /// How far true time goes on; back where it is negative, as after a restored snapshot.
    pub(crate) passes: i64,
    /// Which machine asks: the first two have a boot-time clock, the third has none.
    pub(crate) machine: usize,
    /// How far that machine's wall clock jumps.
    pub(crate) jump: i64,
}

/// What a step asks for. `pick` chooses among the leases that are there.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Acquire {
        who: usize,
        what: usize,
        shared: bool,
        ttl: Option<u64>,
        reason: bool,
        taken: bool,
        dead: usize,
    },
    Renew {
        pick: usize,
        who: Option<usize>,
        ttl: Option<u64>,
    },
    Beat {
        pick: usize,
        who: Option<usize>,
    },
    Release {
        pick: usize,
        who: Option<usize>,
    },
    Transfer {
        pick: usize,
        who: Option<usize>,
        to: usize,
        taken: bool,
    },
    Evict {
        pick: usize,
    },
    Sweep,
    Check {
        pick: usize,
        who: Option<usize>,
        off: u64,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) tick: Tick,
    pub(crate) op: Op,
    /// Whether the other policy is in force.
    pub(crate) other: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) policies: [Policy; 2],
    pub(crate) steps: Vec<Step>,
}

fn tick() -> impl Strategy<Value = Tick> {
    let passes = prop_oneof![6 => 0..4_i64, 3 => 4..20_i64, 1 => -12..0_i64];
    let jump = prop_oneof![8 => Just(0_i64), 1 => -8..8_i64, 1 => -500..500_i64];
    (passes, 0..3_usize, jump).prop_map(|(passes, machine, jump)| Tick { passes, machine, jump })
}

fn op() -> impl Strategy<Value = Op> {
    let pick = || 0..6_usize;
    let who = || prop_oneof![5 => Just(None), 1 => (0..4_usize).prop_map(Some)];
    let ttl = || prop_oneof![3 => Just(None), 2 => (0..24_u64).prop_map(Some)];
    let wanted = (
        0..4_usize,
        prop_oneof![2 => 0..2_usize, 3 => 2..RESOURCES.len()],
        any::<bool>(),
        prop_oneof![4 => (0..24_u64).prop_map(Some), 1 => Just(None)],
    );
    prop_oneof![
        8 => (wanted, any::<bool>(), prop::bool::weighted(0.1), 0..8_usize).prop_map(
            |((who, what, shared, ttl), reason, taken, dead)| Op::Acquire { who, what, shared, ttl, reason, taken, dead }
        ),
        3 => (pick(), who(), ttl()).prop_map(|(pick, who, ttl)| Op::Renew { pick, who, ttl }),
        2 => (pick(), who()).prop_map(|(pick, who)| Op::Beat { pick, who }),
        2 => (pick(), who()).prop_map(|(pick, who)| Op::Release { pick, who }),
        3 => (pick(), who(), 0..4_usize, prop::bool::weighted(0.1))
            .prop_map(|(pick, who, to, taken)| Op::Transfer { pick, who, to, taken }),
        1 => pick().prop_map(|pick| Op::Evict { pick }),
        1 => Just(Op::Sweep),
        3 => (pick(), who(), prop_oneof![4 => Just(0_u64), 1 => 1..3_u64])
            .prop_map(|(pick, who, off)| Op::Check { pick, who, off }),
    ]
}

fn rule() -> impl Strategy<Value = KindRule> {
    (0..3_u64, 5..20_u64, any::<bool>()).prop_map(|(min, max, indefinite)| KindRule {
        ttl: TtlRange { min: ms(min), max: ms(max) },
        indefinite,
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    let limit = || prop_oneof![4 => Just(u32::MAX), 1 => 0..4_u32];
    let limits = (limit(), limit(), limit(), limit()).prop_map(|(a, b, c, d)| Limits {
        leases_per_agent: a,
        leases_per_table: b,
        indefinite_per_agent: c,
        indefinite_per_table: d,
    });
    (any::<bool>(), rule(), proptest::option::of(rule()), 0..4_u64, 0..4_u64, 0..10_u64, limits).prop_map(
        |(again, rule, human, skew, grace, stale_after, limits)| Policy {
            again: if again { Again::Return } else { Again::Refuse },
            rule,
            kinds: human.map(|rule| ("human".to_owned(), rule)).into_iter().collect(),
            skew: ms(skew),
            grace: ms(grace),
            stale_after: ms(stale_after),
            limits,
        },
    )
}

pub(crate) fn history() -> impl Strategy<Value = History> {
    let step =
        (tick(), op(), prop::bool::weighted(0.15)).prop_map(|(tick, op, other)| Step { tick, op, other });
    (policy(), policy(), vec(step, 1..40))
        .prop_map(|(one, two, steps)| History { policies: [one, two], steps })
}

/// Where a history has come to.
pub(crate) struct World {
    pub(crate) table: Table,
    pub(crate) next: Fence,
    pub(crate) past: Vec<Event>,
    time: i64,
    offsets: [i64; 3],
    made: u128,
}

/// One step that was taken.
pub(crate) struct Taken {
    pub(crate) before: Table,
    pub(crate) policy: Policy,
    pub(crate) command: Command,
    pub(crate) now: Stamp,
    pub(crate) next: Fence,
    pub(crate) outcome: Result<Decision, Refusal>,
    pub(crate) after: Table,
}

impl World {
    pub(crate) fn new() -> Self {
        let (table, past) = (Table::new(), Vec::new());
        Self { table, next: Fence::FIRST, past, time: 100_000, offsets: [0; 3], made: 0 }
    }

    /// Takes a step, and shows it.
    pub(crate) fn take(&mut self, history: &History, step: &Step) -> Taken {
        let now = self.tick(&step.tick);
        let policy = history.policies[usize::from(step.other)].clone();
        let command = self.command(&step.op);
        self.ask(policy, command, now)
    }

    pub(crate) fn ask(&mut self, policy: Policy, command: Command, now: Stamp) -> Taken {
        let (before, next) = (self.table.clone(), self.next);
        let outcome = decide(&before, &policy, &command, &now, next);
        for event in outcome.iter().flat_map(|decision| &decision.events) {
            apply(&mut self.table, event).expect("what was decided can happen");
            self.past.push(event.clone());
            self.next = self.next.plus(1).unwrap();
        }
        Taken { before, policy, command, now, next, outcome, after: self.table.clone() }
    }

    pub(crate) fn tick(&mut self, tick: &Tick) -> Stamp {
        self.time += tick.passes;
        self.offsets[tick.machine] += tick.jump;
        let wall = 1_000_000 + self.time + self.offsets[tick.machine];
        let up = |started: i64| (self.time + started).cast_unsigned();
        let boot = match tick.machine {
            0 => Some(Boot { id: BootId::new(0xb0), ms: up(0) }),
            1 => Some(Boot { id: BootId::new(0xb1), ms: up(777) }),
            _ => None,
        };
        Stamp::new(wall, boot).unwrap()
    }

    /// An id that is in the table, or one that no grant had. Ids do not rise with time.
    fn id(&mut self, taken: bool, pick: usize) -> LeaseId {
        match self.picked(pick) {
            Some(lease) if taken => lease.id,
            _ => {
                self.made += 1;
                LeaseId::new(self.made * 7_919 % 100_003)
            }
        }
    }

    fn picked(&self, pick: usize) -> Option<&holdfast_kernel::Lease> {
        self.table.iter().nth(pick % self.table.len().max(1))
    }

    /// The lease's own holder, unless somebody else is to try; a lease that is not there if none is.
    fn claimed(&self, pick: usize, who: Option<usize>) -> (LeaseId, Holder) {
        let other = who.map(|who| holder(HOLDERS[who]));
        let lease = self.picked(pick);
        let own = lease.map(|lease| lease.holder.clone()).unwrap_or_else(|| holder(HOLDERS[0]));
        (lease.map_or(LeaseId::new(u128::MAX), |lease| lease.id), other.unwrap_or(own))
    }

    pub(crate) fn command(&mut self, op: &Op) -> Command {
        match *op {
            Op::Acquire { who, what, shared, ttl, reason, taken, dead } => Command::Acquire(Acquire {
                id: self.id(taken, dead),
                resource: named(RESOURCES[what]),
                holder: holder(HOLDERS[who]),
                mode: if shared { Mode::Shared } else { Mode::Exclusive },
                request: ttl.map_or(Request::Indefinite, |ttl| Request::Finite(ms(ttl))),
                reason: reason.then(|| text("because")),
                tags: Tags::none(),
                dead: (dead == 0)
                    .then(|| self.table.iter().next().map(|lease| lease.id))
                    .flatten()
                    .into_iter()
                    .collect(),
            }),
            Op::Renew { pick, who, ttl } => {
                let (lease, holder) = self.claimed(pick, who);
                Command::Renew { lease, holder, ttl: ttl.map(ms) }
            }
            Op::Beat { pick, who } => {
                let (lease, holder) = self.claimed(pick, who);
                Command::Beat { lease, holder }
            }
            Op::Release { pick, who } => {
                let (lease, holder) = self.claimed(pick, who);
                Command::Release { lease, holder }
            }
            Op::Transfer { pick, who, to, taken } => {
                let (lease, by) = self.claimed(pick, who);
                let (id, to) = (self.id(taken, pick), holder(HOLDERS[to]));
                Command::Transfer(Transfer {
                    lease,
                    holder: by,
                    id,
                    to,
                    reason: text("over"),
                    tags: Tags::none(),
                })
            }
            Op::Evict { pick } => {
                let (lease, _) = self.claimed(pick, None);
                Command::Evict { lease, by: holder(HOLDERS[3]), reason: text("gone") }
            }
            Op::Sweep => Command::Sweep,
            Op::Check { pick, who, off } => self.check(pick, who, off),
        }
    }

    fn check(&self, pick: usize, who: Option<usize>, off: u64) -> Command {
        let (lease, holder) = self.claimed(pick, who);
        let held = self.table.get(lease);
        let resource = held.map_or_else(|| named(RESOURCES[0]), |held| held.resource.clone());
        let number = held.map_or(1, |held| held.fence.get()) + off;
        Command::Check(Claim { resource, lease, holder, fence: fence(number) })
    }
}

/// Runs a history and shows every step.
pub(crate) fn run(history: &History, mut look: impl FnMut(&Taken)) -> World {
    let mut world = World::new();
    for step in &history.steps {
        let taken = world.take(history, step);
        look(&taken);
    }
    world
}
