//! What may be committed, and by whom.

use serde_json::json;

use crate::stage::Stage;

#[test]
fn a_change_needs_the_committers_lease() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    a.edit(&issue, json!({"title": "mine"}));
    a.commit("without a lease").refused(&["this commit is rejected", &issue, "jit claim acquire"]);
    let held = a.claim(&issue);
    a.commit("without its fence").refused(&["carries no fence"]);
    a.work(&held, "mine").ok();
    b.edit(&issue, json!({"title": "theirs", "fence": held.fence, "fence_log": held.log}));
    b.commit("another's").refused(&["agent:a", "holds it"]);
    let forged = json!({"title": "again", "fence": held.fence + 1, "fence_log": held.log});
    a.edit(&issue, forged);
    a.commit("another fence").refused(&["carries fence"]);
}

/// Whoever edited the file of an issue by hand is told what to type, and that leads to a commit.
#[test]
fn the_way_out_of_a_hand_edit_is_one() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.claim(&issue);
    a.edit(&issue, json!({"title": "by hand"}));
    let put_back = format!("git checkout HEAD -- .jit/issues/{issue}");
    a.commit("by hand").refused(&["carries no fence", &put_back, "jit issue update"]);
    let words: Vec<&str> = put_back.split(' ').skip(1).collect();
    a.git(&words).ok();
    a.jit(&["issue", "update", &issue, "--title", "by hand"]).ok();
    a.commit("by command").ok();
    assert_eq!(a.jit(&["--json", "show", &issue]).ok().json()["issue"]["title"], "by hand");
}

/// What was begun in this worktree and given back has changed its file, which whoever commits something else need not claim.
#[test]
fn what_nobody_holds_is_left_out_of_a_commit_as_the_hint_says() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.jit(&["start", &issue, "--here"]).ok();
    a.jit(&["drop"]).ok();
    std::fs::write(a.dir.join("else"), "something else\n").unwrap();
    let leave_out = format!("git restore --staged .jit/issues/{issue}");
    a.commit("all").refused(&["does not hold it", "to leave it out", &leave_out]);
    let words: Vec<&str> = leave_out.split(' ').skip(1).collect();
    a.git(&words).ok();
    a.git(&["commit", "-q", "-m", "something else"]).ok();
    let shown = a.git(&["status", "--porcelain"]).ok().stdout;
    assert_eq!(shown.trim(), format!("M .jit/issues/{issue}/issue.json"), "nothing is lost");
}

#[test]
fn files_beside_the_issue_need_it_too() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let labels = a.dir.join(format!(".jit/issues/{issue}/labels.or-set.jsonl"));
    std::fs::write(&labels, "{}\n").unwrap();
    a.commit("labels").refused(&[&issue]);
    a.claim(&issue);
    a.commit("labels").ok();
}

#[test]
fn a_lease_that_was_silent_for_too_long_is_not_enough() {
    let stage = Stage::new();
    stage.main().config("[coordination]\nstale_threshold_secs = 1\n");
    stage.main().commit("configure").ok();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim_with(&issue, &["--ttl", "0", "--reason", "long work"]);
    let stale = || a.jit(&["--json", "claim", "list"]).ok().json()["leases"][0]["stale"] == true;
    let start = std::time::Instant::now();
    while !stale() {
        assert!(start.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    a.work(&held, "silent").refused(&["stale", "jit claim heartbeat"]);
    a.config("[coordination]\nstale_threshold_secs = 3600\n");
    a.git(&["checkout", "-q", "--", ".jit/config.toml"]).ok();
    a.jit(&["claim", "heartbeat", &held.lease]).ok();
}

#[test]
fn new_issues_are_exempt() {
    let stage = Stage::new();
    let a = stage.agent("agent:a", "a");
    let id = a.jit(&["-q", "issue", "create", "--title", "new"]).ok().line().to_owned();
    a.commit("create").ok();
    a.edit(&id, json!({"title": "no longer new"}));
    a.commit("change").refused(&[&id]);
}

#[test]
fn what_an_earlier_holder_wrote_comes_with_the_claim() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let first = a.claim(&issue);
    a.jit(&["issue", "update", &issue, "--title", "by a"]).ok();
    a.commit("by a").ok();
    a.git(&["push", "-q", "origin", "a:main"]).ok();
    a.jit(&["claim", "release", &first.lease]).ok();
    // The newest copy is brought to b, with the fence of a; a label leaves it as it is.
    b.claim(&issue);
    b.jit(&["label", "add", &issue, "ui"]).ok();
    let text = std::fs::read_to_string(b.file(&issue)).unwrap();
    assert!(text.contains("by a") && text.contains(&format!("\"fence\": {}", first.fence)), "{text}");
    b.commit("a label").ok();
    b.git(&["push", "-q", "origin", "b"]).ok();
    b.jit(&["issue", "update", &issue, "--title", "by b"]).ok();
    b.commit("by b").ok();
    // Not back again.
    b.edit(&issue, json!({"title": "by a", "fence": first.fence}));
    b.commit("back").refused(&[&issue, "the commit before has"]);
}

#[test]
fn a_commit_on_top_of_what_cannot_be_read_is_not_waved_through() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let first = a.claim(&issue);
    a.work(&first, "by a").ok();
    a.jit(&["claim", "release", &first.lease]).ok();
    let second = b.claim(&issue);
    b.work(&second, "by b").ok();
    b.edit(&issue, json!({"title": "by a", "fence": first.fence}));
    let version = format!("HEAD:.jit/issues/{issue}/issue.json");
    let id = b.git(&["rev-parse", &version]).ok().line().to_owned();
    let objects = b.git(&["rev-parse", "--path-format=absolute", "--git-path", "objects"]).ok();
    let object = std::path::Path::new(objects.line()).join(&id[..2]).join(&id[2..]);
    let kept = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    b.commit("back").refused(&["cannot read the blob", &id]);
    std::fs::write(&object, kept).unwrap();
    b.commit("back").refused(&[&issue, "the commit before has"]);
}

#[test]
fn deletions_renames_and_modes_are_changes() {
    let stage = Stage::new();
    let (one, two) = (stage.issue("one"), stage.issue("two"));
    let a = stage.agent("agent:a", "a");
    let path = |id: &str| format!(".jit/issues/{id}/issue.json");
    a.git(&["rm", "-q", &path(&one)]).ok();
    a.git(&["commit", "-q", "-m", "delete"]).refused(&[&one]);
    a.git(&["reset", "-q", "--hard"]).ok();
    // To git this is a rename; to the one who holds the issue it is gone.
    a.git(&["mv", &path(&one), "elsewhere.json"]).ok();
    a.git(&["commit", "-q", "-m", "rename"]).refused(&[&one]);
    a.git(&["reset", "-q", "--hard"]).ok();
    a.git(&["update-index", "--chmod=+x", &path(&two)]).ok();
    a.git(&["commit", "-q", "-m", "mode"]).refused(&[&two]);
    a.git(&["reset", "-q", "--hard"]).ok();
    a.claim(&one);
    a.git(&["rm", "-q", &path(&one)]).ok();
    a.git(&["commit", "-q", "-m", "delete"]).ok();
    assert!(a.message().contains(&format!("JIT-Issue: {one}")), "{}", a.message());
}

#[test]
fn all_of_the_directory_cannot_be_swept_away() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.git(&["rm", "-q", "-r", "--cached", ".jit"]).ok();
    std::fs::remove_dir_all(a.dir.join(".jit")).unwrap();
    a.git(&["commit", "-q", "-m", "sweep"]).refused(&[&issue]);
}

#[test]
fn only_what_is_staged_counts() {
    let stage = Stage::new();
    let (mine, other) = (stage.issue("mine"), stage.issue("other"));
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&mine);
    a.write(&held, "mine");
    a.edit(&other, json!({"title": "not to be committed"}));
    a.git(&["commit", "-q", "-m", "some", "--", &format!(".jit/issues/{mine}")]).ok();
    a.git(&["commit", "-q", "-a", "-m", "all"]).refused(&[&other]);
    // What is staged is judged, not what lies in the worktree.
    a.git(&["add", "-A"]).ok();
    a.git(&["checkout", "-q", "HEAD", "--", ".jit"]).ok();
    a.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]).ok();
}

#[test]
fn odd_names_are_seen_as_git_sees_them() {
    use std::os::unix::ffi::OsStrExt;
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let odd = a.dir.join(format!(".jit/issues/{issue}")).join(std::ffi::OsStr::from_bytes(b"\xff \"a\nb\t"));
    std::fs::write(odd, "x").unwrap();
    a.commit("odd").refused(&[&issue]);
    a.claim(&issue);
    a.commit("odd").ok();
    std::fs::create_dir_all(a.dir.join(".jit/issues/not an issue")).unwrap();
    std::fs::write(a.dir.join(".jit/issues/not an issue/x"), "x").unwrap();
    a.commit("no issue").ok();
}

#[test]
fn what_belongs_to_one_worktree_is_never_committed() {
    let stage = Stage::new();
    let a = stage.agent("agent:a", "a");
    a.jit(&["worktree", "info"]).ok();
    a.config("[worktree]\nenforce_leases = \"off\"\n");
    std::fs::write(a.dir.join(".jit/worktree.json"), "{}").unwrap();
    a.git(&["add", "-f", ".jit/worktree.json"]).ok();
    a.git(&["commit", "-q", "-m", "identity"]).refused(&[
        "worktree.json",
        "never committed",
        "git rm --cached",
    ]);
    a.git(&["rm", "-q", "--cached", ".jit/worktree.json"]).ok();
    for name in [".jit/claims.jsonl", ".jit/locks/claims.lock", ".jit/events/control.jsonl"] {
        std::fs::create_dir_all(a.dir.join(name).parent().unwrap()).unwrap();
        std::fs::write(a.dir.join(name), "x").unwrap();
        a.git(&["add", "-f", name]).ok();
        a.git(&["commit", "-q", "-m", "claims"]).refused(&[name]);
        a.git(&["rm", "-q", "-f", name]).ok();
    }
}

#[test]
fn what_concerns_everybody_is_changed_on_allowed_branches_with_all_of_main() {
    let stage = Stage::new();
    let a = stage.agent("agent:a", "a");
    a.config("[coordination]\ndefault_ttl_secs = 60\n");
    a.commit("configure").refused(&["main or develop", "not on a"]);
    // A change of the rules is judged by the rules before it.
    a.config("[global_operations]\nallowed_branches = [\"a\"]\n");
    a.commit("configure").refused(&["not on a"]);
    a.git(&["checkout", "-q", "-f", "HEAD"]).ok();
    std::fs::create_dir_all(a.dir.join(".jit/gates")).unwrap();
    std::fs::write(a.dir.join(".jit/gates/registry.json"), "{}").unwrap();
    a.commit("gates").refused(&["not on a"]);
    let main = stage.main();
    main.config("[global_operations]\nallowed_branches = [\"main\", \"a\"]\n");
    main.commit("allow a").ok();
    a.git(&["reset", "-q", "--hard"]).ok();
    a.git(&["merge", "-q", "main"]).ok();
    a.config("[global_operations]\nallowed_branches = [\"main\", \"a\", \"b\"]\n");
    a.commit("now it may").ok();
    main.git(&["push", "-q", "origin", "main"]).ok();
    main.git(&["commit", "-q", "--allow-empty", "-m", "main goes on"]).ok();
    main.git(&["push", "-q", "origin", "main"]).ok();
    a.config("[global_operations]\nallowed_branches = [\"main\", \"a\"]\n");
    a.commit("behind").refused(&["origin/main", "git rebase origin/main"]);
    a.git(&["rebase", "-q", "--autostash", "origin/main"]).ok();
    a.commit("with all of main").ok();
}

#[test]
fn where_there_is_no_main_branch_everything_may_be_changed() {
    let stage = Stage::empty();
    let root = stage.path("");
    stage.run("git", "agent:a", &["init", "-q", "-b", "trunk", "repo"], &root).ok();
    let main = stage.main();
    main.jit(&["init"]).ok();
    main.jit(&["hooks", "install"]).ok();
    main.config("[coordination]\ndefault_ttl_secs = 60\n");
    main.commit("start").ok();
    main.config("[coordination]\ndefault_ttl_secs = 61\n");
    main.commit("configure").ok();
}

#[test]
fn enforcement_is_as_strict_as_it_is_configured() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let main = stage.main();
    main.config("[worktree]\nenforce_leases = \"warn\"\n");
    main.commit("warn").ok();
    main.edit(&issue, json!({"title": "warned"}));
    main.commit("warned").ok().says(&["warning:", &issue]);
    main.config("[worktree]\nenforce_leases = \"off\"\n");
    main.commit("off").ok();
    main.edit(&issue, json!({"title": "free"}));
    assert!(!main.commit("free").ok().stderr.contains(&issue));
}

#[test]
fn a_fence_of_another_clone_is_judged_as_configured() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let mut held = a.claim(&issue);
    held.log = "01K8ZZZZZZ0000000000000009".into();
    a.work(&held, "warned").ok().says(&["warning:", "another clone"]);
    let main = stage.main();
    main.config("[enforcement]\nforeign_claims = \"reject\"\n");
    main.commit("reject").ok();
    a.git(&["merge", "-q", "main"]).ok();
    a.work(&held, "rejected").refused(&["another clone", "enforcement.foreign_claims"]);
}

#[test]
fn nobody_commits_to_an_issue_without_an_identity() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let main = stage.main();
    main.edit(&issue, json!({"title": "x"}));
    main.git(&["add", "-A"]).ok();
    let mut command = main.command("git", &["commit", "-q", "-m", "nobody"]);
    let output = command.env_remove("JIT_AGENT_ID").output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("JIT_AGENT_ID"), "{output:?}");
}

#[test]
fn what_others_wrote_can_be_merged_but_not_undone() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let first = a.claim(&issue);
    a.work(&first, "by a").ok();
    a.jit(&["claim", "release", &first.lease]).ok();
    let second = b.claim(&issue);
    b.work(&second, "by b").ok();
    // No lease is needed for what was written under one; `-s ours` would throw b's work away.
    let main = stage.main();
    main.git(&["merge", "-q", "a"]).ok();
    main.git(&["merge", "-q", "-s", "ours", "--no-commit", "b"]).ok();
    main.git(&["commit", "-q", "-m", "ours"]).refused(&[&issue, "one side of it has fence"]);
    main.git(&["merge", "--abort"]).ok();
    main.git(&["merge", "-q", "--no-commit", "b"]).ok();
    main.git(&["commit", "-q", "-m", "both"]).ok();
    let text = std::fs::read_to_string(main.file(&issue)).unwrap();
    assert!(text.contains("by b") && text.contains(&format!("\"fence\": {}", second.fence)), "{text}");
}

#[test]
fn an_index_that_only_git_reads_is_judged_too() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.git(&["update-index", "--split-index"]).ok();
    a.edit(&issue, json!({"title": "x"}));
    a.commit("split").refused(&[&issue]);
    a.git(&["update-index", "--no-split-index"]).ok();
    a.git(&["update-index", "--index-version", "4"]).ok();
    a.commit("packed").refused(&[&issue]);
}
