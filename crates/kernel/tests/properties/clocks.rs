//! Which clock counts, told by what must not matter: within one boot the wall clock, and across boots the
//! boot-time clocks.

use holdfast_kernel::{Boot, BootId, Decision, Refusal, Stamp};
use proptest::prelude::*;

use crate::config;
use crate::support::encode;
use crate::support::json::Json;
use crate::world::{History, World, history};

/// Runs a history with these clocks, and tells what came of it without the field that must not matter.
fn outcomes(history: &History, ignored: &str, clock: impl Fn(usize, i64) -> Stamp) -> Vec<Json> {
    let mut world = World::new();
    let mut time = 10_000;
    let steps = history.steps.iter().enumerate();
    let mut step = |(n, step): (usize, &crate::world::Step)| {
        time += step.tick.passes;
        let command = world.command(&step.op);
        let policy = history.policies[usize::from(step.other)].clone();
        without(told(&world.ask(policy, command, clock(n, time)).outcome), ignored)
    };
    steps.map(&mut step).collect()
}

fn told(outcome: &Result<Decision, Refusal>) -> Json {
    match outcome {
        Ok(decision) => Json::object([
            ("events", Json::list(&decision.events, encode::event)),
            ("answer", encode::answer(&decision.answer)),
        ]),
        Err(refusal) => encode::refusal(refusal),
    }
}

fn without(json: Json, ignored: &str) -> Json {
    match json {
        Json::List(items) => Json::List(items.into_iter().map(|item| without(item, ignored)).collect()),
        Json::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, _)| key != ignored);
            Json::Object(kept.map(|(key, value)| (key, without(value, ignored))).collect())
        }
        other => other,
    }
}

fn stamp(wall: i64, boot: Option<(u128, i64)>) -> Stamp {
    let boot = boot.map(|(id, ms)| Boot { id: BootId::new(id), ms: ms.cast_unsigned() });
    Stamp::new(wall, boot).unwrap()
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn within_one_boot_the_wall_clock_does_not_matter(
        history in history(),
        walls in prop::collection::vec(0..2_000_000_i64, 40),
    ) {
        let steady = outcomes(&history, "wall_ms", |_, time| stamp(time, Some((1, time))));
        let jumping = outcomes(&history, "wall_ms", |n, time| stamp(walls[n], Some((1, time))));
        prop_assert_eq!(steady, jumping);
    }

    #[test]
    fn across_boots_the_boot_time_clock_does_not_matter(
        history in history(),
        boots in prop::collection::vec(0..2_000_000_i64, 40),
    ) {
        let none = outcomes(&history, "boot", |_, time| stamp(time, None));
        let another_each_time = outcomes(&history, "boot", |n, time| stamp(time, Some((n as u128, boots[n]))));
        prop_assert_eq!(none, another_each_time);
    }
}
