//! Answers that get nowhere: a lease whose token nobody could be told of is given back, and whatever else was done is
//! said to have been done.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};

use holdfast_trial::has;

use crate::arm::{Op, request};
use crate::bench::{Answer, Bench, KC, NOW};

/// Where nothing can be written.
fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

/// A pipe that nobody reads any more.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Runs a command whose answer goes there.
fn answered_to(mut command: Command, to: Stdio) -> Answer {
    Answer::from(command.stdout(to).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap())
}

fn is_held(bench: &Bench) -> bool {
    let now = NOW.to_string();
    let status = bench.run(&["lineage", "lock", "status", "VAULT", "doc", "--now-ms", &now]).ok();
    status["lock"]["held"].as_bool().unwrap()
}

#[test]
fn a_lease_whose_token_could_not_be_told_is_given_back() {
    let now = NOW.to_string();
    for to in [full, closed] {
        let bench = Bench::new(&["doc"]);
        let words = ["lineage", "lock", "acquire", "VAULT", "doc", "ann", "--now-ms", &now];
        let undelivered = answered_to(bench.command(KC, &words), to());
        assert_eq!(undelivered.failed(), "KC_LINEAGE_QUERY_FAILED");
        assert!(undelivered.stderr.contains("cannot write the answer"), "{undelivered:?}");
        assert!(undelivered.stderr.contains("the lease was given back"), "{undelivered:?}");
        assert!(!is_held(&bench), "nobody has the token");
        let next = bench.run(&words).ok();
        assert_eq!(next["lease"]["fence"], 3, "a grant, a release, and this");
        bench.run(&["vault", "check", "VAULT"]).ok();
    }
}

#[test]
fn a_server_gives_a_lease_back_whose_token_could_not_be_told() {
    for to in [full, closed] {
        let bench = Bench::new(&["doc"]);
        let mut server = bench.command(KC, &["rpc", "VAULT"]);
        let mut server = server.stdin(Stdio::piped()).stdout(to()).stderr(Stdio::piped()).spawn().unwrap();
        let wanted = request(&Op::Acquire { doc: "doc".into(), owner: "ann".into(), now: NOW });
        writeln!(server.stdin.take().unwrap(), "{wanted}").unwrap();
        let ended = Answer::from(server.wait_with_output().unwrap());
        assert_eq!(ended.failed(), "KC_LINEAGE_QUERY_FAILED");
        assert!(ended.stderr.contains("the lease was given back"), "{ended:?}");
        assert!(!is_held(&bench), "nobody has the token");
        bench.run(&["vault", "check", "VAULT"]).ok();
    }
}

#[test]
fn a_lease_that_could_not_be_given_back_either_is_said_to_last() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new(&["doc"]);
    let now = NOW.to_string();
    let words = ["lineage", "lock", "acquire", "VAULT", "doc", "ann", "--now-ms", &now];
    // From some call on the disk is full: first before the grant, at last after the lease was given back.
    for n in 1..40 {
        let inject = format!("inject=pwrite64:error=ENOSPC:when={n}+");
        let before = ["-f", "-qq", "-o", "/dev/null", "-e", &inject, KC];
        let undelivered = answered_to(bench.command("strace", &[&before[..], &words].concat()), full());
        assert_eq!(undelivered.failed(), "KC_LINEAGE_QUERY_FAILED");
        if undelivered.stderr.contains("cannot write the answer")
            && !undelivered.stderr.contains("was given back")
        {
            let until = (NOW + 900_000).to_string();
            assert!(
                undelivered.stderr.contains(&until) && undelivered.stderr.contains("could not be given back"),
                "{undelivered:?}"
            );
            assert!(is_held(&bench));
            return;
        }
        assert!(!is_held(&bench), "{n}: {undelivered:?}");
    }
    panic!("a lease could always be given back");
}

#[test]
fn what_was_done_is_said_to_have_been_done_although_the_answer_got_nowhere() {
    let bench = Bench::new(&["doc"]);
    let now = NOW.to_string();
    let token = bench.acquire("doc", "ann", NOW);
    let add = ["lineage", "overlay", "add", "VAULT", "doc", "p4", "p9", "cites", "a note", &token];
    let add = [&add[..], &["--now-ms", &now]].concat();
    let release = ["lineage", "lock", "release", "VAULT", "doc", &token];
    for words in [&add[..], &release, &["doc", "add", "VAULT", "other"], &["vault", "init", "second"]] {
        let undelivered = answered_to(bench.command(KC, words), full());
        assert_eq!(undelivered.failed(), "KC_LINEAGE_QUERY_FAILED");
        assert!(undelivered.stderr.contains("it was done, but"), "{words:?}: {undelivered:?}");
        // Whoever closed the pipe has read enough.
        let unread = answered_to(bench.command(KC, &["lineage", "lock", "status", "VAULT"]), closed());
        assert_eq!((unread.code, unread.stderr.as_str()), (Some(0), ""));
    }
    let looked = answered_to(bench.command(KC, &["lineage", "lock", "status", "VAULT"]), full());
    assert_eq!(looked.failed(), "KC_LINEAGE_QUERY_FAILED");
    assert!(!looked.stderr.contains("it was done"), "{looked:?}");
    let list = bench.run(&["lineage", "overlay", "list", "VAULT", "doc"]).ok();
    assert_eq!(list["overlays"].as_array().unwrap().len(), 1);
}
