//! Publishing: what is promised, what is refused, what is shown.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_trial::{Answer, has};

use crate::bench::{Bench, JVS, Refusal, id};

#[test]
fn a_quiesced_snapshot_needs_the_lock_and_a_risky_one_says_so() {
    let bench = Bench::new();
    bench.put("f", "one");
    bench.jvs(&["snapshot"]).refused_as("E_LOCK_NOT_HELD");
    let risky = bench.jvs(&["snapshot", "--consistency", "best_effort", "in a hurry"]).ok().json();
    assert_eq!(risky["snapshot"]["risk"], "best_effort");
    assert!(risky["snapshot"]["fencing_token"].is_null());
    assert_eq!(bench.jvs(&["info"]).ok().json()["risk"], true);
    let first = risky["snapshot"]["snapshot_id"].as_str().unwrap().to_owned();
    bench.jvs(&["lock", "acquire"]).ok();
    let second = bench.jvs(&["snapshot"]).ok().json();
    assert!(second["snapshot"]["risk"].is_null());
    assert_eq!(second["snapshot"]["parent"], first.as_str());
    assert_eq!(second["snapshot"]["fencing_token"], 1);
    assert_eq!(bench.jvs(&["info"]).ok().json()["risk"], false);
    let seen = bench.jvs(&["history"]).ok().json();
    let risks: Vec<_> = seen["snapshots"].as_array().unwrap().iter().map(|one| one["risk"].clone()).collect();
    assert_eq!(risks, [serde_json::Value::Null, "best_effort".into()]);
    assert_eq!(bench.jvs(&["history", "--limit", "1"]).ok().json()["count"], 1);
}

#[test]
fn what_is_written_to_meanwhile_is_refused_and_nothing_is_published() {
    let bench = Bench::new();
    for n in 0..300 {
        bench.put(&format!("d/f{n}"), "text");
    }
    bench.jvs(&["lock", "acquire", "--lease-ms", "600000"]).ok();
    let stop = AtomicBool::new(false);
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                turn += 1;
                std::fs::write(bench.main().join("d/busy"), turn.to_string()).unwrap();
            }
        });
        let refused = bench.jvs(&["snapshot"]);
        stop.store(true, Ordering::Relaxed);
        refused
    });
    let refused = refused.refused_as("E_CONSISTENCY_UNAVAILABLE").json();
    assert!(refused["path"].as_str().unwrap().starts_with('d'), "{refused}");
    assert_eq!(bench.history(), Vec::<String>::new());
    assert_eq!(bench.findings(), Vec::<String>::new(), "nothing is left of it");
    bench.jvs(&["snapshot"]).ok();
}

#[test]
fn a_long_copy_keeps_its_lock() {
    let bench = Bench::impatient();
    for n in 0..800 {
        bench.put(&format!("d{}/f{n}", n % 30), "text");
    }
    bench.jvs(&["lock", "acquire", "--lease-ms", "2000"]).ok();
    bench.jvs(&["snapshot"]).ok();
}

#[test]
fn two_snapshots_at_once_are_both_published() {
    let bench = Bench::new();
    bench.put("f", "x");
    let spawn = || {
        let mut command = bench.command(&["snapshot", "--consistency", "best_effort"], &bench.main());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both: Vec<_> = (0..4).map(|_| spawn()).collect();
    let mut ids: Vec<String> =
        both.into_iter().map(|child| id(&Answer::from(child.wait_with_output().unwrap()).ok())).collect();
    ids.sort();
    let mut seen = bench.history();
    seen.sort();
    assert_eq!(seen, ids);
    let plan = bench.jvs(&["gc", "plan"]).ok().json();
    assert_eq!(plan["kept"], 4, "each is an ancestor of the head: {plan}");
    bench.jvs(&["verify", "--all"]).ok();
}

#[test]
fn a_risky_snapshot_moves_no_head_that_is_somebody_elses() {
    let bench = Bench::new();
    bench.put("f", "one");
    bench.other("a", &["lock", "acquire", "--lease-ms", "600000"]).ok();
    let first = id(&bench.other("a", &["snapshot"]).ok());
    bench.put("f", "two");
    let risky = bench.jvs(&["snapshot", "--consistency", "best_effort"]).ok().json();
    let beside = risky["snapshot"]["snapshot_id"].as_str().unwrap().to_owned();
    assert_eq!((&risky["is_head"], &risky["snapshot"]["aside"]), (&false.into(), &true.into()), "{risky}");
    assert_eq!(bench.jvs(&["status"]).ok().json()["head"], first.as_str());
    assert_eq!(bench.history(), [beside.clone(), first.clone()], "it is there");
    bench.jvs(&["verify", "--all"]).ok();
    assert_eq!(bench.findings(), Vec::<String>::new());
    let next = bench.other("a", &["snapshot"]).ok().json();
    assert_eq!((&next["is_head"], &next["snapshot"]["parent"]), (&true.into(), &first.as_str().into()));
    bench.other("a", &["lock", "release"]).ok();
    let risky = bench.jvs(&["snapshot", "--consistency", "best_effort"]).ok().json();
    assert_eq!(
        (&risky["is_head"], &risky["snapshot"]["aside"]),
        (&true.into(), &().into()),
        "nobody has the lock"
    );
}

/// A flush that fails, one after the other: before the snapshot is visible nothing is there, and after that the failure
/// says that it is.
#[test]
fn a_failure_says_whether_the_snapshot_is_published() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new();
    bench.put("f", "one");
    bench.jvs(&["lock", "acquire", "--lease-ms", "600000"]).ok();
    let (mut hidden, mut visible) = (0, 0);
    for nth in 1.. {
        let before = bench.history();
        let mut command = bench.dressed(Command::new("strace"), &bench.main());
        command.args([
            "-qq",
            "-o",
            "/dev/null",
            "-f",
            "-e",
            &format!("inject=fsync,fdatasync:error=EIO:when={nth}"),
        ]);
        let answer = Answer::from(command.args([JVS, "--json", "snapshot"]).output().unwrap());
        let more: Vec<String> = bench.history().into_iter().filter(|id| !before.contains(id)).collect();
        if answer.code == Some(0) {
            break;
        }
        let told = answer.json();
        match told["published"].as_str() {
            Some(id) => {
                assert_eq!(more, [id], "{answer}");
                assert!(told["hint"].as_str().unwrap().contains("do not repeat it"), "{answer}");
                visible += 1;
            }
            None => {
                assert_eq!(more, [""; 0], "{answer}");
                hidden += 1;
            }
        }
        bench.jvs(&["doctor", "--repair"]).ok();
        let head = bench.jvs(&["status"]).ok().json()["head"].clone();
        assert_eq!(head.as_str(), bench.history().first().map(String::as_str), "after {answer}");
    }
    assert!(hidden > 0 && visible > 0, "{hidden} before and {visible} after it was visible");
    bench.jvs(&["verify", "--all"]).ok();
}
