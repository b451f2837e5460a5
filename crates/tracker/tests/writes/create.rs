//! Making issues: what is there then, and what is refused.

use std::io::ErrorKind;

use holdfast_kernel::Millis;
use holdfast_store::conformance::Call;
use holdfast_tracker::Session;
use holdfast_tracker::import::import;
use holdfast_tracker::issues::{Issues, State};
use holdfast_tracker::notice::Notice;
use holdfast_tracker::writes::{Fresh, GateResult, Results, Verdict, blank, pending_events};
use serde_json::json;

use crate::people::{created, fresh};
use crate::stage::{
    ANNA, Agent, BERTA, CARL, FOUR, LONG_AGO, ONE, Stage, Strike, THREE, TWO, handed_over, in_linked,
    in_main, issue_text, parsed,
};

#[test]
fn a_blank_issue_is_ready_and_has_an_id_of_its_own() {
    let mut stage = Stage::new();
    let (first, second) = stage.by(ANNA, |session| {
        let one = |title: &str| blank(session.sys(), title.to_owned()).unwrap();
        (one("a"), one("b"))
    });
    assert_eq!((first.title.as_str(), first.state), ("a", State::Ready));
    assert!(first.id != second.id && first.id.len() == 26);
    assert_eq!(first.created_at, first.updated_at);
    assert!(first.created_at.as_str() > LONG_AGO);
}

#[test]
fn an_issue_is_made_with_its_sets_and_its_event() {
    let mut stage = Stage::new();
    stage.create(ANNA, THREE, &["ui", "net"], &[ONE]).unwrap();
    let home = in_main(THREE, "");
    assert_eq!(
        stage.below(&home),
        ["deps.or-set.jsonl", "issue.json", "labels.or-set.jsonl"],
        "no mark is left"
    );
    assert_eq!(stage.json(&in_main(THREE, "issue.json"))["title"], "made");
    assert_eq!(stage.lines(&in_main(THREE, "labels.or-set.jsonl")).len(), 2);
    assert_eq!(stage.lines(&in_main(THREE, "deps.or-set.jsonl"))[0]["value"], ONE);
    let events = stage.events();
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event["event_type"], "issue.created");
    assert!(event["timestamp"].as_str().unwrap() > LONG_AGO);
    assert_eq!(
        event["payload"],
        json!({
            "issue_id": THREE, "title": "made", "type": "task", "state": "ready", "priority": "normal",
            "labels": ["net", "ui"], "depends_on": [ONE], "gates": [],
        })
    );
    let actor = &event["actor"];
    assert_eq!((&actor["agent_id"], actor.get("lease_id")), (&json!("agent:anna"), None));
    assert!(actor["worktree_id"].as_str().unwrap().starts_with("wt:"));
}

#[test]
fn a_plain_issue_has_no_files_of_sets() {
    let mut stage = Stage::new();
    stage.create(ANNA, THREE, &[], &[]).unwrap();
    assert_eq!(stage.below(&in_main(THREE, "")), ["issue.json"]);
    stage.lose_power();
    assert!(stage.has(&in_main(THREE, "issue.json")));
    assert_eq!(stage.count("issue.created"), 1);
}

#[test]
fn there_is_one_issue_of_an_id() {
    for agent in [ANNA, BERTA] {
        let mut stage = Stage::new();
        stage.create(agent, THREE, &[], &[]).unwrap();
        let before = stage.text(&in_main(THREE, "issue.json"));
        let refused = stage.create(agent, THREE, &["ui"], &[]).unwrap_err();
        assert_eq!(refused, format!("there is an issue {THREE} already"));
        assert_eq!(stage.text(&in_main(THREE, "issue.json")), before);
        assert!(!stage.has(&in_main(THREE, "labels.or-set.jsonl")));
        assert_eq!(stage.count("issue.created"), 1);
    }
    let mut stage = Stage::new();
    assert!(stage.by(ANNA, |session| created(session, judged(ONE))).unwrap_err().contains("already"));
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
}

#[test]
fn what_it_depends_on_has_to_be_there() {
    let mut stage = Stage::new();
    let refused = stage.create(ANNA, THREE, &[], &[ONE, FOUR]).unwrap_err();
    assert_eq!(refused, format!("there is no issue {}", FOUR));
    assert_eq!(stage.below(&in_main(THREE, "")), Vec::<String>::new());
    let bad = stage.create(ANNA, "no id", &[], &[]).unwrap_err();
    assert!(bad.contains("no id"), "{bad}");
}

#[test]
fn what_a_linked_worktree_makes_is_handed_over() {
    let mut stage = Stage::new();
    stage.create(BERTA, THREE, &["ui"], &[]).unwrap();
    for file in ["issue.json", "labels.or-set.jsonl"] {
        let text = stage.text(&in_linked(THREE, file));
        assert!(!text.is_empty() && text == stage.text(&handed_over(THREE, file)));
    }
    assert!(!stage.has(&in_main(THREE, "issue.json")));
    let seen = stage.by(ANNA, |session| Issues::new(session).read(parsed(THREE)).unwrap().title);
    assert_eq!(seen, "made");
    assert_eq!(stage.count("issue.created"), 1);
}

fn verdict(status: Verdict) -> GateResult {
    let text = json!({ "status": status.word(), "at": LONG_AGO });
    serde_json::from_value(text).unwrap()
}

/// An issue that is gated and whose gate was passed elsewhere.
fn judged(id: &str) -> impl FnOnce(&Session) -> Fresh + Send + 'static {
    let fresh = fresh(id, &[], &[]);
    move |session| {
        let mut fresh = fresh(session);
        fresh.issue.state = State::Gated;
        fresh.issue.gates.insert("g".into());
        fresh.results = Results([("g".to_owned(), verdict(Verdict::Passed))].into());
        fresh
    }
}

#[test]
fn what_came_of_gates_elsewhere_comes_along() {
    for agent in [ANNA, BERTA] {
        let mut stage = Stage::new();
        stage.by(agent, |session| created(session, judged(THREE))).unwrap();
        let (issue, result) = ("issues/01K0000000000000000000000C/issue.json", "gates/results");
        let data = format!("{}/.jit", agent.at);
        assert_eq!(stage.json(&format!("{data}/{issue}"))["state"], "done", "its gate is passed");
        let result = stage.json(&format!("{data}/{result}/{THREE}/g.json"));
        assert_eq!((&result["status"], &result["gate"]), (&json!("passed"), &json!("g")));
        assert_eq!(stage.count("issue.created"), 1);
    }
}

#[test]
fn an_issue_is_made_in_no_state_that_it_cannot_have() {
    let mut stage = Stage::new();
    let state = |state: State, gate: bool| {
        let fresh = fresh(THREE, &[], &[ONE]);
        move |session: &Session| {
            let mut fresh = fresh(session);
            fresh.issue.state = state;
            if gate {
                fresh.issue.gates.insert("g".into());
                fresh.dependencies.clear();
            }
            fresh
        }
    };
    let done = state(State::Done, false);
    let refused = stage.by(ANNA, |session| created(session, done)).unwrap_err();
    assert_eq!(refused, format!("{THREE} is blocked by {ONE}"));
    let begun = state(State::InProgress, false);
    stage.by(ANNA, |session| created(session, begun)).unwrap();
    assert_eq!(stage.notices(), [Notice::Blocked { issue: THREE.into(), by: vec![ONE.into()] }]);
    let mut stage = Stage::new();
    let gated = state(State::Done, true);
    stage.by(ANNA, |session| created(session, gated)).unwrap();
    assert_eq!(stage.json(&in_main(THREE, "issue.json"))["state"], "gated");
}

#[test]
fn what_nobody_could_read_is_not_made() {
    let mut stage = Stage::new();
    let long = |session: &Session| {
        let mut fresh = fresh(THREE, &[], &[])(session);
        fresh.issue.description = Some("x".repeat(4 << 20));
        fresh
    };
    let refused = stage.by(ANNA, move |session| created(session, long)).unwrap_err();
    assert!(refused.contains("issue.json") && refused.contains("longer than 4 MiB"), "{refused}");
    assert_eq!(stage.below(&in_main(THREE, "")), Vec::<String>::new());
    let exact = |session: &Session| {
        let mut fresh = fresh(THREE, &[], &[])(session);
        fresh.issue.description = Some("x".into());
        let rest = (4 << 20) - fresh.issue.bytes().len();
        fresh.issue.description = Some("x".repeat(1 + rest));
        fresh
    };
    stage.by(ANNA, move |session| created(session, exact)).unwrap();
    assert_eq!(stage.text(&in_main(THREE, "issue.json")).len(), 4 << 20);
}

/// The name of a mark has room for 255 bytes.
#[test]
fn somebody_with_a_long_name_makes_issues_too() {
    let long: &'static str = Box::leak(format!("agent:{}", "ü".repeat(61)).into_boxed_str());
    let longer: &'static str = Box::leak(format!("agent:{}", "x".repeat(122)).into_boxed_str());
    for name in [long, longer] {
        let mut stage = Stage::new();
        stage.create(Agent { name: Some(name), ..ANNA }, THREE, &[], &[]).unwrap();
        assert_eq!(stage.below(&in_main(THREE, "")), ["issue.json"]);
        assert_eq!(stage.events()[0]["actor"]["agent_id"], name);
    }
}

#[test]
fn what_cannot_be_made_leaves_nothing_behind() {
    for call in
        [("flush", ".new-"), ("create", THREE), ("replace", "issue.json"), ("make the directory", THREE)]
    {
        let mut stage = Stage::new();
        stage.create(ANNA, FOUR, &[], &[]).unwrap();
        let before = stage.below("/repo/.jit/issues");
        let failed =
            stage.struck(ANNA, Strike::Failure, call, |session| created(session, fresh(THREE, &["ui"], &[])));
        let failed = failed.unwrap().unwrap_err();
        assert!(!failed.contains("already"), "{failed}");
        assert_eq!(stage.below("/repo/.jit/issues"), before, "{call:?}");
        assert_eq!(stage.count("issue.created"), 1);
        stage.create(CARL, THREE, &["ui"], &[]).unwrap();
    }
}

#[test]
fn somebody_else_may_be_quicker() {
    let mut stage = Stage::new();
    stage.create(ANNA, FOUR, &[], &[]).unwrap();
    stage.refused =
        Some(vec![(Call::Rename, format!("/repo/.jit/issues/{THREE}"), ErrorKind::AlreadyExists)]);
    let refused = stage.create(ANNA, THREE, &[], &[]).unwrap_err();
    assert_eq!(refused, format!("there is an issue {THREE} already"));
    assert_eq!(stage.below("/repo/.jit/issues").len(), 3, "nothing is left beside the others");
}

/// A link in its place would lead out of the worktree.
#[test]
fn issues_are_made_in_a_directory_and_nowhere_else() {
    let mut stage = Stage::new();
    stage.create(ANNA, FOUR, &[], &[]).unwrap();
    stage.refused = Some(vec![(Call::Stat, "/repo/.jit/issues".into(), ErrorKind::PermissionDenied)]);
    assert!(stage.create(ANNA, THREE, &[], &[]).unwrap_err().contains("/repo/.jit/issues"));
    assert!(!stage.has(&in_main(THREE, "issue.json")));
    let mut stage = Stage::new();
    stage.put(&format!("/repo/.jit/issues/{THREE}"), "a file");
    let refused = stage.create(ANNA, THREE, &[], &[]).unwrap_err();
    assert!(refused.contains(THREE) && refused.contains("it is not a directory"), "{refused}");
    let mut stage = Stage::configured("[worktree]\nenforce_leases = \"off\"\n");
    stage.world.create_dir_all("/elsewhere").unwrap();
    stage.world.symlink("/elsewhere", format!("/linked/.jit/issues/{ONE}")).unwrap();
    let refused = stage.change(BERTA, ONE, |draft| draft.label("ui", true)).err().unwrap();
    assert!(refused.contains("not a directory") || refused.contains(ONE), "{refused}");
    assert_eq!(stage.below("/elsewhere"), Vec::<String>::new());
}

fn line(id: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","title":"{id}","state":"ready","created_at":"{LONG_AGO}","updated_at":"{LONG_AGO}"{more}}}"#
    )
}

/// The last one has a result, so it is not made with the others.
fn lines() -> String {
    let gated = r#","gates":["g"],"gate_results":{"g":{"status":"passed","at":"2023-01-01T00:00:00.000Z"}}"#;
    let labels = r#","labels":["ui"]"#;
    let ids: Vec<String> = (1..=3).map(|number| format!("01K800000000000000000000{number:02}")).collect();
    [line(&ids[0], labels), line(&ids[1], ""), line(&ids[2], gated)].join("\n")
}

fn imported(session: &Session) -> Result<usize, String> {
    let done = import(session, lines().as_bytes()).map_err(|error| error.to_string())?;
    Ok(done.created.len())
}

#[test]
fn many_are_made_at_once_and_last() {
    for flushes_all in [true, false] {
        let mut stage = Stage::new();
        stage.claim(ANNA, ONE);
        stage.refused = (!flushes_all).then(Vec::new);
        assert_eq!(stage.by(ANNA, imported), Ok(3));
        stage.lose_power();
        let there = stage.below("/repo/.jit/issues");
        assert_eq!(there.len(), 2 + 3 + 1, "{there:?}");
        assert_eq!(stage.count("issue.created"), 3);
        stage.refused = None;
        assert_eq!(stage.by(ANNA, imported), Ok(0), "they are there");
    }
}

#[test]
fn of_many_that_cannot_be_made_nothing_is_left_without_a_name() {
    for call in [("flush the file system of", "/repo/.jit"), ("create", "issues/01K8")] {
        let mut stage = Stage::new();
        let failed = stage.struck(ANNA, Strike::Failure, call, imported).unwrap();
        assert!(failed.is_err());
        let left: Vec<String> =
            stage.below("/repo/.jit/issues").into_iter().filter(|name| name.starts_with('.')).collect();
        assert_eq!(left, Vec::<String>::new(), "{call:?}");
        stage.by(ANNA, imported).unwrap();
        assert_eq!(stage.count("issue.created"), 3);
    }
}

/// Somebody may come in between who makes one of them by hand.
#[test]
fn of_many_one_that_is_there_by_now_is_said_to_be_there() {
    let known = "there is an issue 01K80000000000000000000001 already";
    for (how, is_known) in [(ErrorKind::AlreadyExists, true), (ErrorKind::PermissionDenied, false)] {
        let mut stage = Stage::new();
        stage.create(ANNA, FOUR, &[], &[]).unwrap();
        let first = "/repo/.jit/issues/01K80000000000000000000001".to_owned();
        stage.refused = Some(vec![(Call::Rename, first, how)]);
        let failed = stage.by(ANNA, imported).unwrap_err();
        assert_eq!(failed == known, is_known, "{failed}");
        assert!(failed.contains("01K80000000000000000000001"), "{failed}");
    }
}

#[test]
fn many_that_somebody_died_while_making_are_made_by_the_next_and_logged_once() {
    for nth in 0.. {
        let mut stage = Stage::new();
        let (struck, _) = stage.struck_at(ANNA, Strike::Death, 2 * nth, imported);
        stage.by(CARL, imported).unwrap();
        stage.by(CARL, |session| pending_events(session, true)).unwrap();
        assert_eq!(stage.count("issue.created"), 3, "cut off at {nth}");
        assert_eq!(stage.events().len(), 3);
        if !struck {
            break;
        }
    }
}

/// They are all there, so nothing has to be written, and nobody else looks for what was not logged.
#[test]
fn whoever_imports_again_logs_what_was_made_before() {
    let plain = |session: &Session| {
        let text = [line(THREE, ""), line(FOUR, "")].join("\n");
        import(session, text.as_bytes()).unwrap().created.len()
    };
    let mut stage = Stage::new();
    assert_eq!(stage.struck(ANNA, Strike::Death, ("open", "/events/wt-"), plain), None);
    assert_eq!(stage.events().len(), 0);
    assert_eq!((stage.by(CARL, plain), stage.count("issue.created")), (0, 2));
}

#[test]
fn whoever_imports_is_told_what_cannot_be_found_out() {
    let mut stage = Stage::new();
    let depends = |on: &str| line(THREE, &format!(r#","dependencies":["{on}"]"#));
    let (there, not_there) = (depends(TWO), depends(FOUR));
    let notes = stage.by(ANNA, move |session| import(session, not_there.as_bytes()).unwrap().notes);
    assert!(notes[0].contains("which is not there: left out"), "{notes:?}");
    stage.put(&in_main(TWO, "issue.json"), "{");
    let failed = stage.by(ANNA, move |session| import(session, there.as_bytes()).err().unwrap().to_string());
    assert!(failed.contains(TWO), "{failed}");
}

#[test]
fn whoever_makes_an_issue_uses_what_it_holds() {
    let mut stage = Stage::new();
    let span = Millis::from_secs(60);
    let lease = stage.claim_for(ANNA, ONE, span);
    stage.wait(Millis::from_secs(40));
    stage.create(ANNA, THREE, &[], &[]).unwrap();
    stage.wait(Millis::from_secs(40));
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
    assert_eq!(stage.lease(ONE), Some(lease));
}
