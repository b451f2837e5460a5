//! What the guard must refuse, on files whose locks misbehave in ways that no local disk shows.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::{Files, Identity, Kind, Stat};

/// One file whose locks exclude nobody, or whose name cannot be looked at.
#[derive(Default)]
struct Fake {
    excludes: AtomicBool,
    hidden: AtomicBool,
    locked: AtomicU32,
}

struct FakeHandle(Arc<Fake>);

struct FakeFiles(Arc<Fake>);

const STAT: Stat = Stat {
    kind: Kind::File,
    identity: Identity { device: 1, inode: 2 },
    len: 0,
    mode: 0o600,
    owner: 0,
    modified_ms: 0,
    times: None,
};

fn unsupported<T>() -> Result<T> {
    Err(Error::new("use", Path::new("a fake file"), io::Error::from(io::ErrorKind::Unsupported)))
}

impl Handle for FakeHandle {
    fn read_at(&self, _: &mut [u8], _: u64) -> Result<usize> {
        unsupported()
    }

    fn write_at(&self, _: &[u8], _: u64) -> Result<usize> {
        unsupported()
    }

    fn append(&self, _: &[u8]) -> Result<usize> {
        unsupported()
    }

    fn truncate(&self, _: u64) -> Result<()> {
        unsupported()
    }

    fn sync(&self) -> Result<()> {
        unsupported()
    }

    fn stat(&self) -> Result<Stat> {
        Ok(STAT)
    }

    fn lock(&self, _: LockMode) -> Result<()> {
        self.0.locked.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn try_lock(&self, _: LockMode) -> Result<bool> {
        Ok(!self.0.excludes.load(Ordering::Relaxed))
    }

    fn unlock(&self) -> Result<()> {
        self.0.locked.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Files for FakeFiles {
    fn open(&self, _: &Path, _: Open) -> Result<Box<dyn Handle>> {
        Ok(Box::new(FakeHandle(Arc::clone(&self.0))))
    }

    fn rename(&self, _: &Path, _: &Path) -> Result<()> {
        unsupported()
    }

    fn rename_new(&self, _: &Path, _: &Path) -> Result<()> {
        unsupported()
    }

    fn link(&self, _: &Path, _: &Path) -> Result<()> {
        unsupported()
    }

    fn create_dir(&self, _: &Path, _: u32) -> Result<()> {
        unsupported()
    }

    fn remove_file(&self, _: &Path) -> Result<()> {
        unsupported()
    }

    fn remove_dir(&self, _: &Path) -> Result<()> {
        unsupported()
    }

    fn stat(&self, path: &Path) -> Result<Stat> {
        let hidden = self.0.hidden.load(Ordering::Relaxed);
        let denied = || Error::new("look at", path, io::Error::from(io::ErrorKind::PermissionDenied));
        if hidden { Err(denied()) } else { Ok(STAT) }
    }

    fn list(&self, _: &Path) -> Result<Vec<OsString>> {
        unsupported()
    }

    fn sync_dir(&self, _: &Path) -> Result<()> {
        unsupported()
    }
}

fn guarded() -> (Arc<Fake>, Sys, Guard) {
    let fake = Arc::new(Fake::default());
    let sys = Sys { files: Arc::new(FakeFiles(Arc::clone(&fake))), ..Sys::os() };
    let guard = Guard::open(&sys, Path::new("guard"), 0o600).unwrap();
    (fake, sys, guard)
}

#[test]
fn locks_that_exclude_nobody_are_refused_and_say_so() {
    let (fake, sys, mut guard) = guarded();
    let refused = guard.enter(&sys, LockMode::Exclusive).err().unwrap();
    assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
    assert!(refused.source.to_string().contains("do not exclude"), "{}", refused.source);
    assert_eq!(fake.locked.load(Ordering::Relaxed), 0, "a refused section leaves no lock behind");
}

#[test]
fn a_refusal_is_not_remembered_as_a_probe_that_passed() {
    let (_, sys, mut guard) = guarded();
    assert!(guard.enter(&sys, LockMode::Exclusive).is_err());
    assert!(guard.enter(&sys, LockMode::Exclusive).is_err());
}

#[test]
fn a_guard_that_cannot_be_checked_is_left_unlocked() {
    let (fake, sys, mut guard) = guarded();
    fake.excludes.store(true, Ordering::Relaxed);
    fake.hidden.store(true, Ordering::Relaxed);
    let refused = guard.enter(&sys, LockMode::Exclusive).err().unwrap();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(fake.locked.load(Ordering::Relaxed), 0);
}

#[test]
fn a_section_ends_when_it_is_dropped() {
    let (fake, sys, mut guard) = guarded();
    fake.excludes.store(true, Ordering::Relaxed);
    let section = guard.enter(&sys, LockMode::Exclusive).unwrap();
    assert_eq!(fake.locked.load(Ordering::Relaxed), 1);
    drop(section);
    assert_eq!(fake.locked.load(Ordering::Relaxed), 0);
}
