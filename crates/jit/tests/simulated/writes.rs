//! Each command that changes an issue, cut off at each of its calls: what is left is a valid issue, the old one
//! or the new one, and what the agent was told of is there, also after the power went.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use holdfast_sys::sim::{Config, Random};
use holdfast_trial::seeds;
use serde_json::{Value, json};

use crate::cuts::{cut, cut_in_any_order, held};
use crate::stage::{ANNA, BERTA, ISSUE, OTHER, Stage, Told};

/// Everything of the issues, in one piece each.
fn exported(stage: &mut Stage) -> Vec<Value> {
    stage.quietly(ANNA, &["export"]).unwrap()["issues"].as_array().unwrap().clone()
}

fn issue(stage: &mut Stage, id: &str) -> Option<Value> {
    exported(stage).into_iter().find(|issue| issue["id"] == id)
}

/// Nothing in the data plane is broken, before and after the power goes.
fn valid(stage: &mut Stage) {
    for _ in 0..2 {
        let checks = stage.quietly(ANNA, &["validate", "all"]).unwrap();
        for check in checks["checks"].as_array().unwrap().iter().filter(|check| check["name"] != "leases") {
            assert_eq!(check["ok"], true, "{checks}");
        }
        stage.lose_power();
    }
}

fn acknowledged(told: &Told) -> bool {
    matches!(told, Some(Ok(_)))
}

#[test]
fn an_update_leaves_a_valid_issue_wherever_it_is_cut_off() {
    let args = ["issue", "update", ISSUE, "--title", "new", "--label", "ui", "--state", "in_progress"];
    cut(held, &args, |stage, told| {
        valid(stage);
        let after = issue(stage, ISSUE).unwrap();
        let (title, labels) = (&after["title"], &after["labels"]);
        assert!(title == "t" || (title == "new" && after["state"] == "in_progress"), "{after}");
        let expected = if title == "new" { json!(["ui"]) } else { json!([]) };
        assert_eq!(*labels, expected, "one update has parted: {after}");
        assert!(title == "new" || !acknowledged(&told), "it was told and is gone: {after}");
        let events = stage.event_logs().into_iter().flat_map(|log| stage.whole_lines(&log));
        let event = events.into_iter().any(|event| {
            event["event_type"] == "issue.updated" && event["payload"]["changes"]["title"]["to"] == "new"
        });
        assert!(event || !acknowledged(&told), "it was told and no event says so");
        assert!(!event || title == "new", "an event tells of what never came");
    });
}

#[test]
fn an_issue_is_created_whole_or_not_at_all() {
    let args = ["issue", "create", "--title", "fresh", "--label", "a,b", "--depends-on", ISSUE];
    cut_in_any_order(
        |_| (),
        &args,
        |stage, told| {
            valid(stage);
            let fresh = exported(stage).into_iter().find(|issue| issue["title"] == "fresh");
            assert!(fresh.is_some() || !acknowledged(&told));
            if let Some(fresh) = fresh {
                assert_eq!((&fresh["labels"], &fresh["dependencies"]), (&json!(["a", "b"]), &json!([ISSUE])));
            }
        },
    );
}

/// Many at once, cut off anywhere: each is there whole or not at all, none waits for one that is not, and a second try
/// brings the rest.
#[test]
fn an_import_that_is_cut_off_leaves_whole_issues_and_goes_on() {
    const LINES: &str = concat!(
        r#"{"id":"01K8AAAAAA0000000000000001","title":"one","state":"ready","labels":["ui"],"#,
        r#""created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}"#,
        "\n",
        r#"{"id":"01K8AAAAAA0000000000000002","title":"two","state":"ready","dependencies":["01K8AAAAAA0000000000000001"],"#,
        r#""created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}"#,
        "\n",
        r#"{"id":"01K8AAAAAA0000000000000003","title":"three","state":"ready","#,
        r#""created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}"#,
        "\n",
    );
    let import = ["import", "in.jsonl"];
    cut_in_any_order(
        |stage| stage.write("/repo/in.jsonl", LINES),
        &import,
        |stage, told| {
            valid(stage);
            let there = |stage: &mut Stage, title: &str| {
                exported(stage).into_iter().find(|issue| issue["title"] == title)
            };
            for title in ["one", "two", "three"] {
                assert!(
                    there(stage, title).is_some() || !acknowledged(&told),
                    "it was told and {title} is gone"
                );
            }
            stage.write("/repo/in.jsonl", LINES);
            stage.quietly(ANNA, &["import", "in.jsonl"]).unwrap();
            assert_eq!(there(stage, "one").unwrap()["labels"], json!(["ui"]));
            assert_eq!(there(stage, "two").unwrap()["dependencies"].as_array().unwrap().len(), 1);
            let events = stage.event_logs().into_iter().flat_map(|log| stage.whole_lines(&log));
            let made: Vec<_> =
                events.into_iter().filter(|event| event["event_type"] == "issue.created").collect();
            for title in ["one", "two", "three"] {
                let times = made.iter().filter(|event| event["payload"]["title"] == title).count();
                assert_eq!(times, 1, "{title}: {made:?}");
            }
        },
    );
}

fn depending(stage: &mut Stage) {
    held(stage);
    stage.quietly(ANNA, &["claim", "acquire", OTHER]).unwrap();
    stage.quietly(ANNA, &["dep", "add", OTHER, ISSUE]).unwrap();
    stage.quietly(ANNA, &["claim", "release", OTHER]).unwrap();
}

#[test]
fn a_deletion_leaves_no_dangling_dependency_wherever_it_is_cut_off() {
    cut(depending, &["issue", "delete", ISSUE], |stage, told| {
        valid(stage);
        let gone = issue(stage, ISSUE).is_none();
        assert!(gone || !acknowledged(&told), "it was told and is there");
        let deps = issue(stage, OTHER).unwrap()["dependencies"].clone();
        assert!(!gone || deps == json!([]), "{deps}");
    });
}

fn gated(stage: &mut Stage) {
    held(stage);
    // Defining one asks git about branches, and there is no git here.
    stage.write("/repo/.jit/gates/registry.json", r#"{"gates":{"g":{"mode":"manual"}}}"#);
    stage.quietly(ANNA, &["gate", "add", ISSUE, "g"]).unwrap();
    stage.quietly(ANNA, &["issue", "update", ISSUE, "--state", "done"]).unwrap();
}

#[test]
fn an_issue_is_never_done_before_its_gate_is_passed() {
    cut(gated, &["gate", "pass", ISSUE, "g"], |stage, told| {
        // `validate all` finds an issue that is done and whose gate is open.
        valid(stage);
        let after = issue(stage, ISSUE).unwrap();
        assert!(after["state"] == "done" || !acknowledged(&told), "{after}");
    });
}

#[test]
fn what_is_brought_along_is_valid_wherever_it_is_cut_off() {
    fn labelled(stage: &mut Stage) {
        stage.quietly(BERTA, &["claim", "acquire", ISSUE]).unwrap();
        stage.quietly(BERTA, &["label", "add", ISSUE, "ui"]).unwrap();
        stage.quietly(BERTA, &["claim", "release", ISSUE]).unwrap();
    }
    cut(labelled, &["claim", "acquire", ISSUE], |stage, _| valid(stage));
}

#[test]
fn processes_of_one_holder_lose_nothing_in_whatever_order_they_run() {
    for seed in seeds(20) {
        let armed = Arc::new(AtomicBool::new(false));
        let mut stage = Stage::new(Config::default(), Random::new(seed), armed);
        held(&mut stage);
        let add = |label: &'static str| (ANNA, ["label", "add", ISSUE, label]);
        let adds = [add("a"), add("b"), add("c")];
        let typed: Vec<(_, &[&str])> = adds.iter().map(|(who, args)| (*who, args.as_slice())).collect();
        for told in stage.together(&typed) {
            assert!(acknowledged(&told), "seed {seed}: {told:?}");
        }
        let after = issue(&mut stage, ISSUE).unwrap();
        assert_eq!(after["labels"], json!(["a", "b", "c"]), "seed {seed}");
    }
}

#[test]
fn whoever_takes_an_issue_over_never_meets_a_write_of_the_one_before() {
    for seed in seeds(20) {
        let armed = Arc::new(AtomicBool::new(false));
        let mut stage = Stage::new(Config::default(), Random::new(seed), armed);
        held(&mut stage);
        let evict: &[&str] = &["claim", "force-evict", ISSUE, "--reason", "gone"];
        let update: &[&str] = &["issue", "update", ISSUE, "--title", "late"];
        let told = stage.together(&[(ANNA, update), (BERTA, evict)]);
        assert!(acknowledged(&told[1]), "seed {seed}: {told:?}");
        let after = issue(&mut stage, ISSUE).unwrap();
        let written = after["title"] == "late";
        assert_eq!(written, acknowledged(&told[0]), "seed {seed}: {told:?}");
        assert!(written || told[0] == Some(Err(5)), "seed {seed}: {told:?}");
    }
}
