//! What linked worktrees hand over, and when it goes.

use std::io::ErrorKind;

use holdfast_store::conformance;
use holdfast_tracker::issues::{Issues, State};
use holdfast_tracker::writes::{Verdict, Writer, pending_events};
use serde_json::Value;

use crate::people::changed;
use crate::stage::{
    ANNA, BERTA, CARL, FOUR, LONG_AGO, ONE, SHARED, Stage, Strike, TWO, handed_over, in_linked, in_main,
    issue_text, parsed,
};

const OFF: &str = "[worktree]\nenforce_leases = \"off\"\n";
const HANDED_RESULT: &str = "/repo/.git/jit/gates/results/01K0000000000000000000000A/g.json";
const MAIN_RESULT: &str = "/repo/.jit/gates/results/01K0000000000000000000000A/g.json";

fn has_handed_over(stage: &Stage) -> bool {
    !stage.below(&format!("{SHARED}/issues/{ONE}")).is_empty()
}

/// Somebody changes another issue, which has whoever comes last tidy up.
fn tidy(stage: &mut Stage) {
    stage.edit(CARL, TWO, |draft| draft.edit().title.push('.'));
}

/// Copies into the main worktree what was handed over, as a merge does.
fn merge(stage: &mut Stage, files: &[&str]) {
    for file in files {
        let text = stage.text(&handed_over(ONE, file));
        assert!(!text.is_empty(), "{file}");
        stage.put(&in_main(ONE, file), &text);
    }
}

/// Berta has changed everything of an issue that there is.
fn handed() -> Stage {
    let mut stage = Stage::configured(OFF);
    stage
        .change(BERTA, ONE, |draft| {
            draft.edit().title = "new".into();
            draft.edit().gates.insert("g".into());
            draft.label("ui", true)?;
            draft.depend(TWO, true)?;
            let result = draft.judgement(Verdict::Passed, None);
            draft.judge("g", result);
            Ok(())
        })
        .unwrap();
    stage
}

#[test]
fn what_is_handed_over_is_seen_everywhere() {
    let mut stage = handed();
    assert_eq!(
        stage.below(&format!("{SHARED}/issues/{ONE}")),
        ["deps.or-set.jsonl", "issue.json", "labels.or-set.jsonl"]
    );
    for file in ["issue.json", "labels.or-set.jsonl", "deps.or-set.jsonl"] {
        assert_eq!(stage.text(&handed_over(ONE, file)), stage.text(&in_linked(ONE, file)));
    }
    assert_eq!(stage.json(HANDED_RESULT)["status"], "passed");
    assert_eq!(stage.json(&format!("/linked/.jit/gates/results/{ONE}/g.json"))["status"], "passed");
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
    let title = stage.by(ANNA, |session| Issues::new(session).read(parsed(ONE)).unwrap().title);
    assert_eq!(title, "new");
}

#[test]
fn what_is_handed_over_lasts() {
    let mut stage = handed();
    stage.lose_power();
    assert_eq!(stage.json(&handed_over(ONE, "issue.json"))["title"], "new");
    assert_eq!(stage.lines(&handed_over(ONE, "labels.or-set.jsonl")).len(), 1);
    let mut stage = Stage::new();
    stage.claim(BERTA, ONE);
    stage.edit(BERTA, ONE, |draft| {
        draft.step(State::Done, true);
    });
    stage.lose_power();
    assert_eq!(stage.json(&in_linked(ONE, "issue.json"))["state"], "done", "only its own worktree says so");
}

#[test]
fn whoever_cannot_write_into_a_worktree_is_told_why() {
    let mut stage = Stage::configured(OFF);
    stage.claim(BERTA, TWO);
    let home = format!("/linked/.jit/issues/{ONE}");
    stage.refused = Some(vec![(conformance::Call::CreateDir, home.clone(), ErrorKind::PermissionDenied)]);
    let failed = stage.change(BERTA, ONE, |draft| draft.label("ui", true)).err().unwrap();
    assert!(failed.contains(&home) && !failed.contains("labels"), "{failed}");
}

#[test]
fn what_was_handed_over_goes_when_the_main_worktree_writes() {
    let mut stage = handed();
    stage.edit(ANNA, ONE, |draft| draft.edit().title = "newer".into());
    assert!(!has_handed_over(&stage));
    for file in ["labels.or-set.jsonl", "deps.or-set.jsonl"] {
        assert_eq!(stage.text(&in_main(ONE, file)), stage.text(&in_linked(ONE, file)));
    }
    assert_eq!(stage.json(MAIN_RESULT)["status"], "passed");
}

/// To make a place for it would cost every change a flush.
#[test]
fn where_nobody_has_handed_anything_over_there_is_no_place_for_it() {
    let mut stage = Stage::configured(OFF);
    stage.edit(ANNA, ONE, |draft| draft.edit().title = "new".into());
    let place = stage.by(ANNA, |session| session.sys().files.stat(&session.control().join("issues")).is_ok());
    assert!(!place);
}

#[test]
fn what_changes_nothing_takes_nothing_away() {
    let mut stage = handed();
    assert!(!stage.change(ANNA, ONE, |_| Ok(())).unwrap().written);
    assert!(has_handed_over(&stage));
}

/// Everything of it, be it whole or in parts.
#[test]
fn what_was_handed_over_goes_once_the_main_worktree_has_it_all() {
    let all = ["issue.json", "labels.or-set.jsonl", "deps.or-set.jsonl"];
    for missing in
        [None, Some("issue.json"), Some("labels.or-set.jsonl"), Some("deps.or-set.jsonl"), Some("result")]
    {
        let mut stage = handed();
        let files: Vec<&str> = all.into_iter().filter(|file| Some(*file) != missing).collect();
        merge(&mut stage, &files);
        if missing != Some("result") {
            let result = stage.text(HANDED_RESULT);
            stage.put(MAIN_RESULT, &result);
        }
        tidy(&mut stage);
        assert_eq!(has_handed_over(&stage), missing.is_some(), "{missing:?}");
        assert_eq!(stage.has(HANDED_RESULT), missing.is_some(), "{missing:?}");
        let hidden = stage.below(&format!("{SHARED}/issues"));
        assert!(missing.is_some() || hidden.is_empty(), "{hidden:?}");
    }
}

#[test]
fn a_linked_worktree_tidies_up_too() {
    let mut stage = Stage::configured(OFF);
    stage.change(BERTA, ONE, |draft| draft.label("ui", true)).unwrap();
    merge(&mut stage, &["issue.json", "labels.or-set.jsonl"]);
    stage.change(BERTA, TWO, |draft| draft.label("ui", true)).unwrap();
    assert!(!has_handed_over(&stage));
    assert!(stage.has(&handed_over(TWO, "issue.json")));
}

/// Judgements as earlier versions kept them.
#[test]
fn old_judgements_have_to_be_there_too() {
    for (theirs, ours, gone) in [
        ("old", "", false),
        ("old", "other", false),
        ("old", "old", true),
        ("", "other", true),
        ("", "", true),
    ] {
        let mut stage = Stage::configured(OFF);
        stage.change(BERTA, ONE, |draft| draft.label("ui", true)).unwrap();
        merge(&mut stage, &["issue.json", "labels.or-set.jsonl"]);
        let old = format!("gates/results/{ONE}.json");
        for (data, text) in [(SHARED, theirs), ("/repo/.jit", ours)] {
            if !text.is_empty() {
                stage.put(&format!("{data}/{old}"), text);
            }
        }
        tidy(&mut stage);
        assert_eq!(has_handed_over(&stage), !gone, "{theirs:?} {ours:?}");
        assert_eq!(stage.has(&format!("{SHARED}/{old}")), !gone);
    }
}

fn copy(title: &str, fence: Option<u64>, log: Option<&str>) -> String {
    let mut issue: Value = serde_json::from_str(&issue_text(ONE)).unwrap();
    issue["title"] = title.into();
    fence.into_iter().for_each(|fence| issue["fence"] = fence.into());
    log.into_iter().for_each(|log| issue["fence_log"] = log.into());
    issue.to_string()
}

/// Fences of one log can be compared, and those of two cannot.
#[test]
fn what_the_main_worktree_has_later_is_enough() {
    let (a, b) = (Some("8e1c0000000000000000000000000001"), Some("8e1c0000000000000000000000000002"));
    let theirs = copy("theirs", Some(5), a);
    for (ours, gone) in [
        (copy("ours", Some(6), a), true),
        (copy("ours", Some(5), a), true),
        (copy("ours", Some(4), a), false),
        (copy("ours", Some(6), b), false),
        (copy("ours", None, None), false),
        (copy("theirs", Some(5), a), true),
        ("{".to_owned(), false),
    ] {
        let mut stage = Stage::configured(OFF);
        stage.put(&handed_over(ONE, "issue.json"), &theirs);
        stage.put(&in_main(ONE, "issue.json"), &ours);
        tidy(&mut stage);
        assert_eq!(has_handed_over(&stage), !gone, "{ours}");
    }
    let mut stage = Stage::configured(OFF);
    stage.put(&handed_over(ONE, "issue.json"), &copy("theirs", None, None));
    stage.put(&in_main(ONE, "issue.json"), &copy("ours", None, None));
    tidy(&mut stage);
    assert!(has_handed_over(&stage), "nothing says which is later");
}

/// What is taken away may be all that shows that something has happened.
#[test]
fn what_goes_has_its_events_logged_before() {
    let mut stage = Stage::configured(OFF);
    stage.struck(BERTA, Strike::Death, ("replace", "/linked/.jit/issues"), |session| {
        changed(session, parsed(ONE), |draft| {
            draft.edit().title = "new".into();
            Ok(())
        })
        .is_ok()
    });
    let mut later: Value = stage.json(&handed_over(ONE, "issue.json"));
    assert_eq!(later["title"], "new");
    let log = "8e1c0000000000000000000000000001";
    let mut theirs = later.clone();
    // The note shows the content that was handed over, and the main worktree has something later.
    (theirs["fence"], theirs["fence_log"]) = (1.into(), log.into());
    (later["fence"], later["fence_log"], later["title"]) = (2.into(), log.into(), "later".into());
    let exact = stage.text(&handed_over(ONE, "issue.json"));
    assert!(!exact.contains("fence"));
    stage.put(&in_main(ONE, "issue.json"), &exact);
    tidy(&mut stage);
    assert!(!has_handed_over(&stage));
    stage.put(&in_main(ONE, "issue.json"), &later.to_string());
    assert_eq!(stage.by(ANNA, |session| pending_events(session, true).unwrap()), 0);
    assert!(stage.kinds().iter().any(|(_, payload)| payload["changes"]["title"]["to"] == "new"));
}

/// No change pays for the whole past: four are looked at, and whoever begins to work leaves up to seven lying.
#[test]
fn only_some_are_looked_at_after_a_change() {
    let ids: Vec<String> = (0..7).map(|number| format!("01K00000000000000000000{number}0E")).collect();
    let lying = |count: usize| {
        let mut stage = Stage::configured(OFF);
        for id in ids.iter().take(count) {
            stage.put(&in_main(id, "issue.json"), &issue_text(id));
            stage.put(&handed_over(id, "issue.json"), &issue_text(id));
        }
        stage
    };
    let left = |stage: &Stage| stage.below(&format!("{SHARED}/issues")).len();
    let mut stage = lying(7);
    tidy(&mut stage);
    assert_eq!(left(&stage), 3);
    tidy(&mut stage);
    assert_eq!(left(&stage), 0);
    let begun = |count: usize| {
        let mut stage = lying(count.min(7));
        if count > 7 {
            stage.put(&handed_over(FOUR, "issue.json"), &issue_text(FOUR));
        }
        let written = stage.by(ANNA, |session| {
            let writer = Writer::open(session).unwrap();
            let begun = writer.begin(parsed(TWO), |draft| {
                draft.step(State::InProgress, false);
                Ok(())
            });
            begun.unwrap().written
        });
        assert!(written && stage.json(&in_main(TWO, "issue.json"))["state"] == "in_progress");
        left(&stage)
    };
    assert_eq!(begun(7), 7);
    assert!(begun(8) < 8);
    let mut stage = lying(2);
    stage.change(CARL, TWO, |_| Ok(())).unwrap();
    assert_eq!(left(&stage), 2, "nothing was written");
    assert!(stage.json(&in_main(TWO, "issue.json"))["updated_at"] == LONG_AGO);
}

/// Those that stay must not keep others from being looked at.
#[test]
fn every_one_is_looked_at_some_day() {
    let mut stage = Stage::configured(OFF);
    let ids: Vec<String> = (0..9).map(|number| format!("01K00000000000000000000{number}0E")).collect();
    for id in &ids {
        stage.put(&handed_over(id, "issue.json"), &issue_text(id));
    }
    for number in [0, 8] {
        stage.put(&in_main(&ids[number], "issue.json"), &issue_text(&ids[number]));
    }
    for _ in 0..40 {
        tidy(&mut stage);
    }
    let left: Vec<bool> = ids.iter().map(|id| stage.has(&handed_over(id, "issue.json"))).collect();
    assert_eq!(left, [false, true, true, true, true, true, true, true, false]);
}

#[test]
fn whoever_begins_has_to_hold_the_issue() {
    let mut stage = Stage::new();
    let refused = stage.by(ANNA, |session| {
        let writer = Writer::open(session).unwrap();
        writer.begin(parsed(ONE), |_| Ok(())).err().unwrap().to_string()
    });
    assert_eq!(refused, format!("starting {ONE} without holding its claim"));
}
