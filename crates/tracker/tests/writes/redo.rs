//! Changes that span several files of an issue, by somebody who died between two of them.

use std::io::ErrorKind;

use holdfast_store::conformance;
use holdfast_tracker::Session;
use holdfast_tracker::issues::State;
use holdfast_tracker::writes::{Verdict, complete_changes};
use serde_json::Value;

use crate::people::changed;
use crate::stage::{
    ANNA, Agent, BERTA, CARL, Call, ONE, SHARED, Stage, Strike, TWO, handed_over, in_linked, in_main,
    issue_text, parsed,
};

const NOTE: &str = "/repo/.git/jit/redo/01K0000000000000000000000A.json";

/// Between the sets and the issue itself.
const HALF_WAY: Call = ("replace", "/repo/.jit/issues/01K0000000000000000000000A/issue.json");

/// When everything is done.
const AT_THE_END: Call = ("remove", "/redo/");

fn large(session: &Session) -> Result<(), String> {
    changed(session, parsed(ONE), |draft| {
        draft.edit().title = "new".into();
        draft.label("ui", true)?;
        draft.depend(TWO, true)
    })
    .map(drop)
}

fn cut_off(agent: Agent, at: Call) -> Stage {
    let mut stage = Stage::new();
    stage.claim(agent, ONE);
    assert_eq!(stage.struck(agent, Strike::Death, at, large), None);
    stage
}

fn complete(stage: &mut Stage, agent: Agent) -> Result<(), String> {
    stage.by(agent, |session| complete_changes(session).map_err(|error| error.to_string()))
}

/// The title of an issue, its labels and its dependencies, as the files of a worktree have them.
fn there(stage: &Stage, file: fn(&str, &str) -> String) -> (Value, Vec<Value>, Vec<Value>) {
    let values =
        |name: &str| stage.lines(&file(ONE, name)).iter().map(|line| line["value"].clone()).collect();
    let title = stage.json(&file(ONE, "issue.json"))["title"].take();
    (title, values("labels.or-set.jsonl"), values("deps.or-set.jsonl"))
}

fn old() -> (Value, Vec<Value>, Vec<Value>) {
    ("t".into(), Vec::new(), Vec::new())
}

fn new() -> (Value, Vec<Value>, Vec<Value>) {
    ("new".into(), vec!["ui".into()], vec![TWO.into()])
}

fn half() -> (Value, Vec<Value>, Vec<Value>) {
    ("t".into(), vec!["ui".into()], vec![TWO.into()])
}

#[test]
fn what_is_half_done_is_completed_by_whoever_comes_next() {
    let mut stage = cut_off(ANNA, HALF_WAY);
    assert_eq!(there(&stage, in_main), half());
    complete(&mut stage, CARL).unwrap();
    assert_eq!((there(&stage, in_main), stage.has(NOTE)), (new(), false));
    let mut stage = cut_off(ANNA, ("replace", "/deps.or-set"));
    stage.edit(ANNA, ONE, |draft| draft.edit().priority = holdfast_tracker::issues::Priority::High);
    assert_eq!((there(&stage, in_main), stage.has(NOTE)), (new(), false));
    assert_eq!(stage.json(&in_main(ONE, "issue.json"))["priority"], "high");
}

/// The disk failed, so whoever made the change was told that it had, and it is half done all the same.
#[test]
fn what_failed_half_way_is_completed() {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    assert!(stage.struck(ANNA, Strike::Failure, HALF_WAY, large).unwrap().is_err());
    assert_eq!((there(&stage, in_main), stage.has(NOTE)), (half(), true));
    complete(&mut stage, CARL).unwrap();
    assert_eq!((there(&stage, in_main), stage.has(NOTE)), (new(), false));
}

#[test]
fn what_was_not_begun_is_forgotten() {
    let mut stage = cut_off(ANNA, ("replace", "/labels.or-set"));
    assert!(stage.has(NOTE));
    complete(&mut stage, CARL).unwrap();
    assert_eq!((there(&stage, in_main), stage.has(NOTE)), (old(), false));
}

/// Lines that were there before say nothing about the change.
#[test]
fn what_was_not_begun_is_forgotten_also_where_there_were_labels() {
    let mut stage = Stage::new();
    stage.held_change(ONE, |draft| draft.label("before", true));
    let cut = stage.struck(ANNA, Strike::Death, ("replace", "/labels.or-set"), large);
    assert!(cut.is_none() && stage.has(NOTE));
    complete(&mut stage, CARL).unwrap();
    assert_eq!(
        (there(&stage, in_main), stage.has(NOTE)),
        (("t".into(), vec!["before".into()], Vec::new()), false)
    );
}

#[test]
fn what_was_done_is_not_done_again() {
    let mut stage = cut_off(ANNA, AT_THE_END);
    let before = stage.text(&in_main(ONE, "issue.json"));
    complete(&mut stage, CARL).unwrap();
    assert_eq!((there(&stage, in_main), stage.has(NOTE)), (new(), false));
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), before);
}

/// Somebody took a set back to what it was.
#[test]
fn an_issue_gets_its_sets_also_where_it_is_new_itself() {
    for set in ["labels.or-set.jsonl", "deps.or-set.jsonl"] {
        let mut stage = cut_off(ANNA, AT_THE_END);
        stage.world.remove_file(in_main(ONE, set)).unwrap();
        complete(&mut stage, CARL).unwrap();
        assert_eq!(there(&stage, in_main), new());
    }
}

#[test]
fn what_was_overtaken_stays_as_it_is() {
    let mut stage = cut_off(ANNA, HALF_WAY);
    let later = issue_text(ONE).replace("\"t\"", "\"later\"");
    stage.put(&in_main(ONE, "issue.json"), &later);
    complete(&mut stage, CARL).unwrap();
    assert_eq!((stage.text(&in_main(ONE, "issue.json")), stage.has(NOTE)), (later, false));
    let mut stage = cut_off(ANNA, HALF_WAY);
    stage.put(&format!("{SHARED}/deleted/{ONE}"), "");
    complete(&mut stage, CARL).unwrap();
    assert_eq!((there(&stage, in_main), stage.has(NOTE)), (half(), false), "it is gone");
}

#[test]
fn what_others_added_meanwhile_stays() {
    let mut stage = cut_off(ANNA, HALF_WAY);
    let labels = in_main(ONE, "labels.or-set.jsonl");
    let mine = "{\"id\":\"1\",\"op\":\"add\",\"value\":\"mine\",\"at\":\"x\"}\n";
    let text = format!("{mine}{}", stage.text(&labels));
    stage.put(&labels, &text);
    complete(&mut stage, CARL).unwrap();
    assert_eq!(there(&stage, in_main), ("new".into(), vec!["mine".into(), "ui".into()], vec![TWO.into()]));
}

#[test]
fn what_came_of_gates_stays() {
    let mut stage = Stage::new();
    stage.held_change(ONE, |draft| {
        draft.edit().gates.insert("g".into());
        let result = draft.judgement(Verdict::Passed, None);
        draft.judge("g", result);
        Ok(())
    });
    let result = format!("/repo/.jit/gates/results/{ONE}/g.json");
    let before = stage.text(&result);
    stage.struck(ANNA, Strike::Death, HALF_WAY, large);
    complete(&mut stage, CARL).unwrap();
    assert_eq!((there(&stage, in_main), stage.text(&result)), (new(), before));
}

#[test]
fn only_what_spans_several_files_is_noted() {
    let before_it_is_logged: Call = ("open", "/events/wt-");
    for (title, label) in [(true, true), (true, false), (false, true)] {
        let mut stage = Stage::new();
        stage.claim(ANNA, ONE);
        stage.struck(ANNA, Strike::Death, before_it_is_logged, move |session| {
            changed(session, parsed(ONE), |draft| {
                draft.edit().state = if title { State::Backlog } else { State::Ready };
                if label { draft.label("ui", true) } else { Ok(false) }
            })
            .is_ok()
        });
        assert_eq!(stage.has(NOTE), title && label);
    }
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    stage.struck(ANNA, Strike::Death, before_it_is_logged, |session| {
        changed(session, parsed(ONE), |draft| {
            draft.edit().title = "new".into();
            draft.depend(TWO, true)
        })
        .is_ok()
    });
    assert!(stage.has(NOTE));
}

/// A note is durable before anything of its change is made.
#[test]
fn what_is_half_done_when_the_power_goes_is_completed() {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    assert_eq!(stage.struck(ANNA, Strike::Outage, HALF_WAY, large), None);
    assert!(stage.has(NOTE));
    complete(&mut stage, CARL).unwrap();
    assert!([old(), new()].contains(&there(&stage, in_main)));
}

#[test]
fn what_is_no_note_on_an_issue_is_put_away() {
    let mut stage = cut_off(ANNA, HALF_WAY);
    let other = NOTE.replace(ONE, TWO);
    let note = stage.text(NOTE);
    stage.put(&other, &note);
    stage.world.remove_file(NOTE).unwrap();
    stage.put(&format!("{SHARED}/redo/README"), "");
    complete(&mut stage, CARL).unwrap();
    assert_eq!((there(&stage, in_main), stage.text(&in_main(TWO, "issue.json"))), (half(), issue_text(TWO)));
    assert_eq!(stage.below(&format!("{SHARED}/redo")), ["README"]);
    stage.put(NOTE, "{");
    complete(&mut stage, CARL).unwrap();
    assert!(!stage.has(NOTE));
    assert_eq!(complete(&mut Stage::new(), ANNA), Ok(()), "there are no notes at all");
}

#[test]
fn nothing_is_put_into_a_worktree_that_is_gone() {
    let mut stage = cut_off(ANNA, HALF_WAY);
    let note = stage.text(NOTE).replace("/repo/.jit", "/gone/.jit");
    stage.put(NOTE, &note);
    complete(&mut stage, CARL).unwrap();
    assert_eq!((stage.below("/gone"), stage.has(NOTE)), (Vec::new(), false));
    assert_eq!(there(&stage, in_main), half());
}

#[test]
fn what_is_half_handed_over_is_completed_on_both_sides() {
    let mut stage =
        cut_off(BERTA, ("replace", "/repo/.git/jit/issues/01K0000000000000000000000A/issue.json"));
    assert_eq!(there(&stage, handed_over), (Value::Null, vec!["ui".into()], vec![TWO.into()]));
    complete(&mut stage, ANNA).unwrap();
    for place in [handed_over, in_linked] {
        assert_eq!(there(&stage, place), new());
    }
    assert_eq!(there(&stage, in_main), old());
    // Once it is handed over, its own worktree brings it along.
    let mut stage = cut_off(BERTA, ("replace", "/linked/.jit/issues"));
    assert_eq!((there(&stage, handed_over), stage.has(&in_linked(ONE, "issue.json"))), (new(), false));
    assert!(stage.change(BERTA, ONE, |_| Ok(())).unwrap().written);
    assert_eq!(there(&stage, in_linked), new());
}

#[test]
fn what_may_not_be_written_here_is_left_to_those_who_may() {
    let lock = "/repo/.git/jit/locks/issue-0A.lock".to_owned();
    let mut stage = cut_off(ANNA, HALF_WAY);
    for (how, said) in [(ErrorKind::PermissionDenied, true), (ErrorKind::ResourceBusy, false)] {
        stage.refused = Some(vec![(conformance::Call::Open, lock.clone(), how)]);
        assert_eq!(complete(&mut stage, CARL).is_ok(), said);
        assert!(stage.has(NOTE));
    }
    stage.refused = Some(vec![(conformance::Call::List, format!("{SHARED}/redo"), ErrorKind::ResourceBusy)]);
    assert!(complete(&mut stage, CARL).is_err());
}
