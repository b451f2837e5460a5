//! The machine as it is for whoever waits with a limit: its files, whose locks are tried again and again instead of
//! being waited for in the system, where nothing could end the wait.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_sys::{Files, Folder, Handle, LockMode, Open, Result, Stat, Sys};

use super::{Wait, Waits, is_inside};

/// The machine as it is for whoever waits like this.
#[must_use]
pub fn patient(sys: &Sys, waits: &Waits) -> Sys {
    let files = Patient { sys: sys.clone(), waits: waits.clone() };
    Sys { files: Arc::new(files), ..sys.clone() }
}

/// Files whose locks are waited for like this.
struct Patient {
    sys: Sys,
    waits: Waits,
}

/// An open file of such a machine.
struct PatientHandle {
    inner: Box<dyn Handle>,
    path: PathBuf,
    sys: Sys,
    waits: Waits,
    /// Whether its lock is that of a guard which this thread is inside of.
    borrowed: AtomicBool,
}

impl Handle for PatientHandle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.inner.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize> {
        self.inner.write_at(bytes, offset)
    }

    fn append(&self, bytes: &[u8]) -> Result<usize> {
        self.inner.append(bytes)
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.inner.truncate(len)
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn stat(&self) -> Result<Stat> {
        self.inner.stat()
    }

    fn lock(&self, mode: LockMode) -> Result<()> {
        if is_inside(self.sys.processes.strand(), &self.path) {
            self.borrowed.store(true, Ordering::SeqCst);
            return Ok(());
        }
        if self.inner.try_lock(mode)? {
            return Ok(());
        }
        let mut wait = Wait::new(&self.sys, &self.waits)?;
        let file = self.inner.stat()?.identity;
        loop {
            wait.pause(&self.path, file)?;
            if self.inner.try_lock(mode)? {
                return Ok(());
            }
        }
    }

    fn try_lock(&self, mode: LockMode) -> Result<bool> {
        self.inner.try_lock(mode)
    }

    fn unlock(&self) -> Result<()> {
        if self.borrowed.swap(false, Ordering::SeqCst) { Ok(()) } else { self.inner.unlock() }
    }
}

impl Files for Patient {
    fn open(&self, path: &Path, how: Open) -> Result<Box<dyn Handle>> {
        let inner = self.sys.files.open(path, how)?;
        let (sys, waits) = (self.sys.clone(), self.waits.clone());
        Ok(Box::new(PatientHandle {
            inner,
            path: path.to_path_buf(),
            sys,
            waits,
            borrowed: AtomicBool::new(false),
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.sys.files.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.sys.files.rename_new(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        self.sys.files.link(from, to)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> Result<()> {
        self.sys.files.create_dir(path, mode)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.sys.files.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.sys.files.remove_dir(path)
    }

    fn stat(&self, path: &Path) -> Result<Stat> {
        self.sys.files.stat(path)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.sys.files.read_link(path)
    }

    fn admit(&self, path: &Path, mode: u32, group: Option<u32>) -> Result<()> {
        self.sys.files.admit(path, mode, group)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>> {
        self.sys.files.list(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.sys.files.sync_dir(path)
    }

    fn folder<'a>(&'a self, path: &Path) -> Result<Box<dyn Folder + 'a>> {
        self.sys.files.folder(path)
    }
}
