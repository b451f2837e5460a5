//! What was begun and not ended: half a rebase, a worktree between two branches, work that was finished and is gone on with.

use std::os::unix::fs::PermissionsExt as _;

use crate::ground::{Agent, Ground, KILL, pair};
use crate::stories::waits;

/// What gates said of work that was finished before is in the same commit as work, and the target has never had it.
#[test]
fn what_a_gate_said_before_is_no_conflict() {
    let ground = Ground::new();
    ground.bench.jit(&["gate", "define", "there", "--command", "test -f work"]).ok();
    ground.commit("a gate");
    let id = ground.issue("gated", &["--gate", "there"]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    waits(&agent.run(&["--json", "finish", "-a", "-m", "work", "--no-land"]).ok().json());
    agent.run(&["start", &id]).ok();
    agent.write("more", "work\n");
    waits(&agent.run(&["--json", "finish", "-a", "-m", "more", "--no-land"]).ok().json());
    agent.write("most", "work\n");
    agent.git(&["add", "most"]);
    agent.git(&["commit", "-q", "--amend", "--no-edit"]);
    std::fs::write(ground.bench.repo().join("theirs"), "work\n").unwrap();
    ground.commit("theirs");
    assert!(ground.bench.jit(&["land", "--all"]).ok().stdout.starts_with("landed"));
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert_eq!(ground.main(&["ls-tree", "--name-only", "main", "work", "more", "most"]), "more\nmost\nwork");
}

/// A git that is killed while it begins a rebase leaves what looks like one, on the branch as it was.
#[test]
fn a_rebase_that_has_not_begun_keeps_nobody_from_finishing() {
    let ground = Ground::new();
    let (id, other) = (ground.issue("mine", &[]), ground.issue("other", &[]));
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    let left = agent.at.join(agent.git(&["rev-parse", "--git-path", "rebase-merge"]));
    std::fs::create_dir(&left).unwrap();
    agent.run(&["start", &other]).fails(4).says(&["a rebase is under way", "git rebase --quit"]);
    agent.run(&["finish", "-a", "-m", "work"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    agent.git(&["rebase", "--quit"]);
    agent.run(&["start", &other]).ok();
}

/// Work that waits does so on a branch, also where the worktree was on none.
#[test]
fn what_waits_without_a_branch_gets_one() {
    let ground = Ground::with_origin();
    let (id, other) = (ground.issue("mine", &[]), ground.issue("other", &[]));
    ground.main(&["push", "-q", "origin", "main"]);
    let handle = ground.bench.handle(&id);
    let (agent, second) = (ground.agent("a"), ground.agent("b"));
    // Somebody has used the name for something else.
    let elsewhere = ground.main(&["commit-tree", "HEAD^{tree}", "-m", "elsewhere"]);
    ground.main(&["branch", &format!("jit/{}", ground.bench.handle(&other)), &elsewhere]);
    for (agent, id) in [(&agent, &id), (&second, &other)] {
        agent.run(&["start", id, "--here"]).ok();
        agent.write("work", &agent.name);
        let done = agent.run(&["--json", "finish", "-a", "-m", "work", "--no-land"]).ok().json();
        assert_eq!(agent.git(&["branch", "--show-current"]), waits(&done));
        assert_eq!(ground.told(id), pair("done", "on_branch"));
    }
    let there = ground.git(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"], &ground.origin());
    let names: Vec<&str> = there.lines().collect();
    assert!(names.contains(&format!("jit/{handle}").as_str()) && !names.contains(&"HEAD"), "{names:?}");
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(ground.bench.jit(&["land", "--all"]).stdout.contains("landed"));
}

/// An agent whose work on the first issue waits, and who is killed while it goes to the branch of the second: what others
/// have landed since has come in part, or all of it.
fn killed_on_the_way(ground: &Ground, agent: &Agent<'_>, first: &str, second: &str, all: bool) {
    agent.begin(first, "work");
    agent.run(&["finish", "-a", "-m", "work", "--no-land"]).ok();
    for (file, text) in [("a-new", "theirs\n"), ("b-deadly", "theirs\n"), ("code", "one\ntheirs\nthree\n")] {
        std::fs::write(ground.bench.repo().join(file), text).unwrap();
    }
    ground.commit("theirs");
    let git_dir = ground.bench.repo().join(".git");
    if all {
        // Index and files are there: it is killed when the branch moves.
        let (hook, when) =
            (git_dir.join("hooks/reference-transaction"), "case $1 in prepared) ;; *) exit 0 ;; esac");
        std::fs::write(&hook, format!("#!/bin/sh\n{when}\ngrep -q HEAD || exit 0\n{KILL}")).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        agent.is_killed(&["start", second]);
        std::fs::remove_file(&hook).unwrap();
    } else {
        let deadly = ground.bench.root().join("deadly");
        std::fs::write(&deadly, KILL).unwrap();
        std::fs::write(git_dir.join("info/attributes"), "b-deadly filter=deadly\n").unwrap();
        ground.main(&["config", "filter.deadly.smudge", &format!("sh {}", deadly.display())]);
        agent.is_killed(&["start", second]);
        ground.main(&["config", "--remove-section", "filter.deadly"]);
    }
    assert!(agent.at.join("a-new").exists() && ground.is_held(second), "it was on its way");
}

/// Git is killed with whoever started it while it takes a worktree to the branch of an issue: with some files of there, with
/// all of them, or with half of one.
#[test]
fn a_worktree_that_was_half_way_to_another_branch_arrives() {
    for how in ["some", "half", "all"] {
        let ground = Ground::new();
        let (first, second) = (ground.issue("first", &["--priority", "high"]), ground.issue("second", &[]));
        let agent = ground.agent("a");
        killed_on_the_way(&ground, &agent, &first, &second, how == "all");
        if how == "half" {
            agent.write("b-deadly", "the");
        }
        let begun = agent.run(&["--json", "start"]).ok();
        assert_eq!(begun.json()["issue"]["id"], second.as_str(), "{begun}");
        assert_eq!(begun.stderr.contains("b-deadly"), how == "half", "what made way is told: {begun}");
        let branch = format!("jit/{}", ground.bench.handle(&second));
        assert_eq!(agent.git(&["branch", "--show-current"]), branch, "{how}");
        assert_eq!(agent.git(&["rev-parse", "HEAD"]), ground.main(&["rev-parse", "main"]));
        assert_eq!(agent.git(&["status", "--porcelain", "--", ":!.jit"]), "", "{how}");
        agent.write("second", "work\n");
        agent.run(&["finish", "-a", "-m", "second"]).ok();
        assert_eq!(ground.told(&second), pair("done", "landed"));
        // What waits on the other branch is whole.
        assert!(ground.bench.jit(&["land", "--all"]).ok().stdout.starts_with("landed"));
        assert_eq!(ground.main(&["show", "main:work"]), "by agent:a");
    }
}

#[test]
fn a_branch_that_others_have_gone_on_with_meanwhile_stays_theirs() {
    let ground = Ground::new();
    let (first, second) = (ground.issue("first", &["--priority", "high"]), ground.issue("second", &[]));
    let agent = ground.agent("a");
    killed_on_the_way(&ground, &agent, &first, &second, false);
    let branch = format!("jit/{}", ground.bench.handle(&second));
    let theirs = ground.main(&["commit-tree", "main^{tree}", "-p", "main", "-m", "theirs"]);
    ground.main(&["branch", "-f", &branch, &theirs]);
    agent.run(&["start"]).ok();
    assert_eq!(ground.main(&["rev-parse", &branch]), theirs);
    assert_eq!(agent.git(&["rev-parse", "HEAD"]), ground.main(&["rev-parse", "main"]));
    assert_eq!(agent.git(&["status", "--porcelain", "--", ":!.jit"]), "");
    agent.write("second", "work\n");
    agent.run(&["finish", "-a", "-m", "second"]).ok();
    assert_eq!(ground.told(&second), pair("done", "landed"));
}
