//! Who asks, and in which worktree.

use std::process::Command;

use holdfast_trial::Answer;

use crate::bench::Bench;

#[test]
fn the_flag_wins_over_the_environment_and_that_over_the_file() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.root().join("config")).unwrap();
    std::fs::write(bench.root().join("config/agent.toml"), "[agent]\nid = \"agent:file\"\n").unwrap();
    let who = |flag: Option<&str>, env: Option<&str>| {
        let issue = bench.issue("work");
        let mut command = bench.dressed(Command::new(crate::bench::JIT));
        command.args(["--json", "claim", "acquire", &issue]).current_dir(bench.repo());
        flag.map(|flag| command.args(["--agent-id", flag]));
        env.map(|env| command.env("JIT_AGENT_ID", env));
        Answer::from(command.output().unwrap()).ok().json()["lease"]["agent_id"].clone()
    };
    assert_eq!(who(Some("agent:flag"), Some("agent:env")), "agent:flag");
    assert_eq!(who(None, Some("agent:env")), "agent:env");
    assert_eq!(who(None, None), "agent:file");
}

#[test]
fn without_an_identity_nothing_is_claimed() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    let mut command = bench.dressed(Command::new(crate::bench::JIT));
    let command = command.args(["--json", "claim", "acquire", &issue]).current_dir(bench.repo());
    let refused = Answer::from(command.output().unwrap()).fails(6);
    assert_eq!(refused.json()["error"]["code"], "NO_AGENT");
    assert!(refused.stderr.contains("hint: export JIT_AGENT_ID="), "{refused}");
    for bad in ["agent", "agent:", "Agent:x", "agent:../x", "agent:a b", "agent:a\x1b[31m"] {
        let refused = bench.run(bad, &["claim", "acquire", &issue]).fails(6);
        assert!(!refused.stderr.contains('\x1b'), "{refused}");
    }
}

#[test]
fn a_worktree_that_moves_stays_the_same() {
    let bench = Bench::new();
    let old = bench.worktree("old");
    let before = bench.run_at("agent:a", &["--json", "worktree", "info"], &old).ok().json();
    let issue = bench.issue("work");
    bench.run_at("agent:a", &["claim", "acquire", &issue], &old).ok();
    let new = bench.root().join("new");
    bench.git(&["worktree", "move", old.to_str().unwrap(), new.to_str().unwrap()], &bench.repo());
    let moved = bench.run_at("agent:a", &["--json", "claim", "acquire", &issue], &new).ok();
    assert!(moved.stderr.contains("was moved from"), "{moved}");
    assert_eq!(moved.json()["already_held"], true);
    let after = bench.run_at("agent:a", &["--json", "worktree", "info"], &new).ok();
    assert!(after.stderr.is_empty(), "it is said once: {after}");
    let after = after.json();
    assert_eq!(after["worktree"]["worktree_id"], before["worktree"]["worktree_id"]);
    assert_eq!(after["worktree"]["root"], new.to_str().unwrap());
    assert!(after["worktree"]["relocated_at"].is_string(), "{after}");
}

#[test]
fn a_copy_of_a_worktree_is_another_one() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    let original = bench.jit(&["-q", "worktree", "info"]).ok().stdout;
    let copy = bench.root().join("copy");
    assert!(Command::new("cp").arg("-a").args([bench.repo(), copy.clone()]).status().unwrap().success());
    let copied = bench.run_at("agent:a", &["-q", "worktree", "info"], &copy).ok();
    assert_ne!(copied.stdout, original);
    assert!(copied.stderr.contains("is a copy of"), "{copied}");
    assert_eq!(bench.run_at("agent:a", &["-q", "worktree", "info"], &copy).ok().stdout, copied.stdout);
    assert_eq!(bench.jit(&["-q", "worktree", "info"]).ok().stdout, original);
    bench.run_at("agent:a", &["claim", "release", &lease], &copy).fails(4);
    bench.jit(&["claim", "release", &issue]).ok();
}

#[test]
fn worktrees_of_every_kind_share_one_control_plane() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let detached = bench.root().join("detached");
    bench.git(&["worktree", "add", "-q", "--detach", detached.to_str().unwrap()], &bench.repo());
    bench.run_at("agent:b", &["claim", "acquire", &issue], &detached).fails(4);
    let other = bench.issue("other");
    let taken = bench.run_at("agent:b", &["--json", "claim", "acquire", &other], &detached).ok().json();
    assert_eq!(taken["lease"]["branch"], "HEAD");
    let listed = bench.jit(&["--json", "worktree", "list"]).ok().json();
    assert_eq!(listed["count"], 2);
    assert_eq!(bench.leases().len(), 2);
    let mut command = bench.command("agent:c", &["claim", "acquire", &issue], bench.root());
    command.env("GIT_DIR", bench.repo().join(".git")).env("GIT_WORK_TREE", bench.repo());
    Answer::from(command.output().unwrap()).fails(4);
}

#[test]
fn a_bare_repository_with_worktrees_and_one_without_commits_work() {
    let bench = Bench::empty();
    bench.git(&["init", "-q", "-b", "main", "repo"], bench.root());
    bench.jit(&["init"]).ok();
    let (_, lease) = bench.claimed("agent:a");
    bench.jit(&["claim", "release", &lease]).ok();
    let bare = Bench::empty();
    bare.git(&["init", "-q", "-b", "main", "source"], bare.root());
    let source = bare.root().join("source");
    bare.git(&["commit", "-q", "--allow-empty", "-m", "first"], &source);
    bare.git(&["clone", "-q", "--bare", "source", "store.git"], bare.root());
    let store = bare.root().join("store.git");
    bare.git(&["worktree", "add", "-q", bare.repo().to_str().unwrap()], &store);
    bare.jit(&["init"]).ok();
    let (issue, _) = bare.claimed("agent:a");
    assert!(store.join("jit/claims.jsonl").exists());
    bare.run("agent:b", &["claim", "acquire", &issue]).fails(4);
}
