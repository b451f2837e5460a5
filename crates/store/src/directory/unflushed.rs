//! Files that are never flushed, for locks that need not outlast the machine: whoever holds one dies with it.
//! What must be durable all the same (the fences) goes past this, to the real files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_sys::{Files, Handle, LockMode, Open, Result, Stat};

/// The same files without flushing.
pub(super) struct Unflushed(pub(super) Arc<dyn Files>);

struct Opened(Box<dyn Handle>);

impl Handle for Opened {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn append(&self, bytes: &[u8]) -> Result<usize> {
        self.0.append(bytes)
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.0.truncate(len)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn stat(&self) -> Result<Stat> {
        self.0.stat()
    }

    fn lock(&self, mode: LockMode) -> Result<()> {
        self.0.lock(mode)
    }

    fn try_lock(&self, mode: LockMode) -> Result<bool> {
        self.0.try_lock(mode)
    }

    fn unlock(&self) -> Result<()> {
        self.0.unlock()
    }
}

impl Files for Unflushed {
    fn open(&self, path: &Path, how: Open) -> Result<Box<dyn Handle>> {
        Ok(Box::new(Opened(self.0.open(path, how)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.0.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.0.rename_new(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        self.0.link(from, to)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> Result<()> {
        self.0.create_dir(path, mode)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.0.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.0.remove_dir(path)
    }

    fn stat(&self, path: &Path) -> Result<Stat> {
        self.0.stat(path)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.0.read_link(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>> {
        self.0.list(path)
    }

    fn sync_dir(&self, _: &Path) -> Result<()> {
        Ok(())
    }
}
