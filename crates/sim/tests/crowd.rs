//! Sixty-four processes at once on every medium that keeps patterns: half of them want places of their own, the others
//! three patterns of which some overlap. Whatever dies meanwhile, no two hold what overlaps, and nobody whose place is in
//! no other's way is ever told to wait.
#![expect(clippy::disallowed_methods, reason = "the test command says how much and with which seed")]

use holdfast_kernel::{Answer, Command, Mode, Resource};
use holdfast_sim::history::{Asked, Call, History, Told};
use holdfast_sim::plan::{Plan, Script, Step, policy};
use holdfast_sim::subject::Subject;
use holdfast_sim::{run, subjects};
use holdfast_sys::sim::{Config, Faults, HostConfig, Odds, Random};

const MANY: usize = 64;
/// How many patterns several want.
const COMMON: usize = 3;

/// What goes wrong: nothing, processes that die, and machines that do.
const WEATHER: [Faults; 3] = [
    Faults::NONE,
    Faults { kill: Odds::new(3_000, 12), pause: Odds::new(2_000, 4), ..Faults::NONE },
    Faults {
        kill: Odds::new(2_000, 6),
        power_loss: Odds::new(400, 1),
        eio: Odds::new(500, 2),
        ..Faults::NONE
    },
];

const fn is_alone(process: usize) -> bool {
    process.is_multiple_of(2)
}

fn script(process: usize, hosts: usize) -> Script {
    let resource = if is_alone(process) { COMMON + process } else { process % COMMON };
    let acquire = Step::Acquire { resource, mode: Mode::Exclusive, ttl_ms: Some(30_000) };
    let steps = vec![acquire, Step::Write(resource), Step::Release(resource)];
    Script { host: process % hosts, holder: process, after: None, steps }
}

fn plan(hosts: usize, faults: Faults, seed: u64) -> Plan {
    let config = Config {
        hosts: vec![HostConfig::default(); hosts],
        faults,
        switch_ppm: 100_000,
        pauses_ms: vec![20, 3_000],
        entropy: seed,
        max_calls: 1_000_000,
        ..Config::default()
    };
    let scripts = (0..MANY).map(|process| script(process, hosts)).collect();
    Plan {
        config,
        policy: policy(),
        resources: COMMON + MANY,
        holders: MANY,
        epochs: vec![scripts],
        liveness: false,
        lose_power: false,
    }
}

/// What those were told who asked for a place of their own, and how many of the others got theirs.
fn keeps_its_promise(subject: &Subject, hosts: usize, seeds: u64) {
    let first = std::env::var("HOLDFAST_FIRST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let seeds = if std::env::var_os("HOLDFAST_LONG").is_some() { seeds * 50 } else { seeds };
    let (mut own, mut common, mut refused, mut calls) = (0, 0, 0, 0);
    for seed in (first..).take(usize::try_from(seeds).unwrap_or(usize::MAX)) {
        for (number, faults) in WEATHER.into_iter().enumerate() {
            let outcome = run(subject, &plan(hosts, faults, seed), Random::new(seed));
            let name = format!("{} seed {seed} weather {number}", subject.name());
            assert_eq!(outcome.violations, [], "{name}");
            calls += outcome.calls;
            let commons: Vec<Resource> = (0..COMMON).map(|number| subject.resource(number)).collect();
            let mut alone = 0;
            for call in outcome.history.calls() {
                let Asked::Command(Command::Acquire(wanted)) = &call.asked else { continue };
                let is_common = commons.contains(&wanted.resource);
                match &call.told {
                    Told::Answer(Answer::Granted(_)) if is_common => common += 1,
                    Told::Answer(Answer::Granted(_)) => alone += 1,
                    Told::Refused(_) if is_common => refused += 1,
                    Told::Refused(refusal) => {
                        assert!(!is_first(&outcome.history, call), "{name}: {refusal}");
                    }
                    _ => {}
                }
            }
            own += alone;
            assert!(number > 0 || alone >= MANY / 2, "{name}: only {alone} had a place of their own");
        }
    }
    println!(
        "{}: {calls} calls; alone {own} granted; common {common} granted, {refused} refused",
        subject.name()
    );
    assert!(common > 0 && refused > 0, "nobody was in anybody's way: {common} granted, {refused} refused");
}

/// Whether a call is one of the sixty-four: whoever looks in the end comes after them.
fn is_first(history: &History, call: &Call) -> bool {
    history.actor(call.by).is_some_and(|actor| actor.name.starts_with('p'))
}

#[test]
fn the_log() {
    keeps_its_promise(&subjects::log_of_patterns(), 1, 4);
}

#[test]
fn the_shared_medium() {
    keeps_its_promise(&subjects::shared_of_patterns(), 4, 2);
}
