//! A repository with a linked worktree, whose files and caches are changed behind the program's back.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_sys::Sys;
use holdfast_tracker::Session;
use holdfast_tracker::issues::{Issues, Scope, Sets, Whose};

use crate::support::caller;

pub(crate) const COUNT: usize = 40;

/// A repository with a linked worktree.
pub(crate) struct Place {
    _scratch: tempfile::TempDir,
    pub(crate) main: PathBuf,
    pub(crate) linked: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let (main, linked) = (scratch.path().join("main"), scratch.path().join("linked"));
        fs::create_dir(&main).unwrap();
        git(&main, &["init", "-q", "-b", "main"]);
        let place = Self { _scratch: scratch, main, linked };
        for number in 0..COUNT {
            place.write(Where::Main, number, "ready", "first");
        }
        fs::create_dir_all(place.main.join(".git/jit")).unwrap();
        place.commit(Where::Main);
        git(&place.main, &["worktree", "add", "-q", "-b", "linked", place.linked.to_str().unwrap()]);
        place
    }

    pub(crate) fn data(&self, at: Where) -> PathBuf {
        match at {
            Where::Main => self.main.join(".jit"),
            Where::Linked => self.linked.join(".jit"),
            Where::Shared => self.main.join(".git/jit"),
        }
    }

    pub(crate) fn issue(&self, at: Where, number: usize) -> PathBuf {
        self.data(at).join("issues").join(id(number))
    }

    /// Writes an issue anew, as editors and git do: another file in its place.
    pub(crate) fn write(&self, at: Where, number: usize, state: &str, title: &str) {
        let home = self.issue(at, number);
        fs::create_dir_all(&home).unwrap();
        let beside = home.join(".new");
        fs::write(&beside, text(number, state, title)).unwrap();
        fs::rename(&beside, home.join("issue.json")).unwrap();
    }

    pub(crate) fn commit(&self, at: Where) {
        let root = if at == Where::Linked { &self.linked } else { &self.main };
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "--allow-empty", "-m", "work"]);
    }

    pub(crate) fn caches(&self) -> [PathBuf; 3] {
        let lists = self.main.join(".git/jit/lists");
        [lists.join("main"), lists.join("shared"), self.main.join(".git/worktrees/linked/jit-list")]
    }

    /// Waits until what is changed from now on has a later time than everything that is there.
    pub(crate) fn tick(&self) {
        let changed = || {
            let path = self.main.join(".git/probe");
            fs::write(&path, "").unwrap();
            let at = fs::metadata(&path).unwrap();
            fs::remove_file(&path).unwrap();
            (at.ctime(), at.ctime_nsec())
        };
        let first = changed();
        while changed() <= first {
            std::thread::yield_now();
        }
    }

    /// What lists say in a worktree: with what is remembered, and without.
    pub(crate) fn answers(&self, root: &Path, sets: Sets) -> [(Vec<String>, Vec<String>); 2] {
        let session = Session::open(&caller(&Sys::os(), root)).unwrap();
        let issues = Issues::new(&session);
        let quick = issues.glance_with(Scope::All, sets, |issue| Some(format!("{issue:?}"))).unwrap();
        let issues = Issues::new(&session);
        let slow = issues.scan_with(Scope::All, sets, |seen| Some(format!("{:?}", seen.glance()))).unwrap();
        assert_eq!(quick.ids, slow.ids);
        [(quick.found, quick.problems), (slow.found, slow.problems)]
    }

    pub(crate) fn check(&self) {
        for root in [&self.main, &self.linked] {
            for sets in SETS {
                let [quick, slow] = self.answers(root, sets);
                assert_eq!(quick, slow, "{} {sets:?}", root.display());
            }
        }
    }
}

/// What questions rest on: those about all issues, about what waits, what can be begun, how many wait, and what is next.
pub(crate) const SETS: [Sets; 5] = [
    Sets::OPEN,
    Sets::WORKABLE,
    Sets { labels: Whose::Nobody, deps: Whose::Open },
    Sets { labels: Whose::Nobody, deps: Whose::Workable },
    Sets::ALL,
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Where {
    Main,
    Linked,
    Shared,
}

pub(crate) fn id(number: usize) -> String {
    format!("01K742SG0000067JZ1WHCK4{:03}", number + 100)
}

fn text(number: usize, state: &str, title: &str) -> String {
    let id = id(number);
    format!(
        r#"{{"id":"{id}","title":"{title}","state":"{state}","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z"}}"#
    )
}

pub(crate) fn git(dir: &Path, args: &[&str]) {
    let done = tried(dir, args);
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

pub(crate) fn tried(dir: &Path, args: &[&str]) -> std::process::Output {
    let mut git = Command::new("git");
    git.current_dir(dir).args(["-c", "gc.auto=0", "-c", "user.name=t", "-c", "user.email=t@example.org"]);
    git.args(args).output().unwrap()
}

impl Place {
    /// Puts a link to an issue's directory in its place; the second time the directory itself again.
    pub(crate) fn link(&self, at: Where, number: usize) {
        let home = self.issue(at, number);
        let away = self.main.join(format!(".git/away-{at:?}-{number}"));
        let Ok(there) = fs::symlink_metadata(&home) else { return };
        if there.is_symlink() {
            fs::remove_file(&home).unwrap();
            let _ = fs::rename(&away, &home);
        } else {
            let _ = fs::remove_dir_all(&away);
            fs::rename(&home, &away).unwrap();
            symlink(&away, &home).unwrap();
        }
    }

    pub(crate) fn tamper(&self, which: usize, change: impl FnOnce(&mut Vec<u8>)) {
        let path = &self.caches()[which];
        if let Ok(mut bytes) = fs::read(path) {
            change(&mut bytes);
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Changes what a cache says, and makes it whole again.
pub(crate) fn forge(path: &Path) {
    replace(path, b"first", b"other");
}

/// Puts one part of a cache in the place of another, and makes it whole again.
pub(crate) fn replace(path: &Path, from: &[u8], to: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    let hash = *blake3::hash(&bytes[40..]).as_bytes();
    bytes[8..40].copy_from_slice(&hash);
    fs::write(path, bytes).unwrap();
}
