//! Who may change an issue, and on which ground.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdfast_kernel::Millis;
use holdfast_tracker::claims::resource;
use holdfast_tracker::notice::Notice;
use holdfast_tracker::writes::{Draft, Writer};
use holdfast_tracker::{Result, Session};
use serde_json::Value;

use crate::people::changed;
use crate::stage::{ANNA, Agent, BERTA, CARL, NOBODY, ONE, SHARED, Stage, TWO, in_main, issue_text, parsed};

const WARN: &str = "[worktree]\nenforce_leases = \"warn\"\n";
const OFF: &str = "[worktree]\nenforce_leases = \"off\"\n";
const SPAN: Millis = Millis::from_secs(60);
const LONGER: Millis = Millis::from_secs(61);

fn rename(draft: &mut Draft) -> Result<()> {
    draft.edit().title = "new".into();
    Ok(())
}

fn unclaimed(what: &'static str) -> Notice {
    Notice::Unclaimed { what, issue: ONE.into() }
}

fn title(stage: &Stage) -> Value {
    stage.json(&in_main(ONE, "issue.json"))["title"].take()
}

#[test]
fn whoever_holds_nothing_is_refused_and_told_who_does() {
    let mut stage = Stage::new();
    let free = stage.change(ANNA, ONE, rename).err().unwrap();
    assert_eq!(free, format!("changing {ONE} without holding its claim"));
    stage.claim(BERTA, ONE);
    for agent in [ANNA, CARL] {
        let held = stage.change(agent, ONE, rename).err().unwrap();
        assert!(held.contains("without holding its claim; agent:berta") && held.contains("until"), "{held}");
    }
    stage.wait(Millis::from_secs(601));
    let over = stage.change(ANNA, ONE, rename).err().unwrap();
    assert_eq!(over, free, "what is over holds nobody up");
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
    assert_eq!(stage.events(), Vec::<Value>::new());
}

#[test]
fn nobody_changes_anything_without_saying_who_that_is() {
    let mut stage = Stage::new();
    assert!(stage.change(NOBODY, ONE, rename).err().unwrap().contains("agent"));
    for settings in [WARN, OFF] {
        let mut stage = Stage::configured(settings);
        stage.change(NOBODY, ONE, rename).unwrap();
        assert_eq!(title(&stage), "new");
        let strict = stage.by(NOBODY, |session| Writer::strict(session).is_err());
        assert!(strict, "whatever is configured");
    }
}

#[test]
fn what_is_not_insisted_on_is_warned_of_or_not() {
    for (settings, heard) in [(WARN, vec![unclaimed("changing")]), (OFF, Vec::new())] {
        let mut stage = Stage::configured(settings);
        stage.change(ANNA, ONE, rename).unwrap();
        assert_eq!(stage.notices(), heard);
        assert_eq!(
            (title(&stage), stage.json(&in_main(ONE, "issue.json")).get("fence")),
            ("new".into(), None)
        );
        let strict = stage.by(ANNA, |session| {
            let writer = Writer::strict(session).unwrap();
            writer.change(parsed(ONE), "finishing", rename).err().unwrap().to_string()
        });
        assert!(strict.starts_with("finishing") && strict.contains("without holding"), "{strict}");
    }
}

#[test]
fn a_claim_that_is_over_counts_for_nothing() {
    let mut stage = Stage::new();
    stage.claim_for(ANNA, ONE, SPAN);
    stage.wait(LONGER);
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let refused = stage.change(ANNA, ONE, move |draft| {
        counted.fetch_add(1, Ordering::SeqCst);
        rename(draft)
    });
    assert!(refused.is_err() && begun.load(Ordering::SeqCst) == 0, "nothing is begun in vain");
    assert_eq!(title(&stage), "t");
    for (settings, heard) in [(WARN, vec![unclaimed("changing")]), (OFF, Vec::new())] {
        let mut stage = Stage::configured(settings);
        stage.claim_for(ANNA, ONE, SPAN);
        stage.wait(LONGER);
        stage.notices();
        stage.change(ANNA, ONE, rename).unwrap();
        assert_eq!(
            (title(&stage), stage.json(&in_main(ONE, "issue.json")).get("fence")),
            ("new".into(), None)
        );
        assert_eq!(stage.notices(), heard);
    }
}

/// Changes an issue in a way that takes longer than the claim lasts; says how often that was found out.
fn slowly(stage: &mut Stage) -> (usize, std::result::Result<(), String>) {
    let times = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&times);
    stage.claim_for(ANNA, ONE, SPAN);
    stage.notices();
    let done = stage.by(ANNA, move |session| {
        changed(session, parsed(ONE), |draft| {
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                session.sys().clock.sleep(LONGER);
            }
            draft.label("ui", true)?;
            rename(draft)
        })
        .map(drop)
    });
    (times.load(Ordering::SeqCst), done)
}

#[test]
fn a_claim_that_runs_out_before_the_change_is_written_refuses_it() {
    let mut stage = Stage::new();
    let (times, done) = slowly(&mut stage);
    assert!(done.is_err() && times == 1);
    assert_eq!(title(&stage), "t");
    assert_eq!(stage.below(&in_main(ONE, "")), ["issue.json"]);
    assert_eq!(stage.below(&format!("{SHARED}/redo")), Vec::<String>::new(), "nothing is left to do");
    stage.claim(ANNA, ONE);
    stage.change(ANNA, ONE, |draft| draft.label("later", true)).unwrap();
    assert_eq!(stage.count("issue.updated"), 1, "what was refused did not happen");
    for (settings, heard) in [(WARN, vec![unclaimed("changing")]), (OFF, Vec::new())] {
        let mut stage = Stage::configured(settings);
        let (times, done) = slowly(&mut stage);
        assert!(done.is_ok() && times == 2, "{done:?}");
        assert_eq!(
            (title(&stage), stage.json(&in_main(ONE, "issue.json")).get("fence")),
            ("new".into(), None)
        );
        assert_eq!(stage.notices(), heard);
        assert_eq!(stage.count("issue.updated"), 2);
    }
}

fn may(stage: &mut Stage, agent: Agent) -> std::result::Result<(), String> {
    stage.by(agent, |session| {
        let writer = Writer::open(session).unwrap();
        writer.may(parsed(ONE), "splitting").map_err(|error| error.to_string())
    })
}

#[test]
fn whether_somebody_may_is_known_beforehand() {
    let mut stage = Stage::new();
    assert!(may(&mut stage, ANNA).unwrap_err().starts_with("splitting"));
    stage.claim_for(ANNA, ONE, SPAN);
    assert_eq!(may(&mut stage, ANNA), Ok(()));
    assert!(may(&mut stage, CARL).is_err());
    stage.wait(LONGER);
    assert!(may(&mut stage, ANNA).is_err());
    let mut stage = Stage::configured(WARN);
    assert_eq!(may(&mut stage, ANNA), Ok(()));
    assert_eq!(stage.notices(), [unclaimed("splitting")]);
    stage.claim_for(ANNA, ONE, SPAN);
    stage.wait(LONGER);
    assert_eq!(may(&mut stage, ANNA), Ok(()));
}

#[test]
fn a_claim_that_is_used_is_renewed() {
    let mut stage = Stage::new();
    stage.claim_for(ANNA, ONE, SPAN);
    stage.wait(Millis::from_secs(40));
    stage.change(ANNA, ONE, rename).unwrap();
    stage.wait(Millis::from_secs(40));
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
}

/// Runs something for which one has to hold an issue, and another one besides.
fn while_held(session: &Session, with: Option<&str>) -> std::result::Result<usize, String> {
    let mut times = 0;
    let others: Vec<_> = with
        .into_iter()
        .map(|id| {
            let view = session.claims().view().unwrap();
            view.table.on(&resource(parsed(id)).unwrap()).next().unwrap().claim()
        })
        .collect();
    let writer = Writer::open(session).unwrap();
    let done = writer.while_held(parsed(ONE), "landing", &others, || {
        times += 1;
        Ok(times)
    });
    done.map_err(|error| error.to_string())
}

#[test]
fn what_only_a_holder_may_do_is_done_while_it_holds() {
    let mut stage = Stage::new();
    let refused = stage.by(ANNA, |session| while_held(session, None)).unwrap_err();
    assert!(refused.starts_with("landing"), "{refused}");
    stage.claim(ANNA, ONE);
    assert_eq!(stage.by(ANNA, |session| while_held(session, None)), Ok(1));
    stage.claim_for(ANNA, TWO, SPAN);
    assert_eq!(stage.by(ANNA, |session| while_held(session, Some(TWO))), Ok(1));
    stage.wait(LONGER);
    assert!(stage.by(ANNA, |session| while_held(session, Some(TWO))).is_err());
    let mut stage = Stage::configured(WARN);
    stage.claim_for(ANNA, ONE, SPAN);
    stage.wait(LONGER);
    stage.notices();
    assert_eq!(stage.by(ANNA, |session| while_held(session, None)), Ok(1));
    assert_eq!(stage.notices(), [unclaimed("landing")]);
}
