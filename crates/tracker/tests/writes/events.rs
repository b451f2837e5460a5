//! The event log of a worktree.

use std::io::ErrorKind;
use std::path::PathBuf;

use holdfast_store::conformance::Call;
use holdfast_tracker::writes::event_logs;
use serde_json::{Value, json};

use crate::people::changed;
use crate::stage::{ANNA, BERTA, NOBODY, ONE, SHARED, Stage, Strike, TWO, in_main, parsed};

/// A log that is this long is put aside.
const LONGEST: usize = 8 << 20;

fn label(stage: &mut Stage, label: &'static str) {
    stage.change(ANNA, ONE, move |draft| draft.label(label, true)).unwrap();
}

/// A repository in which one event has happened, and the log that has it.
fn one() -> (Stage, String) {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    label(&mut stage, "first");
    let log = stage.event_logs().remove(0);
    (stage, log)
}

fn sequences(stage: &Stage, log: &str) -> Vec<u64> {
    stage.lines(log).iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
}

#[test]
fn events_of_a_worktree_are_numbered_and_say_under_which_lease_they_happened() {
    let mut stage = Stage::new();
    let lease = stage.claim(ANNA, ONE);
    stage
        .change(ANNA, ONE, |draft| {
            draft.edit().title = "new".into();
            draft.label("ui", true)
        })
        .unwrap();
    label(&mut stage, "net");
    let logs = stage.event_logs();
    assert_eq!(logs.len(), 1);
    assert_eq!(sequences(&stage, &logs[0]), [1, 2, 3]);
    let events = stage.events();
    let ids: std::collections::BTreeSet<_> =
        events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), events[0]["schema_version"].as_u64()), (3, Some(1)));
    assert!(events.iter().all(|event| event["actor"]["lease_id"] == lease.to_string()));
    let worktree = events[0]["actor"]["worktree_id"].as_str().unwrap().replace(':', "-");
    assert_eq!(logs[0], format!("{SHARED}/events/{worktree}.jsonl"));
    stage.claim(BERTA, TWO);
    stage.change(BERTA, TWO, |draft| draft.label("ui", true)).unwrap();
    assert_eq!(stage.event_logs().len(), 2, "each worktree has its own");
}

#[test]
fn events_have_the_form_that_is_configured() {
    let settings = "[worktree]\nenforce_leases = \"off\"\n[events]\n";
    let mut stage = Stage::configured(&format!("{settings}enable_sequences = false\n"));
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
    let event = &stage.events()[0];
    assert_eq!((event.get("sequence"), &event["event_type"]), (None, &json!("issue.updated")));
    let mut stage = Stage::configured(&format!("{settings}use_unified_envelope = false\n"));
    for agent in [ANNA, NOBODY] {
        stage.change(agent, ONE, move |draft| draft.label(agent.name.unwrap_or("none"), true)).unwrap();
    }
    let events = stage.events();
    assert_eq!((&events[0]["op"], &events[0]["by"]), (&json!("issue.updated"), &json!("agent:anna")));
    assert_eq!((&events[1]["by"], &events[1]["sequence"]), (&Value::Null, &json!(2)));
    assert_eq!((&events[1]["issue_id"], &events[1]["schema_version"]), (&json!(ONE), &json!(1)));
    assert!(events[0]["at"].is_string() && events[0].get("actor").is_none());
}

#[test]
fn what_a_writer_that_died_left_at_the_end_is_cut_off() {
    let (mut stage, log) = one();
    let whole = stage.text(&log);
    stage.put(&log, &format!("{whole}{{\"half\":\"{}", "x".repeat(9_000)));
    label(&mut stage, "second");
    assert_eq!(sequences(&stage, &log), [1, 2]);
    assert!(stage.text(&log).starts_with(&whole) && stage.text(&log).ends_with("}\n"));
    let whole = stage.text(&log);
    stage.put(&log, whole.trim_end());
    label(&mut stage, "third");
    assert_eq!(sequences(&stage, &log), [1, 2, 3], "somebody left out the end of the line");
}

#[test]
fn a_log_that_has_become_long_is_put_aside_and_its_numbers_go_on() {
    let (mut stage, log) = one();
    let aside = |number: u32| log.replace(".jsonl", &format!(".{number:06}.jsonl"));
    // Another worktree's, and one that is none.
    stage.put(&format!("{SHARED}/events/wt-other.000009.jsonl"), "");
    stage.put(&log.replace(".jsonl", ".x.jsonl"), "");
    let long = |length: usize, sequence: u64| {
        let line = format!("{{\"sequence\":{sequence},\"filled\":\"\"}}\n");
        line.replace("\"\"", &format!("\"{}\"", "x".repeat(length - line.len())))
    };
    stage.put(&log, &(long(LONGEST - 1 - 40, 1) + &long(40, 41)));
    label(&mut stage, "second");
    assert_eq!((stage.has(&aside(1)), stage.lines(&log)[2]["sequence"].as_u64()), (false, Some(42)));
    for (number, label) in [(1, "third"), (2, "fourth")] {
        let begin = 40 + u64::from(number);
        stage.put(&log, &(long(LONGEST - 40, 1) + &long(40, begin)));
        stage.change(ANNA, ONE, move |draft| draft.label(label, true)).unwrap();
        assert_eq!(stage.text(&aside(number)).len(), LONGEST);
        assert_eq!(sequences(&stage, &log), [begin + 1]);
    }
    // Whoever put it aside died before a new one was begun.
    let text = stage.text(&log);
    stage.put(&aside(3), &text);
    stage.world.remove_file(&log).unwrap();
    label(&mut stage, "fifth");
    assert_eq!(sequences(&stage, &log), [44]);
    assert!(!stage.has(&aside(4)));
}

#[test]
fn all_logs_are_those_of_worktrees_and_of_earlier_versions() {
    let mut stage = Stage::new();
    let logs = |stage: &mut Stage| {
        stage.by(ANNA, |session| {
            let data = session.data().unwrap();
            event_logs(session.sys(), session.control(), &[data.clone(), data]).unwrap()
        })
    };
    let old = PathBuf::from("/repo/.jit/events/local.jsonl");
    assert_eq!(logs(&mut stage), std::slice::from_ref(&old));
    for name in ["wt-b.jsonl", "wt-a.jsonl", "control.jsonl", ".wt-c.jsonl", "wt-d.txt"] {
        stage.put(&format!("{SHARED}/events/{name}"), "");
    }
    let new = |name: &str| PathBuf::from(format!("{SHARED}/events/{name}.jsonl"));
    assert_eq!(logs(&mut stage), [new("wt-a"), new("wt-b"), old]);
    stage.put("/repo/.git/jit2/events", "");
    let failed =
        stage.by(ANNA, |session| event_logs(session.sys(), "/repo/.git/jit2".as_ref(), &[]).is_err());
    assert!(failed, "what cannot be listed is not left out");
}

/// Whoever came next found the log there and did not ask whether its name would outlive the power.
#[test]
fn a_log_whose_maker_died_is_there_for_good_once_it_says_something() {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    stage.struck(ANNA, Strike::Death, ("flush the directory", "/jit/events"), |session| {
        changed(session, parsed(ONE), |draft| draft.label("first", true)).is_ok()
    });
    label(&mut stage, "second");
    stage.lose_power();
    assert_eq!(stage.events().len(), 2);
}

#[test]
fn a_log_that_cannot_be_looked_at_is_an_error_and_its_event_comes_later() {
    let (mut stage, log) = one();
    stage.refused = Some(vec![(Call::Stat, log.clone(), ErrorKind::PermissionDenied)]);
    let failed = stage.change(ANNA, ONE, |draft| draft.label("second", true)).err().unwrap();
    assert!(failed.contains(&log), "{failed}");
    stage.refused = None;
    label(&mut stage, "third");
    assert_eq!(sequences(&stage, &log), [1, 2, 3]);
}

#[test]
fn an_event_is_logged_for_good() {
    let (mut stage, log) = one();
    stage.lose_power();
    assert_eq!(stage.lines(&log).len(), 1);
    label(&mut stage, "second");
    stage.lose_power();
    assert_eq!(stage.lines(&log).len(), 2);
    assert_eq!(stage.lines(&in_main(ONE, "labels.or-set.jsonl")).len(), 2);
}
