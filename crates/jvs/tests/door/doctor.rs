//! The doctor names what is wrong, changes nothing unless asked, and touches nothing that is in use.

use std::process::{Command, Stdio};

use holdfast_trial::until;

use crate::bench::{Bench, Refusal, ends};

#[test]
fn what_crashes_leave_is_named_and_cleared() {
    let bench = Bench::new();
    bench.put("f", "x");
    bench.snapshot();
    let nonce = "0123456789abcdef0123456789abcdef";
    std::fs::create_dir(bench.control("staging/1700000000000-00000001")).unwrap();
    std::fs::write(bench.control("intents/1700000000000-00000002.json"), "").unwrap();
    std::fs::write(bench.control(&format!("config.json.{nonce}.tmp")), "half").unwrap();
    std::fs::write(bench.control(&format!("locks/x.lock.{nonce}.tmp")), "half").unwrap();
    let mut found = bench.findings();
    found.sort();
    assert_eq!(found, ["abandoned_operation", "orphaned_staging", "orphaned_tmp", "orphaned_tmp"]);
    assert!(bench.control("staging/1700000000000-00000001").exists(), "looking changes nothing");
    bench.jvs(&["doctor"]).ok();
    bench.heals();
}

#[test]
fn work_that_goes_on_is_left_alone() {
    let bench = Bench::new();
    for n in 0..1_200 {
        bench.put(&format!("d{}/f{n}", n % 20), &"x".repeat(40_000));
    }
    bench.jvs(&["lock", "acquire", "--lease-ms", "600000"]).ok();
    let mut command = bench.command(&["snapshot"], &bench.main());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let staging = bench.control("staging");
    let at_work = || std::fs::read_dir(&staging).unwrap().count() == 1;
    until("it is at work", at_work);
    let kill = |name: &str| Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(kill("-STOP").success());
    let mut doctor = bench.spawn("doctor", &["--wait", "600", "doctor", "--repair"]);
    if ends(&mut doctor) {
        assert!(doctor.wait().unwrap().success());
        assert!(at_work() || !bench.history().is_empty(), "it is stopped, not gone");
    }
    // Otherwise it was stopped while it published, and the doctor waits for its turn.
    assert!(kill("-CONT").success());
    assert!(child.wait().unwrap().success());
    assert!(doctor.wait().unwrap().success());
    assert_eq!(bench.history().len(), 1);
}

#[test]
fn a_hostile_lock_is_named_and_set_aside_only_when_asked() {
    for hostile in
        [&b""[..], b"{}", b"\xff\xfe\x00", b"{\"format\":1,\"lock_id\":\"../../x\"}", &[b'['; 70_000]]
    {
        let bench = Bench::new();
        bench.jvs(&["lock", "acquire"]).ok();
        let lock = std::fs::read_dir(bench.control("locks")).unwrap().map(|entry| entry.unwrap().path());
        let lock = lock.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "lock")).unwrap();
        std::fs::write(&lock, hostile).unwrap();
        for args in [&["lock", "acquire"][..], &["lock", "renew"], &["lock", "release"], &["lock", "status"]]
        {
            bench.jvs(args).refused_as("E_DESCRIPTOR_CORRUPT");
        }
        assert_eq!(std::fs::read(&lock).unwrap(), hostile, "nothing touched it");
        assert_eq!(bench.findings(), ["damaged_lock"]);
        bench.heals();
        let token = bench.other("b", &["lock", "acquire"]).ok().json()["lock"]["fencing_token"].as_u64();
        assert!(token.unwrap() > 1);
    }
}
