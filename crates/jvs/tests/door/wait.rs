//! Waiting for others: it ends, says whom it waits for, listens to signals, and stands in nobody else's way.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use holdfast_trial::{Answer, until};

use crate::bench::{Bench, Refusal};

/// Somebody who is inside a guard.
fn inside(path: &std::path::Path) -> File {
    let file = File::options().create(true).truncate(false).write(true).open(path).unwrap();
    file.lock().unwrap();
    file
}

fn spawn(bench: &Bench, args: &[&str]) -> Child {
    let mut command = bench.command(args, &bench.main());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn guard_of(bench: &Bench, worktree: &str) -> std::path::PathBuf {
    let list = bench.jvs(&["worktree", "list"]).ok().json();
    let mut all = list["worktrees"].as_array().unwrap().iter();
    let id = all.find(|one| one["name"] == worktree).unwrap()["worktree_id"].as_str().unwrap().to_owned();
    bench.control("locks").join(format!("{id}.guard"))
}

#[test]
fn a_guard_is_not_waited_for_for_ever_and_whoever_is_inside_is_named() {
    let bench = Bench::new();
    for guard in ["repo.guard", "audit/audit.guard"] {
        let held = inside(&bench.control(guard));
        for args in [&["lock", "acquire"][..], &["gc", "plan"], &["audit", "verify"], &["doctor", "--strict"]]
        {
            let told = bench.jvs(&[&["--wait", "0.2"], args].concat()).refused_as("E_BUSY").json();
            assert!(told["waited_ms"].as_u64().unwrap() >= 200, "{told}");
            let one = &told["inside"][0];
            assert_eq!(one["pid"], std::process::id(), "{guard}: {told}");
            assert!(one["running_ms"].as_u64().is_some() && one["stopped"] == false, "{told}");
            assert!(told["message"].as_str().unwrap().contains(one["command"].as_str().unwrap()), "{told}");
        }
        drop(held);
        bench.jvs(&["--wait", "0.2", "lock", "acquire"]).ok();
        bench.jvs(&["lock", "release"]).ok();
    }
    assert_eq!(bench.findings(), Vec::<String>::new(), "nothing is left of those who gave up");
}

#[test]
fn one_who_was_stopped_inside_is_told_from_one_who_works() {
    let bench = Bench::new();
    let guard = bench.control("repo.guard");
    let mut holder = Command::new("flock").arg("-F").arg(&guard).args(["sleep", "1000"]).spawn().unwrap();
    until("it is inside", || bench.jvs(&["--wait", "0", "gc", "plan"]).code == Some(1));
    let kill = |name: &str| {
        assert!(Command::new("kill").args([name, &holder.id().to_string()]).status().unwrap().success());
    };
    kill("-STOP");
    until("it is stopped", || {
        bench.jvs(&["--wait", "0", "gc", "plan"]).json()["inside"][0]["stopped"] == true
    });
    let told = bench.jvs(&["--wait", "1.5", "gc", "plan"]).refused_as("E_BUSY");
    told.says(&["note: waiting for", "sleep 1000", "stopped", "kill -CONT"]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    bench.jvs(&["gc", "plan"]).ok();
}

#[test]
fn whoever_waits_for_one_lock_is_in_nobodys_way_at_another() {
    let bench = Bench::new();
    bench.jvs(&["lock", "acquire"]).ok();
    bench.jvs(&["worktree", "create", "w"]).ok();
    bench.jvs(&["lock", "acquire", "--worktree", "w"]).ok();
    let held = inside(&guard_of(&bench, "main"));
    let mut waiting = spawn(&bench, &["--wait", "600", "lock", "renew"]);
    for _ in 0..10 {
        bench.jvs(&["--wait", "60", "snapshot", "--worktree", "w"]).ok();
    }
    assert!(waiting.try_wait().unwrap().is_none(), "it needs the guard that is held");
    drop(held);
    assert!(waiting.wait().unwrap().success());
}

#[test]
fn a_signal_ends_the_wait_of_a_command_under_the_lock() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let bench = Bench::new();
        let held = inside(&bench.control("repo.guard"));
        let mut command = bench.command(&["--wait", "600", "lock", "run", "--", "true"], &bench.main());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        // Bits 1, 2 and 15 of the mask: it listens to SIGHUP, SIGINT and SIGTERM.
        until("it listens", || {
            let text = std::fs::read_to_string(&status).unwrap();
            let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
            u64::from_str_radix(caught, 16).unwrap() & 0x4003 == 0x4003
        });
        let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let answer = Answer::from(child.wait_with_output().unwrap()).fails(code);
        assert_eq!(answer.json()["error"], "E_INTERRUPTED", "{answer}");
        drop(held);
        assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free");
        assert_eq!(bench.findings(), Vec::<String>::new());
    }
}

#[test]
fn a_lock_is_waited_for_if_that_is_asked_for() {
    let bench = Bench::new();
    bench.other("a", &["lock", "acquire", "--lease-ms", "600000"]).ok();
    let told = bench.other("b", &["lock", "acquire", "--wait", "0.3"]).refused_as("E_LOCK_CONFLICT");
    assert!(told.json()["waited_ms"].as_u64().unwrap() >= 300, "{told}");
    told.says(&["note: waiting for 'main'"]);
    assert!(
        bench.other("b", &["lock", "acquire"]).refused_as("E_LOCK_CONFLICT").json()["waited_ms"].is_null()
    );
    let b = bench.spawn("b", &["lock", "acquire", "--wait", "600"]);
    bench.other("a", &["lock", "renew"]).ok();
    bench.other("a", &["lock", "release"]).ok();
    Answer::from(b.wait_with_output().unwrap()).ok();
    let c = bench.spawn("c", &["--wait", "600", "lock", "run", "--", "true"]);
    bench.other("b", &["lock", "release"]).ok();
    Answer::from(c.wait_with_output().unwrap()).ok();
    for wrong in ["-1", "x", "1e3", "604801"] {
        bench.jvs(&["lock", "acquire", &format!("--wait={wrong}")]).refused_as("E_USAGE");
    }
}
