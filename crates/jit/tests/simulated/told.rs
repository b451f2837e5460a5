//! Each change of an issue, cut off at each of its calls, is told exactly as far as it came: by the next write
//! under the same lock, whoever makes it, or by `jit recover`.

use serde_json::{Value, json};

use crate::cuts::{cut, cut_in_any_order, cut_of, held};
use crate::stage::{ANNA, Agent, BERTA, ISSUE, OTHER, Stage, Told};

/// The events of both worktrees.
fn events(stage: &Stage) -> Vec<Value> {
    stage.event_logs().iter().flat_map(|log| stage.whole_lines(log)).collect()
}

/// How many events of that kind there are whose payload has this value.
fn count(stage: &Stage, kind: &str, pointer: &str, value: &Value) -> usize {
    let fits =
        |event: &&Value| event["event_type"] == kind && event["payload"].pointer(pointer) == Some(value);
    events(stage).iter().filter(fits).count()
}

fn shown(stage: &mut Stage, who: Agent, id: &str) -> Option<Value> {
    stage.quietly(who, &["issue", "show", id]).ok().map(|shown| shown["issue"].clone())
}

/// What was changed is told once, what was not is not told; nothing is told twice, and nothing is left to tell.
fn is_told_as_far_as_it_came(stage: &mut Stage, who: Agent, told: &Told) {
    let after = shown(stage, who, ISSUE).unwrap();
    let title = usize::from(after["title"] == "new");
    let label = usize::from(after["labels"].as_array().unwrap().contains(&json!("ui")));
    assert!(!matches!(told, Some(Ok(_))) || title + label == 2, "it was told and is gone: {after}");
    let titles = count(stage, "issue.updated", "/changes/title/to", &json!("new"));
    let labels = count(stage, "issue.updated", "/changes/labels/added", &json!(["ui"]));
    assert_eq!((titles, labels), (title, label), "{after} {:?}", events(stage));
    let left = stage.quietly(ANNA, &["recover"]).unwrap();
    let missing = |found: &&Value| found["kind"] == "missing_events";
    assert_eq!(left["recovery"]["findings"].as_array().unwrap().iter().find(missing), None);
}

const UPDATE: [&str; 7] = ["issue", "update", ISSUE, "--title", "new", "--label", "ui"];

#[test]
fn an_update_is_told_as_far_as_it_came() {
    cut(held, &UPDATE, |stage, told| {
        stage.quietly(ANNA, &["label", "add", ISSUE, "later"]).unwrap();
        is_told_as_far_as_it_came(stage, ANNA, &told);
    });
}

/// What a linked worktree hands over is seen by everybody before its own files have it.
#[test]
fn an_update_in_a_linked_worktree_is_told_as_far_as_it_came() {
    fn held_there(stage: &mut Stage) {
        stage.quietly(BERTA, &["claim", "acquire", ISSUE]).unwrap();
    }
    cut_of(BERTA, held_there, &UPDATE, |stage, told| {
        stage.quietly(BERTA, &["label", "add", ISSUE, "later"]).unwrap();
        is_told_as_far_as_it_came(stage, BERTA, &told);
    });
}

/// The one who died never comes back; whoever takes the issue over in another worktree tells of it.
#[test]
fn whoever_takes_over_tells_what_the_one_before_did_not_live_to_tell() {
    fn held_there(stage: &mut Stage) {
        stage.quietly(BERTA, &["claim", "acquire", ISSUE]).unwrap();
    }
    cut_of(BERTA, held_there, &UPDATE, |stage, told| {
        stage.quietly(ANNA, &["claim", "force-evict", ISSUE, "--reason", "dead"]).unwrap();
        stage.quietly(ANNA, &["claim", "acquire", ISSUE]).unwrap();
        stage.quietly(ANNA, &["label", "add", ISSUE, "later"]).unwrap();
        is_told_as_far_as_it_came(stage, ANNA, &told);
    });
}

const SEVERAL: [&str; 8] = ["issue", "update", ISSUE, OTHER, "--title", "new", "--label", "ui"];

/// Several at once: each is changed whole or not at all, none is told of that was not, and all are once it was said so.
#[test]
fn updates_of_several_are_told_as_far_as_they_came() {
    fn both_held(stage: &mut Stage) {
        stage.quietly(ANNA, &["claim", "acquire", ISSUE, OTHER]).unwrap();
    }
    cut_in_any_order(both_held, &SEVERAL, |stage, told| {
        for id in [ISSUE, OTHER] {
            stage.quietly(ANNA, &["label", "add", id, "later"]).unwrap();
            let after = shown(stage, ANNA, id).unwrap();
            let is_new = after["title"] == "new";
            assert_eq!(after["labels"].as_array().unwrap().contains(&json!("ui")), is_new, "{after}");
            assert!(is_new || !matches!(told, Some(Ok(_))), "it was told and is gone: {after}");
            let events = events(stage);
            let ours = events.iter().filter(|event| event["payload"]["issue_id"] == id);
            let changes: Vec<&Value> = ours.map(|event| &event["payload"]["changes"]).collect();
            let titles = changes.iter().filter(|changes| changes["title"]["to"] == "new").count();
            let labels = changes.iter().filter(|changes| changes["labels"]["added"] == json!(["ui"])).count();
            assert_eq!((titles, labels), (usize::from(is_new), usize::from(is_new)), "{after} {changes:?}");
        }
        // Whoever types it again has both.
        stage.quietly(ANNA, &SEVERAL).unwrap();
        for id in [ISSUE, OTHER] {
            assert_eq!(shown(stage, ANNA, id).unwrap()["title"], "new");
        }
    });
}

#[test]
fn an_issue_that_was_made_is_told_of() {
    let args = ["issue", "create", "--title", "fresh", "--label", "a", "--depends-on", ISSUE];
    cut_in_any_order(
        |_| (),
        &args,
        |stage, _| {
            let all = stage.quietly(ANNA, &["issue", "list"]).unwrap();
            let fresh =
                all["issues"].as_array().unwrap().iter().find(|issue| issue["title"] == "fresh").cloned();
            match &fresh {
                // Whoever begins to work on it writes to it.
                Some(fresh) => {
                    drop(stage.quietly(ANNA, &["claim", "acquire", fresh["id"].as_str().unwrap()]))
                }
                None => drop(stage.quietly(ANNA, &["recover"]).unwrap()),
            }
            let told = count(stage, "issue.created", "/title", &json!("fresh"));
            assert_eq!(told, usize::from(fresh.is_some()), "{fresh:?}");
        },
    );
}

#[test]
fn a_deletion_is_told_of() {
    fn depending(stage: &mut Stage) {
        held(stage);
        stage.quietly(ANNA, &["claim", "acquire", OTHER]).unwrap();
        stage.quietly(ANNA, &["dep", "add", OTHER, ISSUE]).unwrap();
    }
    cut(depending, &["issue", "delete", ISSUE], |stage, _| {
        stage.quietly(ANNA, &["recover"]).unwrap();
        let gone = shown(stage, ANNA, ISSUE).is_none();
        let free = shown(stage, ANNA, OTHER).unwrap()["dependencies"] == json!([]);
        let told = |stage: &Stage| {
            let deleted = count(stage, "issue.deleted", "/issue_id", &json!(ISSUE));
            (deleted, count(stage, "dep.removed", "/depends_on", &json!(ISSUE)))
        };
        assert_eq!(told(stage), (usize::from(gone), usize::from(free)));
        // Whoever writes next leaves a log without holes, and the same events.
        stage.quietly(ANNA, &["issue", "create", "--title", "next"]).unwrap();
        let lines = stage.event_logs().iter().map(|log| stage.lines(log).len()).sum::<usize>();
        assert!(lines > 1);
        assert_eq!(told(stage), (usize::from(gone), usize::from(free)));
    });
}

/// A dry run only says what is missing, and the next one says the same.
#[test]
fn what_is_left_to_tell_can_be_looked_at() {
    cut(held, &UPDATE, |stage, _| {
        let look = |stage: &mut Stage| stage.quietly(ANNA, &["recover", "--dry-run"]).unwrap();
        let (first, before) = (look(stage), events(stage));
        assert_eq!((look(stage), events(stage)), (first.clone(), before.clone()));
        let findings = first["recovery"]["findings"].as_array().unwrap().clone();
        let missing: u64 = findings.iter().filter_map(|found| found["events"].as_u64()).sum();
        stage.quietly(ANNA, &["recover"]).unwrap();
        assert_eq!(events(stage).len() as u64, before.len() as u64 + missing, "{first}");
    });
}
