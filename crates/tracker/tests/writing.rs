//! What a change of an issue asks of others while it is made, and what it never leaves behind.
#![expect(clippy::disallowed_methods, reason = "tests start git and look at files behind the program's back")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_kernel::{Millis, Request};
use holdfast_sys::{Guard, LockMode, Sys};
use holdfast_tracker::Session;
use holdfast_tracker::claims::{Claimant, Terms};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::writes::{Fresh, Results, Writer, blank};
use support::caller;

/// A repository in which nothing is tracked yet.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("main");
    std::fs::create_dir_all(root.join(".jit/issues")).unwrap();
    let done = Command::new("git").current_dir(&root).args(["init", "-q", "-b", "main"]).status().unwrap();
    assert!(done.success());
    (scratch, root)
}

fn made(session: &Session, title: &str) -> IssueId {
    let issue = blank(session.sys(), title.to_owned()).unwrap();
    let fresh = Fresh { issue, labels: Vec::new(), dependencies: Vec::new(), results: Results::default() };
    Writer::open(session).unwrap().create(fresh).unwrap().id()
}

fn claimed(session: &Session, id: IssueId) {
    let who = Claimant { holder: session.holder().unwrap().clone(), tags: session.tags().unwrap() };
    let terms = Terms { request: Request::Finite(Millis::from_secs(600)), reason: None, reserve: None };
    session.claims().acquire(id, &who, &terms).unwrap();
}

fn labels(root: &Path, id: IssueId) -> usize {
    let path = root.join(format!(".jit/issues/{id}/labels.or-set.jsonl"));
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn whoever_claims_does_not_wait_until_a_change_is_made() {
    let (_scratch, root) = repository();
    let sys = Sys::os();
    let session = Session::open(&caller(&sys, &root)).unwrap();
    let id = made(&session, "large");
    claimed(&session, id);
    let mut others = Guard::open(&sys, &session.control().join("locks/claims.lock"), 0o600).unwrap();
    let writer = Writer::open(&session).unwrap();
    let changed = writer.change(id, "labelling", |draft| {
        draft.label("large", true)?;
        Ok(others.try_enter(&sys, LockMode::Exclusive)?.is_some())
    });
    assert!(changed.unwrap().value, "a claim has to wait for what the change consists of");
    assert_eq!(labels(&root, id), 1);
}

/// A set only ever grows: without this a set of many labels that are all removed could be read by nobody, and the issue
/// could not be changed any more.
#[test]
fn what_nobody_could_read_is_not_written() {
    let (_scratch, root) = repository();
    let session = Session::open(&caller(&Sys::os(), &root)).unwrap();
    let id = made(&session, "large");
    claimed(&session, id);
    let writer = Writer::open(&session).unwrap();
    let names: Vec<String> = (0..20_000).map(|number| format!("label-{number:05}")).collect();
    let all = |there| {
        writer.change(id, "labelling", |draft| {
            names.iter().try_for_each(|name| draft.label(name, there).map(drop))
        })
    };
    all(true).unwrap();
    let refused = all(false).err().unwrap().to_string();
    assert!(refused.contains("longer than 4 MiB"), "{refused}");
    assert_eq!(labels(&root, id), 20_000);
    writer.change(id, "labelling", |draft| draft.label("one more", true)).unwrap();
    assert_eq!(labels(&root, id), 20_001);
}
