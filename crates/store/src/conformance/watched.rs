//! Files for tests that are about one call: which calls were made, and what becomes of an operation if one is refused. What
//! a power loss or a full disk does is the simulator's.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_sys::{Error, Files, Handle, Open, Result, Stat};

/// What is asked of the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// To open one.
    Open,
    /// To give one another name; the path is the new one.
    Rename,
    /// To give one a second name; the path is the new one.
    Link,
    /// To make a directory.
    CreateDir,
    /// To remove a file or a directory.
    Remove,
    /// To tell what is known about a name.
    Stat,
    /// To list a directory.
    List,
    /// To make the names in a directory durable.
    SyncDir,
}

/// The same files, but calls are noted, and some are refused.
pub struct Watched {
    files: Arc<dyn Files>,
    refused: Mutex<Vec<(Call, PathBuf, ErrorKind)>>,
    calls: Mutex<Vec<(Call, PathBuf)>>,
}

impl Watched {
    /// These files, of which nothing is refused yet.
    #[must_use]
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, refused: Mutex::default(), calls: Mutex::default() }
    }

    /// Refuses this call on this path in this way from here on.
    pub fn refuse(&self, call: Call, path: &Path, how: ErrorKind) {
        locked(&self.refused).push((call, path.to_path_buf(), how));
    }

    /// What was asked since somebody looked last.
    pub fn calls(&self) -> Vec<(Call, PathBuf)> {
        std::mem::take(&mut *locked(&self.calls))
    }

    fn note(&self, call: Call, path: &Path) -> Result<()> {
        locked(&self.calls).push((call, path.to_path_buf()));
        let refused = locked(&self.refused);
        let refused = refused.iter().find(|(what, at, _)| (*what, at.as_path()) == (call, path));
        refused.map_or(Ok(()), |(_, _, how)| Err(Error::new("be asked for", path, *how)))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Files for Watched {
    fn open(&self, path: &Path, how: Open) -> Result<Box<dyn Handle>> {
        self.note(Call::Open, path)?;
        self.files.open(path, how)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.note(Call::Rename, to)?;
        self.files.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.note(Call::Rename, to)?;
        self.files.rename_new(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        self.note(Call::Link, to)?;
        self.files.link(from, to)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> Result<()> {
        self.note(Call::CreateDir, path)?;
        self.files.create_dir(path, mode)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.note(Call::Remove, path)?;
        self.files.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.note(Call::Remove, path)?;
        self.files.remove_dir(path)
    }

    fn stat(&self, path: &Path) -> Result<Stat> {
        self.note(Call::Stat, path)?;
        self.files.stat(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>> {
        self.note(Call::List, path)?;
        self.files.list(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.note(Call::SyncDir, path)?;
        self.files.sync_dir(path)
    }
}
