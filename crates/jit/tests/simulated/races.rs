//! Agents that ask at once, in orders that chance finds, while processes die, stand still and lose power.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use holdfast_sys::sim::{Config, Faults, Odds, Random};
use holdfast_trial::seeds;
use serde_json::Value;

use crate::stage::{ANNA, BERTA, ISSUE, OTHER, Stage};

fn stage(seed: u64, faults: Faults) -> Stage {
    let config = Config { faults, switch_ppm: 200_000, lose_ppm: 500_000, ..Config::default() };
    Stage::new(config, Random::new(seed), Arc::new(AtomicBool::new(false)))
}

const CRUEL: Faults = Faults {
    kill: Odds::new(3_000, 2),
    pause: Odds::new(3_000, 2),
    power_loss: Odds::new(1_000, 1),
    eio: Odds::new(2_000, 1),
    ..Faults::NONE
};

fn granted<'a>(told: &'a Option<Result<Value, i32>>, issue: &str) -> Option<&'a Value> {
    told.as_ref()?.as_ref().ok().filter(|told| told["lease"]["issue_id"] == issue)
}

/// Both start in a repository that nobody has used: the control plane and the identities are made on the way.
#[test]
fn one_of_two_agents_wins_whatever_happens() {
    let mut winners = [0, 0];
    for seed in seeds(1_000) {
        let mut stage = stage(seed, CRUEL);
        let acquire: &[&str] = &["claim", "acquire", ISSUE];
        let told = stage.together(&[(ANNA, acquire), (BERTA, acquire)]);
        let won: Vec<usize> = (0..2).filter(|who| granted(&told[*who], ISSUE).is_some()).collect();
        assert!(won.len() <= 1, "seed {seed}: both were told that they hold it: {told:?}");
        if let Some(who) = won.first() {
            winners[*who] += 1;
        }
    }
    assert!(winners.iter().all(|count| *count > 10), "hardly a race: {winners:?}");
}

#[test]
fn agents_that_ask_for_the_next_issue_get_different_ones() {
    let mut both = 0;
    for seed in seeds(1_000) {
        let mut stage = stage(seed, CRUEL);
        let next: &[&str] = &["claim", "next"];
        let told = stage.together(&[(ANNA, next), (BERTA, next)]);
        for issue in [ISSUE, OTHER] {
            let count = told.iter().filter(|told| granted(told, issue).is_some()).count();
            assert!(count <= 1, "seed {seed}: {issue} was handed out twice: {told:?}");
        }
        both += usize::from(told.iter().all(|told| matches!(told, Some(Ok(_)))));
    }
    assert!(both > 10, "hardly anybody got anything: {both}");
}

/// One process of an agent looks while another of the same agent starts: they agree on the worktree's id.
#[test]
fn a_worktree_has_one_identity_whoever_asks_first() {
    for seed in seeds(1_000) {
        let mut stage = stage(seed, Faults::NONE);
        let told = stage.together(&[
            (ANNA, &["claim", "acquire", ISSUE]),
            (ANNA, &["claim", "acquire", OTHER]),
            (ANNA, &["worktree", "init"]),
        ]);
        let ids: Vec<Value> = told.iter().flatten().flatten().map(worktree).collect();
        assert_eq!(ids.len(), 3, "seed {seed}: {told:?}");
        assert!(ids.iter().all(|id| *id == ids[0]), "seed {seed}: {ids:?}");
    }
}

fn worktree(told: &Value) -> Value {
    let place = if told["lease"].is_object() { &told["lease"] } else { &told["worktree"] };
    place["worktree_id"].clone()
}
