//! Finished work that waits on its branch, where several clones share their claims: no other clone does it again, also one
//! that has fetched nothing since.

use holdfast_trial::etcd::Cluster;

use crate::etcd::{in_etcd, worktree};
use crate::ground::Ground;
use crate::machines::{clone, issues, shared};

/// What two clones do, one of which finishes work that waits for review.
fn is_done_once(ground: &Ground) {
    let ids = issues(ground, 4);
    let (one, two) = (clone(ground, "one"), clone(ground, "two"));
    let (ann, bob) = (worktree(ground, &one, "ann"), worktree(ground, &two, "bob"));
    let by_ann = |args: &[&str]| ground.bench.run_at("agent:ann", args, &ann);
    let by_bob = |args: &[&str]| ground.bench.run_at("agent:bob", args, &bob);
    by_bob(&["start", &ids[3]]).ok();
    by_bob(&["drop"]).ok();

    let mut branches = Vec::new();
    for (id, file) in ids.iter().zip(["first", "second"]) {
        assert_eq!(by_ann(&["--json", "start"]).ok().json()["issue"]["id"], **id);
        std::fs::write(ann.join(file), "by ann\n").unwrap();
        by_ann(&["finish", "-a", "-m", file, "--no-land"]).ok();
        branches.push(ground.git(&["branch", "--show-current"], &ann));
    }
    // Who has fetched the last branch alone has not seen the one before.
    ground.git(&["fetch", "-q", "origin", &format!("+{0}:refs/remotes/origin/{0}", branches[1])], &two);
    let begun = by_bob(&["--json", "start"]).ok().json();
    assert_eq!(begun["issue"]["id"], *ids[2], "{begun}");
    by_bob(&["drop"]).ok();
    assert_eq!(by_bob(&["--json", "claim", "next"]).ok().json()["lease"]["issue_id"], *ids[2]);
    by_bob(&["claim", "release", &ids[2]]).ok();

    // Changes are requested: who begins it by name has what there is.
    by_bob(&["start", &ids[0]]).ok();
    assert!(bob.join("first").exists());
    std::fs::write(bob.join("first"), "by bob\n").unwrap();
    by_bob(&["finish", "-a", "-m", "better", "--no-land"]).ok();
    assert_eq!(by_ann(&["--json", "start"]).ok().json()["issue"]["id"], *ids[2]);
    assert_eq!(ground.git(&["show", &format!("origin/{}:first", branches[0])], &one), "by bob");
    by_ann(&["drop"]).ok();

    // A forge has merged one of them in words of its own, and deleted the branch.
    ground.git(&["clone", "-q", ground.origin().to_str().unwrap(), "forge"], ground.bench.root());
    let forge = ground.bench.root().join("forge");
    ground.git(&["merge", "-q", "--squash", &format!("origin/{}", branches[1])], &forge);
    ground.git(&["commit", "-qm", "Squashed"], &forge);
    ground.git(&["push", "-q", "origin", "main", &format!(":{}", branches[1])], &forge);
    let begun = by_bob(&["--json", "start"]).ok().json();
    assert_eq!(begun["issue"]["id"], *ids[2], "{begun}");
}

#[test]
fn what_waits_on_its_branch_is_done_once_where_the_server_keeps_the_claims() {
    is_done_once(&shared());
}

#[test]
fn what_waits_on_its_branch_is_done_once_where_etcd_keeps_the_claims() {
    let ground = Ground::with_origin();
    let Some(cluster) = Cluster::start(ground.bench.root(), 1) else { return };
    in_etcd(&ground, &cluster);
    is_done_once(&ground);
}

/// What was deleted does not come back from a branch that a clone still has.
#[test]
fn what_was_deleted_is_not_brought_back_by_a_branch() {
    let ground = shared();
    let ids = issues(&ground, 2);
    let one = clone(&ground, "one");
    let ann = worktree(&ground, &one, "ann");
    ground.bench.run_at("agent:ann", &["start", &ids[0]], &ann).ok();
    std::fs::write(ann.join("file"), "by ann\n").unwrap();
    ground.bench.run_at("agent:ann", &["finish", "-a", "-m", "x", "--no-land"], &ann).ok();
    ground.main(&["rm", "-rq", &format!(".jit/issues/{}", ids[0])]);
    ground.main(&["commit", "-qm", "not wanted any more"]);
    ground.main(&["push", "-q", "origin", "main"]);
    let two = clone(&ground, "two");
    assert_eq!(
        ground.bench.run_at("agent:bob", &["--json", "start"], &two).ok().json()["issue"]["id"],
        *ids[1]
    );
    ground.bench.run_at("agent:bob", &["sync"], &two).ok();
    ground.bench.run_at("agent:bob", &["show", &ids[0]], &two).fails(3);
}

/// Nobody asks for branches again that were fetched already.
#[test]
fn branches_are_fetched_once_for_a_push_of_others_and_never_for_ones_own() {
    let ground = shared();
    let ids = issues(&ground, 3);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let (ann, bob) = (worktree(&ground, &one, "ann"), worktree(&ground, &two, "bob"));
    let fetches = |agent: &str, at: &std::path::Path| {
        let (trace, id) = (ground.bench.root().join("trace"), &ids[2]);
        let mut start = ground.bench.command(agent, &["start", id], at);
        assert!(start.env("GIT_TRACE", &trace).output().unwrap().status.success());
        ground.bench.run_at(agent, &["drop"], at).ok();
        let text = std::fs::read_to_string(&trace).unwrap_or_default();
        let _ = std::fs::remove_file(&trace);
        text.lines().filter(|line| line.contains("fetch -q --no-tags origin")).count()
    };
    assert_eq!((fetches("agent:ann", &ann), fetches("agent:bob", &bob)), (0, 0));
    ground.bench.run_at("agent:ann", &["start", &ids[0]], &ann).ok();
    std::fs::write(ann.join("file"), "by ann\n").unwrap();
    ground.bench.run_at("agent:ann", &["finish", "-a", "-m", "x", "--no-land"], &ann).ok();
    assert_eq!((fetches("agent:ann", &ann), fetches("agent:bob", &bob)), (0, 1));
    assert_eq!((fetches("agent:ann", &ann), fetches("agent:bob", &bob)), (0, 0));
}
