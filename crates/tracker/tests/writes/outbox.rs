//! Events of changes that somebody made who did not live to log them.

use holdfast_tracker::Session;
use holdfast_tracker::writes::{Writer, pending_events};
use serde_json::Value;

use crate::people::changed;
use crate::stage::{
    ANNA, Agent, BERTA, CARL, Call, NOBODY, ONE, SHARED, Stage, Strike, handed_over, in_linked, in_main,
    parsed,
};

const OUTBOX: &str = "/repo/.git/jit/locks/issue-0A.outbox";
const LOCK: &str = "/repo/.git/jit/locks/issue-0A.lock";

/// Before the event of what was made comes into the log.
const BEFORE_LOGGING: Call = ("open", "/events/wt-");

/// Somebody who holds an issue changes its title and a label, which is two events, and is struck at a call.
fn cut_off(agent: Agent, strike: Strike, at: Call) -> Stage {
    let mut stage = Stage::new();
    stage.claim(agent, ONE);
    let told = stage.struck(agent, strike, at, |session| {
        changed(session, parsed(ONE), |draft| {
            draft.edit().title = "new".into();
            draft.label("ui", true)
        })
        .map(drop)
    });
    assert_eq!(told, None);
    stage
}

fn pending(stage: &mut Stage, agent: Agent, repair: bool) -> usize {
    stage.by(agent, move |session| pending_events(session, repair).unwrap())
}

#[test]
fn what_was_made_and_not_logged_is_logged_by_whoever_looks_for_it() {
    for looks in [CARL, BERTA] {
        let mut stage = cut_off(ANNA, Strike::Death, BEFORE_LOGGING);
        assert_eq!((pending(&mut stage, looks, false), stage.events().len()), (2, 0));
        assert_eq!((pending(&mut stage, looks, true), stage.count("issue.updated")), (2, 2));
        assert_eq!((pending(&mut stage, looks, true), stage.count("issue.updated")), (0, 2));
        assert!(stage.events().iter().all(|event| event["actor"]["agent_id"] == "agent:anna"));
        assert!(stage.text(OUTBOX).len() < 2, "it is empty");
    }
}

#[test]
fn whoever_writes_next_logs_it_once() {
    for at in [BEFORE_LOGGING, ("flush", "/events/wt-"), ("cut", ".outbox")] {
        let mut stage = cut_off(ANNA, Strike::Death, at);
        stage.change(ANNA, ONE, |draft| draft.label("later", true)).unwrap();
        let labels: Vec<Value> = stage
            .kinds()
            .into_iter()
            .map(|(_, payload)| payload["changes"]["labels"]["added"][0].clone())
            .collect();
        assert_eq!(labels, [Value::Null, "ui".into(), "later".into()], "{at:?}");
    }
}

#[test]
fn what_was_not_made_is_not_logged() {
    for at in
        [("replace", "/issues/01K0000000000000000000000A/labels"), ("flush", ".new-"), ("flush", ".outbox")]
    {
        let mut stage = cut_off(ANNA, Strike::Death, at);
        assert_eq!((pending(&mut stage, CARL, false), pending(&mut stage, CARL, true)), (0, 0), "{at:?}");
        assert_eq!(stage.events().len(), 0);
        assert_eq!(stage.json(&in_main(ONE, "issue.json"))["title"], "t");
    }
}

#[test]
fn of_what_was_made_in_part_that_part_is_logged() {
    let mut stage = cut_off(ANNA, Strike::Death, ("replace", "A/issue.json"));
    assert_eq!(pending(&mut stage, CARL, false), 1);
    assert_eq!(pending(&mut stage, CARL, true), 1);
    assert_eq!(stage.kinds()[0].1["changes"]["labels"]["added"][0], "ui");
}

/// Its file and the name of that are durable before the change is made, be they new or not.
#[test]
fn what_is_queued_outlives_the_power() {
    let mut stage = cut_off(ANNA, Strike::Outage, BEFORE_LOGGING);
    assert_eq!(stage.json(&in_main(ONE, "issue.json"))["title"], "new");
    assert_eq!(pending(&mut stage, CARL, true), 2);
    let told = stage.struck(ANNA, Strike::Outage, BEFORE_LOGGING, |session| {
        changed(session, parsed(ONE), |draft| draft.label("later", true)).is_ok()
    });
    assert_eq!((told, pending(&mut stage, CARL, true)), (None, 1));
    stage.lose_power();
    assert_eq!(stage.count("issue.updated"), 3);
}

/// The event is in the log, but the power could still take it: a note is not given up for that.
#[test]
fn what_is_logged_is_made_durable_before_it_counts() {
    let mut stage = cut_off(ANNA, Strike::Death, ("flush", "/events/wt-"));
    assert_eq!(pending(&mut stage, CARL, true), 0);
    stage.lose_power();
    assert_eq!(stage.count("issue.updated"), 2);
}

/// A line that was cut off says nothing, also if it has the id of an event.
#[test]
fn half_an_event_in_a_log_is_none() {
    let mut stage = cut_off(ANNA, Strike::Death, BEFORE_LOGGING);
    let note = stage.text(OUTBOX);
    let id = note.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    stage.put(&format!("{SHARED}/events/wt-other.jsonl"), &format!("{{\"id\":\"{id}\""));
    assert_eq!(pending(&mut stage, CARL, false), 2);
    stage.put(&format!("{SHARED}/events/wt-other.jsonl"), &format!("{{\"id\":\"{id}\"}}\n"));
    assert_eq!(pending(&mut stage, CARL, false), 1);
}

#[test]
fn what_an_earlier_version_left_queued_is_logged() {
    let mut stage = cut_off(ANNA, Strike::Death, BEFORE_LOGGING);
    let note = stage.text(OUTBOX);
    stage.world.remove_file(OUTBOX).unwrap();
    stage.put(&OUTBOX.replace(".outbox", ".untold"), &note);
    assert_eq!((pending(&mut stage, CARL, false), pending(&mut stage, CARL, true)), (2, 2));
    assert_eq!(stage.count("issue.updated"), 2);
}

/// Whoever only looks must not need what only writers may do.
#[test]
fn whoever_only_looks_makes_no_lock() {
    let mut stage = cut_off(ANNA, Strike::Death, BEFORE_LOGGING);
    stage.world.remove_file(LOCK).unwrap();
    assert_eq!((pending(&mut stage, CARL, false), stage.has(LOCK)), (0, false));
    assert_eq!((pending(&mut stage, CARL, true), stage.has(LOCK)), (2, true));
}

/// Whoever is at it right now will log it.
#[test]
fn what_somebody_is_about_to_log_is_not_pending() {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    let changes = |session: &Session| changed(session, parsed(ONE), |draft| draft.label("ui", true)).is_ok();
    let looks = |session: &Session| pending_events(session, false).unwrap();
    assert_eq!(stage.meanwhile(BEFORE_LOGGING, (ANNA, changes), (CARL, looks)), (true, 0));
    assert_eq!(stage.events().len(), 1);
}

#[test]
fn what_is_queued_and_damaged_says_nothing() {
    let mut stage = cut_off(ANNA, Strike::Death, BEFORE_LOGGING);
    let note = stage.text(OUTBOX).replace("new", "old");
    stage.put(OUTBOX, &note);
    assert_eq!((pending(&mut stage, CARL, false), pending(&mut stage, CARL, true)), (0, 0));
    stage.put(&format!("{SHARED}/locks/other"), "");
    stage.change(ANNA, ONE, |draft| draft.label("later", true)).unwrap();
    assert_eq!(stage.events().len(), 1);
}

/// What linked worktrees write is to be seen where they hand it over, also if they did not come to write it themselves.
#[test]
fn an_event_of_a_linked_worktree_is_logged_from_the_main_one() {
    for at in [BEFORE_LOGGING, ("replace", "/linked/.jit/issues")] {
        let mut stage = cut_off(BERTA, Strike::Death, at);
        assert_eq!(stage.json(&handed_over(ONE, "issue.json"))["title"], "new");
        assert_eq!(stage.has(&in_linked(ONE, "issue.json")), at == BEFORE_LOGGING);
        assert_eq!((pending(&mut stage, ANNA, true), stage.count("issue.updated")), (2, 2));
        assert!(stage.events().iter().all(|event| event["actor"]["agent_id"] == "agent:berta"));
    }
}

fn announced(session: &Session) -> holdfast_tracker::Result<()> {
    let writer = Writer::open(session)?;
    let mut scope = writer.locks().scope()?;
    let _section = scope.enter(session.sys(), holdfast_sys::LockMode::Exclusive)?;
    let path = session.own_data()?.join("gates.json");
    writer.announce("gate.defined", serde_json::json!({ "gate": "g" }), ("gates.json", b"{}"), || {
        Ok(holdfast_tracker::durable::replace(session.sys(), &path, b"{}", 0o644)?)
    })
}

#[test]
fn what_concerns_everybody_is_logged_too() {
    let mut stage = Stage::new();
    stage.by(ANNA, announced).unwrap();
    assert_eq!(stage.text("/repo/.jit/gates.json"), "{}");
    assert_eq!(stage.kinds(), [("gate.defined".to_owned(), serde_json::json!({ "gate": "g" }))]);
    let actor = stage.events().remove(0)["actor"].take();
    assert_eq!((actor["agent_id"].as_str(), actor.get("lease_id")), (Some("agent:anna"), None));
    let mut stage = Stage::new();
    stage.struck(ANNA, Strike::Death, BEFORE_LOGGING, announced);
    assert_eq!((pending(&mut stage, NOBODY, false), stage.events().len()), (1, 0));
    assert!(stage.has(&format!("{SHARED}/locks/scope.outbox")));
    stage.by(ANNA, announced).unwrap();
    assert_eq!(stage.events().len(), 2);
}

#[test]
fn whoever_announces_something_uses_what_it_holds() {
    let span = holdfast_kernel::Millis::from_secs(60);
    let mut stage = Stage::new();
    stage.claim_for(ANNA, ONE, span);
    stage.wait(holdfast_kernel::Millis::from_secs(40));
    stage.by(ANNA, announced).unwrap();
    stage.wait(holdfast_kernel::Millis::from_secs(40));
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
}
