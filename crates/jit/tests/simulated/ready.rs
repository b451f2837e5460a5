//! Claims that are granted only if nothing is missing, while somebody takes back that something has landed.

use holdfast_sys::sim::{Config, Faults, Odds};
use holdfast_trial::seeds;
use serde_json::Value;

use crate::stage::{ANNA, BERTA, ISSUE, OTHER, Stage};

/// One issue waits for the other, which is over.
fn stage(seed: u64, faults: Faults) -> Stage {
    let config = Config { faults, switch_ppm: 200_000, ..Config::default() };
    let mut stage = Stage::by_chance(config, seed);
    for args in [
        &["claim", "acquire", OTHER][..],
        &["dep", "add", OTHER, ISSUE],
        &["claim", "release", OTHER],
        &["close", ISSUE, "--as", "rejected"],
    ] {
        stage.quietly(ANNA, args).unwrap();
    }
    stage
}

/// What happened to the claims, in its order: what, to which issue, by whom.
fn history(stage: &mut Stage) -> Vec<(String, String, String)> {
    let history = stage.quietly(ANNA, &["claim", "history"]).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let event = |event: &Value| {
        let payload = &event["payload"];
        (text(&event["event_type"]), text(&payload["issue_id"]), text(&payload["agent_id"]))
    };
    history["events"].as_array().unwrap().iter().map(event).collect()
}

/// Somebody reopens what the issue waits for, at whatever moment chance finds between the look and the grant. Nobody is
/// ever granted it afterwards, not even for as long as it takes to look again.
#[test]
fn nothing_is_granted_once_what_it_waits_for_is_open_again() {
    let (mut granted, mut refused) = (0, 0);
    for seed in seeds(400) {
        let mut stage = stage(seed, Faults::NONE);
        let before = history(&mut stage).len();
        let told = stage.dangerously(&[
            (BERTA, &["claim", "acquire", OTHER, "--when-ready"]),
            (ANNA, &["reopen", ISSUE]),
        ]);
        assert!(matches!(told[1], Some(Ok(_))), "seed {seed}: {told:?}");
        let history = history(&mut stage).split_off(before);
        let at =
            |what: &str, issue: &str| history.iter().position(|(event, of, _)| event == what && of == issue);
        let taken = at("claim.acquired", OTHER);
        let open_again = at("claim.released", ISSUE);
        assert!(open_again.is_some(), "seed {seed}: {history:?}");
        match &told[0] {
            Some(Ok(_)) => granted += 1,
            Some(Err(4)) => {
                assert_eq!(taken, None, "seed {seed}: refused, and granted for a moment: {history:?}");
                refused += 1;
            }
            other => panic!("seed {seed}: {other:?}"),
        }
        assert!(taken.is_none() || taken < open_again, "seed {seed}: {history:?}");
    }
    println!("{granted} granted before it was open again, {refused} refused after");
    assert!(granted > 10 && refused > 10, "hardly a race: {granted} granted, {refused} refused");
}

/// The same while processes die: what is granted was ready then, and nobody is locked out.
#[test]
fn whoever_dies_meanwhile_leaves_nothing_that_is_not_ready() {
    let cruel = Faults { kill: Odds::new(3_000, 2), pause: Odds::new(3_000, 2), ..Faults::NONE };
    for seed in seeds(200) {
        let mut stage = stage(seed, cruel);
        let before = history(&mut stage).len();
        let told = stage.dangerously(&[
            (BERTA, &["claim", "acquire", OTHER, "--when-ready"]),
            (ANNA, &["reopen", ISSUE]),
        ]);
        let history = history(&mut stage).split_off(before);
        let position =
            |what: &str, issue: &str| history.iter().position(|(event, of, _)| event == what && of == issue);
        if let (Some(Ok(_)), Some(taken)) = (&told[1], position("claim.acquired", OTHER)) {
            assert!(Some(taken) < position("claim.released", ISSUE), "seed {seed}: {history:?}");
        }
    }
}
