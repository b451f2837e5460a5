//! Keepers on a simulated machine: taking over from one that is gone is cut off at each of its calls, and only whoever
//! shares its boot judges it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use holdfast_kernel::Millis;
use holdfast_sys::sim::{Config, Random};
use serde_json::Value;

use crate::cuts::cut_of;
use crate::stage::{ANNA, BERTA, ISSUE, ME, Stage};

const ACQUIRE: [&str; 3] = ["claim", "acquire", ISSUE];

fn calm() -> Stage {
    Stage::new(Config::default(), Random::new(0), Arc::new(AtomicBool::new(false)))
}

/// Anna has claimed the issue, and the process that stood for her has ended.
fn left_behind(stage: &mut Stage) -> Value {
    stage.quietly(ANNA, &["claim", "acquire", ISSUE, "--keeper", ME]).unwrap()["lease"].clone()
}

#[test]
fn the_grace_counts_from_the_first_look_and_others_take_over_afterwards() {
    let mut stage = calm();
    left_behind(&mut stage);
    stage.sleep(Millis::from_secs(120));
    assert_eq!(stage.quietly(BERTA, &ACQUIRE), Err(4), "nobody has looked before");
    stage.sleep(Millis::from_secs(58));
    assert_eq!(stage.quietly(BERTA, &ACQUIRE), Err(4));
    assert_eq!(stage.quietly(BERTA, &["claim", "next", "--label", "none"]), Err(3));
    stage.sleep(Millis::from_secs(3));
    assert_eq!(stage.quietly(BERTA, &ACQUIRE).unwrap()["lease"]["agent_id"], BERTA.id);
}

#[test]
fn one_that_lives_is_left_alone_and_after_another_boot_only_the_deadline_counts() {
    let mut stage = calm();
    stage.write("/repo/.jit/config.toml", "[coordination]\nkeeper_grace_secs = 0\n");
    stage.write("/linked/.jit/config.toml", "[coordination]\nkeeper_grace_secs = 0\n");
    // The first process of a machine is always there.
    stage.quietly(ANNA, &["claim", "acquire", ISSUE, "--keeper", "1"]).unwrap();
    assert_eq!(stage.quietly(BERTA, &ACQUIRE), Err(4));
    stage.quietly(ANNA, &["claim", "release", ISSUE]).unwrap();
    left_behind(&mut stage);
    stage.lose_power();
    assert_eq!(stage.quietly(BERTA, &ACQUIRE), Err(4));
    stage.sleep(Millis::from_secs(601));
    stage.quietly(BERTA, &ACQUIRE).unwrap();
}

#[test]
fn a_takeover_that_is_cut_off_leaves_one_holder_at_most() {
    fn before(stage: &mut Stage) {
        stage.write("/repo/.jit/config.toml", "[coordination]\nkeeper_grace_secs = 1\n");
        stage.write("/linked/.jit/config.toml", "[coordination]\nkeeper_grace_secs = 1\n");
        left_behind(stage);
        assert_eq!(stage.quietly(BERTA, &ACQUIRE), Err(4));
        stage.sleep(Millis::from_secs(2));
    }
    cut_of(BERTA, before, &ACQUIRE, |stage, told| {
        let leases = stage.quietly(ANNA, &["claim", "list"]).unwrap()["leases"].clone();
        let holders: Vec<&Value> =
            leases.as_array().unwrap().iter().map(|lease| &lease["agent_id"]).collect();
        // The power may take the grant and leave the end of the lease that was in its way: then it is free.
        assert!(holders.len() <= 1, "{leases}");
        if let Some(Ok(taken)) = told {
            assert_eq!(leases[0]["lease_id"], taken["lease"]["lease_id"], "what was told is kept");
        }
    });
}
