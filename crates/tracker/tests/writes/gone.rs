//! Deleting an issue, and making one of the same id again.

use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::writes::{Verdict, Writer, deps_of, pending_events};
use holdfast_tracker::{Session, notes};
use serde_json::json;

use crate::people::{created, fresh};
use crate::stage::{
    ANNA, Agent, BERTA, CARL, FOUR, NOBODY, ONE, SHARED, Stage, Strike, THREE, TWO, handed_over, in_linked,
    in_main, issue_text, parsed,
};

const OFF: &str = "[worktree]\nenforce_leases = \"off\"\n";
const MARKS: [&str; 2] =
    ["/repo/.git/jit/deleted/01K0000000000000000000000A", "/repo/.jit/deleted/01K0000000000000000000000A"];

/// An issue on which two others depend.
fn depended_on(settings: &str) -> Stage {
    let mut stage = Stage::configured(settings);
    for id in [THREE, FOUR] {
        stage.put(&in_main(id, "issue.json"), &issue_text(id));
    }
    for id in [TWO, THREE] {
        let line = format!("{{\"id\":\"{id}\",\"op\":\"add\",\"value\":\"{ONE}\",\"at\":\"x\"}}\n");
        stage.put(&in_main(id, "deps.or-set.jsonl"), &line);
    }
    stage
}

fn delete(session: &Session) -> Result<(String, Vec<IssueId>), String> {
    let writer = Writer::open(session).map_err(|error| error.to_string())?;
    let deleted = writer.delete(parsed(ONE)).map_err(|error| error.to_string())?;
    Ok((deleted.title, deleted.dependents))
}

fn deps(stage: &mut Stage, id: &'static str) -> Vec<String> {
    stage.by(ANNA, move |session| {
        deps_of(&Issues::new(session), parsed(id)).unwrap().members().map(ToOwned::to_owned).collect()
    })
}

fn is_seen(stage: &mut Stage, agent: Agent) -> bool {
    stage.by(agent, |session| Issues::new(session).read(parsed(ONE)).is_ok())
}

#[test]
fn what_is_deleted_is_gone_everywhere_and_for_good() {
    let mut stage = depended_on("");
    stage.claim(ANNA, ONE);
    stage.edit(ANNA, ONE, |draft| {
        draft.edit().gates.insert("g".into());
        let result = draft.judgement(Verdict::Passed, None);
        draft.judge("g", result);
    });
    stage.by(ANNA, |session| notes::add(session, parsed(ONE), "for later").unwrap());
    stage.put(&format!("/repo/.jit/gates/results/{ONE}.json"), "old");
    let gone = stage.by(ANNA, delete).unwrap();
    assert_eq!(gone, ("t".to_owned(), vec![parsed(TWO), parsed(THREE)]));
    assert_eq!((stage.lease(ONE), stage.lease(TWO), stage.lease(THREE)), (None, None, None));
    let left = stage.world.paths().into_iter().map(|path| path.to_string_lossy().into_owned());
    let left: Vec<String> = left.filter(|path| path.contains(ONE) && !path.contains("/redo/")).collect();
    assert_eq!(left, MARKS);
    stage.lose_power();
    assert!(!is_seen(&mut stage, ANNA) && !is_seen(&mut stage, BERTA));
    for id in [TWO, THREE] {
        assert_eq!(deps(&mut stage, id), Vec::<String>::new());
    }
    let (kind, payload) = stage.kinds().pop().unwrap();
    assert_eq!((kind.as_str(), payload), ("issue.deleted", json!({ "issue_id": ONE, "title": "t" })));
    assert_eq!((stage.count("dep.removed"), stage.count("issue.deleted")), (2, 1));
    assert!(stage.events().pop().unwrap()["actor"]["lease_id"].is_string());
    for mark in MARKS {
        let at = stage.text(mark);
        assert!(at.ends_with('\n') && at.starts_with("2023-11-14T"), "{at}");
    }
}

#[test]
fn whoever_holds_nothing_deletes_nothing() {
    let mut stage = depended_on("");
    let refused = stage.by(ANNA, delete).unwrap_err();
    assert_eq!(refused, format!("deleting {ONE} without holding its claim"));
    assert!(is_seen(&mut stage, ANNA) && deps(&mut stage, TWO) == [ONE]);
}

#[test]
fn what_somebody_else_is_at_keeps_its_dependency_and_so_do_the_others() {
    let mut stage = depended_on("");
    let lease = stage.claim(ANNA, ONE);
    let theirs = stage.claim(CARL, THREE);
    assert!(stage.by(ANNA, delete).unwrap_err().contains("agent:carl"));
    assert!(is_seen(&mut stage, ANNA) && deps(&mut stage, TWO) == [ONE] && deps(&mut stage, THREE) == [ONE]);
    assert_eq!((stage.lease(ONE), stage.lease(TWO), stage.lease(THREE)), (Some(lease), None, Some(theirs)));
}

#[test]
fn what_the_same_one_holds_it_goes_on_holding() {
    let mut stage = depended_on("");
    stage.claim(ANNA, ONE);
    let lease = stage.claim(ANNA, TWO);
    stage.by(ANNA, delete).unwrap();
    assert_eq!((stage.lease(TWO), stage.lease(THREE)), (Some(lease), None));
}

#[test]
fn where_no_claims_are_insisted_on_none_are_made() {
    for agent in [ANNA, NOBODY] {
        let mut stage = depended_on(OFF);
        let theirs = stage.claim(CARL, THREE);
        assert_eq!(stage.by(agent, delete).unwrap().1.len(), 2);
        assert_eq!((deps(&mut stage, THREE), stage.lease(THREE)), (Vec::new(), Some(theirs)));
        assert!(!is_seen(&mut stage, ANNA));
    }
}

/// What somebody waits for may stand in any copy; what it waited for once does not count.
#[test]
fn those_that_depend_are_found_in_every_copy() {
    let mut stage = depended_on(OFF);
    for id in [TWO, FOUR] {
        let there = id == FOUR;
        stage.change(BERTA, id, move |draft| draft.depend(ONE, there)).unwrap();
    }
    stage.change(BERTA, TWO, |draft| draft.depend(THREE, true)).unwrap();
    assert_eq!(stage.by(ANNA, delete).unwrap().1, [parsed(THREE), parsed(FOUR)]);
    assert_eq!(deps(&mut stage, FOUR), Vec::<String>::new());
}

#[test]
fn what_has_nothing_to_do_with_it_need_not_be_understood() {
    let mut stage = depended_on(OFF);
    stage.put(&in_main(FOUR, "deps.or-set.jsonl"), "<<<<<<< nothing that has to do with it");
    assert_eq!(stage.by(ANNA, delete).unwrap().1.len(), 2);
    let mut stage = depended_on(OFF);
    stage.put(&in_main(FOUR, "deps.or-set.jsonl"), &format!("<<<<<<< {ONE}"));
    assert!(stage.by(ANNA, delete).unwrap_err().contains("deps.or-set.jsonl"));
    assert!(is_seen(&mut stage, ANNA));
}

#[test]
fn what_cannot_be_taken_away_is_not_said_to_be_gone() {
    let mut stage = Stage::configured(OFF);
    let failed = stage.struck(ANNA, Strike::Failure, ("replace", "/repo/.jit/issues/."), delete).unwrap();
    assert!(failed.unwrap_err().contains("/repo/.jit/issues/."));
    assert!(stage.has(&in_main(ONE, "issue.json")));
}

#[test]
fn what_cannot_be_removed_of_it_is_an_error() {
    let mut stage = Stage::configured(OFF);
    stage.put(&format!("/repo/.jit/gates/results/{ONE}.json"), "old");
    let old = ("remove", "/repo/.jit/gates/results/01K0000000000000000000000A.json");
    assert!(stage.struck(ANNA, Strike::Failure, old, delete).unwrap().is_err());
    let mut stage = Stage::configured(OFF);
    stage.by(ANNA, delete).unwrap();
    for mark in MARKS {
        let made = stage.struck(ANNA, Strike::Failure, ("remove", mark), |session| {
            created(session, fresh(ONE, &[], &[]))
        });
        assert!(made.unwrap().unwrap_err().contains("deleted"));
        let home = in_main(ONE, "issue.json");
        stage.world.remove_file(home).unwrap();
    }
}

/// Whoever makes an issue that depends on another one waits for those who are deleting that.
#[test]
fn nobody_depends_on_what_is_just_being_deleted() {
    let mut stage = Stage::configured(OFF);
    let makes = |session: &Session| created(session, fresh(THREE, &[], &[ONE]));
    let (deleted, made) = stage.meanwhile(("replace", "/jit/deleted/"), (ANNA, delete), (CARL, makes));
    assert_eq!((deleted.is_ok(), made), (true, Err(format!("there is no issue {ONE}"))));
    assert!(!stage.has(&in_main(THREE, "issue.json")));
}

#[test]
fn what_was_handed_over_goes_too() {
    let mut stage = Stage::configured(OFF);
    stage.change(BERTA, ONE, |draft| draft.label("ui", true)).unwrap();
    assert!(stage.has(&handed_over(ONE, "issue.json")));
    stage.by(ANNA, delete).unwrap();
    assert_eq!(stage.below(&format!("{SHARED}/issues")), Vec::<String>::new());
    assert!(stage.has(&in_linked(ONE, "issue.json")), "that is another worktree's");
    assert!(!is_seen(&mut stage, BERTA));
}

#[test]
fn an_issue_of_the_same_id_can_be_made_again() {
    for agent in [ANNA, BERTA] {
        let mut stage = Stage::configured(OFF);
        stage.change(BERTA, ONE, |draft| draft.label("ui", true)).unwrap();
        stage.by(ANNA, delete).unwrap();
        stage.create(agent, ONE, &[], &[]).unwrap();
        assert!(is_seen(&mut stage, BERTA));
        // Where it was deleted, it is seen again once it is there.
        assert_eq!(is_seen(&mut stage, ANNA), agent.at == ANNA.at);
        let home = format!("{}/.jit/issues/{ONE}", agent.at);
        assert_eq!(stage.below(&home), ["issue.json"], "nothing is left of the one before");
        assert!(!stage.has(MARKS[0]));
        assert_eq!(stage.has(MARKS[1]), agent.at != ANNA.at);
        assert_eq!(stage.count("issue.created"), 1);
        stage.lose_power();
        assert!(is_seen(&mut stage, agent));
    }
}

/// Where nothing is shared, the mark of the worktree is the only one.
#[test]
fn outside_of_a_shared_control_plane_there_is_one_mark() {
    let mut stage = Stage::configured("[worktree]\nmode = \"off\"\nenforce_leases = \"off\"\n");
    stage.by(ANNA, delete).unwrap();
    assert!(!stage.has(MARKS[0]) && stage.has(MARKS[1]));
    assert!(!is_seen(&mut stage, ANNA));
    stage.create(ANNA, ONE, &["ui"], &[]).unwrap();
    assert!(!stage.has(MARKS[1]) && is_seen(&mut stage, ANNA));
}

#[test]
fn a_deletion_that_is_cut_off_is_told_of_if_it_came_and_can_be_gone_on_with() {
    for nth in 0.. {
        let mut stage = depended_on(OFF);
        let (struck, told) = stage.struck_at(ANNA, Strike::Death, 3 * nth, delete);
        stage.by(CARL, |session| pending_events(session, true).unwrap());
        let is_there = is_seen(&mut stage, CARL);
        assert_eq!(stage.count("issue.deleted"), usize::from(!is_there), "cut off at {nth}");
        assert!(!is_there || told.is_none());
        assert!(is_there || (deps(&mut stage, TWO).is_empty() && deps(&mut stage, THREE).is_empty()));
        if is_there {
            stage.by(CARL, delete).unwrap();
        }
        assert!(!is_seen(&mut stage, ANNA));
        if !struck {
            break;
        }
    }
}
