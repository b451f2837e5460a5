//! Whose a session is: of the process that took it and of whatever that one starts, and of nobody else.

use std::process::{Command, Stdio};

use holdfast_trial::{Answer, has, until};

use crate::bench::{Bench, JVS, Refusal};

/// Runs a script in which `$jvs` is the program. It does not end with its last command, so that the shell does not
/// replace itself by that one.
fn script(bench: &Bench, shell: &str, text: &str) -> Answer {
    let mut command = bench.dressed(Command::new(shell), &bench.main());
    command.env("jvs", JVS).args(["-c", &format!("set -e; {text}\n:")]);
    Answer::from(command.output().unwrap())
}

const SHELLS: [&str; 2] = ["bash", "dash"];

#[test]
fn a_shell_that_runs_a_command_under_its_own_lock_is_told_so() {
    let bench = Bench::new();
    let said = script(&bench, "bash", "$jvs lock acquire >/dev/null; $jvs lock run -- true || echo $?");
    assert_eq!(said.stdout, "1\n", "{said:?}");
    assert!(
        said.stderr.contains("this shell holds the lock") && said.stderr.contains("jvs lock release"),
        "{said:?}"
    );
}

#[test]
fn whatever_the_shell_starts_acts_for_it() {
    let ways = [
        "out=$($jvs snapshot c); test -n \"$out\"",
        "out=$($jvs snapshot c | cat); test -n \"$out\"",
        "( $jvs snapshot c )",
        "( cd .; ( $jvs snapshot c; : ); : )",
        "timeout 20 $jvs snapshot c",
        "( timeout 20 $jvs snapshot c; : )",
        "$jvs snapshot c | cat",
        "echo | { $jvs snapshot c; }",
        "$jvs snapshot c & wait $!",
        "sh -c '$jvs snapshot c'",
        "sh -c '$jvs snapshot c; :'",
        "env $jvs snapshot c",
        "echo c | xargs $jvs snapshot",
        "f() { $jvs snapshot c; }; f; ( f )",
    ];
    for shell in SHELLS {
        let bench = Bench::new();
        for way in ways {
            let text = format!("$jvs lock acquire; {way} >/dev/null; $jvs lock renew; $jvs lock release");
            let before = bench.history().len();
            let answer = script(&bench, shell, &text).ok();
            assert!(bench.history().len() > before, "{shell}: {way}: {answer}");
            assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free", "{shell}: {way}");
        }
        assert_eq!(bench.findings(), Vec::<String>::new());
    }
}

#[test]
fn a_lock_that_is_taken_in_passing_belongs_to_the_shell() {
    let ways = [
        "out=$($jvs lock acquire); test -n \"$out\"",
        "out=$($jvs lock acquire | cat); test -n \"$out\"",
        "( $jvs lock acquire )",
        "( ( $jvs lock acquire; : ); : )",
        "timeout 20 $jvs lock acquire",
        "$jvs lock acquire | cat",
        "$jvs lock acquire & wait $!",
    ];
    for shell in SHELLS {
        let bench = Bench::new();
        for way in ways {
            let text = format!("{way} >/dev/null; $jvs snapshot c; $jvs lock acquire; ( $jvs lock release )");
            let answer = script(&bench, shell, &text).ok();
            assert!(answer.stdout.contains("already held"), "{shell}: {way}: {answer}");
            assert_eq!(bench.jvs(&["lock", "status"]).ok().json()["state"], "free", "{shell}: {way}");
        }
        assert_eq!(std::fs::read_dir(bench.control("sessions")).unwrap().count(), 0);
    }
}

#[test]
fn two_jobs_of_one_shell_do_not_share_a_lock() {
    let bench = Bench::new();
    let fifo = Command::new("mkfifo").arg(bench.root().join("wait")).status().unwrap();
    assert!(fifo.success());
    let first = "sh -c \"$jvs lock acquire && echo got > ../first && cat ../wait && $jvs lock release; :\"";
    let until = "until [ -e ../first ]; do sleep 0.02; done";
    let text = format!("{first} & {until}; sh -c \"$jvs lock acquire && echo got; :\"; : > ../wait; wait");
    let answer = script(&bench, "bash", &text).ok();
    assert!(!answer.stdout.contains("got"), "{answer}");
    assert!(answer.stderr.contains("E_LOCK_CONFLICT"), "{answer}");
}

#[test]
fn a_stranger_is_told_who_has_the_lock_and_whether_it_is_still_there() {
    let bench = Bench::new();
    let mut command = bench.dressed(Command::new("sh"), &bench.main());
    command.args(["-c", &format!("{JVS} lock acquire --lease-ms 600000; cat; :")]);
    let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    until("it has the lock", || bench.jvs(&["lock", "status"]).ok().json()["state"] == "held");
    let id = format!(":{}:", shell.id());
    for args in [&["lock", "renew"][..], &["lock", "release"]] {
        let told = bench.jvs(args).refused_as("E_LOCK_NOT_HELD").json();
        let hint = told["hint"].as_str().unwrap();
        assert!(hint.contains(&id) && hint.contains("did not start this command"), "{told}");
    }
    drop(shell.stdin.take());
    shell.wait().unwrap();
    for (args, class) in [(&["lock", "renew"], "E_LOCK_NOT_HELD"), (&["lock", "acquire"], "E_LOCK_CONFLICT")]
    {
        let told = bench.jvs(args).refused_as(class).json();
        let hint = told["hint"].as_str().unwrap();
        assert!(hint.contains("has ended") && hint.contains("lock break"), "{told}");
        assert_eq!(told["holder_is_gone"], true, "{told}");
    }
    bench.jvs(&["lock", "break"]).refused_as("E_USAGE");
    bench.jvs(&["lock", "break", "--reason", " "]).refused_as("E_USAGE");
    let broken = bench.jvs(&["lock", "break", "--reason", "its shell is gone"]).ok().json();
    assert!(broken["holder_id"].as_str().unwrap().contains(&id), "{broken}");
    bench.jvs(&["lock", "break", "--reason", "again"]).refused_as("E_LOCK_NOT_HELD");
    let seen = bench.jvs(&["audit", "--limit", "1"]).ok().json();
    let line = &seen["entries"][0];
    assert_eq!(
        (&line["event"], &line["data"]["reason"]),
        (&"lock.broken".into(), &"its shell is gone".into())
    );
    assert!(line["data"]["holder_id"].as_str().unwrap().contains(&id), "{line}");
    let token = bench.jvs(&["lock", "acquire"]).ok().json()["lock"]["fencing_token"].as_u64().unwrap();
    assert!(token > broken["fencing_token"].as_u64().unwrap());
    bench.jvs(&["audit", "verify"]).ok();
}

#[test]
fn whoever_had_a_broken_lock_is_refused() {
    let bench = Bench::new();
    bench.put("f", "x");
    bench.other("a", &["lock", "acquire", "--lease-ms", "600000"]).ok();
    bench.other("b", &["lock", "break", "--reason", "r"]).ok();
    bench.other("a", &["lock", "renew"]).refused_as("E_LOCK_NOT_HELD");
    bench.other("a", &["snapshot"]).refused_as("E_FENCING_MISMATCH");
    bench.other("b", &["lock", "acquire"]).ok();
    bench.other("a", &["lock", "release"]).refused_as("E_LOCK_NOT_HELD");
}

/// A flush that fails when the record is in its place already.
#[test]
fn an_acquisition_whose_last_flush_fails_locks_nobody_out() {
    if !has("strace") {
        return;
    }
    // Files and directories are flushed by different calls, which strace counts apart.
    for call in ["fdatasync", "fsync"] {
        let bench = Bench::new();
        let mut failed = 0;
        for nth in 1.. {
            let mut command = bench.dressed(Command::new("strace"), &bench.main());
            let inject = format!("inject={call}:error=EIO:when={nth}+");
            command.args(["-qq", "-o", "/dev/null", "-f", "-e", &inject, JVS, "--json"]);
            command.args(["lock", "acquire", "--lease-ms", "600000"]);
            command.env("JVS_SESSION_FILE", bench.dir().join("a.session"));
            let answer = Answer::from(command.output().unwrap());
            let again = bench.other("a", &["lock", "acquire", "--lease-ms", "600000"]);
            assert_eq!(again.code, Some(0), "after {answer}\n{again}");
            bench.other("a", &["lock", "release"]).ok();
            if answer.code == Some(0) {
                break;
            }
            failed += 1;
        }
        assert!(failed >= 2, "only {failed} calls of {call} failed");
    }
}
