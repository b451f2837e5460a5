//! A log that goes on as another one, and what becomes of it and of a cut if the system refuses one of the steps.

use std::io::ErrorKind;
use std::sync::Arc;

use holdfast_store::conformance::{Call, Watched};
use holdfast_store::{Error, Finding, Medium};
use holdfast_sys::Sys;

use crate::support::{Bench, open};

/// The same log on files of which some calls can be refused.
fn watched(bench: &mut Bench) -> Arc<Watched> {
    let files = Arc::new(Watched::new(Arc::clone(&bench.sys.files)));
    bench.sys = Sys { files: Arc::clone(&files) as Arc<_>, ..bench.sys.clone() };
    bench.reopen();
    files
}

/// How the system failed.
fn failure<T: std::fmt::Debug>(result: holdfast_store::Result<T>) -> ErrorKind {
    match result {
        Err(Error::Sys(error)) => error.kind(),
        other => panic!("a failure of the system was due, not {other:?}"),
    }
}

#[test]
fn a_log_goes_on_as_another_one_with_all_leases_whether_it_has_an_index_or_not() {
    for has_index in [true, false] {
        let mut bench = Bench::new();
        bench.busy_history();
        bench.log.cut(&bench.policy).unwrap();
        bench.grant("five", "agent:a");
        let before = bench.log.view().unwrap();
        let lines = bench.bytes("claims.jsonl");
        if !has_index {
            bench.remove("claims.index.json");
            bench.reopen();
        }
        let counter = bench.log.go_on_as_another(&bench.policy).unwrap();
        assert_ne!(Some(counter), before.counter);
        assert_eq!(bench.log.counter().unwrap(), Some(counter));
        bench.reopen();
        let after = bench.log.view().unwrap();
        assert_eq!((&after.table, after.counter, after.next), (&before.table, Some(counter), before.next));
        assert_eq!(
            bench.log.history(&mut |_| {}).unwrap().segments,
            1,
            "the others are those of the old one"
        );
        let kept = bench.names("claims.jsonl.aside-");
        assert_eq!(kept.len(), 2, "{kept:?}");
        assert!(kept.iter().any(|name| bench.bytes(name) == lines));
        assert_eq!(bench.log.recover(&bench.policy, false).unwrap().findings, Vec::<Finding>::new());
    }
}

#[test]
fn an_index_that_cannot_be_removed_keeps_the_log_what_it_is() {
    let mut bench = Bench::new();
    bench.busy_history();
    let files = watched(&mut bench);
    let before = bench.log.view().unwrap();
    files.refuse(Call::Remove, &bench.path("claims.index.json"), ErrorKind::PermissionDenied);
    assert_eq!(failure(bench.log.go_on_as_another(&bench.policy)), ErrorKind::PermissionDenied);
    let after = open(&bench.sys, &bench.dir).view().unwrap();
    assert_eq!((after.table, after.counter), (before.table, before.counter));
}

#[test]
fn a_cut_that_the_system_refuses_has_not_happened() {
    let mut bench = Bench::new();
    bench.busy_history();
    let lines = bench.bytes("claims.jsonl");
    let files = watched(&mut bench);
    files.refuse(Call::Link, &bench.path("claims.jsonl.1"), ErrorKind::PermissionDenied);
    assert_eq!(failure(bench.log.cut(&bench.policy)), ErrorKind::PermissionDenied);
    assert_eq!(bench.bytes("claims.jsonl"), lines);
    assert!(bench.names("claims.jsonl.").is_empty(), "nothing is left beside it");
}
