//! Taking, keeping and giving back the lock, and what others are told meanwhile.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use holdfast_trial::{Answer, until};

use crate::bench::{Bench, JVS, Refusal};

#[test]
fn one_has_it_and_the_others_are_told_who_and_when_to_try_again() {
    let bench = Bench::new();
    let mine = bench.other("a", &["lock", "acquire"]).ok().json();
    assert_eq!(mine["already_held"], false);
    for field in ["lock_id", "worktree_id", "session_id", "acquire_seq", "created_at", "renew_interval_ms"] {
        assert!(!mine["lock"][field].is_null(), "{field}: {mine}");
    }
    let refused = bench.other("b", &["lock", "acquire"]).refused_as("E_LOCK_CONFLICT");
    let told = refused.json();
    assert_eq!(told["holder_id"], mine["lock"]["holder_id"]);
    assert!(told["retry_after_ms"].as_u64().unwrap() > 30_000, "lease, skew and grace: {told}");
    assert!(!bench.dir().join("b.session").exists(), "a refused session leaves no credentials");
    let again = bench.other("a", &["lock", "acquire"]).ok().json();
    assert_eq!((&again["already_held"], &again["lock"]["lock_id"]), (&true.into(), &mine["lock"]["lock_id"]));
    bench.other("b", &["lock", "renew"]).refused_as("E_LOCK_NOT_HELD");
    bench.other("b", &["lock", "release"]).refused_as("E_LOCK_NOT_HELD");
    bench.other("a", &["lock", "renew"]).ok();
    bench.other("a", &["lock", "release"]).ok();
    bench.other("a", &["lock", "release"]).refused_as("E_LOCK_NOT_HELD");
    bench.other("b", &["lock", "acquire"]).ok();
}

#[test]
fn an_expired_lock_cannot_be_renewed_even_if_nobody_took_it() {
    let bench = Bench::new();
    bench.other("a", &["lock", "acquire", "--lease-ms", "100"]).ok();
    until("it is over", || bench.jvs(&["lock", "status"]).ok().json()["state"] != "held");
    bench.other("a", &["lock", "renew"]).refused_as("E_LOCK_EXPIRED");
    bench.other("a", &["snapshot"]).refused_as("E_LOCK_EXPIRED");
    let told = bench.other("b", &["lock", "acquire"]);
    // Inside skew and grace others still wait, and are told how long; on a slow machine that may be over.
    if told.code != Some(0) {
        assert!(told.refused_as("E_LOCK_CONFLICT").json()["retry_after_ms"].as_u64().unwrap() <= 3_000);
    }
    bench.other("a", &["lock", "release"]).code.unwrap();
}

#[test]
fn the_session_is_a_file_of_the_shells_own_that_nobody_else_may_read() {
    let bench = Bench::new();
    // Without the last command bash would become the one before it, and that one would have no shell.
    let script = format!("{JVS} lock acquire && {JVS} lock renew && {JVS} --json lock status; exit");
    let shell = bench.dressed(Command::new("bash"), &bench.main()).args(["-c", &script]).output().unwrap();
    let seen = Answer::from(shell).ok();
    assert!(seen.stdout.contains("\"mine\":true"), "{seen}");
    let files: Vec<_> = std::fs::read_dir(bench.control("sessions")).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // Another shell of the same user is not the holder.
    bench.jvs(&["lock", "renew"]).refused_as("E_LOCK_NOT_HELD");
    bench.jvs(&["lock", "acquire"]).refused_as("E_LOCK_CONFLICT");
    assert_eq!(bench.findings(), ["orphaned_session"]);
    bench.heals();
}

#[test]
fn credentials_that_others_could_read_are_not_believed() {
    let bench = Bench::new();
    bench.other("a", &["lock", "acquire"]).ok();
    let file = bench.dir().join("a.session");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    bench.other("a", &["lock", "renew"]).refused_as("E_LOCK_NOT_HELD");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    bench.other("a", &["lock", "renew"]).ok();
    std::fs::write(&file, "{}").unwrap();
    bench.other("a", &["lock", "renew"]).refused_as("E_LOCK_NOT_HELD");
    bench.other("a", &["lock", "acquire"]).refused_as("E_LOCK_NOT_HELD");
    assert_eq!(std::fs::read(&file).unwrap(), b"{}", "what is no session is not overwritten");
}

#[test]
fn no_answer_holds_a_nonce() {
    let bench = Bench::new();
    let granted = bench.other("a", &["lock", "acquire"]).ok();
    let file = std::fs::read_to_string(bench.dir().join("a.session")).unwrap();
    let session: serde_json::Value = serde_json::from_str(&file).unwrap();
    let nonce = session["holder_nonce"].as_str().unwrap();
    let answers = [
        granted,
        bench.jvs(&["lock", "status"]),
        bench.other("b", &["lock", "acquire"]),
        bench.other("b", &["snapshot"]),
        bench.jvs(&["audit"]),
    ];
    for answer in answers {
        assert!(!answer.stdout.contains(nonce) && !answer.stderr.contains(nonce), "{answer}");
    }
}

#[test]
fn a_shared_worktree_has_no_lock() {
    let bench = Bench::new();
    bench.jvs(&["worktree", "create", "s", "--isolation", "shared"]).ok();
    bench.jvs(&["lock", "acquire", "--worktree", "s"]).refused_as("E_CONSISTENCY_UNAVAILABLE");
    assert_eq!(bench.jvs(&["lock", "status", "--worktree", "s"]).ok().json()["state"], "shared");
    let taken = bench.jvs(&["snapshot", "--worktree", "s"]).ok().json();
    assert!(taken["snapshot"]["fencing_token"].is_null());
}

#[test]
fn a_lease_is_neither_shorter_nor_longer_than_allowed() {
    let bench = Bench::new();
    for ms in ["0", "99", "86400001", "18446744073709551615"] {
        bench.jvs(&["lock", "acquire", "--lease-ms", ms]).refused_as("E_USAGE");
    }
    for ms in ["100", "86400000"] {
        bench.jvs(&["lock", "acquire", "--lease-ms", ms]).ok();
        bench.jvs(&["lock", "release"]).ok();
    }
}
