//! Disks that fail, fill up or are read-only: a clear error, nothing lost, and the next command works.

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::{Answer, has};

use crate::bench::Bench;

/// Runs the program with system calls made to fail.
fn injected(bench: &Bench, faults: &[&str], agent: &str, args: &[&str]) -> Answer {
    let mut command = bench.dressed(Command::new("strace"));
    command.args(["-f", "-qq", "-o", "/dev/null"]);
    for fault in faults {
        command.args(["-e", &format!("inject={fault}")]);
    }
    command.arg(crate::bench::JIT).args(args).current_dir(bench.repo()).env("JIT_AGENT_ID", agent);
    Answer::from(command.output().unwrap())
}

#[test]
fn a_flush_that_fails_is_a_failure_and_nobody_holds_anything() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new();
    let (held, _) = bench.claimed("agent:a");
    let issue = bench.issue("work");
    for fault in ["fdatasync:error=EIO:when=1", "fdatasync:error=EIO", "fdatasync:error=ENOSPC:when=1"] {
        let failed = injected(&bench, &[fault], "agent:a", &["--json", "claim", "acquire", &issue]).fails(10);
        assert_eq!(failed.json()["error"]["code"], "IO");
        assert!(failed.stderr.contains("claims.jsonl") && failed.stderr.contains("cause:"), "{failed}");
        let taken = bench.run("agent:b", &["--json", "claim", "acquire", &issue]).ok().json();
        assert_eq!(taken["already_held"], false);
        bench.run("agent:b", &["claim", "release", &issue]).ok();
    }
    bench.run("agent:b", &["claim", "acquire", &held]).fails(4);
    bench.jit(&["validate", "leases"]).ok();
}

#[test]
fn a_write_that_fails_anywhere_loses_nothing() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new();
    let (held, lease) = bench.claimed("agent:a");
    for n in 1..=6 {
        let issue = bench.issue("work");
        let fault = format!("pwrite64:error=ENOSPC:when={n}");
        let asked = injected(&bench, &[&fault], "agent:a", &["claim", "acquire", &issue]);
        let told = asked.code == Some(0);
        assert!(told || asked.code == Some(10), "{asked}");
        let other = bench.run("agent:b", &["claim", "acquire", &issue]);
        assert_eq!(other.code, Some(if told { 4 } else { 0 }), "{n}: {asked}\n{other}");
    }
    let again = bench.jit(&["--json", "claim", "acquire", &held]).ok().json();
    assert_eq!(again["lease"]["lease_id"], lease.as_str());
    bench.jit(&["validate", "leases"]).ok();
}

#[test]
fn taking_and_giving_back_starts_no_process() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new();
    let issue = bench.issue("work");
    for verb in ["acquire", "release"] {
        let trace = bench.root().join("trace");
        let mut command = bench.dressed(Command::new("strace"));
        command.args([
            "-f",
            "-qq",
            "-e",
            "trace=execve,clone,clone3,fork,vfork",
            "-o",
            trace.to_str().unwrap(),
        ]);
        command.args([crate::bench::JIT, "claim", verb, &issue]).current_dir(bench.repo());
        assert!(command.env("JIT_AGENT_ID", "agent:a").status().unwrap().success());
        let calls = std::fs::read_to_string(&trace).unwrap();
        assert_eq!(calls.lines().count(), 1, "only the program itself: {calls}");
    }
}

/// A small file system of its own, unmounted at the end.
pub(crate) struct Small(PathBuf);

impl Small {
    pub(crate) fn mount(at: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let how = format!("size={size}");
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", &how, "tmpfs"]).arg(at).output();
        if done.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_path_buf()));
        }
        println!("skipped: this needs the right to mount a file system");
        None
    }

    fn remount(&self, how: &str) {
        let done =
            Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(&self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Fills the disk to the last byte.
pub(crate) fn fill(filler: &Path) {
    let mut size = 1 << 20;
    while size > 0 {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(filler).unwrap();
        if std::io::Write::write_all(&mut &file, &vec![1; size]).is_err() {
            size /= 2;
        }
    }
}

fn repository(bench: &Bench) {
    bench.git(&["init", "-q", "-b", "main", "."], &bench.repo());
    std::fs::remove_dir_all(bench.repo().join(".git/hooks")).unwrap();
    bench.jit(&["init"]).ok();
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let bench = Bench::empty();
    let Some(_small) = Small::mount(&bench.repo(), "1m") else { return };
    repository(&bench);
    let (held, lease) = bench.claimed("agent:a");
    let issue = bench.issue("work");
    let filler = bench.repo().join("filler");
    fill(&filler);
    // There may be room in the last block for a while.
    let full = (0..200).find_map(|n| {
        let agent = format!("agent:{n}");
        let ask = |verb| bench.run(&agent, &["--json", "claim", verb, &issue]);
        [ask("acquire"), ask("release")].into_iter().find(|answer| answer.code == Some(10))
    });
    let full = full.unwrap_or_else(|| panic!("the disk was never full"));
    assert_eq!(full.json()["error"]["code"], "IO", "{full}");
    assert!(full.stderr.contains("hint: free some space"), "{full}");
    assert!(bench.leases().iter().any(|known| known["lease_id"] == lease.as_str()));
    std::fs::remove_file(&filler).unwrap();
    let again = bench.jit(&["--json", "claim", "acquire", &held]).ok().json();
    assert_eq!(again["lease"]["lease_id"], lease.as_str());
    bench.jit(&["validate", "leases"]).ok();
}

#[test]
fn a_read_only_disk_can_be_looked_at_and_not_changed() {
    let bench = Bench::empty();
    let Some(small) = Small::mount(&bench.repo(), "1m") else { return };
    repository(&bench);
    let (_, lease) = bench.claimed("agent:a");
    let issue = bench.issue("work");
    small.remount("ro");
    assert_eq!(bench.leases().len(), 1);
    bench.jit(&["claim", "history"]).ok();
    let refused = bench.jit(&["--json", "claim", "acquire", &issue]).fails(10);
    assert_eq!(refused.json()["error"]["code"], "IO");
    assert!(refused.stderr.contains("hint: remount"), "{refused}");
    bench.jit(&["claim", "release", &lease]).fails(10);
    small.remount("rw");
    bench.jit(&["claim", "acquire", &issue]).ok();
    bench.jit(&["claim", "release", &lease]).ok();
}

/// Where the disk cannot be read, nobody knows whether an issue is there.
#[test]
fn an_issue_that_cannot_be_looked_for_is_not_missing() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new();
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "base"], &bench.repo());
    let there = bench.worktree("there");
    // Only the main worktree has it.
    let id = bench.issue("work");
    bench.run_at("agent:b", &["show", &id], &there).ok();
    let issues = bench.repo().join(".jit/issues");
    let mut command = bench.dressed(Command::new("strace"));
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=openat,openat2:error=EIO", "-P"]);
    command.arg(&issues).arg(crate::bench::JIT).args(["--json", "show", &id]).current_dir(&there);
    let failed = Answer::from(command.env("JIT_AGENT_ID", "agent:b").output().unwrap());
    assert!(failed.code.is_some_and(|code| code != 0), "{failed}");
    assert_ne!(failed.json()["error"]["code"], "ISSUE_NOT_FOUND", "{failed}");
    let none = bench.run_at("agent:b", &["--json", "show", "01K8ZZZZZZ0000000000000001"], &there).fails(3);
    assert_eq!(none.json()["error"]["code"], "ISSUE_NOT_FOUND");
}
