//! Only what nobody needs is deleted, and only what was shown.

use crate::bench::{Bench, Refusal};

/// A line of three snapshots, with the head set back to the first and nothing that keeps the others.
fn branched(bench: &Bench) -> [String; 3] {
    let ids = set_back(bench);
    bench.jvs(&["unpin", &ids[2]]).ok();
    ids
}

/// A line of three snapshots, with the head set back to the first.
fn set_back(bench: &Bench) -> [String; 3] {
    let ids = [0, 1, 2].map(|n| {
        bench.put("f", &n.to_string());
        bench.snapshot()
    });
    bench.run_at(&bench.root(), &["restore", &ids[0], "--inplace", "--reason", "back"]).ok();
    ids
}

fn plan(bench: &Bench) -> (String, Vec<String>) {
    let plan = bench.jvs(&["gc", "plan"]).ok().json();
    let ids = plan["delete"].as_array().unwrap().iter();
    let ids = ids.map(|one| one["snapshot_id"].as_str().unwrap().to_owned()).collect();
    (plan["plan_id"].as_str().unwrap().to_owned(), ids)
}

#[test]
fn heads_their_ancestors_and_pins_are_kept() {
    let bench = Bench::new();
    let [first, second, third] = branched(&bench);
    assert_eq!(plan(&bench).1, [second.clone(), third.clone()]);
    std::fs::write(bench.control("pins").join(&third), "").unwrap();
    let (id, list) = plan(&bench);
    assert_eq!(list, std::slice::from_ref(&second));
    bench.jvs(&["gc", "run", "--plan-id", &id]).ok();
    assert_eq!(bench.history(), [third.clone(), first.clone()]);
    bench.jvs(&["worktree", "create", "w", "--from", &third]).ok();
    std::fs::remove_file(bench.control("pins").join(&third)).unwrap();
    assert_eq!(plan(&bench).1, Vec::<String>::new(), "it is the head of another worktree");
    bench.jvs(&["verify", "--all"]).ok();
    assert_eq!(bench.findings(), Vec::<String>::new());
}

#[test]
fn a_plan_that_is_not_the_one_that_was_shown_deletes_nothing() {
    let bench = Bench::new();
    let [_, second, _] = branched(&bench);
    let (id, list) = plan(&bench);
    bench.jvs(&["gc", "run", "--plan-id", "0000000000000000"]).refused_as("E_GC_PLAN_MISMATCH");
    bench.jvs(&["gc", "run", "--plan-id", "../../x"]).refused_as("E_GC_PLAN_MISMATCH");
    std::fs::write(bench.control("pins").join(&second), "").unwrap();
    bench.jvs(&["gc", "run", "--plan-id", &id]).refused_as("E_GC_PLAN_MISMATCH");
    assert_eq!(bench.history().len(), 3);
    std::fs::remove_file(bench.control("pins").join(&second)).unwrap();
    let done = bench.jvs(&["gc", "run", "--plan-id", &id]).ok().json();
    assert_eq!(done["deleted"].as_array().unwrap().len(), list.len());
    assert_eq!(bench.history().len(), 1);
}

#[test]
fn nothing_is_deleted_while_an_ancestor_cannot_be_read() {
    let bench = Bench::new();
    let ids = [0, 1, 2].map(|n| {
        bench.put("f", &n.to_string());
        bench.snapshot()
    });
    std::fs::remove_file(bench.control("snapshots").join(&ids[1]).join(".READY")).unwrap();
    bench.jvs(&["gc", "plan"]).refused_as("E_PARTIAL_SNAPSHOT");
}

#[test]
fn what_was_published_after_a_restored_snapshot_stays_reachable() {
    let bench = Bench::new();
    let [first, second, third] = set_back(&bench);
    assert_eq!(plan(&bench).1, Vec::<String>::new(), "the head that was left is pinned with its ancestors");
    let pins = bench.jvs(&["pins"]).ok().json();
    assert_eq!((&pins["count"], &pins["pins"][0]["snapshot_id"]), (&1.into(), &third.as_str().into()));
    assert!(pins["pins"][0]["reason"].as_str().unwrap().contains(&first), "{pins}");
    // Forward again: the way back is an ancestor, so nothing more has to be kept.
    bench.run_at(&bench.root(), &["restore", &third, "--inplace", "--reason", "forward"]).ok();
    assert_eq!(bench.jvs(&["pins"]).ok().json()["count"], 1);
    bench.jvs(&["unpin", &third]).ok();
    assert_eq!(plan(&bench).1, Vec::<String>::new());
    assert_eq!(bench.history(), [third, second, first]);
    bench.jvs(&["verify", "--all"]).ok();
}

#[test]
fn a_pin_keeps_one_snapshot_until_it_is_taken_away() {
    let bench = Bench::new();
    let [first, second, third] = branched(&bench);
    bench.jvs(&["pin", &second, "--reason", "the release"]).ok();
    assert_eq!(plan(&bench).1, std::slice::from_ref(&third));
    std::fs::write(bench.control("pins").join(&first), "kept by hand\n").unwrap();
    let leftover = bench.control("pins").join(format!("{third}.{}.tmp", "0".repeat(32)));
    std::fs::write(&leftover, "half").unwrap();
    assert_eq!(plan(&bench).1, std::slice::from_ref(&third), "what a crash left is no pin");
    assert_eq!(bench.findings(), ["orphaned_tmp"]);
    bench.heals();
    let pins = bench.jvs(&["pins"]).ok().json();
    assert_eq!((&pins["count"], &pins["pins"][1]["reason"]), (&2.into(), &"the release".into()), "{pins}");
    bench.jvs(&["pin", "1700000000000-00000000"]).refused_as("E_NOT_FOUND");
    bench.jvs(&["pin", "../x"]).refused_as("E_NAME_INVALID");
    bench.jvs(&["unpin", &third]).refused_as("E_NOT_FOUND");
    bench.jvs(&["unpin", &second]).ok();
    assert_eq!(plan(&bench).1, [second, third]);
    let seen = bench.jvs(&["audit", "--limit", "1"]).ok().json();
    assert_eq!(seen["entries"][0]["event"], "snapshot.unpinned");
    assert_eq!(bench.findings(), Vec::<String>::new());
}
