//! Finished work: under whose grant it was done, and what is made of an issue for a commit.

use holdfast_kernel::Millis;
use holdfast_tracker::issues::State;
use holdfast_tracker::notes;
use holdfast_tracker::notice::Notice;
use holdfast_tracker::writes::{Files, Verdict, Writer};
use holdfast_tracker::{Session, writes::Draft};
use serde_json::{Value, json};

use crate::stage::{ANNA, Agent, BERTA, CARL, ONE, SHARED, Stage, TWO, in_main, issue_text, parsed};

const NOTE: &str = "/repo/.git/jit/finished/01K0000000000000000000000A.json";
const OFF: &str = "[worktree]\nenforce_leases = \"off\"\n";
const WARN: &str = "[worktree]\nenforce_leases = \"warn\"\n";

fn judged(stage: &mut Stage, agent: Agent, status: Verdict) {
    stage.edit(agent, ONE, move |draft| {
        let judged = draft.judgement(status, None);
        draft.judge("g", judged);
    });
}

fn fence(stage: &Stage) -> u64 {
    stage.json(&in_main(ONE, "issue.json"))["fence"].as_u64().unwrap()
}

/// What is noted: under which grant the issue was finished, and under which the work was done if that is another one.
fn noted(stage: &Stage) -> (Value, Value, Value) {
    let mut note = stage.json(NOTE);
    (note["fence"].take(), note["work"].take(), note["released"].take())
}

#[test]
fn it_is_noted_under_which_grant_an_issue_was_finished() {
    let mut stage = Stage::new();
    let lease = stage.claim(ANNA, ONE);
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().gates.insert("g".into());
        draft.step(State::InProgress, false);
    });
    assert!(!stage.has(NOTE));
    stage.edit(ANNA, ONE, |draft| draft.step(State::Done, false));
    let anna = fence(&stage);
    assert_eq!(noted(&stage), (anna.into(), Value::Null, false.into()));
    assert_eq!(stage.json(NOTE)["fence_log"], stage.json(&in_main(ONE, "issue.json"))["fence_log"]);
    judged(&mut stage, ANNA, Verdict::Failed);
    assert_eq!(noted(&stage), (anna.into(), Value::Null, false.into()), "it is her own work");
    stage.release(ANNA, lease);
    assert_eq!(noted(&stage).2, true);
    // Whoever judges it adds no work to it.
    let lease = stage.claim(CARL, ONE);
    judged(&mut stage, CARL, Verdict::Failed);
    let carl = fence(&stage);
    assert_eq!((carl != anna, noted(&stage)), (true, (carl.into(), anna.into(), false.into())));
    judged(&mut stage, CARL, Verdict::Passed);
    assert_eq!(noted(&stage), (carl.into(), anna.into(), false.into()));
    stage.release(CARL, lease);
    stage.claim(ANNA, ONE);
    judged(&mut stage, ANNA, Verdict::Failed);
    let third = fence(&stage);
    assert_eq!(noted(&stage), (third.into(), anna.into(), false.into()), "and neither does the one after");
    // Taken up again, it is the work of whoever finishes it then.
    stage.edit(ANNA, ONE, |draft| draft.step(State::Ready, false));
    let lease = stage.lease(ONE).unwrap();
    stage.release(ANNA, lease);
    stage.claim(CARL, ONE);
    stage.edit(CARL, ONE, |draft| draft.step(State::Done, false));
    assert_eq!(noted(&stage), (fence(&stage).into(), Value::Null, false.into()));
}

/// Nobody can say any more what the work was done under, but the issue itself can.
#[test]
fn whose_work_it_is_is_known_without_the_note_too() {
    let mut stage = Stage::new();
    let lease = stage.claim(ANNA, ONE);
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().gates.insert("g".into());
        draft.step(State::Done, false);
    });
    let anna = fence(&stage);
    stage.release(ANNA, lease);
    stage.world.remove_file(NOTE).unwrap();
    stage.claim(CARL, ONE);
    judged(&mut stage, CARL, Verdict::Passed);
    assert_eq!(noted(&stage), (fence(&stage).into(), anna.into(), false.into()));
}

#[test]
fn nothing_is_noted_of_what_is_finished_without_a_claim() {
    let mut stage = Stage::configured(OFF);
    stage.edit(ANNA, ONE, |draft| draft.step(State::Done, false));
    assert!(!stage.has(NOTE));
    stage.by(ANNA, |session| notes::add(session, parsed(TWO), "x").unwrap());
    stage.edit(ANNA, TWO, |draft| draft.step(State::Done, false));
    assert_eq!(stage.json(&in_main(TWO, "issue.json"))["state"], "done");
}

fn finish(draft: &mut Draft) -> holdfast_tracker::Result<()> {
    draft.edit().gates.insert("g".into());
    let judged = draft.judgement(Verdict::Passed, None);
    draft.judge("g", judged);
    draft.label("ui", true)?;
    draft.step(State::Done, true);
    Ok(())
}

fn compose(session: &Session) -> Result<Files, String> {
    let composed = Writer::open(session).unwrap().compose(parsed(ONE), "finishing", finish);
    let (draft, files) = composed.map_err(|error| error.to_string())?;
    assert_eq!(draft.issue().state, State::Done);
    Ok(files)
}

fn read(files: &Files, name: &str) -> Value {
    let bytes = files[&format!(".jit/{name}")].as_deref().unwrap();
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn what_a_change_would_make_of_the_files_is_composed_and_not_written() {
    let mut stage = Stage::new();
    let refused = stage.by(ANNA, compose).unwrap_err();
    assert_eq!(refused, format!("finishing {ONE} without holding its claim"));
    stage.claim(ANNA, ONE);
    let note = stage.by(CARL, |session| notes::add(session, parsed(ONE), "look").unwrap().id);
    stage.put(&in_main(ONE, "other"), "");
    let files = stage.by(ANNA, compose).unwrap();
    let home = format!("issues/{ONE}");
    let names: Vec<&str> = files.keys().map(|name| name.strip_prefix(".jit/").unwrap()).collect();
    let expected = [
        format!("gates/results/{ONE}/g.json"),
        format!("{home}/issue.json"),
        format!("{home}/labels.or-set.jsonl"),
        format!("{home}/notes/{note}.json"),
    ];
    assert_eq!(names, expected);
    let issue = read(&files, &format!("{home}/issue.json"));
    assert_eq!((&issue["state"], issue["fence"].is_u64()), (&json!("done"), true));
    assert_eq!(read(&files, &format!("{home}/labels.or-set.jsonl"))["value"], "ui");
    assert_eq!(read(&files, &expected[0])["status"], "passed");
    assert_eq!(read(&files, &expected[3])["text"], "look");
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
    assert!(stage.events().is_empty() && !stage.has(NOTE));
}

#[test]
fn what_is_composed_under_a_claim_that_is_over_is_refused_or_has_no_fence() {
    for settings in ["", WARN] {
        let mut stage = Stage::configured(settings);
        stage.claim_for(ANNA, ONE, Millis::from_secs(60));
        stage.wait(Millis::from_secs(61));
        stage.notices();
        let composed = stage.by(ANNA, compose);
        if settings.is_empty() {
            assert!(composed.is_err());
        } else {
            let issue = read(&composed.unwrap(), &format!("issues/{ONE}/issue.json"));
            assert_eq!((&issue["state"], issue.get("fence")), (&json!("done"), None));
            assert_eq!(stage.notices(), [Notice::Unclaimed { what: "finishing", issue: ONE.into() }]);
        }
    }
}

/// Notes on an issue are committed with the work, so they come into the worktree that finishes it.
#[test]
fn notes_come_along_when_the_work_is_finished() {
    let mut stage = Stage::new();
    stage.claim(BERTA, ONE);
    stage.by(CARL, |session| notes::add(session, parsed(ONE), "look").unwrap());
    let kept = stage.below(&format!("{SHARED}/notes/{ONE}"));
    let linked = crate::stage::in_linked(ONE, "notes");
    stage.change(BERTA, ONE, |draft| draft.label("ui", true)).unwrap();
    assert_eq!(stage.below(&linked), Vec::<String>::new());
    stage.edit(BERTA, ONE, |draft| draft.step(State::Done, true));
    assert_eq!((stage.below(&linked), kept.len()), (kept, 1));
}

#[test]
fn people_are_told_what_they_should_know_besides() {
    let mut stage = Stage::new();
    stage.by(ANNA, |session| Writer::open(session).unwrap().notice(&Notice::Failed("x".into())));
    assert_eq!(stage.notices(), [Notice::Failed("x".into())]);
}
