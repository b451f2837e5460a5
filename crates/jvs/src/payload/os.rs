//! Trees on the real machine: one thread a core, one flush of the file system for all files.
//!
//! Nothing outside of a root is ever read or written: paths below it are opened without following a
//! symbolic link at any step, so that whoever swaps a directory for a link while it is copied gets an error
//! and no file of somebody else's.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the one part of the door that only the machine can do"
)]

mod attributes;
mod copy;
mod digest;
mod pool;
mod remove;
mod walk;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{Listing, Progress, Scan, Summary, Trees};
use crate::error::Result;

/// Trees on the real machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsTrees;

impl Trees for OsTrees {
    fn scan(&self, root: &Path) -> Result<Scan> {
        walk::scan(root)
    }

    fn copy(&self, from: &Path, scan: &Scan, to: &Path, progress: &Progress) -> Result<Summary> {
        copy::copy(from, scan, to, progress)
    }

    fn read(&self, root: &Path, progress: &Progress) -> Result<Listing> {
        digest::read(root, progress)
    }

    fn remove(&self, root: &Path) -> Result<()> {
        remove::remove(root)
    }
}

/// A failure of `action` on a path below a root.
fn failed(action: &'static str, root: &Path, path: &[u8]) -> impl Fn(Errno) -> crate::Error {
    let path = below(root, path);
    move |error| holdfast_sys::Error::new(action, &path, io::Error::from(error)).into()
}

fn below(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

/// Opens the root of a tree, which must be a directory and no symbolic link.
fn open_root(root: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(root, flags, Mode::empty());
    opened.map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => crate::Error::path_escape(root),
        error => holdfast_sys::Error::new("open", root, io::Error::from(error)).into(),
    })
}

/// Opens what is at a path below a directory, following no symbolic link on the way.
fn open_below(root: &OwnedFd, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    // A pipe in the place of a file would block its opener for ever; a handle for the path alone blocks nobody.
    let waiting = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK };
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | waiting;
    let path = OsStr::from_bytes(path);
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
        // Kernels before 5.6, and sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(root, path, flags, Mode::empty()),
        opened => opened,
    }
}

/// Makes everything on the file system of an open directory durable.
fn flush(directory: impl AsFd) -> rustix::io::Result<()> {
    rustix::io::retry_on_intr(|| rustix::fs::syncfs(directory.as_fd()))
}

/// Opens the file system of `root` for a later [`flush`]: only failures after this are told then.
fn open_for_flush(root: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, root, flags, Mode::empty());
    opened.map_err(|error| holdfast_sys::Error::new("open", root, io::Error::from(error)).into())
}
