//! Parts of an issue while processes die: they are made once, the issue waits for all of them, and they need nothing of
//! the claim of whoever made them.

use std::collections::BTreeSet;

use holdfast_kernel::Millis;
use holdfast_sys::sim::{Config, Faults, Odds};
use holdfast_trial::seeds;
use serde_json::Value;

use crate::cuts::{cut, held};
use crate::stage::{ANNA, BERTA, ISSUE, OTHER, Stage};

const SPLIT: &[&str] = &["split", ISSUE, "--into", "walls", "roof"];

/// Longer than any claim lasts that nobody keeps.
const LONG: Millis = Millis::from_secs(7 * 86_400);

fn ids(parts: &Value) -> Vec<String> {
    parts.as_array().unwrap().iter().map(|part| part["id"].as_str().unwrap().to_owned()).collect()
}

fn parts(stage: &mut Stage) -> BTreeSet<String> {
    let listed = stage.quietly(BERTA, &["list", "--parent", ISSUE]).unwrap();
    ids(&listed["issues"]).into_iter().collect()
}

/// What an issue waits for.
fn deps(stage: &mut Stage, issue: &str) -> BTreeSet<String> {
    let shown = stage.quietly(BERTA, &["show", issue]).unwrap();
    let deps = shown["issue"]["dependencies"].as_array().unwrap();
    deps.iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_issue_is_split_once_wherever_that_is_cut_off() {
    cut(held, SPLIT, |stage, told| {
        let there = parts(stage);
        let again = stage.quietly(ANNA, SPLIT).unwrap();
        let made = ids(&again["parts"]);
        assert_eq!(made.len(), 2);
        assert!(there.iter().all(|id| made.contains(id)), "{there:?} and {made:?}");
        if let Some(Ok(told)) = told {
            assert_eq!(ids(&told["parts"]), made, "typed again, others were made");
        }
        assert_eq!(parts(stage), made.iter().cloned().collect());
        assert_eq!(deps(stage, ISSUE), made.iter().cloned().collect());
        // Its holder is never heard of again. The parts are there for anyone, the whole is not.
        stage.sleep(LONG);
        assert_eq!(stage.quietly(BERTA, &["claim", "acquire", ISSUE, "--when-ready"]), Err(4));
        stage.quietly(BERTA, &["claim", "acquire", &made[0]]).unwrap();
        assert_eq!(stage.quietly(BERTA, &["dep", "add", &made[0], ISSUE]), Err(6), "a circle");
        stage.quietly(BERTA, &["issue", "delete", &made[0]]).unwrap();
        assert_eq!((deps(stage, ISSUE).contains(&made[0]), parts(stage).len()), (false, 1));
    });
}

/// One splits its issue while another makes one of its own wait for it, and the other way round: whatever dies, no circle
/// is closed.
#[test]
fn parts_and_dependencies_that_are_added_at_once_close_no_circle() {
    let cruel = Faults { kill: Odds::new(2_000, 1), pause: Odds::new(3_000, 2), ..Faults::NONE };
    let (mut both, mut refused) = (0, 0);
    for seed in seeds(250) {
        let config = Config { faults: cruel, switch_ppm: 200_000, ..Config::default() };
        let mut stage = Stage::by_chance(config, seed);
        stage.quietly(ANNA, &["claim", "acquire", ISSUE]).unwrap();
        stage.quietly(BERTA, &["claim", "acquire", OTHER]).unwrap();
        let told = stage.dangerously(&[
            (ANNA, &["dep", "add", ISSUE, OTHER]),
            (BERTA, &["dep", "add", OTHER, ISSUE]),
            (ANNA, SPLIT),
        ]);
        let mutual = deps(&mut stage, ISSUE).contains(OTHER) && deps(&mut stage, OTHER).contains(ISSUE);
        assert!(!mutual, "seed {seed}: {told:?}");
        let (made, waits) = (parts(&mut stage), deps(&mut stage, ISSUE));
        if let Some(Ok(split)) = &told[2] {
            assert!(
                ids(&split["parts"]).iter().all(|id| made.contains(id) && waits.contains(id)),
                "seed {seed}"
            );
        }
        both += usize::from(told.iter().all(|told| matches!(told, Some(Ok(_)))));
        refused += usize::from(told.iter().any(|told| matches!(told, Some(Err(6)))));
    }
    println!("{refused} were refused a circle, {both} all done");
    assert!(refused > 10, "hardly a race: {refused}");
    assert_eq!(both, 0, "both edges were added");
}
