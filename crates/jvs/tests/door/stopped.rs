//! A holder that is stopped, displaced and continued: it is refused, and nothing of what it was about to
//! publish becomes visible.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

use holdfast_trial::{Answer, has, until};

use crate::bench::{Bench, Refusal, ends};

/// A payload that takes a while to copy.
pub(crate) fn fill(bench: &Bench) {
    for n in 0..1_200 {
        bench.put(&format!("d{}/f{n}", n % 20), &"x".repeat(40_000));
    }
}

/// Signals a command and whatever it runs.
pub(crate) fn signal(child: &Child, name: &str) {
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args([&format!("-{name}"), "--", &group]).status().unwrap().success());
}

/// Stops a command of the holder once it is at work, has somebody else take the lock, and lets it go on.
fn displaced(bench: &Bench, mut command: Command) -> Answer {
    // The lease is renewed for the first time long after the copy has begun.
    bench.other("a", &["lock", "acquire", "--lease-ms", "3000"]).ok();
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let staging = bench.control("staging");
    until("it is at work", || std::fs::read_dir(&staging).unwrap().next().is_some());
    signal(&child, "STOP");
    until("somebody else has the lock", || {
        let mut other = bench.spawn("b", &["lock", "acquire", "--lease-ms", "600000"]);
        if !ends(&mut other) {
            // It was stopped in the middle of a renewal, whose guard everybody waits for.
            signal(&child, "CONT");
            other.wait().unwrap();
            signal(&child, "STOP");
        }
        other.wait().unwrap().success()
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
    bench.other("a", &["lock", "renew"]).refused_as("E_LOCK_NOT_HELD");
    bench.other("a", &["lock", "release"]).refused_as("E_LOCK_NOT_HELD");
    bench.other("a", &["snapshot"]).refused_as("E_FENCING_MISMATCH");
    bench.other("a", &["snapshot", "--consistency", "best_effort"]).refused_as("E_FENCING_MISMATCH");
    assert_eq!(bench.history(), Vec::<String>::new());
    assert_eq!(bench.findings(), Vec::<String>::new());
    bench.other("b", &["lock", "renew"]).ok();
}

#[test]
fn a_displaced_holder_publishes_nothing() {
    let bench = Bench::impatient();
    fill(&bench);
    displaced(&bench, snapshot(&bench)).refused_as("E_FENCING_MISMATCH");
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
    let mut command =
        bench.command(&["restore", &first, "--inplace", "--reason", "r", "--force"], &bench.root());
    command.env("JVS_SESSION_FILE", bench.dir().join("a.session"));
    displaced(&bench, command).refused_as("E_FENCING_MISMATCH");
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
        displaced(&bench, command).refused_as("E_FENCING_MISMATCH");
        is_refused_everything(&bench);
    }
}
