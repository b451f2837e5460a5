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
