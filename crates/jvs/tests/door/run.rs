//! A command under the lock: it has it, keeps it, and is stopped when it is lost.

use std::process::Stdio;

use holdfast_trial::{Answer, until};

use crate::bench::{Bench, JVS, Refusal};

#[test]
fn a_command_holds_the_lock_while_it_runs_and_its_exit_code_is_the_answer() {
    let bench = Bench::new();
    let script = format!("echo out; {JVS} snapshot inside >/dev/null && exit 7");
    let ran = bench.jvs(&["lock", "run", "--", "sh", "-c", &script]);
    assert_eq!(ran.code, Some(7), "{ran}");
    assert_eq!(bench.history().len(), 1);
    assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free");
    assert_eq!(std::fs::read_dir(bench.control("sessions")).unwrap().count(), 0);
    bench.jvs(&["lock", "run", "--", "/nowhere/at/all"]).refused_as("E_IO");
    assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free");
}

#[test]
fn a_command_outlives_its_first_lease_because_it_is_renewed() {
    let bench = Bench::impatient();
    let mut command = bench.command(&["lock", "run", "--lease-ms", "3000", "--", "cat"], &bench.main());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let renewals = || {
        let seen = bench.jvs(&["audit"]).ok().json();
        seen["entries"].as_array().unwrap().iter().filter(|entry| entry["event"] == "lock.renewed").count()
    };
    until("it was renewed more than once", || renewals() > 1);
    bench.other("b", &["lock", "acquire"]).refused_as("E_LOCK_CONFLICT");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_lost_lock_stops_the_command() {
    let bench = Bench::impatient();
    let mut command =
        bench.command(&["lock", "run", "--lease-ms", "1500", "--", "sleep", "1000"], &bench.main());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("it holds the lock", || bench.jvs(&["lock", "status"]).ok().json()["state"] == "held");
    // What cannot be renewed any more is lost.
    let lock = std::fs::read_dir(bench.control("locks")).unwrap().map(|entry| entry.unwrap().path());
    for path in lock.filter(|path| path.extension().is_some_and(|kind| kind == "lock")) {
        std::fs::remove_file(path).unwrap();
    }
    Answer::from(child.wait_with_output().unwrap()).refused_as("E_LOCK_NOT_HELD");
}
