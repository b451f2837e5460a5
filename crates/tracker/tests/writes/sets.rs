//! Labels, and who waits for whom.

use holdfast_tracker::ids::Typed;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::issues::State;
use holdfast_tracker::notice::Notice;
use holdfast_tracker::writes::{Writer, cycle_through, deps_of, labels_of};
use serde_json::{Value, json};

use crate::stage::{
    ANNA, Agent, BERTA, FOUR, LONG_AGO, ONE, Stage, THREE, TWO, handed_over, in_main, issue_text, parsed,
};

const OFF: &str = "[worktree]\nenforce_leases = \"off\"\n";

/// Four issues that wait for nobody, changed by whoever wants to.
fn four() -> Stage {
    let mut stage = Stage::configured(OFF);
    for id in [THREE, FOUR] {
        stage.put(&in_main(id, "issue.json"), &issue_text(id));
    }
    stage
}

/// Has issues wait for others; says of each for which others it did not wait before.
fn depend(stage: &mut Stage, from: &'static [&str], to: &'static [&str]) -> Result<Vec<Vec<String>>, String> {
    let ids = |texts: &[&str]| texts.iter().map(|id| parsed(id)).collect::<Vec<_>>();
    stage.by(ANNA, move |session| {
        let changed = Writer::open(session).unwrap().depend(&ids(from), &ids(to));
        let changed = changed.map_err(|error| error.to_string())?;
        assert!(changed.iter().all(|one| one.written != one.value.is_empty()));
        let from: Vec<_> = ids(from);
        assert_eq!(changed.iter().map(|one| one.draft.id()).collect::<Vec<_>>(), from);
        Ok(changed.into_iter().map(|one| one.value).collect())
    })
}

fn undepend(
    stage: &mut Stage,
    agent: Agent,
    from: &'static [&str],
    to: &'static [&str],
) -> Result<Vec<Vec<String>>, String> {
    stage.by(agent, move |session| {
        let from: Vec<_> = from.iter().map(|id| parsed(id)).collect();
        let to: Vec<_> = to.iter().map(|text| Typed::new(text).unwrap()).collect();
        let changed = Writer::open(session).unwrap().undepend(&from, &to);
        Ok(changed.map_err(|error| error.to_string())?.into_iter().map(|one| one.value).collect())
    })
}

fn deps(stage: &mut Stage, id: &'static str) -> Vec<String> {
    stage.by(ANNA, move |session| {
        deps_of(&Issues::new(session), parsed(id)).unwrap().members().map(ToOwned::to_owned).collect()
    })
}

fn labels(stage: &mut Stage, agent: Agent) -> Vec<String> {
    stage.by(agent, |session| {
        labels_of(&Issues::new(session), parsed(ONE)).unwrap().members().map(ToOwned::to_owned).collect()
    })
}

/// The kinds of all events, and what they say about an issue besides its id.
fn told(stage: &Stage) -> Vec<(String, Value)> {
    let without_id = |(kind, mut payload): (String, Value)| {
        payload.as_object_mut().unwrap().remove("issue_id");
        (kind, payload)
    };
    stage.kinds().into_iter().map(without_id).collect()
}

#[test]
fn labels_come_and_go_and_events_say_which() {
    let mut stage = four();
    let added = stage.change(ANNA, ONE, |draft| {
        let first = [draft.label("ui", true)?, draft.label("net", true)?];
        Ok((first, draft.label("ui", true)?, draft.label("none", false)?))
    });
    assert_eq!(added.unwrap().value, ([true, true], false, false));
    assert_eq!(labels(&mut stage, ANNA), ["net", "ui"]);
    let both = stage.change(ANNA, ONE, |draft| Ok((draft.label("ui", false)?, draft.label("db", true)?)));
    assert_eq!(both.unwrap().value, (true, true));
    assert_eq!(labels(&mut stage, ANNA), ["db", "net"]);
    let changes = |added: &[&str], removed: &[&str]| {
        let labels = json!({ "added": added, "removed": removed });
        ("issue.updated".to_owned(), json!({ "changes": { "labels": labels } }))
    };
    assert_eq!(told(&stage), [changes(&["net", "ui"], &[]), changes(&["db"], &["ui"])]);
}

#[test]
fn what_comes_and_goes_in_one_change_was_never_there() {
    let mut stage = four();
    stage.change(ANNA, ONE, |draft| draft.label("old", true)).unwrap();
    let changed = stage.change(ANNA, ONE, |draft| {
        let new = [draft.label("new", true)?, draft.label("new", false)?];
        Ok([new, [draft.label("old", false)?, draft.label("old", true)?]])
    });
    assert_eq!(changed.unwrap().value, [[true, true], [true, true]]);
    assert_eq!(labels(&mut stage, ANNA), ["old"]);
    assert_eq!(stage.events().len(), 1, "nothing differs");
}

#[test]
fn labels_of_all_copies_are_put_together() {
    let mut stage = four();
    stage.change(ANNA, ONE, |draft| draft.label("main", true)).unwrap();
    stage.change(BERTA, ONE, |draft| draft.label("linked", true)).unwrap();
    for agent in [ANNA, BERTA] {
        assert_eq!(labels(&mut stage, agent), ["linked", "main"]);
    }
    let lines = |path: &str| stage.lines(path).len();
    assert_eq!(lines(&in_main(ONE, "labels.or-set.jsonl")), 1);
    assert_eq!(lines(&handed_over(ONE, "labels.or-set.jsonl")), 2);
}

/// Somebody edited the file and left out the end of its last line.
#[test]
fn a_label_comes_behind_whatever_is_there() {
    let mut stage = four();
    let line = format!(r#"{{"id":"1","op":"add","value":"mine","at":"{LONG_AGO}"}}"#);
    stage.put(&in_main(ONE, "labels.or-set.jsonl"), &line);
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
    assert_eq!(labels(&mut stage, ANNA), ["mine", "ui"]);
    assert!(stage.text(&in_main(ONE, "labels.or-set.jsonl")).starts_with(&line));
    stage.put(&in_main(ONE, "labels.or-set.jsonl"), "<<<<<<<");
    let bad = stage.change(ANNA, ONE, |draft| draft.label("ui", true)).err().unwrap();
    assert!(bad.contains("labels.or-set.jsonl"), "{bad}");
}

#[test]
fn issues_wait_for_others_until_they_do_not() {
    let mut stage = four();
    assert_eq!(depend(&mut stage, &[ONE, TWO], &[THREE, FOUR]).unwrap(), vec![vec![THREE, FOUR]; 2]);
    assert_eq!(depend(&mut stage, &[ONE], &[THREE, TWO]).unwrap(), [[TWO]]);
    assert_eq!(deps(&mut stage, ONE), [TWO, THREE, FOUR]);
    let changed = undepend(&mut stage, ANNA, &[ONE, TWO], &[FOUR, TWO]).unwrap();
    assert_eq!(changed, [vec![FOUR, TWO], vec![FOUR]]);
    assert_eq!((deps(&mut stage, ONE), deps(&mut stage, TWO)), (vec![THREE.into()], vec![THREE.into()]));
    assert_eq!(undepend(&mut stage, ANNA, &[TWO], &[FOUR]).unwrap(), [Vec::<String>::new()]);
    let mut kinds = told(&stage);
    kinds.retain(|(kind, _)| kind != "issue.updated");
    let (added, removed) = ("dep.added", "dep.removed");
    let all = [(added, THREE), (added, FOUR), (added, THREE), (added, FOUR), (added, TWO), (removed, TWO)];
    let all = all.into_iter().chain([(removed, FOUR), (removed, FOUR)]);
    let all: Vec<_> = all.map(|(kind, on)| (kind.to_owned(), json!({ "depends_on": on }))).collect();
    assert_eq!(kinds, all);
}

#[test]
fn what_is_typed_may_mean_several() {
    let mut stage = four();
    depend(&mut stage, &[ONE], &[THREE, FOUR]).unwrap();
    let several = undepend(&mut stage, ANNA, &[ONE], &["01K00000"]).unwrap_err();
    assert!(several.contains("01K00000"), "{several}");
    assert_eq!(deps(&mut stage, ONE).len(), 2);
}

#[test]
fn nobody_waits_in_a_circle() {
    let mut stage = four();
    depend(&mut stage, &[ONE], &[TWO]).unwrap();
    depend(&mut stage, &[TWO], &[THREE]).unwrap();
    let before = stage.events().len();
    let cycle = depend(&mut stage, &[FOUR, THREE], &[ONE]).unwrap_err();
    assert_eq!(cycle, format!("that would close a cycle of 3 issues: {THREE} -> {ONE} -> {TWO} -> {THREE}"));
    assert_eq!((deps(&mut stage, FOUR).len(), stage.events().len()), (0, before), "nothing was changed");
    assert!(depend(&mut stage, &[ONE], &[ONE]).unwrap_err().contains("a cycle of 1 issues"));
    depend(&mut stage, &[ONE, TWO], &[FOUR]).unwrap();
    let way = stage.by(ANNA, |session| {
        let issues = Issues::new(session);
        let way = |from, to| cycle_through(&issues, parsed(from), parsed(to)).unwrap();
        (way(FOUR, ONE).map(|way| way.len()), way(ONE, FOUR))
    });
    assert!(way.0.is_some_and(|length| length >= 3) && way.1.is_none());
}

/// Each side of a merge may have added half of it.
#[test]
fn a_circle_that_is_there_already_keeps_nobody_from_waiting() {
    let mut stage = four();
    depend(&mut stage, &[ONE], &[TWO]).unwrap();
    let line = json!({ "id": FOUR, "op": "add", "value": ONE, "at": "x" });
    stage.put(&in_main(TWO, "deps.or-set.jsonl"), &format!("{line}\n"));
    assert_eq!(deps(&mut stage, TWO), [ONE]);
    assert_eq!(depend(&mut stage, &[THREE], &[ONE]).unwrap(), [[ONE]]);
    let cycle = depend(&mut stage, &[ONE], &[THREE]).unwrap_err();
    assert_eq!(cycle, format!("that would close a cycle of 2 issues: {ONE} -> {THREE} -> {ONE}"));
}

#[test]
fn what_others_wait_for_has_to_be_there_and_held() {
    let mut stage = four();
    stage.world.remove_file(in_main(FOUR, "issue.json")).unwrap();
    assert_eq!(depend(&mut stage, &[ONE], &[FOUR]).unwrap_err(), format!("there is no issue {FOUR}"));
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    let refused = depend(&mut stage, &[ONE, TWO], &[THREE]).unwrap_err();
    assert_eq!(refused, format!("adding a dependency to {TWO} without holding its claim"));
    let refused = undepend(&mut stage, ANNA, &[ONE, TWO], &[THREE]).unwrap_err();
    assert_eq!(refused, format!("removing a dependency from {TWO} without holding its claim"));
}

/// One of them could be changed, and the other could not.
#[test]
fn no_issue_is_freed_unless_all_can_be() {
    for agent in [ANNA, BERTA] {
        let mut stage = Stage::new();
        stage.put(&in_main(THREE, "issue.json"), &issue_text(THREE));
        stage.claim(agent, ONE);
        let two = stage.claim(agent, TWO);
        for id in [ONE, TWO] {
            stage.change(agent, id, |draft| draft.depend(THREE, true)).unwrap();
        }
        stage.release(agent, two);
        assert!(undepend(&mut stage, agent, &[ONE, TWO], &[THREE]).is_err());
        assert_eq!(deps(&mut stage, ONE), [THREE]);
        assert_eq!(undepend(&mut stage, agent, &[ONE], &[THREE]).unwrap(), [[THREE]]);
    }
}

#[test]
fn a_single_write_without_a_claim_is_warned_of_once() {
    let mut stage = Stage::configured("[worktree]\nenforce_leases = \"warn\"\n");
    undepend(&mut stage, ANNA, &[ONE], &[THREE]).unwrap();
    assert_eq!(
        stage.notices(),
        [Notice::Unclaimed { what: "removing a dependency from", issue: ONE.into() }]
    );
}

fn step(stage: &mut Stage, state: State, strict: bool) -> Result<(), String> {
    stage
        .change(ANNA, ONE, move |draft| {
            draft.step(state, strict);
            Ok(())
        })
        .map(drop)
}

#[test]
fn what_waits_for_others_is_not_finished_before_them() {
    let mut stage = four();
    depend(&mut stage, &[ONE], &[TWO, THREE]).unwrap();
    let blocked = format!("{ONE} is blocked by {TWO}, {THREE}");
    stage.notices();
    assert_eq!(step(&mut stage, State::Done, false).unwrap_err(), blocked);
    assert_eq!(step(&mut stage, State::InProgress, true).unwrap_err(), blocked);
    assert_eq!(stage.notices(), []);
    step(&mut stage, State::Backlog, true).unwrap();
    assert_eq!(stage.notices(), []);
    step(&mut stage, State::InProgress, false).unwrap();
    assert_eq!(stage.notices(), [Notice::Blocked { issue: ONE.into(), by: vec![TWO.into(), THREE.into()] }]);
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
    assert_eq!(stage.notices(), [], "it is begun already");
    for id in [TWO, THREE] {
        stage
            .change(ANNA, id, |draft| {
                draft.step(State::Rejected, false);
                Ok(())
            })
            .unwrap();
    }
    step(&mut stage, State::Done, true).unwrap();
    assert_eq!(stage.json(&in_main(ONE, "issue.json"))["state"], "done");
}

/// A dependency on what is not there holds nobody up, and neither does one that is no id.
#[test]
fn what_is_not_there_blocks_nobody_and_what_cannot_be_read_everybody() {
    let mut stage = four();
    let lines = |ids: &[&str]| -> String {
        let line =
            |id: &&str| format!("{{\"id\":\"{id}\",\"op\":\"add\",\"value\":\"{id}\",\"at\":\"x\"}}\n");
        ids.iter().map(line).collect()
    };
    stage.put(&in_main(ONE, "deps.or-set.jsonl"), &lines(&["01K0000000000000000000000X", "none"]));
    step(&mut stage, State::Done, true).unwrap();
    step(&mut stage, State::Ready, true).unwrap();
    stage.put(&in_main(ONE, "deps.or-set.jsonl"), &lines(&[TWO]));
    stage.put(&in_main(TWO, "issue.json"), "{");
    let failed = step(&mut stage, State::Done, false).unwrap_err();
    assert!(failed.contains(TWO) && !failed.contains("blocked"), "{failed}");
}
