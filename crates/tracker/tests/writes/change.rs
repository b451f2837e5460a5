//! One change of an issue: what it leaves in its files.

use holdfast_tracker::issues::State;
use holdfast_tracker::writes::Writer;
use serde_json::{Value, json};

use crate::stage::{
    ANNA, BERTA, LONG_AGO, NOBODY, ONE, SHARED, Stage, Strike, handed_over, in_linked, in_main, issue_text,
    parsed,
};

#[test]
fn a_change_is_stamped_with_the_grant_it_was_made_under() {
    let mut stage = Stage::new();
    let changed = stage.held_change(ONE, |draft| {
        draft.edit().title = "new".into();
        Ok(7)
    });
    assert!(changed.written && changed.value == 7);
    assert_eq!(changed.draft.issue().title, "new");
    let file = stage.json(&in_main(ONE, "issue.json"));
    assert_eq!(file["title"], "new");
    assert!(file["fence"].as_u64().unwrap() > 0 && file["fence_log"].is_string());
    assert!(file["updated_at"].as_str().unwrap() > LONG_AGO);
    assert_eq!(file["created_at"], LONG_AGO);
    assert_eq!(file.get("reopened"), None, "it was never over");
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let mut stage = Stage::new();
    let changed = stage.held_change(ONE, |draft| {
        draft.edit().title = "t".into();
        draft.label("ui", false)
    });
    assert!(!changed.written && !changed.value);
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
    assert_eq!(stage.events(), Vec::<Value>::new());
    assert_eq!(stage.below(&in_main(ONE, "")), ["issue.json"]);
}

#[test]
fn a_change_that_fails_writes_nothing() {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    let failed = stage.change(ANNA, ONE, |draft| {
        draft.edit().title = "new".into();
        draft.label("ui", true)?;
        Err::<(), _>(holdfast_tracker::Error::NoLease("x".into()))
    });
    assert!(failed.err().unwrap().contains("no claim has the lease"));
    assert_eq!(stage.below(&in_main(ONE, "")), ["issue.json"]);
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
}

#[test]
fn what_is_only_a_label_leaves_the_file_of_the_issue_alone() {
    let mut stage = Stage::new();
    let changed = stage.held_change(ONE, |draft| draft.label("ui", true));
    assert!(changed.written && changed.value);
    assert_eq!(changed.draft.labels(), ["ui"]);
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
    let lines = stage.lines(&in_main(ONE, "labels.or-set.jsonl"));
    assert_eq!((&lines[0]["value"], &lines[0]["agent_id"]), (&json!("ui"), &json!("agent:anna")));
    assert_eq!((lines.len(), lines[0]["id"].as_str().unwrap().len()), (1, 26));
    assert!(lines[0]["at"].as_str().unwrap() > LONG_AGO);
}

#[test]
fn what_was_over_and_is_taken_up_again_says_when_it_was_over() {
    let mut stage = Stage::new();
    stage.held_change(ONE, |draft| {
        draft.edit().state = State::Rejected;
        Ok(())
    });
    let over = stage.json(&in_main(ONE, "issue.json"));
    assert_eq!(over.get("reopened"), None);
    stage
        .change(ANNA, ONE, |draft| {
            draft.edit().state = State::Archived;
            Ok(())
        })
        .unwrap();
    let archived = stage.json(&in_main(ONE, "issue.json"));
    assert_eq!(archived.get("reopened"), None, "it is still over");
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().state = State::Ready;
    });
    let again = stage.json(&in_main(ONE, "issue.json"));
    assert_eq!(again["reopened"], json!([archived["updated_at"]]));
}

/// What was told of is there also after the power went, and nothing is left of how it was made.
#[test]
fn a_change_is_durable_once_it_is_told_of() {
    for is_claimed in [true, false] {
        let mut stage = Stage::configured("[worktree]\nenforce_leases = \"off\"\n");
        if is_claimed {
            stage.claim(ANNA, ONE);
        }
        stage
            .change(ANNA, ONE, |draft| {
                draft.edit().title = "new".into();
                draft.label("ui", true)
            })
            .unwrap();
        assert_eq!(stage.below(&format!("{SHARED}/redo")), Vec::<String>::new());
        stage.lose_power();
        assert_eq!(stage.json(&in_main(ONE, "issue.json"))["title"], "new");
        assert_eq!(stage.lines(&in_main(ONE, "labels.or-set.jsonl")).len(), 1);
        assert_eq!(stage.below(&in_main(ONE, "")), ["issue.json", "labels.or-set.jsonl"]);
        assert_eq!(stage.count("issue.updated"), 2);
    }
}

#[test]
fn what_cannot_be_written_leaves_nothing_beside_it() {
    let mut stage = Stage::new();
    stage.claim(ANNA, ONE);
    let failed = stage.struck(ANNA, Strike::Failure, ("flush", ".issue.json.new-"), |session| {
        crate::people::changed(session, parsed(ONE), |draft| {
            draft.edit().title = "new".into();
            Ok(())
        })
        .err()
    });
    assert!(failed.unwrap().unwrap().contains("flush"));
    assert_eq!(stage.below(&in_main(ONE, "")), ["issue.json"]);
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue_text(ONE));
}

#[test]
fn whoever_holds_an_issue_in_a_linked_worktree_has_its_newest_copy_there() {
    let mut stage = Stage::new();
    let id = parsed(ONE);
    stage.claim(BERTA, ONE);
    assert!(!stage.has(&in_linked(ONE, "issue.json")));
    let changed = stage.change(BERTA, ONE, |_| Ok(())).unwrap();
    assert!(changed.written);
    assert_eq!(stage.json(&in_linked(ONE, "issue.json"))["title"], "t");
    assert!(!stage.has(&handed_over(ONE, "issue.json")), "nothing differs");
    assert!(!stage.change(BERTA, ONE, |_| Ok(())).unwrap().written, "it is there");
    assert_eq!(stage.events(), Vec::<Value>::new());
    let brought = stage.by(BERTA, move |session| Writer::open(session).unwrap().bring(id).unwrap());
    assert!(brought);
}

#[test]
fn an_issue_is_brought_into_a_worktree_as_it_is() {
    let mut stage = Stage::configured("[worktree]\nenforce_leases = \"off\"\n");
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
    assert!(!stage.change(BERTA, ONE, |_| Ok(())).unwrap().written, "nobody asked for a copy");
    assert!(!stage.has(&in_linked(ONE, "issue.json")));
    stage.by(BERTA, |session| Writer::open(session).unwrap().bring(parsed(ONE)).unwrap());
    assert_eq!(stage.json(&in_linked(ONE, "issue.json")), stage.json(&in_main(ONE, "issue.json")));
    assert_eq!(
        stage.text(&in_linked(ONE, "labels.or-set.jsonl")),
        stage.text(&in_main(ONE, "labels.or-set.jsonl"))
    );
    assert!(!stage.has(&handed_over(ONE, "issue.json")));
}

/// Whoever wants a claim has to wait while the claims are locked, so nothing is flushed meanwhile.
#[test]
fn nothing_of_a_change_is_flushed_while_nobody_can_claim() {
    let mut stage = Stage::traced();
    stage.claim(ANNA, ONE);
    let before = stage.world.trace().len();
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().title = "new".into();
    });
    let (mut is_locked, mut sections, mut flushes) = (false, 0, 0);
    for line in stage.world.trace().iter().skip(before).map(|line| line.what.as_str()) {
        if line.contains("lock /repo/.git/jit/locks/claims.lock") {
            is_locked = line.starts_with("lock");
            sections += usize::from(is_locked);
        }
        if line.starts_with("flush /repo/.jit/issues") {
            assert!(!is_locked, "{line}");
            flushes += 1;
        }
    }
    assert!(sections > 0 && flushes > 0, "{sections} {flushes}");
}

#[test]
fn nobody_is_stamped_where_nobody_says_who_asks() {
    let mut stage = Stage::configured("[worktree]\nenforce_leases = \"off\"\n");
    stage
        .change(NOBODY, ONE, |draft| {
            draft.edit().title = "new".into();
            draft.label("ui", true)
        })
        .unwrap();
    let file = stage.json(&in_main(ONE, "issue.json"));
    assert_eq!((&file["title"], file.get("fence"), file.get("fence_log")), (&json!("new"), None, None));
    assert_eq!(stage.lines(&in_main(ONE, "labels.or-set.jsonl"))[0].get("agent_id"), None);
    let actor = &stage.events()[0]["actor"];
    assert_eq!(*actor, json!({ "agent_id": null, "worktree_id": null }));
}
