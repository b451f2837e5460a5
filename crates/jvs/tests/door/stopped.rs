//! A holder that is stopped, displaced and continued: it is refused, and nothing of what it was about to
//! publish becomes visible.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use crate::bench::{Answer, Bench, has, until};

/// A payload that takes a while to copy.
fn fill(bench: &Bench) {
    for n in 0..400 {
        bench.put(&format!("d{}/f{n}", n % 20), &"x".repeat(40_000));
    }
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
}

/// Stops a command of the holder once it is at work, has somebody else take the lock, and lets it go on.
fn displaced(bench: &Bench, mut command: Command) -> Answer {
    bench.other("a", &["lock", "acquire", "--lease-ms", "400"]).ok();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let staging = bench.control("staging");
    until("it is at work", || std::fs::read_dir(&staging).unwrap().next().is_some());
    signal(&child, "STOP");
    until("somebody else has the lock", || {
        bench.other("b", &["lock", "acquire", "--lease-ms", "600000"]).code == Some(0)
    });
    signal(&child, "CONT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), None);
    Answer::from(output)
}

fn snapshot(bench: &Bench) -> Command {
    let mut command = bench.command(&["snapshot"], &bench.main());
    command.env("JVS_SESSION_FILE", bench.dir().join("a.session"));
    command
}

fn is_refused_everything(bench: &Bench) {
    bench.other("a", &["lock", "renew"]).refused("E_LOCK_NOT_HELD");
    bench.other("a", &["lock", "release"]).refused("E_LOCK_NOT_HELD");
    bench.other("a", &["snapshot"]).refused("E_FENCING_MISMATCH");
    bench.other("a", &["snapshot", "--consistency", "best_effort"]).refused("E_FENCING_MISMATCH");
    assert_eq!(bench.history(), Vec::<String>::new());
    assert_eq!(bench.findings(), Vec::<String>::new());
    bench.other("b", &["lock", "renew"]).ok();
}

#[test]
fn a_displaced_holder_publishes_nothing() {
    let bench = Bench::impatient();
    fill(&bench);
    displaced(&bench, snapshot(&bench)).refused("E_FENCING_MISMATCH");
    is_refused_everything(&bench);
}

#[test]
fn a_displaced_holder_restores_nothing() {
    let bench = Bench::impatient();
    fill(&bench);
    bench.other("z", &["lock", "acquire"]).ok();
    let first = crate::bench::id(&bench.other("z", &["snapshot"]).ok());
    bench.other("z", &["lock", "release"]).ok();
    bench.put("new", "kept");
    let mut command = bench.command(&["restore", &first, "--inplace", "--reason", "r"], &bench.root());
    command.env("JVS_SESSION_FILE", bench.dir().join("a.session"));
    displaced(&bench, command).refused("E_FENCING_MISMATCH");
    assert_eq!(std::fs::read_to_string(bench.main().join("new")).unwrap(), "kept");
    assert_eq!(bench.findings(), Vec::<String>::new());
}

#[test]
fn a_displaced_holder_with_a_moved_clock_publishes_nothing() {
    if !has("faketime") {
        return;
    }
    for offset in ["+1h", "-1h"] {
        let bench = Bench::impatient();
        fill(&bench);
        let mut command = bench.dressed(Command::new("faketime"), &bench.main());
        command.args(["--exclude-monotonic", "-f", offset, crate::bench::JVS, "--json", "snapshot"]);
        // The file system's times are not moved, because the real ones would not be.
        command.env("JVS_SESSION_FILE", bench.dir().join("a.session")).env("NO_FAKE_STAT", "1");
        displaced_group(&bench, command).refused("E_FENCING_MISMATCH");
        is_refused_everything(&bench);
    }
}

/// As [`displaced`], for a program that runs another one: both are stopped.
fn displaced_group(bench: &Bench, mut command: Command) -> Answer {
    use std::os::unix::process::CommandExt;
    bench.other("a", &["lock", "acquire", "--lease-ms", "400"]).ok();
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let staging = bench.control("staging");
    until("it is at work", || std::fs::read_dir(&staging).unwrap().next().is_some());
    let group = |name: &str| {
        let done =
            Command::new("kill").args([&format!("-{name}"), "--", &format!("-{}", child.id())]).status();
        assert!(done.unwrap().success());
    };
    group("STOP");
    until("somebody else has the lock", || {
        bench.other("b", &["lock", "acquire", "--lease-ms", "600000"]).code == Some(0)
    });
    group("CONT");
    Answer::from(child.wait_with_output().unwrap())
}
