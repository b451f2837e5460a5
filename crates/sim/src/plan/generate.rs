//! A plan for every seed. What is likely here is what is likely to break: few resources, short leases,
//! processes that come back for what they were not told, and every kind of weather.

use holdfast_kernel::{Again, Limits, Mode};
use holdfast_sys::sim::{Config, Faults, HostConfig, NameOrder, Odds};

use super::{Plan, Script, Step, policy};
use crate::mix::Dice;
use crate::subject::Subject;

/// How long leases last; the pauses of the world are shorter and longer.
const TTLS_MS: [u64; 3] = [1_000, 4_000, 30_000];

/// How long processes wait between steps.
const NAPS_MS: [u64; 4] = [1, 900, 5_000, 40_000];

/// The plan of a seed.
#[must_use]
pub fn plan(subject: &Subject, seed: u64) -> Plan {
    let dice = &mut Dice::new(seed);
    let hosts = 1 + usize::from(dice.percent(40));
    let resources = (1 + below(dice, 3)).min(subject.resources());
    let holders = 2 + below(dice, 4);
    let mut policy = policy();
    if dice.percent(25) {
        policy.again = Again::Refuse;
    }
    if dice.percent(15) {
        policy.limits = Limits { leases_per_agent: 1, leases_per_table: 3, ..Limits::NONE };
    }
    let mut plan = Plan {
        config: config(dice, subject, hosts, seed),
        policy,
        resources,
        holders,
        epochs: Vec::new(),
        liveness: dice.percent(20),
        lose_power: dice.percent(50),
    };
    if plan.policy.limits != Limits::NONE {
        // Limits tie the resources together, and a checker that looks at all of them at once would have to
        // try every combination of what the power may take from each.
        (plan.config.faults.power_loss, plan.lose_power) = (Odds::NEVER, false);
    }
    for _ in 0..1 + below(dice, 3) {
        let epoch = epoch(dice, subject, &plan, hosts);
        plan.epochs.push(epoch);
    }
    plan
}

/// The plan of a seed in weather so bad that crashes hit what cleans up after crashes.
#[must_use]
pub fn storm(subject: &Subject, seed: u64) -> Plan {
    let mut plan = plan(subject, seed);
    plan.policy.limits = Limits::NONE;
    plan.config.faults = Faults {
        kill: Odds::new(30_000, 4),
        power_loss: Odds::new(10_000, 3),
        eio: Odds::new(80_000, 8),
        ..Faults::some()
    };
    plan
}

fn below(dice: &mut Dice, limit: u64) -> usize {
    usize::try_from(dice.below(limit)).unwrap_or(0)
}

fn config(dice: &mut Dice, subject: &Subject, hosts: usize, seed: u64) -> Config {
    let mut config = Config {
        hosts: (0..hosts).map(|_| host(dice, subject, hosts)).collect(),
        faults: faults(dice),
        switch_ppm: *dice.pick(&[20_000, 100_000, 300_000]).unwrap_or(&100_000),
        pauses_ms: vec![20, 3_000, 60_000],
        delays_ms: vec![1, 1_500, 45_000],
        sector: *dice.pick(&[64, 512]).unwrap_or(&512),
        names: if dice.percent(50) { NameOrder::PerName } else { NameOrder::PerDirectory },
        entropy: seed,
        max_calls: 20_000,
        ..Config::default()
    };
    if hosts > 1 {
        // Clocks of several hosts must stay within the skew that the policy promises.
        config.wall_jumps_ms = vec![-200, 200];
        config.wall_stops_ms = vec![200];
    }
    config
}

fn host(dice: &mut Dice, subject: &Subject, hosts: usize) -> HostConfig {
    let offset = i64::try_from(dice.below(601)).unwrap_or(0) - 300;
    let wall_offset_ms = match (hosts, subject.has_wrong_clocks()) {
        (1, _) => offset * 1_000,
        (_, false) => offset,
        (_, true) => offset * 12_000,
    };
    let wall_drift_ppm = i64::try_from(dice.below(401)).unwrap_or(0) - 200;
    // Without a clock that counts since boot nothing can be watched.
    let has_boot = dice.percent(85) || subject.has_wrong_clocks();
    HostConfig { wall_offset_ms, wall_drift_ppm, boot_ms: has_boot.then_some(3_600_000) }
}

/// What may go wrong: in some runs only the order of calls, in others everything.
fn faults(dice: &mut Dice) -> Faults {
    let none = Faults::NONE;
    let kills = Faults { kill: Odds::new(8_000, 3), pause: Odds::new(5_000, 2), ..none };
    let power = Faults { power_loss: Odds::new(4_000, 2), kill: Odds::new(3_000, 1), ..none };
    let disk = Faults { eio: Odds::new(15_000, 3), enospc: Odds::new(10_000, 2), ..power };
    match dice.below(6) {
        0 => Faults { pause: Odds::new(10_000, 4), delay: Odds::new(5_000, 3), ..none },
        1 => kills,
        2 => power,
        3 => disk,
        4 => Faults { wall_jump: Odds::new(10_000, 2), delay: Odds::new(5_000, 2), ..kills },
        _ => Faults { power_loss: Odds::new(4_000, 2), ..Faults::some() },
    }
}

fn epoch(dice: &mut Dice, subject: &Subject, plan: &Plan, hosts: usize) -> Vec<Script> {
    let mut scripts: Vec<Script> = Vec::new();
    for index in 0..2 + below(dice, 3) {
        let after = (index > 0 && dice.percent(30)).then(|| below(dice, index as u64));
        let before = after.and_then(|before| scripts.get(before)).map(|script| script.holder);
        let holder = holder(dice, plan, index, before);
        let steps = script(dice, subject, plan);
        // One holder is one place, and one place has one clock.
        scripts.push(Script { host: holder % hosts, holder, after, steps });
    }
    scripts
}

/// Whoever comes back after a crash comes as the same holder, mostly. Where leases say which process holds
/// them, no two processes are the same holder: when one dies, the other's belief would die with it.
fn holder(dice: &mut Dice, plan: &Plan, index: usize, before: Option<usize>) -> usize {
    match before {
        _ if plan.liveness => index,
        Some(before) if dice.percent(70) => before,
        _ => below(dice, plan.holders as u64),
    }
}

fn script(dice: &mut Dice, subject: &Subject, plan: &Plan) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..2 + below(dice, 6) {
        let resource = below(dice, plan.resources as u64);
        steps.push(step(dice, subject, plan, resource));
        if dice.percent(25) {
            steps.push(Step::Sleep(*dice.pick(&NAPS_MS).unwrap_or(&1)));
        }
    }
    steps
}

fn step(dice: &mut Dice, subject: &Subject, plan: &Plan, resource: usize) -> Step {
    match dice.below(100) {
        0..40 => acquire(dice, subject, resource),
        40..50 => Step::Renew(resource),
        50..53 => Step::Beat(resource),
        53..66 => Step::Release(resource),
        66..70 => {
            let to = below(dice, plan.holders as u64);
            // Whoever watches would watch what it was handed by another clone, too, and hold it for longer than it is
            // its own. No door hands a lease to another clone.
            if subject.has_wrong_clocks() { Step::View } else { Step::Transfer { resource, to } }
        }
        70..75 => Step::Evict(resource),
        75..78 => Step::Sweep,
        78..90 => Step::Write(resource),
        90..95 => Step::View,
        95..97 => Step::Reopen,
        _ if subject.has_upkeep() => Step::KeepUp,
        _ => Step::View,
    }
}

fn acquire(dice: &mut Dice, subject: &Subject, resource: usize) -> Step {
    let mode = if subject.is_shared() && dice.percent(25) { Mode::Shared } else { Mode::Exclusive };
    let ttl_ms = (!dice.percent(12)).then(|| *dice.pick(&TTLS_MS).unwrap_or(&1_000));
    Step::Acquire { resource, mode, ttl_ms }
}
