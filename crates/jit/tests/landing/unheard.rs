//! Whoever is killed after the server has done what it was asked for, and before it hears of that.

use std::os::unix::fs::PermissionsExt as _;

use crate::ground::{Agent, Ground, KILL, pair};

/// A repository with two issues, one of which comes first, and an origin that has them.
fn ground(shared: bool) -> (Ground, String, String) {
    let ground = Ground::with_origin();
    let (first, second) = (ground.issue("first", &["--priority", "high"]), ground.issue("second", &[]));
    if shared {
        ground.bench.jit(&["engine", "init", "git"]).ok();
        ground.commit("claims are shared");
    }
    ground.main(&["push", "-q", "origin", "main"]);
    (ground, first, second)
}

/// Runs a command that is killed, with all that it has started, once the origin has what it pushes.
fn killed_at_the_push(agent: &Agent<'_>, args: &[&str]) {
    let hook = agent.ground.origin().join("hooks/post-receive");
    std::fs::write(&hook, format!("#!/bin/sh\n{KILL}")).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    agent.is_killed(args);
    std::fs::remove_file(&hook).unwrap();
}

/// Others land a change of the same lines.
fn others_change_it(ground: &Ground) {
    ground.main(&["pull", "-q", "--rebase", "origin", "main"]);
    std::fs::write(ground.bench.repo().join("work"), "theirs\n").unwrap();
    ground.commit("theirs");
    ground.main(&["push", "-q", "origin", "main"]);
}

/// What the origin has in a file.
fn there(ground: &Ground, file: &str) -> String {
    ground.git(&["show", &format!("main:{file}")], &ground.origin())
}

#[test]
fn what_was_done_after_the_landing_lands_as_well() {
    let (ground, first, second) = ground(false);
    let agent = ground.agent("a");
    agent.begin(&first, "work");
    killed_at_the_push(&agent, &["finish", "-a", "-m", "work"]);
    assert_eq!(there(&ground, "work"), "by agent:a");
    // Nobody has heard of it, so the work goes on.
    let again = agent.run(&["--json", "start"]).ok().json();
    assert_eq!((&again["issue"]["id"], &again["already_held"]), (&first.as_str().into(), &true.into()));
    agent.write("work", "better\n");
    let landed = agent.run(&["finish", "-a", "-m", "better work"]).ok();
    assert!(landed.stdout.starts_with("landed") && !landed.stderr.contains("not landed"), "{landed}");
    assert_eq!(there(&ground, "work"), "better");
    assert_eq!((ground.told(&first), ground.is_held(&first)), (pair("done", "landed"), false));
    // The worktree is free for the next one.
    assert_eq!(agent.run(&["--json", "start"]).ok().json()["issue"]["id"], second.as_str());
}

/// As above, but somebody of the same clone has fetched meanwhile, and what was done since is in a commit.
#[test]
fn what_was_committed_after_a_landing_that_others_heard_of_lands_as_well() {
    // With the issue's own file among it, which the target has in another state by then, or without.
    for what in ["work", "-A"] {
        let (ground, first, second) = ground(true);
        let agent = ground.agent("a");
        agent.begin(&first, "work");
        killed_at_the_push(&agent, &["finish", "-a", "-m", "work"]);
        agent.write("work", "better\n");
        agent.git(&["add", what]);
        agent.git(&["commit", "-qm", "better work"]);
        ground.main(&["fetch", "-q", "origin"]);
        let landed = agent.run(&["finish"]).ok();
        assert!(landed.stdout.starts_with("landed") && !landed.stderr.contains("not landed"), "{landed}");
        assert_eq!(there(&ground, "work"), "better");
        assert_eq!((ground.told(&first), ground.is_held(&first)), (pair("done", "landed"), false));
        assert_eq!(agent.run(&["--json", "start"]).ok().json()["issue"]["id"], second.as_str());
    }
}

/// What others have landed since stands in its way, so it takes the one who did it.
#[test]
fn what_was_done_after_the_landing_and_conflicts_is_gone_on_with() {
    for shared in [false, true] {
        let (ground, first, second) = ground(shared);
        let agent = ground.agent("a");
        agent.begin(&first, "work");
        killed_at_the_push(&agent, &["finish", "-a", "-m", "work"]);
        others_change_it(&ground);
        agent.write("work", "better\n");
        agent.git(&["add", "work"]);
        agent.git(&["commit", "-qm", "better work"]);

        let again = agent.run(&["--json", "start"]).ok();
        assert!(again.stderr.contains("has landed, but not all that was done since"), "{again}");
        let again = again.json();
        assert_eq!((&again["issue"]["id"], &again["already_held"]), (&first.as_str().into(), &true.into()));
        let refused = agent.run(&["--json", "finish"]).fails(4).json();
        assert_eq!(refused["error"]["code"], "LAND_CONFLICT");
        assert!(ground.is_held(&first));

        let rebased = ground.try_git(&["rebase", "--autostash", "origin/main"], &agent.at);
        assert!(rebased.stdout.contains("CONFLICT"), "{rebased}");
        // Once for what has landed, and once for what came after it.
        for text in ["theirs\n", "both\n"] {
            agent.write("work", text);
            agent.git(&["add", "work"]);
            ground.try_git(&["-c", "core.editor=true", "rebase", "--continue"], &agent.at);
        }
        assert!(agent.run(&["finish"]).ok().stdout.starts_with("landed"));
        assert_eq!(there(&ground, "work"), "both");
        assert_eq!((ground.told(&first), ground.is_held(&first)), (pair("done", "landed"), false));
        assert_eq!(agent.run(&["--json", "start"]).ok().json()["issue"]["id"], second.as_str());
    }
}

/// A gate that fails on it keeps it with whoever did it, too.
#[test]
fn what_was_done_after_the_landing_and_fails_a_gate_is_gone_on_with() {
    let (ground, _, second) = ground(false);
    ground.bench.jit(&["gate", "define", "good", "--command", "! grep -q bad work"]).ok();
    let gated = ground.issue("gated", &["--priority", "critical", "--gate", "good"]);
    ground.main(&["push", "-q", "origin", "main"]);
    let agent = ground.agent("a");
    agent.begin(&gated, "work");
    killed_at_the_push(&agent, &["finish", "-a", "-m", "work"]);
    agent.write("work", "bad\n");
    agent.git(&["commit", "-qam", "worse work"]);
    ground.main(&["fetch", "-q", "origin"]);
    let again = agent.run(&["--json", "start"]).ok();
    assert!(again.stderr.contains("has landed, but not all that was done since"), "{again}");
    assert!(again.stderr.contains("the gate 'good' failed"), "{again}");
    let again = again.json();
    assert_eq!((&again["issue"]["id"], &again["already_held"]), (&gated.as_str().into(), &true.into()));
    assert!(ground.is_held(&gated));
    agent.write("work", "better\n");
    assert!(agent.run(&["finish", "-a", "-m", "better work"]).ok().stdout.starts_with("landed"));
    assert_eq!(there(&ground, "work"), "better");
    assert_eq!((ground.told(&gated), ground.is_held(&gated)), (pair("done", "landed"), false));
    let next = agent.run(&["--json", "start", &second]).ok().json();
    assert_eq!(next["issue"]["id"], second.as_str());
}

/// Some of it is in a commit, and some in none.
#[test]
fn what_was_not_committed_after_the_landing_is_asked_for_with_everything_else() {
    for has_commit in [false, true] {
        let (ground, first, second) = ground(true);
        let agent = ground.agent("a");
        agent.begin(&first, "work");
        killed_at_the_push(&agent, &["finish", "-a", "-m", "work"]);
        agent.write("work", "better\n");
        if has_commit {
            agent.git(&["commit", "-qam", "better work"]);
            ground.main(&["fetch", "-q", "origin"]);
            agent.write("work", "best\n");
            let again = agent.run(&["--json", "start"]).ok();
            assert!(again.stderr.contains("has landed, but not all that was done since"), "{again}");
            assert_eq!(again.json()["issue"]["id"], first.as_str());
            assert!(ground.is_held(&first));
        } else {
            ground.main(&["fetch", "-q", "origin"]);
        }
        assert!(agent.run(&["finish", "-a", "-m", "more"]).ok().stdout.starts_with("landed"));
        assert_eq!(there(&ground, "work"), if has_commit { "best" } else { "better" });
        assert_eq!((ground.told(&first), ground.is_held(&first)), (pair("done", "landed"), false));
        assert_eq!(agent.run(&["--json", "start"]).ok().json()["issue"]["id"], second.as_str());
    }
}

/// What others have changed of it since is no reason to land it again.
#[test]
fn what_has_landed_and_was_changed_by_others_since_is_over() {
    let (ground, first, second) = ground(true);
    let agent = ground.agent("a");
    agent.begin(&first, "work");
    killed_at_the_push(&agent, &["finish", "-a", "-m", "work"]);
    others_change_it(&ground);
    assert_eq!(agent.run(&["--json", "start"]).ok().json()["issue"]["id"], second.as_str());
    assert_eq!(there(&ground, "work"), "theirs");
    assert_eq!((ground.told(&first), ground.is_held(&first)), (pair("done", "landed"), false));
}

#[test]
fn whoever_shares_claims_hears_of_the_landing_and_begins_the_next_one() {
    let (ground, first, second) = ground(true);
    let agent = ground.agent("a");
    agent.begin(&first, "work");
    killed_at_the_push(&agent, &["finish", "-a", "-m", "work"]);
    assert_eq!(there(&ground, "work"), "by agent:a");
    let begun = agent.run(&["--json", "start"]).ok();
    assert_eq!(begun.json()["issue"]["id"], second.as_str(), "{begun}");
    assert_eq!((ground.told(&first), ground.is_held(&first)), (pair("done", "landed"), false));
}

#[test]
fn a_claim_that_nobody_heard_of_is_gone_on_with() {
    let (ground, first, _) = ground(true);
    let agent = ground.agent("a");
    killed_at_the_push(&agent, &["start"]);
    let begun = agent.run(&["--json", "start"]).ok().json();
    assert_eq!(begun["issue"]["id"], first.as_str(), "{begun}");
    assert_eq!(begun["branch"], format!("jit/{}", ground.bench.handle(&first)));
    assert_eq!(ground.bench.leases().len(), 1, "one claim, not two");
    agent.write("work", "done\n");
    agent.run(&["finish", "-a", "-m", "work"]).ok();
    assert_eq!(ground.told(&first), pair("done", "landed"));
}

/// Git writes the files one by one, and the index last.
#[test]
fn a_worktree_that_was_half_way_to_what_landed_arrives() {
    for is_half in [false, true] {
        let (ground, first, second) = ground(true);
        let agent = ground.agent("a");
        agent.begin(&first, "work");
        for (file, text) in
            [("a-new", "theirs\n"), ("b-deadly", "theirs\n"), ("code", "one\ntheirs\nthree\n")]
        {
            std::fs::write(ground.bench.repo().join(file), text).unwrap();
        }
        ground.commit("theirs");
        ground.main(&["push", "-q", "origin", "main"]);
        let deadly = ground.bench.root().join("deadly");
        std::fs::write(&deadly, KILL).unwrap();
        std::fs::write(ground.bench.repo().join(".git/info/attributes"), "b-deadly filter=deadly\n").unwrap();
        ground.main(&["config", "filter.deadly.smudge", &format!("sh {}", deadly.display())]);
        agent.is_killed(&["finish", "-a", "-m", "work"]);
        ground.main(&["config", "--remove-section", "filter.deadly"]);
        assert!(agent.at.join("a-new").exists(), "it was on its way");
        if is_half {
            agent.write("b-deadly", "the");
        }
        let begun = agent.run(&["--json", "start"]).ok();
        assert_eq!(begun.json()["issue"]["id"], second.as_str(), "{begun}");
        assert_eq!(begun.stderr.contains("b-deadly"), is_half, "what made way is told: {begun}");
        assert_eq!((ground.told(&first), ground.is_held(&first)), (pair("done", "landed"), false));
        for file in ["work", "a-new", "b-deadly", "code"] {
            let here = std::fs::read_to_string(agent.at.join(file)).unwrap();
            assert_eq!(here.trim_end(), there(&ground, file), "{file}");
        }
        assert_eq!(agent.git(&["status", "--porcelain", "--", ":!.jit"]), "");
    }
}
