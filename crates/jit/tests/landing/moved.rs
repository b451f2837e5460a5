//! Where claims are kept if worktrees, branches and clones say different things of it: what the landing branch says, and never
//! a place that they have left.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use holdfast_trial::Answer;

use crate::ground::Ground;
use crate::machines::{clone, error, issues, shared};

const OTHER: &str = "refs/worktree/jit/other";
const MIGRATE: [&str; 6] = ["engine", "migrate", "--to", "git", "--ref", OTHER];

/// A worktree of a clone, on a commit from before.
fn worktree(ground: &Ground, of: &Path, name: &str, commit: &str) -> PathBuf {
    let at = ground.bench.root().join(name);
    ground.git(&["worktree", "add", "-q", "--detach", at.to_str().unwrap(), commit], of);
    at
}

fn publish(ground: &Ground) {
    ground.commit("claims are kept elsewhere");
    ground.main(&["push", "-q", "origin", "main"]);
}

#[test]
fn a_place_that_claims_have_left_outranks_every_configuration() {
    let ground = shared();
    let ids = issues(&ground, 3);
    let (here, two) = (ground.bench.repo(), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    let moved = |answer: &Answer| assert_eq!(error(answer), "MOVED", "{answer}");
    let old = worktree(&ground, &here, "old", "main");
    run("agent:x", &["claim", "acquire", &ids[0]], &old).ok();
    run("agent:y", &["claim", "list"], &two).ok();
    // Cut off between the seal and the new place: nothing is granted in either.
    let hook = ground.origin().join("hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n[ $1 != {OTHER} ]\n")).unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(error(&ground.bench.jit(&[&["--json"], &MIGRATE[..]].concat())), "REFUSED");
    for (agent, at) in [("agent:x", &old), ("agent:y", &two), ("agent:z", &here)] {
        moved(&run(agent, &["--json", "claim", "acquire", &ids[1]], at));
    }
    std::fs::remove_file(&hook).unwrap();
    ground.bench.jit(&MIGRATE).ok();
    // This clone knows, whatever its worktrees have checked out; nobody has committed anything yet.
    run("agent:x", &["claim", "renew", &ids[0]], &old).ok();
    run("agent:x", &["claim", "acquire", &ids[1]], &old).ok();
    // Another one is refused, also if it insists.
    moved(&run("agent:y", &["--json", "claim", "acquire", &ids[2]], &two));
    let config = std::fs::read_to_string(two.join(".jit/config.toml")).unwrap();
    run("agent:y", &["config", "set", "coordination.engine", "local"], &two).ok();
    moved(&run("agent:y", &["--json", "claim", "acquire", &ids[2]], &two));
    std::fs::write(two.join(".jit/config.toml"), &config).unwrap();
    moved(&run("agent:y", &["--json", "engine", "init", "git"], &two));
    publish(&ground);
    ground.git(&["fetch", "-q"], &two);
    // What is checked out there still names the old place, and the landing branch the new one.
    let refused = run("agent:y", &["claim", "acquire", &ids[0]], &two);
    assert!(refused.code == Some(4) && refused.stderr.contains("agent:x"), "{refused}");
    run("agent:y", &["claim", "acquire", &ids[2]], &two).ok();
    let status = run("agent:y", &["--json", "engine", "status"], &two).ok().json();
    assert_eq!(status["engine"]["shared"]["ref"], OTHER, "{status}");
    assert_eq!(
        ground.git(&["rev-list", "--count", OTHER], &ground.origin()),
        "4",
        "made, renewed, two grants"
    );
}

/// The old place still has the claim, and nobody can end it there any more.
#[test]
fn nothing_is_written_under_a_claim_that_only_the_old_place_has() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    run("agent:x", &["claim", "acquire", &id], &one).ok();
    ground.bench.jit(&MIGRATE).ok();
    publish(&ground);
    ground.git(&["pull", "-q", "--ff-only"], &two);
    run("agent:y", &["claim", "force-evict", &id, "--reason", "it sleeps"], &two).ok();
    run("agent:y", &["claim", "acquire", &id], &two).ok();
    run("agent:x", &["engine", "status", "--fresh"], &one).ok();
    let refused = run("agent:x", &["--json", "issue", "update", &id, "--priority", "high"], &one);
    assert_eq!(error(&refused), "MOVED", "{refused}");
}

#[test]
fn the_engine_is_the_one_of_the_landing_branch() {
    let ground = Ground::with_origin();
    let ids = issues(&ground, 2);
    let before = ground.main(&["rev-parse", "main"]);
    let two = clone(&ground, "two");
    ground.bench.jit(&["engine", "init", "git"]).ok();
    publish(&ground);
    ground.bench.run_at("agent:x", &["claim", "acquire", &ids[0]], &ground.bench.repo()).ok();
    // It has heard of the engine, and has nothing checked out that names it.
    ground.git(&["fetch", "-q"], &two);
    let old = worktree(&ground, &two, "old", &before);
    for at in [&two, &old] {
        let refused = ground.bench.run_at("agent:y", &["--json", "claim", "acquire", &ids[0]], at);
        assert_eq!(refused.code, Some(4), "{refused}");
        assert!(refused.stdout.contains("agent:x"), "{refused}");
    }
    ground.bench.run_at("agent:y", &["claim", "acquire", &ids[1]], &old).ok();
    let listed = ground.bench.run_at("agent:y", &["claim", "list"], &two).ok().stdout;
    assert!(listed.contains("agent:x") && listed.contains("agent:y"), "{listed}");
}
