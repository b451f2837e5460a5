//! The stories of `docs/landing.md`, each as somebody lives through it.

use std::os::unix::fs::PermissionsExt as _;

use crate::ground::{Ground, pair};

/// Has the remote take no pushes to the target, as a forge does that protects it.
fn protect(ground: &Ground) {
    let hook = ground.origin().join("hooks/pre-receive");
    let text = "#!/bin/sh\nwhile read -r _ _ name; do [ \"$name\" != refs/heads/main ] || { echo 'main is protected' >&2; exit 1; }; done\n";
    std::fs::write(&hook, text).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Has the forge take a branch in its own words, and delete it if it is told to.
fn merge_at_the_forge(ground: &Ground, branch: &str, delete: bool) {
    let _ = std::fs::remove_file(ground.origin().join("hooks/pre-receive"));
    let forge = tempfile::tempdir().unwrap();
    let at = forge.path();
    ground.git(&["clone", "-q", ground.origin().to_str().unwrap(), "."], at);
    ground.git(&["merge", "-q", "--squash", &format!("origin/{branch}")], at);
    ground.git(&["commit", "-q", "-m", "Merged by the forge (#1)"], at);
    ground.git(&["push", "-q", "origin", "main"], at);
    if delete {
        ground.git(&["push", "-q", "origin", "--delete", branch], at);
    }
}

/// The branch that something waits on.
pub(crate) fn waits(answer: &serde_json::Value) -> String {
    assert_eq!(answer["finished"]["outcome"], "waiting", "{answer}");
    answer["finished"]["branch"].as_str().unwrap().to_owned()
}

#[test]
fn a_target_that_refuses_pushes_is_named_with_the_way_out() {
    let ground = Ground::with_origin();
    let id = ground.issue("refused", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    protect(&ground);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    let refused = agent.run(&["finish", "-a", "-m", "work"]).fails(4);
    let refused = refused.says(&["main is protected", "hint: jit config set landing.via review"]);
    assert!(!refused.stderr.contains("moved"), "{refused}");
    assert!(ground.is_held(&id));
    agent.run(&["config", "set", "landing.via", "review"]);
    let branch = waits(&agent.run(&["--json", "finish", "--no-land"]).ok().json());
    assert_eq!((ground.told(&id), ground.is_held(&id)), (pair("done", "on_branch"), false));
    // Nobody is held up: the next one is begun in the same worktree.
    let next = ground.issue("next", &[]);
    agent.run(&["start", &next]).ok();
    merge_at_the_forge(&ground, &branch, false);
    ground.bench.jit(&["sync"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
}

#[test]
fn changes_requested_are_made_where_the_work_is() {
    let ground = Ground::with_origin();
    ground.bench.jit(&["config", "set", "landing.via", "review"]).ok();
    ground.commit("by review");
    let id = ground.issue("reviewed", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    let branch = waits(&agent.run(&["--json", "finish", "-a", "-m", "work"]).ok().json());
    agent.run(&["start"]).fails(3);
    // Somebody else goes on, while the first worktree still has the branch.
    let other = ground.agent("b");
    let begun = other.run(&["--json", "start", &id]).ok().json();
    assert_eq!(begun["issue"]["state"], "in_progress");
    assert_eq!(std::fs::read_to_string(other.at.join("work")).unwrap(), "by agent:a\n");
    other.write("work", "as requested\n");
    let again = waits(&other.run(&["--json", "finish", "-a", "-m", "as requested"]).ok().json());
    assert_ne!(again, branch, "two worktrees have one branch");
    assert_eq!(ground.told(&id), pair("done", "on_branch"));
    merge_at_the_forge(&ground, &again, true);
    ground.main(&["fetch", "-q", "--prune", "origin"]);
    assert_eq!(ground.told(&id), pair("done", "landed"));
    // The branches are gone with the merge, and nothing is missing.
    for agent in [&agent, &other] {
        agent.git(&["switch", "-q", "--detach", "origin/main"]);
    }
    for branch in [&branch, &again] {
        ground.main(&["branch", "-q", "-D", branch]);
    }
    assert_eq!(ground.told(&id), pair("done", "landed"));
}

/// A forge answers a push with the address at which the review is asked for, which nobody should have to look for.
#[test]
fn what_a_forge_says_to_a_push_is_told() {
    let ground = Ground::with_origin();
    let id = ground.issue("reviewed", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let hook = ground.origin().join("hooks/post-receive");
    std::fs::write(&hook, "#!/bin/sh\necho hello\necho '  https://forge.example/pull/new/x'\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    let told = agent.run(&["finish", "-a", "-m", "work", "--no-land"]).ok();
    assert!(told.stderr.contains("the remote says: https://forge.example/pull/new/x"), "{told}");
    assert!(!told.stderr.contains("hello"), "{told}");
    // It is kept with the issue by whoever asked for the review.
    agent.run(&["start", &id]).ok();
    let link = "pull_request=https://forge.example/pull/7";
    agent.run(&["issue", "update", &id, "--link", link]).ok();
    assert_eq!(ground.shown(&id)["issue"]["links"]["pull_request"], "https://forge.example/pull/7");
}

/// Once there is a review, a forge names it. That is where the work is to be seen, so the issue leads there.
#[test]
fn a_review_that_a_forge_names_is_kept_with_the_issue() {
    let ground = Ground::with_origin();
    let id = ground.issue("reviewed", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let hook = ground.origin().join("hooks/post-receive");
    let asks = "#!/bin/sh\necho 'Create it: https://forge.example/o/r/pull/new/x'\n";
    std::fs::write(&hook, asks).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = ground.agent("a");
    let finish = ["--json", "finish", "-a", "-m", "work", "--no-land"];
    agent.begin(&id, "work");
    let branch = waits(&agent.run(&finish).ok().json());
    let link = || ground.shown(&id)["issue"]["links"]["pull_request"].clone();
    assert!(link().is_null(), "there is none yet");
    std::fs::write(&hook, "#!/bin/sh\necho 'View it: https://forge.example/o/r/pull/7'\n").unwrap();
    agent.begin(&id, "more");
    waits(&agent.run(&finish).ok().json());
    let address = "https://forge.example/o/r/pull/7";
    assert_eq!((link(), ground.told(&id)), (address.into(), pair("done", "on_branch")));
    let file = format!("{branch}:.jit/issues/{id}/issue.json");
    assert!(ground.git(&["show", &file], &ground.origin()).contains(address), "whoever merges it has it too");
    assert!(!ground.is_held(&id));
    merge_at_the_forge(&ground, &branch, true);
    ground.main(&["pull", "-q", "--ff-only"]);
    assert_eq!((link(), ground.told(&id)), (address.into(), pair("done", "landed")));
}

#[test]
fn what_is_dropped_after_a_review_is_ready_again() {
    let ground = Ground::with_origin();
    let id = ground.issue("dropped", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    waits(&agent.run(&["--json", "finish", "-a", "-m", "work", "--no-land"]).ok().json());
    agent.run(&["start", &id]).ok();
    agent.run(&["drop", &id]).ok();
    assert_eq!(ground.told(&id), pair("ready", "open"));
    let other = ground.agent("b");
    assert_eq!(other.run(&["--json", "start"]).ok().json()["issue"]["id"], id.as_str());
}

#[test]
fn a_branch_that_is_deleted_without_a_merge_is_done_again() {
    let ground = Ground::new();
    let id = ground.issue("deleted", &[]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    let branch = waits(&agent.run(&["--json", "finish", "-a", "-m", "work", "--no-land"]).ok().json());
    agent.git(&["switch", "-q", "--detach", "main"]);
    ground.main(&["branch", "-q", "-D", &branch]);
    assert_eq!(ground.told(&id), pair("in_progress", "lost"));
    assert_eq!(ground.agent("b").run(&["--json", "start"]).ok().json()["issue"]["id"], id.as_str());
}

/// Gates are judged before a review too, on what would land.
#[test]
fn gates_are_judged_before_a_review() {
    let ground = Ground::new();
    ground.bench.jit(&["gate", "define", "there", "--command", "test -f work"]).ok();
    ground.commit("a gate");
    let id = ground.issue("gated", &["--gate", "there"]);
    let agent = ground.agent("a");
    agent.begin(&id, "other");
    agent.run(&["finish", "-a", "-m", "work", "--no-land"]).fails(7);
    agent.write("work", "work\n");
    waits(&agent.run(&["--json", "finish", "-a", "-m", "work", "--no-land"]).ok().json());
    assert_eq!(ground.told(&id), pair("done", "on_branch"));
}

/// A stack of two: the second begins on the branch of the first, and lands after it, without landing it twice.
#[test]
fn a_stack_lands_from_below() {
    let ground = Ground::new();
    ground.bench.jit(&["config", "set", "landing.dependencies", "done"]).ok();
    ground.commit("stacks");
    let below = ground.issue("below", &[]);
    let above = ground.issue("above", &["--depends-on", &below]);
    let (one, two) = (ground.agent("one"), ground.agent("two"));
    one.begin(&below, "below");
    waits(&one.run(&["--json", "finish", "-a", "-m", "below", "--no-land"]).ok().json());
    two.begin(&above, "above");
    assert!(two.at.join("below").exists(), "it does not begin where the first one ended");
    let ended = two.run(&["--json", "finish", "-a", "-m", "above"]).ok().json();
    assert!(ended["finished"]["reason"].as_str().unwrap().contains("waits for"), "{ended}");
    assert_eq!(ground.told(&above), pair("done", "on_branch"));
    // Whatever else lands meanwhile.
    std::fs::write(ground.bench.repo().join("meanwhile"), "").unwrap();
    ground.commit("meanwhile");
    let landed = ground.bench.jit(&["--json", "land", "--all"]).ok().json();
    assert_eq!(landed["count"], 2, "{landed}");
    assert_eq!((ground.told(&below), ground.told(&above)), (pair("done", "landed"), pair("done", "landed")));
    let subjects = ground.landed();
    for subject in ["below", "above"] {
        assert_eq!(subjects.iter().filter(|landed| *landed == subject).count(), 1, "{subjects:?}");
    }
}

/// The issue below lands in the words of a forge; what is above it does not bring it again.
#[test]
fn a_stack_goes_on_after_a_squash() {
    let ground = Ground::with_origin();
    ground.bench.jit(&["config", "set", "landing.dependencies", "done"]).ok();
    ground.commit("stacks");
    let below = ground.issue("below", &[]);
    let above = ground.issue("above", &["--depends-on", &below]);
    ground.main(&["push", "-q", "origin", "main"]);
    let (one, two) = (ground.agent("one"), ground.agent("two"));
    one.begin(&below, "below");
    let branch = waits(&one.run(&["--json", "finish", "-a", "-m", "below", "--no-land"]).ok().json());
    two.begin(&above, "above");
    waits(&two.run(&["--json", "finish", "-a", "-m", "above"]).ok().json());
    merge_at_the_forge(&ground, &branch, true);
    ground.bench.jit(&["sync"]).ok();
    ground.bench.jit(&["land", "--all"]).ok();
    assert_eq!(ground.told(&above), pair("done", "landed"));
    let subjects = ground.git(&["log", "--format=%s", "main"], &ground.origin());
    assert_eq!(subjects.lines().take(2).collect::<Vec<_>>(), ["above", "Merged by the forge (#1)"]);
}

#[test]
fn a_person_on_main_is_held_to_the_gates() {
    let ground = Ground::with_origin();
    ground.bench.jit(&["gate", "define", "there", "--command", "test -f work"]).ok();
    ground.commit("a gate");
    let id = ground.issue("direct", &["--gate", "there"]);
    ground.main(&["push", "-q", "origin", "main"]);
    let person = |args: &[&str]| ground.bench.run("person:ann", args);
    person(&["start", &id]).ok();
    std::fs::write(ground.bench.repo().join("other"), "").unwrap();
    person(&["finish", "-a", "-m", "direct"]).fails(7);
    assert!(ground.is_held(&id));
    std::fs::write(ground.bench.repo().join("work"), "").unwrap();
    person(&["finish", "-a", "-m", "direct"]).ok();
    assert_eq!((ground.told(&id), ground.is_held(&id)), (pair("done", "landed"), false));
    assert_eq!(ground.git(&["log", "-1", "--format=%s", "main"], &ground.origin()), "direct");
}

#[test]
fn two_issues_in_one_branch_land_together() {
    let ground = Ground::new();
    let (one, two) = (ground.issue("one", &[]), ground.issue("two", &[]));
    let agent = ground.agent("a");
    agent.begin(&one, "first");
    agent.run(&["start", &two, "--another", "--here"]).ok();
    agent.write("second", "work\n");
    agent.run(&["finish"]).fails(6);
    // The other one is not over, and comes along only if somebody says so.
    let refused = agent.run(&["--json", "finish", &one, "-a", "-m", "both"]).fails(6).json();
    assert_eq!(refused["error"]["code"], "OTHER_ISSUES", "{refused}");
    agent.run(&["issue", "update", &two, "--state", "done"]).ok();
    agent.run(&["finish", &one, "-a", "-m", "both"]).ok();
    for id in [&one, &two] {
        assert_eq!(ground.told(id), pair("done", "landed"));
    }
    agent.run(&["claim", "release", &two]).ok();
    assert_eq!(ground.told(&two), pair("done", "landed"));
}

/// The remote had the work, and whoever pushed died before it heard so.
#[test]
fn a_push_whose_answer_is_lost_does_not_land_twice() {
    let ground = Ground::with_origin();
    let id = ground.issue("once", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    // The server takes the push and then breaks the connection.
    let hook = ground.origin().join("hooks/post-receive");
    std::fs::write(&hook, "#!/bin/sh\nrm -- \"$0\"\nkill -9 $PPID\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    agent.run(&["finish", "-a", "-m", "work"]).ok();
    let subjects = ground.git(&["log", "--format=%s", "main"], &ground.origin());
    assert_eq!(subjects.lines().filter(|line| *line == "work").count(), 1, "{subjects}");
    assert_eq!((ground.told(&id), ground.is_held(&id)), (pair("done", "landed"), false));
}

#[test]
fn without_the_remote_the_work_waits_on_its_branch() {
    let ground = Ground::with_origin();
    let id = ground.issue("offline", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    let away = ground.bench.root().join("away.git");
    std::fs::rename(ground.origin(), &away).unwrap();
    waits(&agent.run(&["--json", "finish", "-a", "-m", "work"]).ok().json());
    assert_eq!((ground.told(&id), ground.is_held(&id)), (pair("done", "on_branch"), false));
    std::fs::rename(&away, ground.origin()).unwrap();
    ground.bench.jit(&["land", "--all"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert_eq!(ground.git(&["log", "-1", "--format=%s", "main"], &ground.origin()), "work");
}

/// What was committed after the target had it, and before whoever landed it came to an end, is not thrown away.
#[test]
fn work_after_a_landing_that_was_cut_off_stays_on_its_branch() {
    let ground = Ground::new();
    let id = ground.issue("more", &[]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    agent.git(&["add", "work"]);
    agent.git(&["commit", "-q", "-m", "work"]);
    let before = agent.git(&["rev-parse", "HEAD"]);
    let branch = agent.git(&["branch", "--show-current"]);
    agent.run(&["finish"]).ok();
    // As if it had died before the branch moved and the claim was given back.
    let tip = ground.main(&["rev-parse", "main"]);
    ground.bench.jit(&["list"]).ok();
    agent.git(&["reset", "-q", "--hard", &before]);
    agent.write("after", "after\n");
    agent.git(&["add", "after"]);
    agent.git(&["commit", "-q", "-m", "after"]);
    let again = agent.run(&["finish", &id]);
    assert_ne!(again.code, Some(0), "it is not held any more: {again}");
    assert_eq!(ground.main(&["rev-parse", "main"]), tip);
    assert_eq!(ground.main(&["log", "-1", "--format=%s", &branch]), "after");
}

/// A gate that takes longer than the claim lasts does not cost the claim.
#[test]
fn a_long_gate_does_not_outlive_the_claim() {
    let ground = Ground::new();
    ground.bench.jit(&["gate", "define", "slow", "--command", "sleep 6"]).ok();
    ground.commit("a gate");
    let id = ground.issue("slow", &["--gate", "slow"]);
    let agent = ground.agent("a");
    agent.run(&["start", &id, "--ttl", "4"]).ok();
    agent.write("work", "work\n");
    agent.run(&["finish", "-a", "-m", "slow"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
}

/// What an earlier gate has left behind in the checkout decides nothing; what git ignores stays for the next build.
#[test]
fn gates_find_what_would_land_and_caches() {
    let ground = Ground::new();
    std::fs::write(ground.bench.repo().join(".gitignore"), "cache\n").unwrap();
    let command = "test ! -e litter && touch litter && echo built >> cache";
    ground.bench.jit(&["gate", "define", "clean", "--command", command]).ok();
    ground.commit("a gate");
    let agent = ground.agent("a");
    for name in ["one", "two"] {
        let id = ground.issue(name, &["--gate", "clean"]);
        agent.begin(&id, name);
        agent.run(&["finish", "-a", "-m", name]).ok();
    }
    let cache = ground.bench.root().join(".cache/jit");
    let log = std::fs::read_dir(cache).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(log.join("landing-1/cache")).unwrap(), "built\nbuilt\n");
}

/// A git that was killed while it made a checkout left a directory that git does not know.
#[test]
fn half_a_checkout_keeps_no_gate_from_running() {
    let ground = Ground::new();
    let scratch = ground.bench.root().join("scratch");
    ground.bench.jit(&["config", "set", "landing.scratch", scratch.to_str().unwrap()]).ok();
    ground.bench.jit(&["gate", "define", "any", "--command", "test -f work && test ! -e litter"]).ok();
    ground.commit("a gate");
    let agent = ground.agent("a");
    let id = ground.issue("first", &["--gate", "any"]);
    agent.begin(&id, "work");
    let claims = std::fs::read_to_string(ground.bench.control("claims.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(claims.lines().next().unwrap()).unwrap();
    let log = first["log_id"].as_str().unwrap();
    let half = scratch.join(log).join("landing-1/deep");
    std::fs::create_dir_all(&half).unwrap();
    std::fs::write(half.join("file"), "half").unwrap();
    std::fs::write(half.with_file_name("litter"), "half").unwrap();
    agent.run(&["finish", "-a", "-m", "landed work"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
}

#[test]
fn the_checkouts_are_where_they_are_configured() {
    let ground = Ground::new();
    let scratch = ground.bench.root().join("scratch");
    ground.bench.jit(&["config", "set", "landing.scratch", scratch.to_str().unwrap()]).ok();
    ground.bench.jit(&["gate", "define", "any", "--command", "true"]).ok();
    ground.commit("a gate");
    let id = ground.issue("one", &["--gate", "any"]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    agent.run(&["finish", "-a", "-m", "work"]).ok();
    let log = std::fs::read_dir(scratch).unwrap().next().unwrap().unwrap().path();
    assert!(log.join("landing-1/work").exists());
}

/// Somebody reviews on main what waits on a branch: the word done does not come to main without the work.
#[test]
fn a_gate_that_is_passed_elsewhere_lands_the_work_with_the_word() {
    let ground = Ground::new();
    for gate in ["review", "security"] {
        ground.bench.jit(&["gate", "define", gate, "--manual"]).ok();
    }
    ground.commit("gates");
    let id = ground.issue("gated", &["--gate", "review", "--gate", "security"]);
    let agent = ground.agent("a");
    agent.begin(&id, "work");
    agent.run(&["finish", "-a", "-m", "work"]).ok();
    assert_eq!(ground.told(&id), pair("gated", "on_branch"));
    for (reviewer, gate) in [("person:ann", "review"), ("person:bob", "security")] {
        ground.bench.run(reviewer, &["claim", "acquire", &id]).ok();
        let passed = ground.bench.run(reviewer, &["gate", "pass", &id, gate]).ok();
        assert_eq!(passed.stderr.contains("jit land"), gate == "security", "{passed}");
        ground.bench.run(reviewer, &["claim", "release", &id]).ok();
        assert_eq!(ground.told(&id), pair("gated", "on_branch"));
        ground.bench.run("agent:c", &["claim", "next"]).fails(3);
    }
    // Also if what was judged is committed there first.
    ground.commit("judged");
    assert_eq!(ground.told(&id), pair("gated", "on_branch"));
    ground.bench.jit(&["land", "--all"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert_eq!(ground.main(&["show", "main:work"]), "by agent:a");
    assert!(ground.is_clean());
}

#[test]
fn sync_follows_the_target_and_puts_the_branch_on_top() {
    let ground = Ground::with_origin();
    let id = ground.issue("mine", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let agent = ground.agent("a");
    agent.begin(&id, "mine");
    agent.run(&["label", "add", &id, "by:a"]).ok();
    agent.git(&["add", "-A"]);
    agent.git(&["commit", "-q", "-m", "mine"]);
    // Elsewhere somebody lands something.
    let other = ground.bench.root().join("other");
    ground.git(&["clone", "-q", ground.origin().to_str().unwrap(), "other"], ground.bench.root());
    std::fs::write(other.join("theirs"), "").unwrap();
    ground.git(&["add", "-A"], &other);
    ground.git(&["commit", "-q", "-m", "theirs"], &other);
    ground.git(&["push", "-q", "origin", "main"], &other);
    let synced = agent.run(&["--json", "sync"]).ok().json();
    assert_eq!(synced["moved"].as_array().unwrap().len(), 2, "{synced}");
    assert!(agent.at.join("theirs").exists() && ground.bench.repo().join("theirs").exists());
    assert_eq!(agent.git(&["log", "--format=%s", "-2"]), "mine\ntheirs");
    assert!(ground.is_clean());
    assert_eq!(agent.run(&["--json", "sync"]).ok().json()["moved"].as_array().unwrap().len(), 0);
    agent.run(&["finish", "-a", "-m", "mine"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
}

/// While somebody works on an issue, its own file is changed and in no commit.
#[test]
fn a_conflict_is_resolved_with_the_line_that_is_printed() {
    for (ground, onto) in [(Ground::new(), "main"), (Ground::with_origin(), "origin/main")] {
        let id = ground.issue("mine", &[]);
        let pushes = onto != "main";
        if pushes {
            ground.main(&["push", "-q", "origin", "main"]);
        }
        let agent = ground.agent("a");
        agent.run(&["start", &id]).ok();
        agent.write("code", "one\nmine\nthree\n");
        std::fs::write(ground.bench.repo().join("code"), "one\ntheirs\nthree\n").unwrap();
        ground.commit("theirs");
        if pushes {
            ground.main(&["push", "-q", "origin", "main"]);
        }
        let refused = agent.run(&["--json", "finish", "-a", "-m", "mine"]).fails(4).json();
        let error = &refused["error"];
        assert_eq!((&error["code"], &error["details"]["onto"]), (&"LAND_CONFLICT".into(), &onto.into()));
        // Asked for again, it is noted once.
        agent.run(&["finish", "-a", "-m", "mine"]).fails(4);
        assert_eq!(ground.shown(&id)["notes"].as_array().unwrap().len(), 1);
        let line = error["hint"].as_str().unwrap().split(", resolve").next().unwrap().to_owned();
        assert_eq!(line, format!("git rebase --autostash {onto}"));
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let rebased = ground.try_git(&words, &agent.at);
        assert!(rebased.stdout.contains("CONFLICT"), "{rebased}");
        // Half of it is nothing to finish, or to leave.
        let (commit, other) = (agent.git(&["rev-parse", "HEAD"]), ground.issue("other", &[]));
        for args in [&["finish", "-a"][..], &["finish", "-a", "--no-land"], &["start", &other]] {
            let way_out = "git rebase --continue or git rebase --abort";
            agent.run(args).fails(4).says(&["a rebase is under way in this worktree", way_out]);
        }
        assert_eq!(agent.git(&["rev-parse", "HEAD"]), commit);
        agent.write("code", "one\nboth\nthree\n");
        agent.git(&["add", "code"]);
        agent.git(&["-c", "core.editor=true", "rebase", "--continue"]);
        assert!(agent.run(&["finish"]).ok().stdout.starts_with("landed"));
        assert_eq!(ground.told(&id), pair("done", "landed"));
        assert_eq!(ground.main(&["show", &format!("{onto}:code")]), "one\nboth\nthree");
    }
}

/// What cannot be put together stays as it was.
#[test]
fn sync_leaves_alone_what_conflicts() {
    let ground = Ground::new();
    let id = ground.issue("mine", &[]);
    let agent = ground.agent("a");
    agent.run(&["start", &id]).ok();
    agent.write("code", "one\nmine\nthree\n");
    agent.git(&["add", "code"]);
    agent.git(&["commit", "-q", "-m", "mine"]);
    std::fs::write(ground.bench.repo().join("code"), "one\ntheirs\nthree\n").unwrap();
    ground.commit("theirs");
    let before = agent.git(&["rev-parse", "HEAD"]);
    let refused = agent.run(&["--json", "sync"]).fails(4).json();
    assert_eq!(refused["error"]["code"], "LAND_CONFLICT");
    assert_eq!(agent.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(agent.git(&["status", "--porcelain", "--", ":!.jit"]), "");
}

/// What both sides changed of one issue is merged field by field.
#[test]
fn sync_merges_the_files_of_an_issue() {
    let ground = Ground::new();
    let (id, other) = (ground.issue("mine", &[]), ground.issue("other", &[]));
    let agent = ground.agent("a");
    agent.begin(&id, "mine");
    agent.run(&["issue", "update", &id, "--description", "from the branch"]).ok();
    agent.run(&["label", "add", &id, "by:a"]).ok();
    agent.git(&["add", "-A"]);
    agent.git(&["commit", "-q", "-m", "mine"]);
    // Beside the branch the target changes the very same files, by an earlier hand.
    let path = ground.bench.repo().join(format!(".jit/issues/{id}/issue.json"));
    let mut file: serde_json::Value =
        serde_json::from_str(&ground.main(&["show", &format!("main:.jit/issues/{id}/issue.json")])).unwrap();
    file["priority"] = "high".into();
    std::fs::write(&path, serde_json::to_string_pretty(&file).unwrap() + "\n").unwrap();
    ground.bench.jit(&["label", "add", &other, "beside"]);
    ground.commit("theirs");
    let synced = agent.run(&["--json", "sync"]).ok().json();
    assert_eq!(synced["moved"].as_array().unwrap().len(), 1, "{synced}");
    let merged: serde_json::Value =
        serde_json::from_str(&agent.git(&["show", &format!("HEAD:.jit/issues/{id}/issue.json")])).unwrap();
    assert_eq!(
        (&merged["description"], &merged["priority"], &merged["state"]),
        (&"from the branch".into(), &"high".into(), &"in_progress".into())
    );
    agent.run(&["finish", "-a", "-m", "landed"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
}

/// Whoever looks at an issue that has landed is told the commit, whoever made that.
#[test]
fn a_landed_issue_leads_to_its_commit() {
    let ground = Ground::new();
    let agent = ground.agent("a");
    let (short, squashed) = (ground.issue("short", &[]), ground.issue("squashed", &[]));
    agent.begin(&short, "one");
    agent.run(&["finish", "-a", "-m", "one"]).ok();
    let link = |id: &str| ground.shown(id)["issue"]["links"]["commit"].clone();
    assert_eq!(link(&short), ground.main(&["rev-parse", "main"]).as_str());
    agent.begin(&squashed, "two");
    assert!(link(&squashed).is_null());
    agent.run(&["finish", "-a", "-m", "two", "--no-land"]).ok();
    assert!(link(&squashed).is_null(), "a branch has it, and the branch may be rewritten");
    let branch = agent.git(&["branch", "--show-current"]);
    ground.main(&["merge", "-q", "--squash", &branch]);
    ground.main(&["commit", "-q", "-m", "by a forge"]);
    assert_eq!(link(&squashed), ground.main(&["rev-parse", "main"]).as_str());
    assert!(ground.bench.jit(&["show", &squashed]).ok().stdout.contains("commit: "));
    ground.bench.jit(&["reopen", &squashed]).ok();
    assert!(link(&squashed).is_null());
}
