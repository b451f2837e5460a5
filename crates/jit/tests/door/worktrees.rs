//! Worktrees of agents: made, known by whose they are, and taken away without losing anything.

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::Answer;

use crate::bench::{Bench, JIT};

/// A repository whose issues are committed.
fn stage() -> (Bench, String) {
    let bench = Bench::new();
    let id = bench.issue("work");
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "tracked"], &bench.repo());
    (bench, id)
}

/// Runs the program without anybody being named in the environment.
fn nameless(bench: &Bench, args: &[&str], at: &Path) -> Answer {
    let mut command = bench.dressed(Command::new(JIT));
    Answer::from(command.args(args).current_dir(at).output().unwrap())
}

fn home(bench: &Bench, name: &str) -> PathBuf {
    bench.root().join("repo.worktrees").join(name)
}

#[test]
fn a_worktree_knows_whose_it_is() {
    let (bench, id) = stage();
    let made = bench.jit(&["--json", "worktree", "add", "ann", "--agent", "agent:ann"]).ok().json();
    let ann = home(&bench, "ann");
    assert_eq!(made["worktree"]["root"], ann.to_str().unwrap());
    assert_eq!(made["worktree"]["branch"], "ann");
    let who = |args: &[&str]| nameless(&bench, &[&["--json", "whoami"], args].concat(), &ann).ok().json();
    assert_eq!(who(&[])["whoami"]["agent_id"], "agent:ann");
    assert_eq!(who(&[])["whoami"]["source"], "worktree");
    assert_eq!(who(&["--agent-id", "agent:flag"])["whoami"]["source"], "flag");
    let env = bench.run_at("agent:env", &["--json", "whoami"], &ann).ok().json();
    assert_eq!(
        (&env["whoami"]["source"], &env["whoami"]["instead_of"]),
        (&"environment".into(), &"agent:ann".into())
    );
    nameless(&bench, &["whoami"], &bench.repo()).fails(6);
    // It survives a cleaning, and so does what is held there.
    let lease = nameless(&bench, &["-q", "claim", "acquire", &id], &ann).ok().stdout;
    bench.git(&["clean", "-fdxq"], &ann);
    assert_eq!(nameless(&bench, &["-q", "claim", "acquire", &id], &ann).ok().stdout, lease);
    let said = bench.run_at("agent:env", &["start", "--another"], &ann);
    assert_eq!(said.code, Some(3), "{said}");
    let other = bench.issue("other");
    let said = bench.run_at("agent:env", &["start", &other, "--here"], &ann).ok();
    assert!(
        said.stderr.contains("this worktree is that of agent:ann; JIT_AGENT_ID says agent:env"),
        "{said}"
    );
}

#[test]
fn an_identity_beside_the_issues_is_moved_over() {
    let (bench, _) = stage();
    let there = bench.worktree("there");
    let id = bench.run_at("agent:b", &["-q", "worktree", "info"], &there).ok().stdout;
    let in_git = bench.repo().join(".git/worktrees/there/jit-worktree.json");
    let beside = there.join(".jit/worktree.json");
    assert!(in_git.is_file() && !beside.exists());
    std::fs::rename(&in_git, &beside).unwrap();
    let listed = bench.jit(&["-q", "worktree", "list"]).ok().stdout;
    assert!(listed.contains(id.trim()), "{listed}");
    assert_eq!(bench.run_at("agent:b", &["-q", "worktree", "info"], &there).ok().stdout, id);
    assert!(in_git.is_file() && !beside.exists());
}

#[test]
fn a_copy_of_a_linked_worktree_is_another_one() {
    let (bench, issue) = stage();
    let there = bench.worktree("there");
    let original = bench.run_at("agent:b", &["-q", "worktree", "info"], &there).ok().stdout;
    bench.run_at("agent:b", &["claim", "acquire", &issue], &there).ok();
    let copy = bench.root().join("copy");
    assert!(Command::new("cp").arg("-a").args([&there, &copy]).status().unwrap().success());
    let copied = bench.run_at("agent:b", &["-q", "worktree", "info"], &copy).ok();
    assert_ne!(copied.stdout, original);
    assert!(copied.stderr.contains("is a copy of"), "{copied}");
    assert_eq!(bench.run_at("agent:b", &["-q", "worktree", "info"], &copy).ok().stdout, copied.stdout);
    assert_eq!(bench.run_at("agent:b", &["-q", "worktree", "info"], &there).ok().stdout, original);
    bench.run_at("agent:b", &["claim", "release", &issue], &copy).fails(4);
}

#[test]
fn many_worktrees_are_made_at_once() {
    let (bench, _) = stage();
    let names: Vec<String> = (0..8).map(|n| format!("w{n}")).collect();
    let running: Vec<_> = names
        .iter()
        .map(|name| bench.spawn("agent:a", &["-q", "worktree", "add", name], &bench.repo()))
        .collect();
    for child in running {
        Answer::from(child.wait_with_output().unwrap()).ok();
    }
    let listed = bench.jit(&["--json", "worktree", "list"]).ok().json();
    assert_eq!(listed["count"], 9);
    let config = std::fs::read_to_string(bench.repo().join(".git/config")).unwrap();
    assert!(!config.contains("[branch"), "nothing is tracked: {config}");
    bench.jit(&["worktree", "add", "w0"]).fails(4);
    for bad in ["", "..", "a/b", "-x", ".x", "x.lock"] {
        bench.jit(&["worktree", "add", "--", bad]).fails(6);
    }
    bench.config("[worktree]\ndir = \"trees\"\n");
    bench.jit(&["worktree", "add", "inside", "--branch", "b1", "--from", "HEAD"]).ok();
    assert!(bench.repo().join("trees/inside/.git").is_file());
    bench.jit(&["worktree", "add", "again", "--branch", "b1", "--from", "HEAD"]).fails(6);
}

#[test]
fn a_worktree_with_work_or_claims_of_others_is_not_removed() {
    let (bench, id) = stage();
    bench.jit(&["worktree", "add", "ann", "--agent", "agent:ann"]).ok();
    let ann = home(&bench, "ann");
    let remove = |args: &[&str]| bench.jit(&[&["--json", "worktree", "remove", "ann"], args].concat());
    std::fs::write(ann.join("new"), "x").unwrap();
    assert_eq!(remove(&[]).fails(4).json()["error"]["code"], "WORKTREE_HAS_WORK");
    bench.git(&["add", "new"], &ann);
    bench.git(&["commit", "-qm", "new"], &ann);
    let refused = remove(&[]).fails(4).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("(new)"), "{refused}");
    nameless(&bench, &["claim", "acquire", &id], &ann).ok();
    assert_eq!(remove(&["--force"]).fails(4).json()["error"]["code"], "WORKTREE_CLAIMED");
    assert!(ann.is_dir());
    let own = bench.run("agent:ann", &["--json", "worktree", "remove", "ann", "--force"]).ok().json();
    assert_eq!(own["leases"][0]["issue_id"], id.as_str());
    assert!(!ann.exists() && bench.leases().is_empty());
    bench.jit(&["worktree", "remove", "ann"]).fails(3);
    assert_eq!(
        bench.jit(&["--json", "worktree", "remove", "repo"]).fails(4).json()["error"]["code"],
        "WORKTREE_NEEDED"
    );
}

#[test]
fn claims_of_worktrees_that_are_gone_are_ended() {
    let (bench, id) = stage();
    bench.jit(&["worktree", "add", "ann", "--agent", "agent:ann"]).ok();
    let ann = home(&bench, "ann");
    nameless(&bench, &["claim", "acquire", &id], &ann).ok();
    // A path that is not there may be on a disk that is not.
    let away = bench.root().join("away");
    std::fs::rename(&ann, &away).unwrap();
    assert_eq!(bench.jit(&["--json", "worktree", "prune"]).ok().json()["count"], 0);
    std::fs::rename(&away, &ann).unwrap();
    bench.git(&["worktree", "remove", "--force", ann.to_str().unwrap()], &bench.repo());
    let pruned = bench.jit(&["--json", "worktree", "prune"]).ok().json();
    assert_eq!((&pruned["count"], &pruned["leases"][0]["title"]), (&1.into(), &"work".into()));
    bench.jit(&["claim", "acquire", &id]).ok();
}
