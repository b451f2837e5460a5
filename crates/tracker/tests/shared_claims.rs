//! `Handle`, the medium of claims that all clones share, keeps to the contract of the media: it opens late, looks with
//! what was seen last and fetches what was landed, and none of that may show.
#![expect(clippy::disallowed_methods, reason = "tests start git and look at files behind the program's back")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_store::conformance::{self, Planted, Subject};
use holdfast_store::{JournaledMedium, Medium};
use holdfast_sys::Sys;
use holdfast_tracker::Session;
use holdfast_tracker::claims::chosen::Keeper;
use holdfast_tracker::claims::handle_on;
use holdfast_tracker::engine;
use support::caller;

fn beside(dir: &Path, what: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_os_string();
    name.push(what);
    dir.with_file_name(name)
}

fn git(dir: &Path, args: &[&str]) {
    let done = Command::new("git").current_dir(dir).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The claims of a clone beside `dir`, kept by a bare repository beside it.
fn open(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    let (origin, work) = (beside(dir, ".git"), beside(dir, ".work"));
    if !work.exists() {
        let parent = dir.parent().unwrap();
        git(parent, &["init", "-q", "--bare", origin.to_str().unwrap()]);
        git(parent, &["init", "-q", "-b", "main", work.to_str().unwrap()]);
        git(&work, &["remote", "add", "origin", origin.to_str().unwrap()]);
        std::fs::create_dir_all(work.join(".jit")).unwrap();
        let settings = "[coordination]\nmax_age_secs = 0\ntrust_clock = true\n";
        std::fs::write(work.join(".jit/config.toml"), settings).unwrap();
        let wanted = Keeper::Git { remote: "origin".into(), register: "refs/worktree/jit/claims".into() };
        assert!(engine::init(&Session::open(&caller(sys, &work)).unwrap(), &wanted).unwrap());
    }
    let session = Session::open(&caller(sys, &work)).unwrap();
    let medium: Box<dyn JournaledMedium> = handle_on(session.claims().shared.as_ref().unwrap());
    medium
}

/// A clone's memory that cannot be read is the business of the medium below, whose own suite plants it.
fn hostile(_: &Path) -> Vec<Planted> {
    Vec::new()
}

#[test]
fn it_keeps_to_the_contract() {
    let scratch = tempfile::tempdir().unwrap();
    let subject = Subject { open, resources: &["one", "two"], shared: true, hostile };
    conformance::on_real_files(&subject, scratch.path());
}
