//! The message of a commit names the leases that it was made under.

use crate::stage::{Agent, Stage};

fn count(agent: &Agent<'_>, key: &str) -> usize {
    agent.message().lines().filter(|line| line.starts_with(key)).count()
}

#[test]
fn a_commit_names_the_lease_of_every_issue_that_it_touches() {
    let stage = Stage::new();
    let (one, two) = (stage.issue("one"), stage.issue("two"));
    let a = stage.agent("agent:a", "a");
    let place = a.jit(&["-q", "worktree", "info"]).ok().line().to_owned();
    let first = a.claim(&one);
    a.write(&first, "one");
    let second = a.claim(&two);
    a.work(&second, "two").ok();
    let expected = format!(
        "two\n\nJIT-Lease: {}\nJIT-Issue: {one}\nJIT-Agent: agent:a\nJIT-Worktree: {place}\nJIT-Fence: {}\n\
         JIT-Lease: {}\nJIT-Issue: {two}\nJIT-Fence: {}\n",
        first.lease, first.fence, second.lease, second.fence
    );
    assert_eq!(a.message().trim_end(), expected.trim_end());
    a.later(10).git(&["commit", "-q", "--allow-empty", "-m", "something else"]).ok();
    assert_eq!(a.message().trim(), "something else");
}

#[test]
fn amending_and_rebasing_name_it_once() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    a.work(&held, "work").ok();
    a.git(&["commit", "-q", "--amend", "--no-edit"]).ok();
    a.git(&["commit", "-q", "--amend", "-m", "another title"]).ok();
    assert_eq!((count(&a, "JIT-Lease:"), count(&a, "JIT-Fence:")), (1, 1), "{}", a.message());
    let main = stage.main();
    main.git(&["commit", "-q", "--allow-empty", "-m", "main goes on"]).ok();
    a.jit(&["claim", "release", &held.lease]).ok();
    // What was written under a lease stays written under it.
    a.git(&["rebase", "-q", "--force-rebase", "main"]).ok();
    assert_eq!((count(&a, "JIT-Lease:"), count(&a, "JIT-Fence:")), (1, 1), "{}", a.message());
    a.git(&["commit", "-q", "--amend", "--no-edit"]).ok();
    assert!(a.message().contains(&held.lease), "{}", a.message());
    a.git(&["push", "-q", "origin", "a"]).ok();
}

#[test]
fn a_commit_that_no_longer_touches_an_issue_no_longer_names_it() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    a.work(&held, "work").ok();
    a.git(&["checkout", "-q", "HEAD^", "--", ".jit"]).ok();
    a.git(&["commit", "-q", "--no-verify", "--amend", "--allow-empty", "--no-edit"]).ok();
    assert_eq!(count(&a, "JIT-"), 0, "{}", a.message());
}

#[test]
fn a_message_that_was_never_written_makes_no_commit() {
    let stage = Stage::new();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let held = a.claim(&issue);
    a.write(&held, "work");
    a.git(&["add", "-A"]).ok();
    a.git(&["commit"]).refused(&["empty commit message"]);
    let mut command = a.command("git", &["commit", "--verbose"]);
    command.env("GIT_EDITOR", "sed -i '1s/^/written by hand/'").env_remove("GIT_DIR");
    assert!(command.output().unwrap().status.success());
    assert!(a.message().starts_with("written by hand\n\nJIT-Lease: "), "{}", a.message());
}

#[test]
fn without_hooks_jit_commit_does_the_same() {
    let stage = Stage::bare();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    let hook = stage.path("repo/.git/hooks/commit-msg");
    std::fs::write(&hook, "#!/bin/sh\necho seen >> ../log\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (mine, other) = (a.claim(&issue), stage.issue("other"));
    a.git(&["merge", "-q", "main"]).ok();
    a.write(&mine, "mine");
    a.edit(&other, serde_json::json!({"title": "not mine"}));
    std::fs::write(stage.path("log"), "").unwrap();
    a.jit(&["commit", "-a", "-m", "both"]).refused(&[&other, "this commit is rejected"]);
    a.jit(&["commit", "-m", "mine", "--", &format!(".jit/issues/{issue}")]).ok();
    assert!(a.message().contains(&mine.lease), "{}", a.message());
    assert_eq!(std::fs::read_to_string(stage.path("log")).unwrap(), "seen\n");
    a.jit(&["commit", "--amend", "--no-edit", "--agent-id"]).refused(&[]);
    let amended = a.jit(&["--json", "commit", "-q", "--amend", "--no-edit"]).ok().json();
    assert_eq!(amended["commit"]["head"], a.head());
    assert_eq!(count(&a, "JIT-Lease:"), 1);
}
