//! Worktrees: made, found, renamed, removed, and never under somebody who works in them.

use crate::bench::{Bench, Refusal};

#[test]
fn a_worktree_is_made_found_renamed_and_removed() {
    let bench = Bench::new();
    bench.put("f", "x");
    let id = bench.snapshot();
    bench.jvs(&["worktree", "create", "w", "--from", &id]).ok();
    let path = bench.root().join("worktrees/w");
    assert_eq!(std::fs::read_to_string(path.join("f")).unwrap(), "x");
    assert_eq!(bench.run_at(&path, &["worktree", "path"]).ok().json()["name"], "w");
    assert_eq!(bench.run_at(&path, &["history"]).ok().json()["count"], 1, "what it descends from");
    bench.jvs(&["worktree", "create", "w"]).refused_as("E_EXISTS");
    bench.jvs(&["worktree", "rename", "w", "main"]).refused_as("E_EXISTS");
    bench.jvs(&["worktree", "rename", "w", "v"]).ok();
    assert!(!path.exists());
    std::fs::write(bench.root().join("worktrees/v/g"), "unsaved").unwrap();
    bench.jvs(&["worktree", "remove", "v"]).refused_as("E_UNSAVED_CHANGES");
    bench.jvs(&["worktree", "remove", "v", "--force"]).ok();
    assert_eq!(bench.jvs(&["worktree", "list"]).ok().json()["count"], 1);
    assert_eq!(bench.findings(), Vec::<String>::new());
}

#[test]
fn a_locked_worktree_is_neither_renamed_nor_removed() {
    let bench = Bench::new();
    bench.jvs(&["worktree", "create", "w"]).ok();
    bench.other("a", &["lock", "acquire", "--worktree", "w"]).ok();
    bench.jvs(&["worktree", "rename", "w", "v"]).refused_as("E_LOCK_CONFLICT");
    bench.jvs(&["worktree", "remove", "w"]).refused_as("E_LOCK_CONFLICT");
    bench.jvs(&["worktree", "remove", "w", "--force"]).refused_as("E_LOCK_CONFLICT");
    bench.other("a", &["lock", "release", "--worktree", "w"]).ok();
    bench.jvs(&["worktree", "remove", "w"]).ok();
    for args in [&["worktree", "rename", "main", "x"][..], &["worktree", "remove", "main", "--force"]] {
        bench.jvs(args).refused_as("E_NAME_INVALID");
    }
}

#[test]
fn many_who_make_a_worktree_of_one_name_make_one() {
    let bench = Bench::new();
    let children: Vec<_> =
        (0..6).map(|n| bench.spawn(&n.to_string(), &["worktree", "create", "w"])).collect();
    let codes: Vec<_> =
        children.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(bench.jvs(&["worktree", "list"]).ok().json()["count"], 2);
    assert_eq!(bench.findings(), Vec::<String>::new());
}

/// One record that cannot be read is that worktree's trouble alone.
#[test]
fn a_damaged_record_takes_no_other_worktree_with_it() {
    let bench = Bench::new();
    bench.put("f", "x");
    bench.jvs(&["worktree", "create", "w"]).ok();
    bench.jvs(&["worktree", "create", "v"]).ok();
    bench.jvs(&["lock", "acquire", "--lease-ms", "600000"]).ok();
    bench.jvs(&["lock", "acquire", "--worktree", "w", "--lease-ms", "600000"]).ok();
    let list = bench.jvs(&["worktree", "list"]).ok().json();
    let record = |name: &str| {
        let all = list["worktrees"].as_array().unwrap();
        let one = all.iter().find(|one| one["name"] == name).unwrap();
        bench.control("worktrees").join(format!("{}.json", one["worktree_id"].as_str().unwrap()))
    };
    let good = std::fs::read(record("w")).unwrap();
    for bad in [&b"{"[..], b"", b"null", b"{\"format\":1}"] {
        std::fs::write(record("w"), bad).unwrap();
        bench.jvs(&["lock", "renew"]).ok();
        bench.jvs(&["snapshot"]).ok();
        bench.jvs(&["history"]).ok();
        bench.jvs(&["info"]).ok();
        bench.jvs(&["lock", "status", "--worktree", "v"]).ok();
        let seen = bench.jvs(&["worktree", "list"]).ok().json();
        assert_eq!((&seen["count"], seen["damaged"].as_array().unwrap().len()), (&2.into(), 1), "{seen}");
        bench.jvs(&["lock", "renew", "--worktree", "w"]).refused_as("E_DESCRIPTOR_CORRUPT");
        bench.jvs(&["worktree", "create", "w"]).refused_as("E_EXISTS");
        // What is not known to be garbage is kept.
        bench.jvs(&["gc", "plan"]).refused_as("E_DESCRIPTOR_CORRUPT");
        bench.jvs(&["verify", "--all"]).refused_as("E_DESCRIPTOR_CORRUPT");
        assert_eq!(bench.findings(), ["damaged_worktree"]);
        let repaired = bench.jvs(&["doctor", "--repair"]).fails(1).json();
        assert_eq!(repaired["repaired"], serde_json::json!([]), "no session of a living shell is touched");
        bench.jvs(&["worktree", "create", "u"]).ok();
        bench.jvs(&["worktree", "remove", "u"]).ok();
    }
    std::fs::write(record("w"), good).unwrap();
    bench.jvs(&["lock", "renew", "--worktree", "w"]).ok();
    bench.jvs(&["lock", "renew"]).ok();
    bench.heals();
}
