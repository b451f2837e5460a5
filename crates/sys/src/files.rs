//! Files, as far as media need them. Every method is one system call, so that the simulator can stop a
//! process between any two; nothing here buffers or follows a symbolic link at the last step. Only
//! reading, writing and locking may be cut short by a signal (`Interrupted`).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// How to open a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    /// For reading; it must be there.
    Read,
    /// For reading and writing; it must be there.
    Write,
    /// For reading and writing; created with this mode if it is not there.
    Create {
        /// Permission bits of a new file.
        mode: u32,
    },
    /// For reading and writing; it must not be there.
    New {
        /// Permission bits of the new file.
        mode: u32,
    },
    /// For appending whole lines; created with this mode if it is not there.
    Append {
        /// Permission bits of a new file.
        mode: u32,
    },
}

/// Which lock to take on a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockMode {
    /// Together with other shared ones.
    Shared,
    /// Alone.
    Exclusive,
}

/// What tells one file from another, whatever their names. A number may come back once the file that had
/// it is gone, so it identifies only what is known to be there still.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The file within it.
    pub inode: u64,
}

/// What kind of thing a name leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, a pipe, a socket.
    Other,
}

/// What is known about a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// File, directory, link or something else.
    pub kind: Kind,
    /// Which one it is.
    pub identity: Identity,
    /// Its length in bytes.
    pub len: u64,
    /// Its permission bits.
    pub mode: u32,
    /// Who owns it.
    pub owner: u32,
    /// When its content last changed, in milliseconds since 1970 by the file system's clock.
    pub modified_ms: i64,
    /// The same and more, as exactly as the file system tells; none where it does not.
    pub times: Option<Times>,
}

/// The times of a file in seconds and nanoseconds since 1970 by the file system's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// When its content last changed.
    pub modified: (i64, i64),
    /// When anything about it last changed; nobody can set this one back.
    pub changed: (i64, i64),
}

/// An open file. Dropping it closes it and gives up its lock.
pub trait Handle: Send + Sync {
    /// Reads at an offset; 0 at the end. May read less than asked for.
    ///
    /// # Errors
    /// When the system cannot read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize>;

    /// Writes at an offset. May write less than asked for.
    ///
    /// # Errors
    /// When the system cannot write; an unknown part may be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize>;

    /// Writes at the end, wherever that is by then. Only for files opened with [`Open::Append`]. May
    /// write less than asked for.
    ///
    /// # Errors
    /// When the system cannot write; an unknown part may be written.
    fn append(&self, bytes: &[u8]) -> Result<usize>;

    /// Cuts the file to `len` bytes, or fills it up with zeros.
    ///
    /// # Errors
    /// When the system cannot change the length.
    fn truncate(&self, len: u64) -> Result<()>;

    /// Makes content and length durable.
    ///
    /// # Errors
    /// When that failed. What was to be made durable is then lost or not, and a second call says
    /// nothing about it: the system may have dropped it.
    fn sync(&self) -> Result<()>;

    /// What is known about the open file.
    ///
    /// # Errors
    /// When the system cannot tell.
    fn stat(&self) -> Result<Stat>;

    /// Takes a lock, waiting as long as it takes.
    ///
    /// # Errors
    /// When the system cannot lock, or a signal came in between.
    fn lock(&self, mode: LockMode) -> Result<()>;

    /// Takes a lock if it is free; says whether it did.
    ///
    /// # Errors
    /// When the system cannot lock.
    fn try_lock(&self, mode: LockMode) -> Result<bool>;

    /// Gives the lock up.
    ///
    /// # Errors
    /// When the system cannot unlock.
    fn unlock(&self) -> Result<()>;
}

/// The files of a machine.
pub trait Files: Send + Sync {
    /// Opens a file. The last part of the path must not be a symbolic link.
    ///
    /// # Errors
    /// When it cannot be opened that way.
    fn open(&self, path: &Path, how: Open) -> Result<Box<dyn Handle>>;

    /// Gives a file another name, in the place of whatever had it.
    ///
    /// # Errors
    /// When that is not possible.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Gives a file another name, if nothing has it.
    ///
    /// # Errors
    /// `AlreadyExists` when something has it.
    fn rename_new(&self, from: &Path, to: &Path) -> Result<()>;

    /// Gives a file a second name, if nothing has it.
    ///
    /// # Errors
    /// `AlreadyExists` when something has it.
    fn link(&self, from: &Path, to: &Path) -> Result<()>;

    /// Makes a directory.
    ///
    /// # Errors
    /// `AlreadyExists` when something has the name.
    fn create_dir(&self, path: &Path, mode: u32) -> Result<()>;

    /// Removes a name of a file.
    ///
    /// # Errors
    /// When that is not possible.
    fn remove_file(&self, path: &Path) -> Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// When that is not possible.
    fn remove_dir(&self, path: &Path) -> Result<()>;

    /// What is known about a name; a symbolic link is not followed.
    ///
    /// # Errors
    /// `NotFound` when there is nothing.
    fn stat(&self, path: &Path) -> Result<Stat>;

    /// Where a symbolic link leads, as it is written in it. A machine without symbolic links need not say
    /// how.
    ///
    /// # Errors
    /// `InvalidInput` when the name is not that of a symbolic link, `NotFound` when there is nothing.
    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        let why = match self.stat(path)?.kind {
            Kind::Symlink => io::ErrorKind::Unsupported,
            Kind::File | Kind::Directory | Kind::Other => io::ErrorKind::InvalidInput,
        };
        Err(Error::new("read the link", path, why))
    }

    /// Sets the permission bits of a file or directory, whatever the process masks, and gives it to a group
    /// if one is named. A link is not followed. A machine without permissions need not do so.
    ///
    /// # Errors
    /// When the system refuses: the owner may give it only to groups that it belongs to.
    fn admit(&self, path: &Path, mode: u32, group: Option<u32>) -> Result<()> {
        let _ = (mode, group);
        Err(Error::new("set the permissions of", path, io::ErrorKind::Unsupported))
    }

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// When it cannot be listed.
    fn list(&self, path: &Path) -> Result<Vec<OsString>>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// When that failed.
    fn sync_dir(&self, path: &Path) -> Result<()>;

    /// Makes everything durable that was written to the file system of a directory, names and contents, by whomever. It
    /// costs what others have written, too, so it is for whoever has written many files.
    ///
    /// # Errors
    /// `Unsupported` where the system has no such call; else when that failed.
    fn sync_all(&self, path: &Path) -> Result<()> {
        let error = io::Error::from(io::ErrorKind::Unsupported);
        Err(Error::new("flush the file system of", path, error))
    }

    /// A directory from which many small files are read. Here each read goes through the other methods, call
    /// by call; a machine may do better.
    ///
    /// # Errors
    /// `NotFound` when there is nothing, `NotADirectory` when it is something else.
    fn folder<'a>(&'a self, path: &Path) -> Result<Box<dyn Folder + 'a>> {
        match self.stat(path)?.kind {
            Kind::Directory => Ok(Box::new(PlainFolder { files: self, path: path.to_path_buf() })),
            Kind::File | Kind::Symlink | Kind::Other => {
                Err(Error::new("open", path, io::ErrorKind::NotADirectory))
            }
        }
    }
}

/// A directory from which many small files are read.
pub trait Folder: Send + Sync {
    /// Puts the content of a regular file in place of what is in `into`; says whether there is one. At most
    /// `limit` bytes are taken, and one more if there are more, so that the caller can tell. `path` leads
    /// down from this directory, and no part of it may be a symbolic link.
    ///
    /// # Errors
    /// When there is something else in its place, a link on the way, or the system cannot read.
    fn read(&self, path: &str, into: &mut Vec<u8>, limit: usize) -> Result<bool>;

    /// What is known about a file or directory; none if there is none. `path` leads down from this directory; a link at
    /// its end is not followed.
    ///
    /// # Errors
    /// When the system cannot tell.
    fn stat(&self, path: &str) -> Result<Option<Stat>>;

    /// Shows every name in this directory, in any order, with what it leads to where the system tells that along with
    /// the name.
    ///
    /// # Errors
    /// When it cannot be listed; some names may have been shown then.
    fn each(&self, show: &mut dyn FnMut(&OsStr, Option<Kind>)) -> Result<()>;

    /// The same directory, opened once more for another thread: the system counts how many use an open one at each call, and
    /// two processors that count the same one wait for each other. None where that is no gain.
    fn again(&self) -> Option<Box<dyn Folder>> {
        None
    }
}

/// A folder that is nothing but its name.
struct PlainFolder<'a, F: Files + ?Sized> {
    files: &'a F,
    path: PathBuf,
}

impl<F: Files + ?Sized> Folder for PlainFolder<'_, F> {
    fn read(&self, path: &str, into: &mut Vec<u8>, limit: usize) -> Result<bool> {
        into.clear();
        let mut at = self.path.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            let stat = match self.files.stat(&at) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                stat => stat?,
            };
            let wanted = if parts.peek().is_some() { Kind::Directory } else { Kind::File };
            if stat.kind != wanted {
                return Err(unfit(&at, stat.kind));
            }
        }
        let handle = match self.files.open(&at, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            handle => handle?,
        };
        handle.read_more(into, 0, limit.saturating_add(1))?;
        Ok(true)
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        match self.files.stat(&self.path.join(path)) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn each(&self, show: &mut dyn FnMut(&OsStr, Option<Kind>)) -> Result<()> {
        self.files.list(&self.path)?.iter().for_each(|name| show(name, None));
        Ok(())
    }
}

/// What stands in the way of reading a file.
pub(crate) fn unfit(path: &Path, kind: Kind) -> Error {
    let why = match kind {
        Kind::Symlink => "it is a symbolic link",
        Kind::Directory => "it is a directory",
        Kind::File => "it is a file, not a directory",
        Kind::Other => "it is neither a file nor a directory",
    };
    Error::new("read", path, io::Error::new(io::ErrorKind::InvalidData, why))
}

impl dyn Handle + '_ {
    /// Reads everything from `offset` on, at most `limit` bytes.
    ///
    /// # Errors
    /// When the system cannot read.
    pub fn read_from(&self, offset: u64, limit: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_more(&mut bytes, offset, limit)?;
        Ok(bytes)
    }

    /// Adds what is in the file from `offset` on to `bytes`, at most `limit` bytes.
    ///
    /// # Errors
    /// When the system cannot read.
    pub fn read_more(&self, bytes: &mut Vec<u8>, offset: u64, limit: usize) -> Result<()> {
        let there = usize::try_from(self.stat()?.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let start = bytes.len();
        if bytes.capacity() == 0 {
            // New room is empty already; filling it by hand would touch every page of it once more.
            *bytes = vec![0; there.min(limit)];
        } else {
            bytes.resize(start + there.min(limit), 0);
        }
        let mut filled = start;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let got = crate::error::uninterrupted(|| self.read_at(rest, offset + (filled - start) as u64))?;
            if got == 0 {
                break;
            }
            filled += got;
        }
        bytes.truncate(filled);
        Ok(())
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// When the system cannot write; an unknown part may be written.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            written += crate::error::uninterrupted(|| self.write_at(rest, offset + written as u64))?;
        }
        Ok(())
    }
}
