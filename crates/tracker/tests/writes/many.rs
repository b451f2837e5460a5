//! Many issues that are changed together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_kernel::Millis;
use holdfast_tracker::Session;
use holdfast_tracker::issues::State;
use holdfast_tracker::writes::{Verdict, Writer, complete_changes, pending_events};
use serde_json::{Value, json};

use crate::stage::{
    ANNA, BERTA, CARL, FOUR, ONE, SHARED, Stage, Strike, THREE, TWO, handed_over, in_linked, in_main,
    issue_text, parsed,
};

const IDS: [&str; 4] = [ONE, TWO, THREE, FOUR];
const OFF: &str = "[worktree]\nenforce_leases = \"off\"\n";
const WARN: &str = "[worktree]\nenforce_leases = \"warn\"\n";

/// Four issues, all of which Anna holds.
fn held() -> Stage {
    let mut stage = four("");
    stage.claim_all(ANNA, &IDS);
    stage
}

fn four(settings: &str) -> Stage {
    let mut stage = Stage::configured(settings);
    for id in [THREE, FOUR] {
        stage.put(&in_main(id, "issue.json"), &issue_text(id));
    }
    stage
}

/// Gives all four a title and a label; says which were written.
fn all(session: &Session) -> Result<Vec<bool>, String> {
    change(session, &IDS)
}

fn change(session: &Session, ids: &[&str]) -> Result<Vec<bool>, String> {
    let writer = Writer::open(session).map_err(|error| error.to_string())?;
    let ids: Vec<_> = ids.iter().map(|id| parsed(id)).collect();
    let changed = writer.change_all(&ids, "changing", |draft| {
        draft.edit().title = "new".into();
        draft.label("ui", true).map(drop)
    });
    let changed = changed.map_err(|error| error.to_string())?;
    assert_eq!(changed.iter().map(|one| one.draft.id()).collect::<Vec<_>>(), ids);
    Ok(changed.iter().map(|one| one.written).collect())
}

fn title(stage: &Stage, id: &str) -> Value {
    stage.json(&in_main(id, "issue.json"))["title"].take()
}

fn label(stage: &Stage, id: &str) -> bool {
    stage.has(&in_main(id, "labels.or-set.jsonl"))
}

#[test]
fn many_are_changed_as_each_would_be_and_for_good() {
    for flushes_all in [true, false] {
        let mut stage = held();
        stage.refused = (!flushes_all).then(Vec::new);
        assert_eq!(stage.by(ANNA, all), Ok(vec![true; 4]));
        stage.lose_power();
        for id in IDS {
            assert_eq!((title(&stage, id), label(&stage, id)), ("new".into(), true));
            assert!(stage.json(&in_main(id, "issue.json"))["fence"].is_u64());
            assert_eq!(stage.below(&in_main(id, "")), ["issue.json", "labels.or-set.jsonl"]);
        }
        assert_eq!(stage.count("issue.updated"), 8);
        assert!(stage.events().iter().all(|event| event["actor"]["lease_id"].is_string()));
        stage.refused = None;
        assert_eq!(stage.by(ANNA, |session| pending_events(session, false).unwrap()), 0);
    }
}

#[test]
fn nothing_is_left_of_how_many_were_changed() {
    let mut stage = held();
    stage.by(ANNA, all).unwrap();
    assert_eq!(stage.below(&format!("{SHARED}/redo")), Vec::<String>::new());
    let outboxes = stage.below(&format!("{SHARED}/locks"));
    for name in outboxes.iter().filter(|name| name.ends_with(".outbox")) {
        assert!(stage.text(&format!("{SHARED}/locks/{name}")).len() < 2, "{name}");
    }
}

#[test]
fn those_that_do_not_differ_are_left_alone() {
    let mut stage = held();
    assert_eq!(stage.by(ANNA, |session| change(session, &[TWO])), Ok(vec![true]));
    let before = (stage.text(&in_main(TWO, "issue.json")), stage.events().len());
    assert_eq!(stage.by(ANNA, all), Ok(vec![true, false, true, true]));
    assert_eq!((stage.text(&in_main(TWO, "issue.json")), stage.events().len()), (before.0, before.1 + 6));
    assert_eq!(stage.by(ANNA, all), Ok(vec![false; 4]));
    assert_eq!(stage.by(ANNA, |session| change(session, &[ONE, TWO, ONE])), Ok(vec![false; 3]), "one twice");
    assert_eq!(stage.by(ANNA, |session| change(session, &[])), Ok(Vec::new()));
}

#[test]
fn what_only_waits_is_changed_without_a_claim_where_none_is_needed() {
    let mut stage = four(OFF);
    stage.claim(ANNA, TWO);
    assert_eq!(stage.by(ANNA, all), Ok(vec![true; 4]));
    let fence = |id| stage.json(&in_main(id, "issue.json")).get("fence").is_some();
    assert_eq!(IDS.map(fence), [false, true, false, false]);
    assert_eq!(stage.count("issue.updated"), 8);
}

#[test]
fn of_many_none_is_changed_if_one_may_not_be() {
    let mut stage = four("");
    stage.claim_all(ANNA, &[ONE, TWO, FOUR]);
    let refused = stage.by(ANNA, all).unwrap_err();
    assert_eq!(refused, format!("changing {THREE} without holding its claim"));
    assert!(IDS.iter().all(|id| title(&stage, id) == "t" && !label(&stage, id)));
    assert_eq!(stage.events(), Vec::<Value>::new());
}

/// Changes all four; it takes longer to find out what the last one consists of than the claims of some last.
fn slowly(session: &Session) -> Result<(), String> {
    let slept = Arc::new(AtomicBool::new(false));
    let ids = IDS.map(parsed);
    let changed = Writer::open(session).unwrap().change_all(&ids, "changing", |draft| {
        if draft.id() == ids[3] && !slept.swap(true, Ordering::SeqCst) {
            session.sys().clock.sleep(Millis::from_secs(61));
        }
        draft.edit().title = "new".into();
        draft.label("ui", true).map(drop)
    });
    changed.map(drop).map_err(|error| error.to_string())
}

#[test]
fn claims_that_run_out_meanwhile_refuse_their_own_issues() {
    for (settings, expected) in [("", ["new", "t"]), (WARN, ["new", "new"])] {
        let mut stage = four(settings);
        for id in [ONE, THREE, FOUR] {
            stage.claim(ANNA, id);
        }
        stage.claim_for(ANNA, TWO, Millis::from_secs(60));
        assert_eq!(stage.by(ANNA, slowly).is_ok(), settings == WARN);
        assert_eq!([title(&stage, ONE), title(&stage, TWO)], expected.map(Value::from));
        assert_eq!(label(&stage, TWO), settings == WARN);
        stage.by(CARL, |session| complete_changes(session).unwrap());
        assert_eq!(title(&stage, TWO), expected[1]);
        assert_eq!(stage.by(CARL, |session| pending_events(session, true).unwrap()), 0);
    }
}

/// What is judged is more than the files of the issue, so each is written by itself.
#[test]
fn among_many_some_may_be_judged_or_finished() {
    let mut stage = held();
    let judged = |session: &Session| {
        let ids = IDS.map(parsed);
        let changed = Writer::open(session).unwrap().change_all(&ids, "judging", |draft| {
            if draft.id() == ids[1] {
                draft.edit().gates.insert("g".into());
                let result = draft.judgement(Verdict::Passed, None);
                draft.judge("g", result);
            }
            draft.step(State::Done, true);
            Ok(())
        });
        changed.map(|all| all.len()).map_err(|error| error.to_string())
    };
    assert_eq!(stage.by(ANNA, judged), Ok(4));
    for id in IDS {
        assert_eq!(stage.json(&in_main(id, "issue.json"))["state"], "done");
        assert!(stage.has(&format!("{SHARED}/finished/{id}.json")));
    }
    assert_eq!(stage.json(&format!("/repo/.jit/gates/results/{TWO}/g.json"))["status"], "passed");
    assert_eq!((stage.count("issue.updated"), stage.count("gate.completed")), (4, 1));
}

/// To flush everything costs what others have written, too: it is worth that only for many.
#[test]
fn a_whole_file_system_is_flushed_for_several_and_not_for_one() {
    for (ids, flushes) in [(&IDS[..1], 0), (&IDS[..2], 2), (&IDS[..], 2)] {
        let mut stage = Stage::traced();
        for id in [THREE, FOUR] {
            stage.put(&in_main(id, "issue.json"), &issue_text(id));
        }
        stage.claim_all(ANNA, &IDS);
        let before = stage.world.trace().len();
        stage.by(ANNA, move |session| change(session, ids).unwrap());
        let trace = stage.world.trace();
        let lines: Vec<&str> = trace.iter().skip(before).map(|line| line.what.as_str()).collect();
        let count = |begin: &str| lines.iter().filter(|line| line.starts_with(begin)).count();
        assert_eq!(count("flush the file system"), flushes, "{ids:?}");
        let single = [
            "flush /repo/.jit/issues",
            "flush the directory /repo/.jit/issues",
            "flush /repo/.git/jit/locks",
        ];
        assert_eq!(single.map(|begin| count(begin) > 0), [flushes == 0; 3], "{ids:?}: {lines:?}");
    }
}

#[test]
fn what_a_linked_worktree_changes_is_handed_over() {
    let mut stage = four("");
    stage.claim_all(BERTA, &IDS);
    assert_eq!(stage.by(BERTA, all), Ok(vec![true; 4]));
    for place in [handed_over, in_linked] {
        assert!(IDS.iter().all(|id| stage.json(&place(id, "issue.json"))["title"] == "new"));
    }
    assert!(IDS.iter().all(|id| title(&stage, id) == "t"));
}

#[test]
fn what_was_handed_over_goes_when_the_main_worktree_changes_it() {
    let mut stage = four(OFF);
    for id in [ONE, TWO] {
        stage.change(BERTA, id, |draft| draft.label("linked", true)).unwrap();
    }
    assert!(stage.has(&handed_over(ONE, "labels.or-set.jsonl")));
    assert_eq!(stage.by(ANNA, all), Ok(vec![true; 4]));
    assert_eq!(stage.below(&format!("{SHARED}/issues")), Vec::<String>::new());
    assert_eq!(stage.lines(&in_main(ONE, "labels.or-set.jsonl")).len(), 2);
}

/// Whoever is cut off anywhere leaves each issue whole, as it was or as it was to be, once somebody comes; and the events
/// say of each what is there.
#[test]
fn many_changes_are_whole_wherever_they_are_cut_off() {
    for (strike, flushes_all) in [(Strike::Death, true), (Strike::Outage, true), (Strike::Outage, false)] {
        let mut nth = 0;
        loop {
            let mut stage = held();
            stage.refused = (!flushes_all).then(Vec::new);
            let (struck, told) = stage.struck_at(ANNA, strike, nth, all);
            stage.refused = None;
            stage.by(CARL, |session| complete_changes(session).unwrap());
            stage.by(CARL, |session| pending_events(session, true).unwrap());
            for id in IDS {
                let is_new = title(&stage, id) == "new";
                assert_eq!(is_new, label(&stage, id), "{id} has parted, cut off at {nth} {strike:?}");
                assert!(is_new || told.is_none(), "it was told and is gone, cut off at {nth} {strike:?}");
                let told = stage.kinds().into_iter().filter(|(_, payload)| payload["issue_id"] == id).count();
                assert_eq!(told, 2 * usize::from(is_new), "{id}, cut off at {nth} {strike:?}");
            }
            if !struck {
                break;
            }
            nth += 3;
        }
    }
}

#[test]
fn a_disk_that_fails_leaves_nothing_that_others_would_stumble_over() {
    for at in [("flush the file system of", "/repo/.jit"), ("replace", "B/issue.json"), ("write", ".new-")] {
        let mut stage = held();
        let failed = stage.struck(ANNA, Strike::Failure, at, all).unwrap();
        assert!(failed.is_err());
        let beside = |name: &&String| name.contains(".new-");
        assert_eq!(stage.below("/repo/.jit/issues").iter().find(beside), None, "{at:?}");
        assert_eq!(stage.by(ANNA, all).map(|written| written.len()), Ok(4));
        stage.by(CARL, |session| pending_events(session, true).unwrap());
        assert_eq!((stage.count("issue.updated"), label(&stage, FOUR)), (8, true), "{at:?}");
    }
}

/// More than are changed at once, and two that share a lock.
#[test]
fn however_many_there_are_all_are_changed() {
    let digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut ids: Vec<String> = digits
        .chars()
        .flat_map(|a| ['E', 'F', 'G'].map(|b| format!("01K000000000000000000000{a}{b}")))
        .collect();
    ids.insert(7, "01K00000000000000000000X0E".to_owned());
    let mut stage = Stage::configured(OFF);
    for id in &ids {
        stage.put(&in_main(id, "issue.json"), &issue_text(id));
    }
    let named = ids.clone();
    let written = stage.by(ANNA, move |session| {
        change(session, &named.iter().map(String::as_str).collect::<Vec<_>>()).unwrap()
    });
    assert_eq!(written, vec![true; 97]);
    assert!(ids.iter().all(|id| title(&stage, id) == json!("new")));
    assert_eq!(stage.count("issue.updated"), 2 * 97);
}
