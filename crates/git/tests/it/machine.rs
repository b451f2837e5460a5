//! The real files, with a mount point, a broken disk or another owner where a test wants one. It has no `read_link` of its
//! own, as a machine without symbolic links.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::os::OsFiles;
use holdfast_sys::{Error, Files, Handle, Open, Result, Stat};

#[derive(Default)]
pub(crate) struct Machine {
    /// Everything from here on down is on another file system.
    pub(crate) mount: Option<PathBuf>,
    /// Looking at this name fails, as a disk does.
    pub(crate) broken: Option<PathBuf>,
    /// This name belongs to somebody else.
    pub(crate) foreign: Option<PathBuf>,
}

impl Machine {
    fn check(&self, path: &Path) -> Result<()> {
        let is_broken = self.broken.as_deref() == Some(path);
        if is_broken { Err(Error::new("look at", path, io::Error::from_raw_os_error(5))) } else { Ok(()) }
    }
}

impl Files for Machine {
    fn open(&self, path: &Path, how: Open) -> Result<Box<dyn Handle>> {
        self.check(path)?;
        OsFiles.open(path, how)
    }

    fn stat(&self, path: &Path) -> Result<Stat> {
        self.check(path)?;
        let mut stat = OsFiles.stat(path)?;
        if self.mount.as_ref().is_some_and(|mount| path.starts_with(mount)) {
            stat.identity.device += 1;
        }
        if self.foreign.as_deref() == Some(path) {
            stat.owner += 1;
        }
        Ok(stat)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>> {
        self.check(path)?;
        OsFiles.list(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        OsFiles.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        OsFiles.rename_new(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        OsFiles.link(from, to)
    }

    fn create_dir(&self, path: &Path, mode: u32) -> Result<()> {
        OsFiles.create_dir(path, mode)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        OsFiles.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        OsFiles.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        OsFiles.sync_dir(path)
    }
}
