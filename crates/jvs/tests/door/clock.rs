//! A wall clock that jumps ends no lock and prolongs none, and the doctor notices it.

use std::process::Command;

use holdfast_trial::{Answer, has, until};

use crate::bench::{Bench, JVS, Refusal};

/// Runs the program with the wall clock moved, but not the times of files.
fn at(bench: &Bench, offset: &str, who: &str, args: &[&str]) -> Answer {
    let mut command = bench.dressed(Command::new("faketime"), &bench.main());
    command.args(["--exclude-monotonic", "-f", offset, JVS, "--json"]).args(args);
    command.env("NO_FAKE_STAT", "1").env("JVS_SESSION_FILE", bench.dir().join(format!("{who}.session")));
    Answer::from(command.output().unwrap())
}

#[test]
fn an_hour_forward_or_back_ends_no_live_lock_and_revives_no_dead_one() {
    if !has("faketime") {
        return;
    }
    let bench = Bench::impatient();
    bench.other("a", &["lock", "acquire", "--lease-ms", "600000"]).ok();
    for offset in ["+1h", "-1h", "+400d"] {
        at(&bench, offset, "b", &["lock", "acquire"]).refused_as("E_LOCK_CONFLICT");
        at(&bench, offset, "a", &["lock", "renew"]).ok();
    }
    bench.other("a", &["lock", "release"]).ok();
    bench.other("a", &["lock", "acquire", "--lease-ms", "100"]).ok();
    until("it is over", || bench.jvs(&["lock", "status"]).ok().json()["state"] == "stealable");
    at(&bench, "-1h", "a", &["lock", "renew"]).refused_as("E_LOCK_EXPIRED");
    at(&bench, "-1h", "b", &["lock", "acquire"]).ok();
}

#[test]
fn the_doctor_notices_a_clock_that_is_not_the_file_systems() {
    if !has("faketime") {
        return;
    }
    let bench = Bench::new();
    let seen = at(&bench, "+1h", "a", &["doctor", "--strict"]);
    assert_eq!(seen.code, Some(1), "{seen}");
    assert_eq!(seen.json()["findings"][0]["finding"], "clock_offset");
    assert_eq!(bench.findings(), Vec::<String>::new());
}

/// On one machine the times of files come from the same clock, so they agree with it however wrong it is; the
/// boot-time clock does not.
#[test]
fn the_doctor_notices_a_clock_that_was_moved_since_the_last_entry_of_the_audit() {
    if !has("faketime") {
        return;
    }
    let bench = Bench::new();
    bench.jvs(&["lock", "acquire"]).ok();
    for offset in ["+1h", "-1h"] {
        let seen = at(&bench, offset, "a", &["doctor", "--strict"]).fails(1).json();
        let moved = |one: &serde_json::Value| {
            one["finding"] == "clock_offset" && one["message"].as_str().unwrap().contains("was moved by")
        };
        assert!(seen["findings"].as_array().unwrap().iter().any(moved), "{offset}: {seen}");
    }
    assert_eq!(bench.findings(), Vec::<String>::new());
}
