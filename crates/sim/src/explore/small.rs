//! Plans that are small enough to try every run of: two or three processes, one resource, one to three
//! operations each. In some of them everybody is there at once, and one thing may go wrong at every call; in
//! others one comes after the other and two things may, or one is alone and three may, so that also what
//! cleans up after a crash crashes.

use holdfast_kernel::Mode;
use holdfast_sys::sim::{Config, Faults, HostConfig, NameOrder, Odds};

use crate::plan::{Plan, Script, Step, policy};

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
const CALM: Faults = Faults::NONE;
const KILL: Faults = Faults { kill: ONCE, ..CALM };
const KILL_TWICE: Faults = Faults { kill: TWICE, ..CALM };
const POWER: Faults = Faults { power_loss: ONCE, ..CALM };
const POWER_TWICE: Faults = Faults { power_loss: TWICE, ..CALM };
const DISK: Faults = Faults { eio: ONCE, ..CALM };
const KILL_AND_POWER: Faults = Faults { power_loss: ONCE, ..KILL };
const DISK_AND_POWER: Faults = Faults { power_loss: ONCE, ..DISK };
const DISK_AND_POWER_TWICE: Faults = Faults { power_loss: TWICE, ..DISK };
const EVERYTHING: Faults = Faults { kill: ONCE, ..DISK_AND_POWER };
const DISK_AND_KILL: Faults = Faults { kill: ONCE, ..DISK };

/// All of them.
#[must_use]
pub fn all() -> Vec<Small> {
    [crowded(), orderly()].concat()
}

/// Several at once, and something may go wrong at every call: most of the runs of [`all`] are of these.
#[must_use]
pub fn crowded() -> Vec<Small> {
    let come_and_go = || vec![take_and_release(0), take_and_release(1)];
    vec![
        small("two take turns, one dies", KILL, come_and_go()),
        small("two take turns, the power goes", POWER, come_and_go()),
        small("two take turns, the disk fails", DISK, come_and_go()),
        small("a write and an eviction", CALM, vec![take_and_write(0), evict_and_take(1)]),
        small("somebody tidies up, one dies", KILL, vec![take(0), tidy(1)]),
        small("somebody tidies up, the power goes", POWER, vec![take(0), tidy(1)]),
    ]
}

/// The others: few at once, or one after the other.
#[must_use]
pub fn orderly() -> Vec<Small> {
    let one_by_one = || vec![keep(0), after(0, tidy_and_write(0)), after(1, take(1))];
    vec![
        small("two steal from one", CALM, vec![take(0), steal(1), steal(2)]),
        small("two steal from one, one dies", KILL, vec![take(0), steal(1)]),
        small("one by one, two die", KILL_TWICE, one_by_one()),
        small("one by one, one dies, the power goes", KILL_AND_POWER, one_by_one()),
        small("one by one, the power goes twice", POWER_TWICE, one_by_one()),
        small("one by one, the disk fails, one dies", DISK_AND_KILL, one_by_one()),
        small("one by one, the disk fails, the power goes", DISK_AND_POWER, one_by_one()),
        at_last(small("one alone, the power goes at last", CALM, vec![take(0)])),
        at_last(small("refused after a crash, the power goes at last", KILL, refused_after_a_crash())),
        small("one alone, the disk fails, it dies, the power goes", EVERYTHING, vec![take(0)]),
        small("one alone, the disk fails, the power goes twice", DISK_AND_POWER_TWICE, vec![take(0)]),
    ]
}

/// A plan of one epoch; if the power may go, the same is tried once more afterwards.
#[must_use]
pub fn small(name: &'static str, faults: Faults, scripts: Vec<Script>) -> Small {
    let names = NameOrder::PerName;
    let config = Config { faults, names, call_us: 0, max_calls: 20_000, ..Config::default() };
    let mut epochs = vec![scripts];
    if faults.power_loss.at_most > 0 {
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

/// The same plan, and the power goes when everybody is through.
#[must_use]
pub const fn at_last(mut small: Small) -> Small {
    small.plan.lose_power = true;
    small
}

/// Somebody tidies up beside a lease and may die of it; the next one is refused, and another one, who knows
/// nothing of all this, takes over.
fn refused_after_a_crash() -> Vec<Script> {
    vec![take(0), after(0, script(1, vec![Step::KeepUp])), after(1, take(1)), after(2, steal(2))]
}

/// Three who find a lease that is over, and all want it. There are a hundred times as many runs of it as of the
/// others, so it is not one of [`all`].
#[must_use]
pub fn three_steal() -> Small {
    let Small { name, plan } = small("three steal from one", CALM, vec![take(0)]);
    let overdue = script(0, vec![ACQUIRE, Step::Sleep(10_000)]);
    let epochs = vec![vec![overdue], vec![take(1), take(2), take(3)]];
    Small { name, plan: Plan { holders: 4, epochs, ..plan } }
}

/// Somebody on a machine of several dies at any call between what it is about to send and the answer. Next comes the same
/// command, another one, or another machine; if `twice`, somebody dies of what comes next as well.
#[must_use]
pub fn far_away(twice: bool) -> Vec<Small> {
    let elsewhere = |script: Script| Script { host: 1, ..script };
    let other = Step::Acquire { resource: 1, mode: Mode::Exclusive, ttl_ms: Some(1_000) };
    let plans = [
        small("one dies, and asks again", KILL, vec![take(0), after(0, take_and_release(0))]),
        small("one dies, and asks for more", KILL, vec![take(0), after(0, script(0, vec![other, ACQUIRE]))]),
        small(
            "one dies, and another machine comes first",
            KILL,
            vec![take(0), after(0, elsewhere(take(1))), after(1, take_and_release(0))],
        ),
        small(
            "one dies giving back, and another machine comes first",
            KILL,
            vec![take_and_release(0), after(0, elsewhere(take(1))), after(1, take(0))],
        ),
        small(
            "one dies twice, and another machine comes in between",
            KILL_TWICE,
            vec![take(0), after(0, elsewhere(take(1))), after(1, take(0)), after(2, take_and_release(0))],
        ),
    ];
    let on_two = |Small { name, plan }| {
        let config = Config { hosts: vec![HostConfig::default(); 2], ..plan.config };
        Small { name, plan: Plan { resources: 2, config, ..plan } }
    };
    plans.into_iter().map(on_two).filter(|small| twice || small.plan.config.faults == KILL).collect()
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

fn tidy(holder: usize) -> Script {
    script(holder, vec![Step::KeepUp, ACQUIRE])
}

fn tidy_and_write(holder: usize) -> Script {
    script(holder, vec![Step::KeepUp, ACQUIRE, Step::Write(0)])
}

fn take_and_write(holder: usize) -> Script {
    script(holder, vec![ACQUIRE, Step::Write(0)])
}

fn evict_and_take(holder: usize) -> Script {
    script(holder, vec![Step::View, Step::Evict(0), ACQUIRE])
}
