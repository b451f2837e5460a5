//! What the processes of a run set out to do. A plan is data: the shrinker takes steps out of it, and the
//! same plan with the same choices is the same run.

pub mod generate;

use std::collections::BTreeMap;

use holdfast_kernel::{Again, Holder, KindRule, Limits, Millis, Mode, Name, Policy, TtlRange};
use holdfast_sys::sim::Config;

/// One thing that a process does. Resources and holders are numbers, so that a plan reads well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Asks for a resource for so many milliseconds.
    Acquire {
        /// Which one.
        resource: usize,
        /// Whether others may hold it too.
        mode: Mode,
        /// For how long; without end if there is none.
        ttl_ms: Option<u64>,
    },
    /// Renews its lease.
    Renew(usize),
    /// Beats for its lease.
    Beat(usize),
    /// Gives its lease back.
    Release(usize),
    /// Hands its lease to somebody else.
    Transfer {
        /// Which one.
        resource: usize,
        /// To which of the plan's holders.
        to: usize,
    },
    /// Takes a lease away that it heard of.
    Evict(usize),
    /// Ends whatever is over.
    Sweep,
    /// Writes to what the resource stands for, under its lease.
    Write(usize),
    /// Looks.
    View,
    /// Waits.
    Sleep(u64),
    /// Forgets what it knows of the medium and opens it again.
    Reopen,
    /// Keeps the medium's files in order.
    KeepUp,
}

/// What one process does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// On which host.
    pub host: usize,
    /// For which of the plan's holders.
    pub holder: usize,
    /// After which script of the same epoch, if it has to wait for the end of one.
    pub after: Option<usize>,
    /// What it does.
    pub steps: Vec<Step>,
}

/// What all processes do, epoch by epoch. Between epochs the power may have gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The world.
    pub config: Config,
    /// The rules.
    pub policy: Policy,
    /// How many resources there are.
    pub resources: usize,
    /// How many holders there are.
    pub holders: usize,
    /// The scripts of each epoch.
    pub epochs: Vec<Vec<Script>>,
    /// Whether leases say which process holds them, so that the dead are not waited for.
    pub liveness: bool,
    /// Whether the power goes at the very end, before the last look.
    pub lose_power: bool,
}

impl Plan {
    /// How many steps there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.epochs.iter().flatten().map(|script| script.steps.len()).sum()
    }

    /// Whether nothing is done at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Who a holder is, by its number.
    #[must_use]
    pub fn holder(&self, number: usize) -> Holder {
        Holder { agent: name("agent", number), place: name("place", number) }
    }
}

#[expect(clippy::expect_used, reason = "a word and a number are a name")]
fn name(word: &str, number: usize) -> Name {
    Name::new(&format!("{word}-{number}")).expect("a name")
}

/// The rules that runs are held to, unless a plan says otherwise.
#[must_use]
pub const fn policy() -> Policy {
    let ttl = TtlRange { min: Millis::new(1), max: Millis::from_secs(3_600) };
    Policy {
        again: Again::Return,
        rule: KindRule { ttl, indefinite: true },
        kinds: BTreeMap::new(),
        skew: Millis::new(2_000),
        grace: Millis::new(500),
        stale_after: Millis::from_secs(20),
        limits: Limits::NONE,
    }
}
