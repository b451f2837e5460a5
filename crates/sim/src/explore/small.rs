//! Plans that are small enough to try every run of: two or three processes, one resource, a few steps each.

use holdfast_kernel::Mode;
use holdfast_sys::sim::{Config, Faults, Odds};

use crate::plan::{Plan, Script, Step, policy};
use crate::subject::Subject;

/// A plan and what it is about.
#[derive(Clone, Debug)]
pub struct Small {
    /// What it is called.
    pub name: &'static str,
    /// The plan.
    pub plan: Plan,
}

const ONCE: Odds = Odds::new(0, 1);
const TWICE: Odds = Odds::new(0, 2);
const KILL: Faults = Faults { kill: ONCE, ..Faults::NONE };
const POWER: Faults = Faults { power_loss: ONCE, ..Faults::NONE };
const DISK: Faults = Faults { eio: ONCE, ..Faults::NONE };

/// All of them, as far as the subject can follow.
#[must_use]
pub fn all(subject: &Subject) -> Vec<Small> {
    let mut plans = vec![
        small("two take turns, one dies", KILL, vec![take_and_release(0), take_and_release(1)]),
        small("two take turns, the power goes", POWER, vec![take_and_release(0), take_and_release(1)]),
        small("two steal from one", KILL, vec![take(0), steal(1), steal(2)]),
        small("a write and an eviction", KILL, vec![take_and_write(0), evict_and_take(1)]),
        small("dies and comes back, twice", KILL_TWICE, vec![keep(0), after(0, keep(0)), after(1, keep(0))]),
        small("dies, comes back, the power goes", KILL_AND_POWER, vec![keep(0), after(0, keep(0))]),
        small("the power goes twice", POWER_TWICE, vec![keep(0), after(0, keep(0))]),
        small("the disk fails", DISK, vec![take_and_release(0), take(1)]),
        small("the disk fails, the power goes", DISK_AND_POWER, vec![take(0), after(0, take(0))]),
    ];
    if subject.has_upkeep() {
        let tidy = script(1, vec![Step::KeepUp, Step::View]);
        plans.push(small("upkeep, and one dies", KILL, vec![keep(0), tidy.clone()]));
        plans.push(small("upkeep, and the power goes", POWER, vec![keep(0), tidy]));
    }
    plans
}

const KILL_TWICE: Faults = Faults { kill: TWICE, ..Faults::NONE };
const POWER_TWICE: Faults = Faults { power_loss: TWICE, ..Faults::NONE };
const KILL_AND_POWER: Faults = Faults { power_loss: ONCE, ..KILL };
const DISK_AND_POWER: Faults = Faults { power_loss: ONCE, ..DISK };

/// A plan of one epoch, followed by another one in which everybody comes back.
#[must_use]
pub fn small(name: &'static str, faults: Faults, scripts: Vec<Script>) -> Small {
    let config = Config { faults, call_us: 0, max_calls: 20_000, ..Config::default() };
    let again = faults.power_loss.at_most > 0;
    let mut epochs = vec![scripts];
    if again {
        epochs.push(vec![take(0)]);
    }
    let plan = Plan {
        config,
        policy: policy(),
        resources: 1,
        holders: 3,
        epochs,
        liveness: false,
        lose_power: false,
    };
    Small { name, plan }
}

fn script(holder: usize, steps: Vec<Step>) -> Script {
    Script { host: 0, holder, after: None, steps }
}

fn after(before: usize, script: Script) -> Script {
    Script { after: Some(before), ..script }
}

const ACQUIRE: Step = Step::Acquire { resource: 0, mode: Mode::Exclusive, ttl_ms: Some(1_000) };

/// Takes the resource.
#[must_use]
pub fn take(holder: usize) -> Script {
    script(holder, vec![ACQUIRE])
}

/// Takes the resource and gives it back.
#[must_use]
pub fn take_and_release(holder: usize) -> Script {
    script(holder, vec![ACQUIRE, Step::Release(0)])
}

/// Takes the resource when whoever has it has had it for too long.
#[must_use]
pub fn steal(holder: usize) -> Script {
    script(holder, vec![Step::Sleep(10_000), ACQUIRE])
}

fn keep(holder: usize) -> Script {
    script(holder, vec![ACQUIRE, Step::Renew(0), Step::Release(0)])
}

fn take_and_write(holder: usize) -> Script {
    script(holder, vec![ACQUIRE, Step::Write(0)])
}

fn evict_and_take(holder: usize) -> Script {
    script(holder, vec![Step::View, Step::Evict(0), ACQUIRE])
}
