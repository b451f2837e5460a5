//! Refs that are kept in a reftable. They are git's to move, and one lock is of all worktrees: a git that is killed with it
//! keeps nobody out for longer than it takes to see that nobody has it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use holdfast_trial::{Answer, StandIn, has, until};

use crate::bench::{Bench, JIT};
use crate::ground::{Agent, Ground, is_long, pair};

/// A repository with its refs in a reftable, where git has such a thing.
fn ground() -> Option<Ground> {
    let bench = Bench::empty();
    let mut init = bench.dressed(Command::new("git"));
    init.args(["init", "-q", "-b", "main", "--ref-format=reftable", "repo"]).current_dir(bench.root());
    if !init.status().unwrap().success() {
        println!("skipped: this git keeps no refs in a table");
        return None;
    }
    bench.git(&["commit", "-q", "--allow-empty", "-m", "first"], &bench.repo());
    bench.jit(&["init"]).ok();
    let ground = Ground { bench };
    ground.commit("code");
    Some(ground)
}

/// The lock of all worktrees.
fn lock(ground: &Ground) -> PathBuf {
    ground.bench.repo().join(".git/reftable/tables.list.lock")
}

/// The lock of what is a worktree's own.
fn own_lock(ground: &Ground, agent: &Agent<'_>) -> PathBuf {
    let name = agent.at.file_name().unwrap();
    ground.bench.repo().join(".git/worktrees").join(name).join("reftable/tables.list.lock")
}

fn path_of(agent: &Agent<'_>, name: &str) -> PathBuf {
    agent.git(&["rev-parse", "--path-format=absolute", "--git-path", name]).into()
}

fn lands(ground: &Ground, agent: &Agent<'_>, id: &str, file: &str) {
    agent.run(&["start", id]).ok();
    let name = format!("refs/heads/jit/{}", ground.bench.handle(id));
    assert!(agent.git(&["symbolic-ref", "HEAD"]).starts_with(&name), "{file}");
    agent.write(file, "work\n");
    agent.run(&["finish", "-a", "-m", &format!("landed {file}")]).ok();
    assert_eq!(ground.told(id), pair("done", "landed"), "{file}");
    assert!(!lock(ground).exists() && !own_lock(ground, agent).exists(), "{file}: a lock is left");
    assert!(ground.is_clean(), "{file}");
}

#[test]
fn work_lands_where_refs_are_in_a_table() {
    let Some(ground) = ground() else { return };
    let (id, agent) = (ground.issue("work", &[]), ground.agent("a"));
    lands(&ground, &agent, &id, "work");
}

/// Only git is killed, when it is about to give the lock a name or to remove it: at its first, second, … such call.
#[test]
fn a_git_that_is_killed_with_the_lock_of_all_refs_keeps_nobody_out() {
    if !has("strace") {
        return;
    }
    let Some(ground) = ground() else { return };
    let (agent, other) = (ground.agent("a"), ground.agent("b"));
    let mut deaths = 0;
    // The target is moved by the second change of the lock.
    let few = [
        ("start", false, 1),
        ("start", true, 1),
        ("finish", false, 1),
        ("finish", false, 2),
        ("finish", true, 1),
    ];
    let all = ["start", "finish"].into_iter().flat_map(|verb| {
        [false, true].into_iter().flat_map(move |is_own| (1..=4).map(move |when| (verb, is_own, when)))
    });
    let cases: Vec<(&str, bool, u32)> = if is_long() { all.collect() } else { few.to_vec() };
    for (verb, is_own, when) in cases {
        let file = format!("{verb}-{is_own}-{when}");
        let (id, next) = (ground.issue(&file, &[]), ground.issue(&format!("next-{file}"), &[]));
        let args: &[&str] = if verb == "start" {
            &["start", &id]
        } else {
            agent.run(&["start", &id]).ok();
            agent.write(&file, "work\n");
            &["finish", "-a", "-m", "landed"]
        };
        let path = if is_own { own_lock(&ground, &agent) } else { lock(&ground) };
        let mut strace = ground.bench.dressed(Command::new("strace"));
        let inject = format!("inject=?rename,?renameat,?renameat2,?unlink,?unlinkat:signal=KILL:when={when}");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-P", path.to_str().unwrap(), "-e", &inject, JIT]);
        strace.args(args).current_dir(&agent.at).env("JIT_AGENT_ID", &agent.name);
        let said = Answer::from(strace.output().unwrap());
        deaths += u32::from(path.exists());
        // Somebody else, in another worktree, is not kept out by it.
        lands(&ground, &other, &next, &format!("next-{file}"));
        if (verb, is_own, when) == ("start", false, 1) {
            // What came since is somebody else's, however long it stays.
            let theirs = path_of(&agent, "index.lock");
            std::fs::write(&theirs, "").unwrap();
            agent.run(args);
            assert!(theirs.exists(), "{file}: the lock of somebody else was removed");
            std::fs::remove_file(&theirs).unwrap();
        }
        // Typed again, it goes on where it was.
        if verb == "start" {
            lands(&ground, &agent, &id, &file);
        } else if said.code != Some(0) {
            agent.run(args).ok();
        }
        assert_eq!(ground.told(&id), pair("done", "landed"), "{file}: {said}");
        assert!(!path.exists(), "{file}");
    }
    assert!(deaths >= 4, "only {deaths} gits died with the lock");
    ground.main(&["fsck", "--strict", "--no-dangling"]);
    println!("{deaths} gits were killed with a lock");
}

/// Leaves the lock of all refs, and kills who called it and itself.
const DIES: &str = r#"#!/bin/sh
for word; do
    case "$word" in
    switch | checkout | update-ref | commit)
        : >"$CUT_HOW"
        kill -9 "$PPID" $$
        ;;
    esac
done
exec "$CUT_GIT" "$@"
"#;

/// Killed with all that it started, in a worktree that is removed then: whoever comes next in another one goes on.
#[test]
fn whoever_is_killed_with_the_lock_of_all_refs_keeps_nobody_out() {
    let Some(ground) = ground() else { return };
    let (id, next) = (ground.issue("first", &[]), ground.issue("next", &[]));
    let (gone, agent) = (ground.agent("gone"), ground.agent("b"));
    let git = StandIn::new(DIES);
    let mut command = ground.bench.command(&gone.name, &["start", &id], &gone.at);
    git.dress(&mut command, 0, lock(&ground).to_str().unwrap());
    assert_eq!(Answer::from(command.output().unwrap()).code, None);
    assert!(lock(&ground).exists(), "it died elsewhere");
    std::fs::remove_dir_all(&gone.at).unwrap();
    ground.main(&["worktree", "prune"]);
    // One that somebody has open is somebody's, however long it stays.
    let open = std::fs::File::open(lock(&ground)).unwrap();
    let mut holder = Command::new("sleep").arg("1000").stdin(Stdio::from(open)).spawn().unwrap();

    let refused = agent.run(&["start", &next]);
    assert!(refused.code != Some(0), "{refused}");
    assert!(refused.stderr.contains("lock"), "{refused}");
    assert!(lock(&ground).exists(), "the lock of somebody else was removed");
    holder.kill().unwrap();
    holder.wait().unwrap();
    lands(&ground, &agent, &next, "next");
    ground.bench.jit(&["claim", "force-evict", &id, "--reason", "its worktree is gone"]);
    lands(&ground, &agent, &id, "first");
    until("nothing is noted of the worktree that is gone", || {
        let notes = std::fs::read_dir(ground.bench.repo().join(".git/jit/working")).unwrap();
        notes.count() == 0
    });
}
