//! Disks that fail or fill up: a clear error, nothing lost, and the next command works.

use holdfast_trial::has;

use crate::bench::{Answer, Bench, KC, NOW};

/// Runs the program with system calls made to fail.
fn injected(bench: &Bench, fault: &str, words: &[&str]) -> Answer {
    let inject = format!("inject={fault}");
    let before = ["-f", "-qq", "-o", "/dev/null", "-e", &inject, KC];
    let mut strace = bench.command("strace", &[&before[..], words].concat());
    // Where libraries are looked for in many places, those are the calls that would fail.
    Answer::from(strace.env_remove("LD_LIBRARY_PATH").output().unwrap())
}

#[test]
fn a_disk_that_fails_anywhere_loses_nothing() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new(&["kept"]);
    let kept = bench.acquire("kept", "ann", NOW);
    for fault in
        ["fsync,fdatasync:error=EIO", "pwrite64:error=ENOSPC", "pwrite64:error=EIO", "openat:error=EMFILE"]
    {
        let mut failed = 0;
        for n in [1, 2, 3, 4, 6, 7, 9] {
            let doc = format!("{fault} {n}");
            bench.run(&["doc", "add", "VAULT", &doc]).ok();
            let words = ["lineage", "lock", "acquire", "VAULT", &doc, "ann", "--now-ms", "5"];
            let asked = injected(&bench, &format!("{fault}:when={n}"), &words);
            let status = bench.run(&["lineage", "lock", "status", "VAULT", &doc, "--now-ms", "5"]).ok();
            match asked.code {
                Some(0) => assert_eq!(status["lock"]["held"], true, "{fault} {n}: {asked:?}"),
                // Before it says anything of its own, a program that cannot load its libraries fails its way.
                Some(127) if fault.starts_with("openat") => {}
                _ => {
                    assert_eq!(asked.failed(), "KC_LINEAGE_QUERY_FAILED", "{fault} {n}");
                    assert_eq!(status["lock"]["held"], false, "{fault} {n}: nobody has the token");
                    failed += 1;
                }
            }
        }
        assert!(failed > 0, "{fault} was never felt");
    }
    bench.run(&["vault", "check", "VAULT"]).ok();
    bench.run(&["lineage", "lock", "release", "VAULT", "kept", &kept]).ok();
}

#[test]
fn a_vault_that_cannot_be_looked_into_is_not_called_no_vault() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new(&["doc"]);
    std::fs::remove_file(bench.vault().join("secret")).unwrap();
    let mut felt = 0;
    for n in 1..12 {
        let fault = format!("statx,newfstatat,lstat,stat:error=EIO:when={n}");
        let answer = injected(&bench, &fault, &["lineage", "lock", "status", "VAULT"]);
        // Before it says anything of its own, a program that cannot load its libraries fails its way.
        if answer.code == Some(127) {
            continue;
        }
        assert_eq!(answer.failed(), "KC_LINEAGE_QUERY_FAILED", "{n}");
        assert!(!answer.stderr.contains("is not a vault"), "{n}: {answer:?}");
        felt += usize::from(answer.stderr.contains("os error 5"));
    }
    assert!(felt >= 2, "{felt} were felt");
}
