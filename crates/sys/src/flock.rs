//! The guard: an exclusive section across processes.
//!
//! A guard file is created once and never removed. Should somebody remove it all the same, a waiter would
//! hold the lock of a file that nobody else can open any more; so the section begins only when the locked
//! file is still the one that the name leads to.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::uninterrupted;
use crate::{Error, Handle, LockMode, Open, Result, Sys};

/// A guard file. Holding its lock is a [`Section`].
pub struct Guard {
    path: PathBuf,
    mode: u32,
    handle: Box<dyn Handle>,
    probed: bool,
    for_writing: bool,
}

impl Guard {
    /// Opens the guard at `path`, creating it with permission bits `mode` if it is not there.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(sys: &Sys, path: &Path, mode: u32) -> Result<Self> {
        let handle = open(sys, path, Open::Create { mode })?;
        Ok(Self { path: path.to_path_buf(), mode, handle, probed: false, for_writing: true })
    }

    /// As [`Guard::open`], but makes nothing: none if the guard is not there.
    ///
    /// # Errors
    /// When it is there and cannot be opened.
    pub fn open_made(sys: &Sys, path: &Path, mode: u32) -> Result<Option<Self>> {
        match open(sys, path, Open::Write) {
            Ok(handle) => {
                Ok(Some(Self { path: path.to_path_buf(), mode, handle, probed: false, for_writing: true }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the guard at `path` for reading under a shared lock; none if nobody has written yet.
    ///
    /// # Errors
    /// When it is there and cannot be opened.
    pub fn open_existing(sys: &Sys, path: &Path, mode: u32) -> Result<Option<Self>> {
        match sys.files.open(path, Open::Read) {
            Ok(handle) => {
                Ok(Some(Self { path: path.to_path_buf(), mode, handle, probed: false, for_writing: false }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The guard file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was opened by somebody who meant to write, and so is there for good.
    #[must_use]
    pub const fn is_for_writing(&self) -> bool {
        self.for_writing
    }

    /// Enters the section, waiting as long as it takes.
    ///
    /// # Errors
    /// When the system cannot lock, or its locks do not exclude.
    pub fn enter(&mut self, sys: &Sys, mode: LockMode) -> Result<Section<'_>> {
        loop {
            uninterrupted(|| self.handle.lock(mode))?;
            if self.holds(sys)? {
                return Ok(Section { handle: &*self.handle });
            }
        }
    }

    /// Enters the section if nobody is in it.
    ///
    /// # Errors
    /// As [`Guard::enter`].
    pub fn try_enter(&mut self, sys: &Sys, mode: LockMode) -> Result<Option<Section<'_>>> {
        loop {
            if !uninterrupted(|| self.handle.try_lock(mode))? {
                return Ok(None);
            }
            if self.holds(sys)? {
                return Ok(Some(Section { handle: &*self.handle }));
            }
        }
    }

    /// As [`Guard::enter`], but calls `busy` once if others have to be waited for.
    ///
    /// # Errors
    /// As [`Guard::enter`].
    pub fn enter_or_note(
        &mut self,
        sys: &Sys,
        mode: LockMode,
        busy: &mut dyn FnMut(),
    ) -> Result<Section<'_>> {
        if !uninterrupted(|| self.handle.try_lock(mode))? {
            busy();
        } else if self.holds(sys)? {
            return Ok(Section { handle: &*self.handle });
        }
        self.enter(sys, mode)
    }

    /// As [`Guard::enter`], but leaves the waiting to `rest`, which is called again and again as long as others are in
    /// the section.
    ///
    /// # Errors
    /// What `rest` gives up with, or as [`Guard::enter`].
    pub fn enter_with(
        &mut self,
        sys: &Sys,
        mode: LockMode,
        rest: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Section<'_>> {
        loop {
            if !uninterrupted(|| self.handle.try_lock(mode))? {
                rest()?;
            } else if self.holds(sys)? {
                return Ok(Section { handle: &*self.handle });
            }
        }
    }

    /// Whether the section has begun with the lock that was taken. If not, the guard is opened again.
    fn holds(&mut self, sys: &Sys) -> Result<bool> {
        let checked = self.check(sys);
        if let Ok(true) = checked {
            return Ok(true);
        }
        // Whoever waits for this very file must not wait for a section that never began.
        drop(Section { handle: &*self.handle });
        checked?;
        self.handle = open(sys, &self.path, Open::Create { mode: self.mode })?;
        Ok(false)
    }

    /// Whether the lock that was taken keeps others out.
    fn check(&mut self, sys: &Sys) -> Result<bool> {
        if !self.is_the_named_one(sys)? {
            return Ok(false);
        }
        if !self.probed {
            self.probe(sys)?;
            self.probed = true;
        }
        Ok(true)
    }

    fn is_the_named_one(&self, sys: &Sys) -> Result<bool> {
        match sys.files.stat(&self.path) {
            Ok(named) => Ok(named.identity == self.handle.stat()?.identity),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Refuses a file system whose locks exclude nobody: a second handle must not get what this one has.
    fn probe(&self, sys: &Sys) -> Result<()> {
        let second = sys.files.open(&self.path, Open::Read)?;
        if second.try_lock(LockMode::Exclusive)? {
            let why = "file locks do not exclude on this file system; keep it on a local disk";
            return Err(Error::new("lock", &self.path, io::Error::new(io::ErrorKind::Unsupported, why)));
        }
        Ok(())
    }
}

fn open(sys: &Sys, path: &Path, how: Open) -> Result<Box<dyn Handle>> {
    match sys.files.open(path, how) {
        Err(error) if is_read_only(&error) => sys.files.open(path, Open::Read),
        opened => opened,
    }
}

/// Whether the file can be there to read but not to write. Reading under a shared lock needs no more.
fn is_read_only(error: &Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// The section that a guard keeps others out of. It ends when this is dropped.
pub struct Section<'a> {
    handle: &'a dyn Handle,
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        // A handle that cannot be unlocked is of no use to anybody else either; closing it unlocks.
        let _ = self.handle.unlock();
    }
}

#[cfg(test)]
mod tests;
