//! What came of gates: where it is kept, which copy counts, and who may say so without a claim.

use std::io::ErrorKind;

use holdfast_store::conformance::Call;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::writes::{GateResult, Results, Verdict, Writer, results_of};
use serde_json::{Value, json};

use crate::stage::{ANNA, Agent, BERTA, CARL, ONE, SHARED, Stage, TWO, in_main, issue_text, parsed};

const OFF: &str = "[worktree]\nenforce_leases = \"off\"\n";
const EARLY: &str = "2024-01-01T00:00:00.000Z";
const LATE: &str = "2024-01-02T00:00:00.000Z";

fn path(data: &str, key: &str) -> String {
    format!("{data}/gates/results/{ONE}/{key}.json")
}

fn old_path(data: &str) -> String {
    format!("{data}/gates/results/{ONE}.json")
}

fn result(status: &str, at: &str) -> Value {
    json!({ "status": status, "at": at, "later": { "x": 1 } })
}

fn file(id: &str, key: &str, status: &str, at: &str) -> String {
    let mut file = result(status, at);
    (file["issue_id"], file["gate"]) = (id.into(), key.into());
    file.to_string()
}

fn old_file(id: &str, results: &Value) -> String {
    json!({ "issue_id": id, "results": results }).to_string()
}

fn gated(keys: &[&str]) -> Stage {
    let mut stage = Stage::configured(OFF);
    let mut issue: Value = serde_json::from_str(&issue_text(ONE)).unwrap();
    (issue["gates"], issue["state"]) = (json!(keys), "in_progress".into());
    stage.put(&in_main(ONE, "issue.json"), &issue.to_string());
    stage
}

fn results(stage: &mut Stage, agent: Agent, keys: &[&str]) -> Result<Results, String> {
    let keys = keys.iter().map(ToString::to_string).collect();
    stage.by(agent, move |session| {
        results_of(&Issues::new(session), parsed(ONE), &keys).map_err(|error| format!("{error:?}"))
    })
}

#[test]
fn the_later_judgement_of_all_copies_counts() {
    for (main, handed, passed) in [(EARLY, LATE, true), (LATE, EARLY, false)] {
        let mut stage = gated(&["g"]);
        stage.put(&path("/repo/.jit", "g"), &file(ONE, "g", "failed", main));
        stage.put(&path(SHARED, "g"), &file(ONE, "g", "passed", handed));
        for agent in [ANNA, BERTA] {
            let found = results(&mut stage, agent, &["g", "h"]).unwrap();
            assert_eq!((found.0.len(), found.passed("g"), found.passed("h")), (1, passed, false));
            assert_eq!(found.0["g"].rest["later"]["x"], 1, "what is not known is kept");
        }
    }
    let mut stage = gated(&["g"]);
    stage.put(&path("/repo/.jit", "g"), &file(ONE, "g", "failed", LATE));
    stage.put(&path(SHARED, "g"), &file(ONE, "g", "passed", LATE));
    assert!(!results(&mut stage, ANNA, &["g"]).unwrap().passed("g"), "what is no later is no better");
}

#[test]
fn what_earlier_versions_kept_in_one_file_counts_too() {
    let mut stage = gated(&["g", "h"]);
    let old =
        json!({ "g": result("passed", LATE), "h": result("passed", EARLY), "x": result("passed", EARLY) });
    stage.put(&old_path("/repo/.jit"), &old_file(ONE, &old));
    stage.put(&path("/repo/.jit", "g"), &file(ONE, "g", "failed", EARLY));
    let found = results(&mut stage, ANNA, &["g", "h"]).unwrap();
    assert_eq!((found.passed("g"), found.passed("h"), found.0.len()), (true, true, 2), "x is no gate of it");
    assert_eq!(results(&mut stage, ANNA, &[]).unwrap(), Results::default());
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
    assert!(!stage.has(&old_path("/repo/.jit")));
    for key in ["g", "h"] {
        let now = stage.json(&path("/repo/.jit", key));
        assert_eq!(
            (&now["status"], &now["gate"], &now["later"]["x"]),
            (&json!("passed"), &json!(key), &json!(1))
        );
    }
    assert_eq!(stage.count("gate.completed"), 0, "nobody has judged");
}

#[test]
fn what_is_about_something_else_is_an_error() {
    for (bad_file, bad) in [
        (path("/repo/.jit", "g"), file(ONE, "h", "passed", EARLY)),
        (path("/repo/.jit", "g"), file(TWO, "g", "passed", EARLY)),
        (path("/repo/.jit", "g"), "{".to_owned()),
        (old_path("/repo/.jit"), old_file(TWO, &json!({}))),
        (old_path("/repo/.jit"), "{".to_owned()),
    ] {
        let mut stage = gated(&["g"]);
        stage.put(&bad_file, &bad);
        let said = results(&mut stage, ANNA, &["g"]).unwrap_err();
        assert!(said.contains("gates/results") && said.contains("it "), "{said}");
        assert!(stage.change(ANNA, ONE, |draft| draft.label("ui", true)).is_err());
        assert_eq!(stage.text(&bad_file), bad, "it is never overwritten");
        assert_eq!(results(&mut stage, ANNA, &[]), Ok(Results::default()));
    }
}

#[test]
fn judgements_that_cannot_be_listed_are_not_taken_for_none() {
    let folder = format!("/repo/.jit/gates/results/{ONE}");
    let mut stage = gated(&["g"]);
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
    stage.put(&path("/repo/.jit", "g"), &file(ONE, "g", "passed", EARLY));
    stage.refused = Some(vec![(Call::List, folder.clone(), ErrorKind::PermissionDenied)]);
    assert!(stage.change(ANNA, ONE, |draft| draft.label("net", true)).err().unwrap().contains(&folder));
    let mut stage = gated(&[]);
    stage.put(&folder, "a file");
    stage.change(ANNA, ONE, |draft| draft.label("ui", true)).unwrap();
}

/// An issue that somebody else wrote may name anything as its gate.
#[test]
fn what_leads_out_of_the_directory_is_never_judged() {
    let mut stage = gated(&["../x", "g"]);
    let changed = stage.change(ANNA, ONE, |draft| {
        for key in ["../x", "g"] {
            let result = draft.judgement(Verdict::Passed, None);
            draft.judge(key, result);
        }
        Ok(())
    });
    assert!(changed.unwrap().written);
    assert_eq!(stage.below("/repo/.jit/gates/results"), [format!("{ONE}/g.json")]);
    stage.put("/repo/.jit/gates/results/x.json", "{");
    let found = results(&mut stage, ANNA, &["../x", "g"]).unwrap();
    assert_eq!(found.0.keys().collect::<Vec<_>>(), ["g"]);
}

/// A judgement by a machine that holds nothing.
fn report(stage: &mut Stage, agent: Agent, key: &'static str) -> Result<Vec<String>, String> {
    stage.by(agent, move |session| {
        let writer = Writer::open(session).map_err(|error| error.to_string())?;
        let judge = |draft: &holdfast_tracker::writes::Draft| {
            let judged = draft.judgement(Verdict::Passed, Some("ran".into()));
            vec![(key.to_owned(), GateResult { exit_code: Some(0), ..judged })]
        };
        let draft = writer.report(parsed(ONE), judge).map_err(|error| error.to_string())?;
        assert!(draft.results().passed(key));
        Ok(draft.open_gates())
    })
}

#[test]
fn whoever_holds_nothing_may_report_what_came_of_a_gate() {
    let mut stage = Stage::new();
    let issue = gated(&["g", "h"]).text(&in_main(ONE, "issue.json"));
    stage.put(&in_main(ONE, "issue.json"), &issue);
    stage.claim(CARL, ONE);
    assert_eq!(report(&mut stage, ANNA, "g").unwrap(), ["h"]);
    let kept = stage.json(&path("/repo/.jit", "g"));
    assert_eq!(
        (&kept["status"], &kept["exit_code"], &kept["agent_id"]),
        (&json!("passed"), &json!(0), &json!("agent:anna"))
    );
    assert_eq!(stage.text(&in_main(ONE, "issue.json")), issue, "the issue stays as it is");
    assert!(!stage.has(&path(SHARED, "g")));
    assert_eq!(
        stage.kinds(),
        [("gate.completed".into(), json!({ "issue_id": ONE, "gate": "g", "status": "passed" }))]
    );
    assert_eq!(stage.events()[0]["actor"].get("lease_id"), None);
    stage.lose_power();
    assert!(stage.has(&path("/repo/.jit", "g")));
    assert_eq!(report(&mut stage, ANNA, "x").unwrap_err(), format!("{ONE} has no gate 'x'"));
    assert_eq!(report(&mut stage, BERTA, "h").unwrap(), Vec::<String>::new());
    for data in [SHARED, "/linked/.jit"] {
        assert_eq!(stage.json(&path(data, "h"))["agent_id"], "agent:berta");
    }
    assert!(!stage.has(&path("/repo/.jit", "h")));
    assert!(results(&mut stage, ANNA, &["h"]).unwrap().passed("h"));
}

#[test]
fn only_what_differs_is_written_of_judgements() {
    let mut stage = gated(&["g", "h"]);
    let theirs = file(ONE, "g", "passed", EARLY);
    stage.put(&path("/repo/.jit", "g"), &theirs);
    stage
        .change(ANNA, ONE, |draft| {
            let judged = draft.judgement(Verdict::Failed, None);
            draft.judge("h", judged);
            Ok(())
        })
        .unwrap();
    assert_eq!(stage.json(&path("/repo/.jit", "g"))["later"]["x"], 1);
    assert_eq!(stage.json(&path("/repo/.jit", "h"))["status"], "failed");
    stage.change(ANNA, ONE, |draft| Ok(draft.remove_gate("h"))).unwrap();
    assert!(stage.has(&path("/repo/.jit", "g")) && !stage.has(&path("/repo/.jit", "h")));
}
