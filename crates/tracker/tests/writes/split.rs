//! Parts of an issue.

use holdfast_tracker::Session;
use holdfast_tracker::issues::{Issue, Issues, Priority, State};
use holdfast_tracker::writes::{Writer, deps_of, labels_of};

use crate::stage::{ANNA, ONE, Stage, TWO, in_main, issue_text, parsed};

fn split(session: &Session, titles: &[String]) -> Result<Vec<(String, String)>, String> {
    let writer = Writer::open(session).map_err(|error| error.to_string())?;
    let split = writer.split(parsed(ONE), titles).map_err(|error| error.to_string())?;
    assert_eq!(split.parent, parsed(ONE));
    Ok(split.parts.into_iter().map(|(id, title)| (id.to_string(), title)).collect())
}

fn parts(stage: &mut Stage, titles: &[&str]) -> Result<Vec<(String, String)>, String> {
    let titles: Vec<String> = titles.iter().map(ToString::to_string).collect();
    stage.by(ANNA, move |session| split(session, &titles))
}

fn held(kind: &str) -> Stage {
    let mut stage = Stage::new();
    let text = issue_text(ONE).replace("\"task\"", &format!("\"{kind}\""));
    stage.put(&in_main(ONE, "issue.json"), &text);
    stage.claim(ANNA, ONE);
    stage
}

fn read(stage: &mut Stage, id: &str) -> (Issue, Vec<String>) {
    let id = parsed(id);
    stage.by(ANNA, move |session| {
        let issues = Issues::new(session);
        let labels = labels_of(&issues, id).unwrap();
        (issues.read(id).unwrap(), labels.members().map(ToOwned::to_owned).collect())
    })
}

#[test]
fn parts_are_issues_that_name_what_they_are_a_part_of() {
    let mut stage = held("epic");
    stage
        .change(ANNA, ONE, |draft| {
            draft.edit().priority = Priority::High;
            draft.label("needs:attention", true)?;
            draft.label("ui", true)
        })
        .unwrap();
    let made = parts(&mut stage, &["walls", " roof "]).unwrap();
    assert_eq!(made.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>(), ["walls", "roof"]);
    assert!(made[0].0 < made[1].0, "in the order of their titles");
    for (id, title) in &made {
        let (issue, labels) = read(&mut stage, id);
        assert_eq!((&issue.title, issue.kind.as_str(), issue.priority), (title, "story", Priority::High));
        assert_eq!((issue.parent.as_deref(), issue.state), (Some(ONE), State::Ready));
        assert_eq!(labels, ["ui"]);
    }
    let mut ids: Vec<String> = made.into_iter().map(|(id, _)| id).collect();
    ids.sort();
    let deps = stage.by(ANNA, |session| {
        let deps = deps_of(&Issues::new(session), parsed(ONE)).unwrap();
        deps.members().map(ToOwned::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(deps, ids);
}

#[test]
fn what_is_narrowest_or_unknown_has_parts_of_its_own_kind() {
    for kind in ["task", "riddle"] {
        let mut stage = held(kind);
        let made = parts(&mut stage, &["a"]).unwrap();
        assert_eq!(read(&mut stage, &made[0].0).0.kind, kind);
    }
}

#[test]
fn parts_that_are_there_and_open_are_taken() {
    let mut stage = held("task");
    let first = parts(&mut stage, &["a", "a", "b"]).unwrap();
    let mut again = parts(&mut stage, &["a", "a", "b"]).unwrap();
    again.sort();
    let mut sorted = first.clone();
    sorted.sort();
    assert_eq!(again, sorted);
    let (id, _) = &first[2];
    let over = stage.text(&in_main(id, "issue.json")).replace("\"ready\"", "\"rejected\"");
    stage.put(&in_main(id, "issue.json"), &over);
    let other = parts(&mut stage, &["b"]).unwrap();
    assert!(other[0].0 != *id, "what is over is no part to go on with");
    let elsewhere = issue_text(TWO).replace("\"t\"", "\"c\"");
    stage.put(&in_main(TWO, "issue.json"), &elsewhere);
    assert!(parts(&mut stage, &["c"]).unwrap()[0].0 != TWO, "it is no part of this one");
}

#[test]
fn what_cannot_be_split_is_refused_before_anything_is_made() {
    let mut stage = held("task");
    let before = stage.below("/repo/.jit/issues");
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(parts(&mut stage, &many).unwrap_err().contains("at most 100 parts"));
    assert!(parts(&mut stage, &["a", ""]).unwrap_err().contains("one line"));
    stage.edit(ANNA, ONE, |draft| draft.step(State::Rejected, false));
    let over = parts(&mut stage, &["a"]).unwrap_err();
    assert!(over.contains("it is rejected: jit reopen comes first"), "{over}");
    let mut other = Stage::new();
    assert_eq!(parts(&mut other, &["a"]).unwrap_err(), format!("splitting {ONE} without holding its claim"));
    assert_eq!(
        (stage.below("/repo/.jit/issues"), other.below("/repo/.jit/issues")),
        (before.clone(), before)
    );
}

#[test]
fn a_hundred_parts_are_not_too_many() {
    let mut stage = held("task");
    let many: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(parts(&mut stage, &many).unwrap().len(), 100);
}
