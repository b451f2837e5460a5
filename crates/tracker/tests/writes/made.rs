//! The event of an issue that somebody made who did not live to log it.

use std::io::ErrorKind;

use holdfast_store::conformance;
use holdfast_tracker::Session;
use holdfast_tracker::writes::pending_events;
use serde_json::json;

use crate::people::{created, fresh};
use crate::stage::{ANNA, Agent, BERTA, CARL, Call, NOBODY, ONE, Stage, Strike, THREE, in_main, issue_text};

/// An issue that shares its lock with the third.
const TWENTY: &str = "01K0000000000000000000200C";

const BEFORE_LOGGING: Call = ("open", "/events/wt-");

fn cut_off(at: Call) -> Stage {
    let mut stage = Stage::new();
    let told =
        stage.struck(ANNA, Strike::Death, at, |session| created(session, fresh(THREE, &["ui"], &[ONE])));
    assert_eq!(told, None);
    stage
}

fn pending(stage: &mut Stage, agent: Agent, repair: bool) -> usize {
    stage.by(agent, move |session| pending_events(session, repair).unwrap())
}

fn marks(stage: &Stage) -> usize {
    stage.below("/repo/.jit/issues").iter().filter(|name| name.contains(".created.new-")).count()
}

#[test]
fn the_event_of_an_issue_is_logged_by_whoever_looks_for_it() {
    for looks in [CARL, BERTA, NOBODY] {
        let mut stage = cut_off(BEFORE_LOGGING);
        assert_eq!((pending(&mut stage, looks, false), stage.events().len(), marks(&stage)), (1, 0, 1));
        assert_eq!((pending(&mut stage, looks, true), stage.events().len(), marks(&stage)), (1, 1, 0));
        assert_eq!((pending(&mut stage, looks, true), stage.events().len()), (0, 1));
        let event = stage.events().remove(0);
        assert_eq!(
            (&event["event_type"], &event["payload"]["title"]),
            (&json!("issue.created"), &json!("made"))
        );
        assert_eq!(
            (&event["payload"]["labels"], &event["payload"]["depends_on"]),
            (&json!(["ui"]), &json!([ONE]))
        );
        let actor = &event["actor"];
        assert_eq!((&actor["agent_id"], actor.get("lease_id")), (&json!("agent:anna"), None));
        assert!(actor["worktree_id"].as_str().unwrap().starts_with("wt:"));
    }
}

#[test]
fn the_event_of_an_issue_is_logged_once_by_whoever_writes_to_it() {
    for at in [BEFORE_LOGGING, ("flush", "/events/wt-"), ("remove", "/.created.new-")] {
        let mut stage = cut_off(at);
        stage.claim(CARL, THREE);
        stage.change(CARL, THREE, |draft| draft.label("net", true)).unwrap();
        let kinds: Vec<String> = stage.kinds().into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["issue.created", "issue.updated"], "{at:?}");
        assert_eq!(marks(&stage), 0);
    }
}

#[test]
fn what_is_logged_already_is_not_pending_but_its_mark_goes() {
    let mut stage = cut_off(("remove", "/.created.new-"));
    assert_eq!((pending(&mut stage, CARL, false), marks(&stage)), (0, 1));
    assert_eq!((pending(&mut stage, CARL, true), marks(&stage), stage.events().len()), (0, 0, 1));
}

#[test]
fn an_issue_and_what_says_that_it_was_made_are_durable_together() {
    let mut stage = Stage::new();
    let told = stage.struck(ANNA, Strike::Outage, BEFORE_LOGGING, |session| {
        created(session, fresh(THREE, &["ui"], &[ONE]))
    });
    assert_eq!(told, None);
    assert_eq!(pending(&mut stage, CARL, true), 1);
    assert_eq!(stage.events()[0]["payload"]["labels"], json!(["ui"]));
}

#[test]
fn what_cannot_be_read_says_nothing() {
    for file in ["issue.json", "labels.or-set.jsonl", "deps.or-set.jsonl"] {
        let mut stage = cut_off(BEFORE_LOGGING);
        stage.put(&in_main(THREE, file), "{");
        assert_eq!((pending(&mut stage, CARL, false), pending(&mut stage, CARL, true)), (0, 0));
        assert_eq!((stage.events().len(), marks(&stage)), (0, 1));
    }
}

/// Whoever only looks must not need what only writers may do.
#[test]
fn whoever_only_looks_needs_no_lock() {
    let lock = "/repo/.git/jit/locks/issue-0C.lock";
    let mut stage = cut_off(BEFORE_LOGGING);
    stage.world.remove_file(lock).unwrap();
    assert_eq!((pending(&mut stage, CARL, false), stage.has(lock)), (1, false));
    assert_eq!((pending(&mut stage, CARL, true), stage.has(lock)), (1, true));
}

#[test]
fn where_issues_cannot_be_listed_nobody_says_that_nothing_is_pending() {
    let mut stage = cut_off(BEFORE_LOGGING);
    stage.refused =
        Some(vec![(conformance::Call::List, "/repo/.jit/issues".into(), ErrorKind::PermissionDenied)]);
    assert!(stage.by(CARL, |session| pending_events(session, false).is_err()));
}

/// Whoever is at it right now will log it.
#[test]
fn what_somebody_is_about_to_log_is_not_pending() {
    let mut stage = Stage::new();
    stage.create(ANNA, TWENTY, &[], &[]).unwrap();
    let makes = |session: &Session| created(session, fresh(THREE, &["ui"], &[ONE]));
    let looks = |session: &Session| pending_events(session, false).unwrap();
    let (made, found) = stage.meanwhile(BEFORE_LOGGING, (ANNA, makes), (CARL, looks));
    assert_eq!((made, found, stage.events().len()), (Ok(()), 0, 2));
}

#[test]
fn what_is_no_issue_has_no_mark() {
    let mut stage = Stage::new();
    stage.put(&format!("/repo/.jit/issues/{THREE}"), "a file");
    stage.put(&in_main(ONE, ".created.new-x"), "");
    stage.put("/repo/.jit/issues/other/.created.new-1,2,3,4", "");
    assert_eq!((pending(&mut stage, CARL, false), pending(&mut stage, CARL, true)), (0, 0));
    assert!(stage.has(&in_main(ONE, ".created.new-x")));
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
}
