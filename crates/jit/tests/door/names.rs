//! Names that nobody should have given: bytes that are no text, control characters, paths that lead away. Each
//! is refused with a clear error or works; nothing is half-written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use holdfast_trial::Answer;

use crate::bench::Bench;

/// No UTF-8.
const LATIN: &[u8] = b"caf\xe9";

fn run(bench: &Bench, at: &Path, args: &[&OsStr]) -> Answer {
    let mut command = bench.command("agent:a", &[], at);
    Answer::from(command.args(args).output().unwrap())
}

fn words<'a>(args: &'a [&'a str]) -> Vec<&'a OsStr> {
    args.iter().map(OsStr::new).collect()
}

/// Issues and claims work in a directory whose name is no text, also from worktree to worktree. Only the commits
/// of such a repository cannot be read, and whatever needs them says so and writes nothing.
#[test]
fn a_repository_below_a_name_that_is_no_text_works() {
    let bench = Bench::empty();
    let root = bench.root().join(OsStr::from_bytes(LATIN));
    std::fs::create_dir(&root).unwrap();
    bench.git(&["init", "-q", "-b", "main"], &root);
    bench.git(&["commit", "-q", "--allow-empty", "-m", "first"], &root);
    let jit = |args: &[&str]| run(&bench, &root, &words(args));
    jit(&["--json", "init"]).ok().json();
    let id = jit(&["-q", "issue", "create", "--title", "t", "--label", "a"]).ok().stdout.trim().to_owned();
    jit(&["claim", "acquire", &id]).ok();
    jit(&["issue", "update", &id, "--title", "u", "--state", "in_progress"]).ok();
    std::fs::write(root.join("note.md"), "text\n").unwrap();
    jit(&["doc", "add", &id, "note.md"]).ok();
    let refused = jit(&["gate", "define", "here", "--manual"]).fails(10);
    assert!(refused.stderr.contains("its path is not UTF-8"), "{refused}");
    assert!(!root.join(".jit/gates/registry.json").exists());
    let shown = jit(&["--json", "issue", "show", &id]).ok();
    assert!(shown.stderr.contains("the issues of HEAD are not seen"), "{shown}");
    let shown = shown.json();
    assert_eq!((&shown["issue"]["title"], &shown["issue"]["labels"][0]), (&"u".into(), &"a".into()));
    jit(&["validate", "leases"]).ok();
    let events = Bench::events(&root);
    assert_eq!(events.lines().count(), 3, "{events}");
    bench.git(&["add", "-A"], &root);
    bench.git(&["commit", "-q", "-m", "issues"], &root);
    let other = bench.root().join(OsStr::from_bytes(b"caf\xe8"));
    let args = ["worktree", "add", "-q", "-b", "other"].map(OsStr::new);
    let mut git = bench.dressed(std::process::Command::new("git"));
    assert!(git.args(args).arg(&other).current_dir(&root).status().unwrap().success());
    jit(&["issue", "update", &id, "--state", "done"]).ok();
    jit(&["claim", "release", &id]).ok();
    let there = |args: &[&str]| run(&bench, &other, &words(args));
    there(&["init"]).ok();
    assert_eq!(there(&["--json", "issue", "show", &id]).ok().json()["issue"]["state"], "done");
    there(&["claim", "acquire", &id]).ok();
    there(&["issue", "update", &id, "--title", "v"]).ok();
    assert_eq!(jit(&["--json", "issue", "show", &id]).ok().json()["issue"]["title"], "v");
    let ids = there(&["--json", "worktree", "list"]).ok().json();
    assert_ne!(ids["worktrees"][0]["worktree_id"], ids["worktrees"][1]["worktree_id"], "{ids}");
    there(&["validate", "leases"]).ok();
}

#[test]
fn arguments_that_are_no_text_are_refused_and_nothing_is_written() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let latin = OsStr::from_bytes(LATIN);
    std::fs::write(bench.repo().join(latin), "text\n").unwrap();
    let before = bench.snapshot();
    for args in [
        &["issue", "create", "--title"][..],
        &["issue", "create", "--title", "t", "--label"],
        &["issue", "create", "--title", "t", "--type"],
        &["issue", "update", &id, "--description"],
        &["issue", "update"],
        &["label", "add", &id],
        &["dep", "add", &id],
        &["doc", "add", &id],
        &["gate", "define", "--manual"],
        &["claim", "acquire"],
        &["--agent-id"],
    ] {
        let mut args = words(args);
        args.insert(0, OsStr::new("--json"));
        args.push(latin);
        let refused = run(&bench, &bench.repo(), &args).fails(2);
        assert_eq!(refused.json()["error"]["code"], "USAGE", "{args:?}");
        assert!(refused.stderr.starts_with("error: "), "{refused}");
    }
    assert_eq!(bench.snapshot(), before);
}

#[test]
fn names_that_a_terminal_would_act_on_are_refused_and_nothing_is_written() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let odd = bench.repo().join("a\nb");
    std::fs::write(&odd, "text\n").unwrap();
    std::fs::write(bench.root().join("outside"), "text\n").unwrap();
    let (odd, outside) = (odd.to_str().unwrap().to_owned(), bench.root().join("outside"));
    let before = bench.snapshot();
    for args in [
        &["issue", "create", "--title", "two\nlines"][..],
        &["issue", "create", "--title", "\x1b[2J"],
        &["issue", "create", "--title", ""],
        &["issue", "create", "--title", "t", "--label", "a\nb"],
        &["issue", "create", "--title", "t", "--label", "\x1b[31m"],
        &["issue", "create", "--title", "t", "--type", "nosuch"],
        &["issue", "create", "--title", "t", "--type", "task\x1b[0m"],
        &["issue", "create", "--title", "t", "--priority", "high\n"],
        &["issue", "update", &id, "--type", "nosuch"],
        &["issue", "update", &id, "--type", "task\n"],
        &["issue", "update", &id, "--title", "good", "--type", "nosuch"],
        &["issue", "update", &id, "--state", "done\x07"],
        &["issue", "update", &id, "--assignee", "a\x1bb"],
        &["label", "add", &id, "good", "b\x07d"],
        &["doc", "add", &id, "a\nb"],
        &["doc", "add", &id, &odd],
        &["doc", "add", &id, "../outside"],
        &["doc", "add", &id, outside.to_str().unwrap()],
        &["gate", "define", "../x", "--manual"],
    ] {
        let refused = bench.jit(args).fails(6);
        assert!(refused.stderr.contains("error:") && !refused.stderr.contains('\x1b'), "{args:?} {refused}");
    }
    assert_eq!(bench.snapshot(), before);
}

/// The types are named, so that whoever mistyped one can go on.
#[test]
fn a_type_that_is_not_in_the_hierarchy_is_refused() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    for args in [
        &["issue", "create", "--title", "t", "--type", "nosuch"][..],
        &["issue", "update", &id, "--type", "nosuch"],
    ] {
        let refused = bench.jit(args).fails(6);
        assert!(refused.stderr.contains("'nosuch'") && refused.stderr.contains("milestone"), "{refused}");
    }
    assert_eq!(bench.jit(&["--json", "issue", "show", &id]).ok().json()["issue"]["type"], "task");
    bench.config("[types]\nhierarchy = [\"goal\", \"step\"]\n");
    bench.jit(&["issue", "update", &id, "--type", "goal"]).ok();
    bench.jit(&["issue", "create", "--title", "t", "--type", "task"]).fails(6);
    let made = bench.jit(&["--json", "issue", "create", "--title", "t"]).ok().json();
    assert_eq!(made["issue"]["type"], "step", "the narrowest");
}
