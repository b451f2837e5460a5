//! What a draft makes of an issue, and which events tell of it.

use holdfast_tracker::issues::State;
use holdfast_tracker::writes::{Draft, Finished, Verdict};
use serde_json::{Value, json};

use crate::stage::{ANNA, LONG_AGO, NOBODY, ONE, Stage, in_main, parsed};

const RESULT: &str = "/repo/.jit/gates/results/01K0000000000000000000000A/g.json";

fn gate(draft: &mut Draft, keys: &[&str]) {
    draft.edit().gates.extend(keys.iter().map(ToString::to_string));
}

fn judge(draft: &mut Draft, key: &str, status: Verdict) {
    let result = draft.judgement(status, Some("looked at".into()));
    draft.judge(key, result);
}

fn payload(more: &Value) -> Value {
    let mut payload = more.clone();
    payload["issue_id"] = ONE.into();
    payload
}

fn event(kind: &str, more: &Value) -> (String, Value) {
    (kind.to_owned(), payload(more))
}

#[test]
fn a_document_is_added_once_and_keeps_when_that_was() {
    let mut stage = Stage::new();
    let drafted = stage.held_change(ONE, |draft| {
        draft.document("a.md", None);
        Ok((draft.id(), draft.issue().documents.len()))
    });
    assert_eq!(drafted.value, (parsed(ONE), 1));
    let first = stage.json(&in_main(ONE, "issue.json"));
    let added = first["documents"]["a.md"]["added_at"].as_str().unwrap().to_owned();
    assert!(added.as_str() > LONG_AGO && added.as_str() <= first["updated_at"].as_str().unwrap());
    assert_eq!(first["documents"]["a.md"].get("label"), None);
    for label in [Some("plan"), None] {
        stage.edit(ANNA, ONE, move |draft| {
            draft.document("a.md", label.map(Into::into));
        });
        let document = &stage.json(&in_main(ONE, "issue.json"))["documents"]["a.md"];
        assert_eq!(*document, json!({ "label": "plan", "added_at": added }));
    }
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().documents.clear();
        draft.document("b.md", None);
    });
    let all = [
        event("doc.added", &json!({ "path": "a.md" })),
        event("doc.added", &json!({ "path": "b.md" })),
        event("doc.removed", &json!({ "path": "a.md" })),
    ];
    assert_eq!(stage.kinds(), all);
}

#[test]
fn an_event_says_what_differs_and_repeats_nothing_long() {
    let mut stage = Stage::new();
    stage.held_change(ONE, |draft| {
        let issue = draft.edit();
        issue.title = "new".into();
        issue.assignee = Some("anna".into());
        issue.description = Some("x".repeat(998));
        issue.metadata.insert("k".into(), json!("y".repeat(2_000)));
        Ok(())
    });
    let changes = json!({
        "assignee": { "from": null, "to": "anna" },
        "description": { "from": null, "to": "x".repeat(998) },
        "metadata": { "from": null, "to": { "bytes": 2_008 } },
        "title": { "from": "t", "to": "new" },
    });
    assert_eq!(stage.kinds(), [event("issue.updated", &json!({ "changes": changes }))]);
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().description = Some("x".repeat(999));
    });
    let to = &stage.kinds()[1].1["changes"]["description"]["to"];
    assert_eq!(*to, json!({ "bytes": 1_001 }));
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().assignee = None;
    });
    assert_eq!(stage.kinds()[2].1["changes"], json!({ "assignee": { "from": "anna", "to": null } }));
}

#[test]
fn gates_come_and_go_with_what_came_of_them() {
    let mut stage = Stage::new();
    stage.held_change(ONE, |draft| {
        gate(draft, &["g", "h"]);
        Ok(())
    });
    let judged = stage
        .change(ANNA, ONE, |draft| {
            judge(draft, "g", Verdict::Failed);
            Ok((draft.results().0.len(), draft.open_gates()))
        })
        .unwrap();
    assert_eq!(judged.value, (1, vec!["g".to_owned(), "h".to_owned()]));
    let result = stage.json(RESULT);
    assert_eq!(
        (&result["status"], &result["agent_id"], &result["note"]),
        (&json!("failed"), &json!("agent:anna"), &json!("looked at"))
    );
    assert!(result["at"].as_str().unwrap() > LONG_AGO && result.get("timed_out").is_none());
    let removed = stage.change(ANNA, ONE, |draft| Ok([draft.remove_gate("g"), draft.remove_gate("x")]));
    assert_eq!(removed.unwrap().value, [true, false]);
    assert!(!stage.has(RESULT));
    assert_eq!(stage.json(&in_main(ONE, "issue.json"))["gates"], json!(["h"]));
    let all = [
        event("gate.added", &json!({ "gate": "g" })),
        event("gate.added", &json!({ "gate": "h" })),
        event("gate.completed", &json!({ "gate": "g", "status": "failed" })),
        event("gate.removed", &json!({ "gate": "g" })),
    ];
    assert_eq!(stage.kinds(), all);
}

#[test]
fn only_what_was_judged_anew_is_told_of() {
    let mut stage = Stage::new();
    stage.held_change(ONE, |draft| {
        gate(draft, &["g", "h"]);
        judge(draft, "g", Verdict::Failed);
        judge(draft, "h", Verdict::Passed);
        Ok(())
    });
    let before = stage.events().len();
    stage.edit(ANNA, ONE, |draft| {
        judge(draft, "g", Verdict::Passed);
    });
    let told: Vec<_> = stage.kinds().into_iter().skip(before).collect();
    assert_eq!(told, [event("gate.completed", &json!({ "gate": "g", "status": "passed" }))]);
}

#[test]
fn nobody_judges_in_no_name() {
    let mut stage = Stage::configured("[worktree]\nenforce_leases = \"off\"\n");
    stage.edit(NOBODY, ONE, |draft| {
        gate(draft, &["g"]);
        judge(draft, "g", Verdict::Passed);
    });
    assert_eq!(stage.json(RESULT).get("agent_id"), None);
}

fn finished(
    stage: &mut Stage,
    act: impl FnMut(&mut Draft) + Send + 'static,
) -> Result<Option<Finished>, String> {
    let mut act = act;
    let changed = stage.change(ANNA, ONE, move |draft| {
        act(draft);
        Ok(())
    })?;
    Ok(changed.draft.finished())
}

#[test]
fn finished_work_is_gated_until_every_gate_is_passed() {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    assert_eq!(finished(&mut stage, |draft| gate(draft, &["g", "h"])), Ok(None));
    let refused = finished(&mut stage, |draft| draft.step(State::Done, true)).unwrap_err();
    assert_eq!(refused, format!("{ONE} has open gates: g, h"));
    let gated = |keys: &[&str]| Ok(Some(Finished::Gated(keys.iter().map(ToString::to_string).collect())));
    assert_eq!(finished(&mut stage, |draft| draft.step(State::Done, false)), gated(&["g", "h"]));
    assert_eq!(finished(&mut stage, |draft| judge(draft, "g", Verdict::Passed)), gated(&["h"]));
    assert_eq!(stage.json(&in_main(ONE, "issue.json"))["state"], "gated");
    assert_eq!(finished(&mut stage, |draft| judge(draft, "h", Verdict::Passed)), Ok(Some(Finished::Done)));
    assert_eq!(stage.json(&in_main(ONE, "issue.json"))["state"], "done");
    assert_eq!(finished(&mut stage, |draft| judge(draft, "h", Verdict::Failed)), gated(&["h"]));
    assert_eq!(stage.json(&in_main(ONE, "issue.json"))["state"], "gated");
    assert_eq!(finished(&mut stage, |draft| draft.step(State::Gated, true)), gated(&["h"]));
    assert_eq!(finished(&mut stage, |draft| draft.step(State::Ready, true)), Ok(None));
}

#[test]
fn what_has_no_gates_is_done_whether_it_is_called_that_or_gated() {
    for state in [State::Done, State::Gated] {
        let mut stage = Stage::new();
        stage.claim(ANNA, ONE);
        assert_eq!(finished(&mut stage, move |draft| draft.step(state, true)), Ok(Some(Finished::Done)));
        assert_eq!(stage.json(&in_main(ONE, "issue.json"))["state"], "done");
    }
}
