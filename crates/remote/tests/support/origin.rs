//! A bare repository that keeps a register, and clones of it.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use holdfast_kernel::{Answer, Fence, Lease, Millis};
use holdfast_remote::gitref::{Access, GitRef, REF};
use holdfast_remote::local::Local;
use holdfast_remote::shared::Trust;
use holdfast_remote::{Settings, Shared};
use holdfast_store::{Medium as _, Result};
use holdfast_sys::Sys;

use crate::support::{COUNTER, policy, wanted};

pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").current_dir(dir).args(args).env("LC_ALL", "C").output().expect("git");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub(crate) fn beside(dir: &Path, what: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_os_string();
    name.push(what);
    dir.with_file_name(name)
}

/// A clone that is worked in, and where the register is.
pub(crate) fn access(work: &Path, url: &str) -> Access {
    if !work.exists() {
        let parent = work.parent().unwrap();
        git(parent, &["init", "-q", work.to_str().unwrap()]);
        git(work, &["remote", "add", "origin", url]);
    }
    Access {
        git_dir: work.join(".git"),
        home: work.to_path_buf(),
        engine: work.join(".git/engine.git"),
        remote: "origin".into(),
        url: None,
        name: REF.into(),
        config: None,
        ssh_command: None,
        limit: Duration::from_secs(60),
    }
}

pub(crate) fn settings() -> Settings {
    Settings { max_age: Millis::ZERO, pause: Millis::new(20), trust: Trust::Clocks, ..Settings::default() }
}

pub(crate) fn open_at(sys: &Sys, dir: &Path, url: &str, settings: Settings) -> Shared {
    open_with(sys, dir, &access(&beside(dir, ".work"), url), settings)
}

pub(crate) fn open_with(sys: &Sys, dir: &Path, access: &Access, settings: Settings) -> Shared {
    let register = GitRef::open(sys, access).expect("a register");
    Shared::new(sys.clone(), Box::new(register), Local::new(dir.to_path_buf(), 0o600), settings)
}

pub(crate) fn made(sys: &Sys, dir: &Path, url: &str) -> Shared {
    let shared = open_at(sys, dir, url, settings());
    if shared.register().read().unwrap().is_none() {
        let maker = beside(dir, ".maker");
        std::fs::create_dir_all(&maker).unwrap();
        let register = GitRef::open(sys, &access(&beside(dir, ".work"), url)).unwrap();
        let local = Local::new(maker, 0o600);
        Shared::new(sys.clone(), Box::new(register), local, settings()).make(COUNTER, Fence::FIRST).unwrap();
    }
    shared
}

pub(crate) fn bare(origin: &Path, format: &str) -> bool {
    let made = Command::new("git")
        .args(["init", "-q", "--bare", &format!("--ref-format={format}")])
        .arg(origin)
        .stderr(Stdio::null())
        .status();
    made.is_ok_and(|status| status.success())
}

pub(crate) fn long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}

pub(crate) fn take(shared: &Shared, resource: &str, who: &str) -> Result<Lease> {
    match shared.transact(&policy(), &wanted(resource, who))? {
        Answer::Granted(lease) | Answer::AlreadyHeld(lease) => Ok(lease),
        other => panic!("a grant was due, not {other:?}"),
    }
}
