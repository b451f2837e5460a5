//! A bare origin that judges what arrives.

use holdfast_trial::Answer;
use serde_json::json;

use crate::stage::Stage;

/// A stage whose origin judges; it sees the log if `sees` is set.
fn judging(sees: bool) -> Stage {
    let stage = Stage::bare();
    let origin = stage.path("origin.git");
    stage.main().jit(&["hooks", "install", "--pre-receive", origin.to_str().unwrap()]).ok();
    if !sees {
        let forget = ["config", "--file", "config", "--unset-all", "jit.controlplane"];
        stage.run("git", "x", &forget, &origin).ok();
    }
    stage
}

fn refs(stage: &Stage) -> Answer {
    stage.run("git", "x", &["for-each-ref", "--format=%(refname)"], &stage.path("origin.git")).ok()
}

#[test]
fn work_under_a_lease_is_accepted_in_quarantine_and_out_of_it() {
    for sees in [true, false] {
        let stage = judging(sees);
        let issue = stage.issue("work");
        let a = stage.agent("agent:a", "a");
        let held = a.claim(&issue);
        a.work(&held, "one").ok();
        // Large enough to arrive as a pack instead of single objects.
        for number in 0..200 {
            std::fs::write(a.dir.join(format!("file-{number}")), number.to_string()).unwrap();
        }
        a.commit("many files").ok();
        a.git(&["push", "-q", "origin", "a", "a:copy", "a:main"]).ok();
        a.git(&["push", "-q", "origin", "--delete", "copy"]).ok();
        assert_eq!(refs(&stage).line(), "refs/heads/a\nrefs/heads/main");
    }
}

#[test]
fn what_was_done_without_a_lease_is_not_accepted() {
    let stage = judging(true);
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.edit(&issue, json!({"title": "x"}));
    a.commit("without").ok();
    let said = a.git(&["push", "-q", "origin", "a"]).refused(&[&issue, "pre-receive hook declined"]);
    assert!(said.stderr.contains("remote: "), "{said}");
    assert_eq!(refs(&stage).line(), "refs/heads/main");
}

#[test]
fn an_origin_without_a_log_compares_fences() {
    let stage = judging(false);
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let first = a.claim(&issue);
    a.work(&first, "by a").ok();
    a.jit(&["claim", "release", &first.lease]).ok();
    let second = b.claim(&issue);
    b.work(&second, "by b").ok();
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    a.git(&["push", "-q", "--force", "origin", "a:main"]).refused(&[&issue, "already has fence"]);
    // A file that lost its fence is older than any.
    b.edit(&issue, json!({"title": "x", "fence": null}));
    b.commit("unfenced").ok();
    b.git(&["push", "-q", "origin", "b:main"]).refused(&[&issue, "without a fence"]);
    b.git(&["reset", "-q", "--hard", "main"]).ok();
    b.git(&["push", "-q", "--force", "origin", "b:main"]).refused(&[&issue]);
}

#[test]
fn what_concerns_everybody_is_accepted_on_allowed_branches_only() {
    let stage = judging(false);
    let a = stage.agent("agent:a", "a");
    a.config("[global_operations]\nallowed_branches = [\"a\"]\n");
    a.commit("configure").ok();
    a.git(&["push", "-q", "origin", "a"]).refused(&["main or develop"]);
    a.git(&["push", "-q", "origin", "a:main"]).ok();
}

#[test]
fn the_origins_own_branch_says_how_strict_it_is() {
    let stage = judging(true);
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    // Whoever pushes cannot turn it off in the same push.
    a.config("[worktree]\nenforce_leases = \"off\"\n");
    a.edit(&issue, json!({"title": "x"}));
    a.commit("off").ok();
    a.git(&["push", "-q", "origin", "a:main"]).refused(&[&issue]);
    let main = stage.main();
    main.config("[worktree]\nenforce_leases = \"off\"\n");
    main.commit("off").ok();
    main.git(&["push", "-q", "origin", "main"]).ok();
    a.git(&["push", "-q", "--force", "origin", "a:other"]).refused(&["main or develop"]);
    main.edit(&issue, json!({"title": "y"}));
    main.commit("free").ok();
    main.git(&["push", "-q", "origin", "main"]).ok();
}

#[test]
fn worktrees_of_the_origin_itself_share_its_log() {
    let stage = Stage::bare();
    let origin = stage.path("origin.git");
    let path = stage.path("w");
    let add = ["worktree", "add", "-q", "-b", "w", path.to_str().unwrap(), "main"];
    stage.run("git", "x", &add, &origin).ok();
    let work = stage.at("agent:w", "w");
    work.jit(&["hooks", "install"]).ok();
    let id = work.jit(&["-q", "issue", "create", "--title", "here"]).ok().line().to_owned();
    work.commit("create").ok();
    work.edit(&id, json!({"title": "x"}));
    work.commit("change").refused(&[&id]);
    let held = work.claim(&id);
    work.work(&held, "x").ok();
    work.jit(&["hooks", "install", "--pre-receive", origin.to_str().unwrap()]).ok();
    let clone = stage.path("clone");
    work.git(&["clone", "-q", "-b", "w", origin.to_str().unwrap(), clone.to_str().unwrap()]).ok();
    let far = stage.at("agent:far", "clone");
    far.edit(&id, json!({"title": "far", "fence": held.fence}));
    far.later(7_200).force("with a lease that is over by then");
    far.git(&["push", "-q", "origin", "w:far"]).refused(&[&id, "not in force then"]);
}

#[test]
fn uninstalling_leaves_the_origin_as_it_was() {
    let stage = Stage::bare();
    let origin = stage.path("origin.git");
    let config = std::fs::read(origin.join("config")).unwrap();
    let text = origin.to_str().unwrap();
    let main = stage.main();
    main.jit(&["hooks", "install", "--pre-receive", text]).ok();
    main.jit(&["hooks", "install", "--pre-receive", text]).ok();
    let status = main.jit(&["--json", "hooks", "status", "--pre-receive", text]).ok().json();
    assert_eq!(status["hooks"][0]["state"], "installed");
    main.jit(&["hooks", "uninstall", "--pre-receive", text]).ok();
    assert!(!origin.join("hooks/pre-receive").exists());
    let after = String::from_utf8(std::fs::read(origin.join("config")).unwrap()).unwrap();
    assert_eq!(after.replace("[jit]\n", ""), String::from_utf8(config).unwrap());
}
