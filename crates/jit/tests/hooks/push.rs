//! What may be pushed: new, changed, deleted and several refs, also by force.

use serde_json::json;

use crate::stage::{Agent, Held, Stage};

/// Commits with trailers of the writer's choice.
fn commit_naming(agent: &Agent<'_>, held: &Held, fence: u64) {
    agent.git(&["add", "-A"]).ok();
    let message = format!(
        "forged\n\nJIT-Lease: {}\nJIT-Issue: {}\nJIT-Agent: {}\nJIT-Worktree: wt:00000000\nJIT-Fence: {fence}\n",
        held.lease, held.issue, agent.name
    );
    // Neither hook of the message runs for what is committed below it.
    let tree = agent.git(&["write-tree"]).ok().line().to_owned();
    let commit = agent.git(&["commit-tree", &tree, "-p", "HEAD", "-m", &message]).ok().line().to_owned();
    agent.git(&["reset", "-q", "--hard", &commit]).ok();
}

#[test]
fn work_under_a_lease_goes_through_however_it_is_pushed() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    a.work(&held, "one").ok();
    a.git(&["push", "-q", "origin", "a"]).ok();
    a.work(&held, "two").ok();
    a.git(&["tag", "-a", "-m", "a tag", "v1"]).ok();
    a.git(&["push", "-q", "origin", "a", "a:refs/heads/copy", "v1"]).ok();
    a.git(&["commit", "-q", "--amend", "-m", "two, rewritten"]).ok();
    a.git(&["push", "-q", "--force", "origin", "a"]).ok();
    a.jit(&["claim", "release", &held.lease]).ok();
    let address = stage.path("origin.git");
    a.git(&["push", "-q", address.to_str().unwrap(), "a:by-address"]).ok();
    a.git(&["push", "-q", "origin", ":copy", ":a"]).ok();
}

#[test]
fn one_bad_ref_stops_the_push_of_all() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.git(&["branch", "-q", "good"]).ok();
    a.edit(&issue, json!({"title": "x"}));
    a.force("without a lease");
    a.git(&["push", "-q", "origin", "good", "a"]).refused(&[&issue, "no fence"]);
    a.git(&["push", "-q", "origin", "good"]).ok();
}

#[test]
fn a_lease_that_was_never_granted_like_that_is_not_believed() {
    let stage = Stage::new();
    let (issue, other) = (stage.issue("work"), stage.issue("other"));
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    let made_up = Held { lease: "01K8ZZZZZZ0000000000000001".into(), ..held.clone() };
    a.write(&held, "x");
    commit_naming(&a, &made_up, held.fence);
    a.git(&["push", "-q", "origin", "a"]).refused(&[&issue, "never granted"]);
    a.git(&["reset", "-q", "--hard", "main"]).ok();
    // The lease is real, but it is on another issue.
    let foreign = Held { issue: other.clone(), ..held.clone() };
    a.write(&foreign, "y");
    commit_naming(&a, &foreign, held.fence);
    a.git(&["push", "-q", "origin", "a"]).refused(&[&other, "never granted"]);
    a.git(&["reset", "-q", "--hard", "main"]).ok();
    a.edit(&issue, json!({"title": "z", "fence": held.fence + 7, "fence_log": held.log}));
    a.force("a fence from nowhere");
    a.git(&["push", "-q", "origin", "a"]).refused(&[&issue, "not that of a lease"]);
}

#[test]
fn a_change_beside_the_issue_needs_a_name() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    std::fs::write(a.dir.join(format!(".jit/issues/{issue}/labels.or-set.jsonl")), "\n").unwrap();
    a.force("labels");
    a.git(&["push", "-q", "origin", "a"]).refused(&[&issue, "names no lease", "jit commit --amend"]);
    a.claim(&issue);
    a.jit(&["commit", "-q", "--amend", "--no-edit"]).ok();
    a.git(&["push", "-q", "origin", "a"]).ok();
}

#[test]
fn a_branch_is_not_pushed_back_behind_what_it_has() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let start = stage.main().head();
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let held = b.claim(&issue);
    b.work(&held, "by b").ok();
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    // Not fetched: what is there cannot be compared.
    let other = stage.path("clone");
    a.git(&["clone", "-q", "../origin.git", other.to_str().unwrap()]).ok();
    let clone = stage.at("agent:c", "clone");
    clone.git(&["commit", "-q", "--allow-empty", "-m", "unseen"]).ok();
    clone.git(&["push", "-q", "origin", "main"]).ok();
    let push = format!("{start}:refs/heads/main");
    a.git(&["push", "-q", "--force", "origin", &push]).refused(&["not here", "git fetch origin"]);
    a.git(&["fetch", "-q", "origin"]).ok();
    a.git(&["push", "-q", "--force", "origin", &push]).refused(&[&issue, "already has fence", "agent:b"]);
    // A branch that never had the issue.
    let root = format!("{start}^:refs/heads/main");
    a.git(&["push", "-q", "--force", "origin", &root]).refused(&[&issue, "would remove it"]);
}

#[test]
fn who_holds_an_issue_may_delete_it() {
    let stage = Stage::new();
    let (issue, other) = (stage.issue("work"), stage.issue("other"));
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    a.work(&held, "last words").ok();
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    a.git(&["rm", "-q", "-r", &format!(".jit/issues/{issue}")]).ok();
    a.git(&["commit", "-q", "-m", "gone"]).ok();
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    a.git(&["rm", "-q", "-r", &format!(".jit/issues/{other}")]).ok();
    a.git(&["commit", "-q", "--no-verify", "-m", "gone too"]).ok();
    a.git(&["push", "-q", "origin", "a:main"]).refused(&[&other]);
}

#[test]
fn what_a_log_archived_is_still_known() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    a.work(&held, "x").ok();
    a.jit(&["claim", "release", &held.lease]).ok();
    let control = stage.path("repo/.git/jit");
    let sys = holdfast_sys::Sys::os();
    let config =
        holdfast_tracker::config::Config::load(&sys, &holdfast_tracker::config::Sources::default()).unwrap();
    holdfast_tracker::claims::log_at(&sys, &control, 0o600).cut(&config.policy()).unwrap();
    assert!(control.join("claims.jsonl.1").exists());
    a.git(&["push", "-q", "origin", "a"]).ok();
}

#[test]
fn what_concerns_everybody_goes_to_allowed_branches_only() {
    let stage = Stage::new();
    let a = stage.agent("agent:a", "a");
    a.config("[coordination]\ndefault_ttl_secs = 60\n");
    a.force("configure");
    a.git(&["push", "-q", "origin", "a"]).refused(&["main or develop", "not on a"]);
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    // On main it is everybody's; branches that have it may go anywhere.
    a.git(&["push", "-q", "origin", "a"]).ok();
    std::fs::write(a.dir.join(".jit/worktree.json"), "{}").unwrap();
    a.git(&["add", "-f", ".jit/worktree.json"]).ok();
    a.git(&["commit", "-q", "--no-verify", "-m", "identity"]).ok();
    a.git(&["push", "-q", "origin", "a"]).refused(&["worktree.json", "never committed"]);
}

#[test]
fn claims_of_another_clone_are_judged_as_configured() {
    for (mode, passes) in [("warn", true), ("allow", true), ("reject", false)] {
        let stage = Stage::new();
        let main = stage.main();
        main.config(&format!("[enforcement]\nforeign_claims = \"{mode}\"\n"));
        main.commit("configure").ok();
        let issue = stage.issue("work");
        let clone = stage.path("clone");
        main.git(&["clone", "-q", "../origin.git", clone.to_str().unwrap()]).ok();
        let far = stage.at("agent:far", "clone");
        let theirs = far.claim(&issue);
        far.work(&theirs, "far away").ok();
        far.git(&["push", "-q", "origin", "main"]).ok();
        // Here nobody knows that lease: the issue is free, and its fence means nothing to this log.
        main.git(&["pull", "-q", "--rebase", "origin", "main"]).ok();
        let ours = main.claim(&issue);
        main.write(&ours, "here");
        main.commit("here").ok();
        let pushed = main.git(&["push", "-q", "origin", "main"]);
        assert_eq!(pushed.stderr.contains("another clone"), mode != "allow", "{mode}: {pushed}");
        assert_eq!(pushed.code == Some(0), passes, "{mode}: {pushed}");
    }
}

#[test]
fn a_push_is_as_strict_as_it_is_configured() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let main = stage.main();
    main.config("[worktree]\nenforce_leases = \"warn\"\n");
    main.edit(&issue, json!({"title": "x"}));
    main.commit("warned").ok();
    main.git(&["push", "-q", "origin", "main"]).ok().says(&["warning:", &issue]);
    main.config("[worktree]\nenforce_leases = \"off\"\n");
    main.edit(&issue, json!({"title": "y"}));
    main.commit("free").ok();
    assert_eq!(main.git(&["push", "-q", "origin", "main"]).ok().stderr, "");
}

/// A plain revert of what landed takes the word back with the work; the way to do that is named.
#[test]
fn a_plain_revert_of_a_landing_is_refused_with_the_way_to_do_it() {
    let stage = Stage::new();
    let (fresh, held_before) = (stage.issue("never held"), stage.issue("held before"));
    let a = stage.agent("agent:a", "a");
    let first = a.claim(&held_before);
    a.work(&first, "by a").ok();
    a.jit(&["claim", "release", &first.lease]).ok();
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    for issue in [&fresh, &held_before] {
        let held = a.claim(issue);
        a.work(&held, "landed").ok();
        a.jit(&["claim", "release", &held.lease]).ok();
        a.git(&["push", "-q", "origin", "a:main"]).ok();
        a.git(&["-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD"]).ok();
        let reopen = format!("jit reopen {issue} --revert");
        let handle =
            a.jit(&["--json", "show", issue]).ok().json()["issue"]["handle"].as_str().unwrap().to_owned();
        let refused = a.git(&["push", "-q", "origin", "a:main"]);
        assert_ne!(refused.code, Some(0), "{refused}");
        let by_handle = format!("jit reopen {handle} --revert");
        assert!(refused.stderr.contains(&reopen) || refused.stderr.contains(&by_handle), "{refused}");
        a.git(&["reset", "-q", "--hard", "HEAD^"]).ok();
    }
}
