//! The machine's files, one system call a method.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::folder::OsFolder;
use crate::{Error, Files, Folder, Handle, Identity, Kind, LockMode, Open, Result, Stat, Times};

/// The machine's files.
pub struct OsFiles;

struct OsHandle {
    file: File,
    path: PathBuf,
    appends: bool,
}

impl OsHandle {
    fn failed(&self, action: &'static str) -> impl Fn(Errno) -> Error {
        move |error| Error::new(action, &self.path, error)
    }
}

impl Handle for OsHandle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        self.file.read_at(buffer, offset).map_err(|error| Error::new("read", &self.path, error))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize> {
        let written = self.file.write_at(bytes, offset);
        written.and_then(some).map_err(|error| Error::new("write", &self.path, error))
    }

    fn append(&self, bytes: &[u8]) -> Result<usize> {
        if !self.appends {
            // It would write at the handle's own position, which is the beginning.
            return Err(self.failed("append to")(Errno::BADF));
        }
        let written = rustix::io::write(&self.file, bytes).map_err(io::Error::from);
        written.and_then(some).map_err(|error| Error::new("append to", &self.path, error))
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.file.set_len(len).map_err(|error| Error::new("cut", &self.path, error))
    }

    fn sync(&self) -> Result<()> {
        rustix::io::retry_on_intr(|| rustix::fs::fdatasync(&self.file)).map_err(self.failed("flush"))
    }

    fn stat(&self) -> Result<Stat> {
        rustix::fs::fstat(&self.file).map(|stat| known(&stat)).map_err(self.failed("look at"))
    }

    fn lock(&self, mode: LockMode) -> Result<()> {
        let operation = match mode {
            LockMode::Shared => FlockOperation::LockShared,
            LockMode::Exclusive => FlockOperation::LockExclusive,
        };
        rustix::fs::flock(&self.file, operation).map_err(self.failed("lock"))
    }

    fn try_lock(&self, mode: LockMode) -> Result<bool> {
        let operation = match mode {
            LockMode::Shared => FlockOperation::NonBlockingLockShared,
            LockMode::Exclusive => FlockOperation::NonBlockingLockExclusive,
        };
        match rustix::fs::flock(&self.file, operation) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(self.failed("lock")(error)),
        }
    }

    fn unlock(&self) -> Result<()> {
        rustix::fs::flock(&self.file, FlockOperation::Unlock).map_err(self.failed("unlock"))
    }
}

/// A write of nothing makes no progress; a caller that repeats it would never end.
fn some(written: usize) -> io::Result<usize> {
    if written == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(written) }
}

impl Files for OsFiles {
    fn open(&self, path: &Path, how: Open) -> Result<Box<dyn Handle>> {
        let (flags, mode) = match how {
            Open::Read => (OFlags::RDONLY, 0),
            Open::Write => (OFlags::RDWR, 0),
            Open::Create { mode } => (OFlags::RDWR | OFlags::CREATE, mode),
            Open::New { mode } => (OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, mode),
            Open::Append { mode } => (OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND, mode),
        };
        // A pipe in the place of a file would block its opener for ever.
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::from_raw_mode(mode)));
        let file = File::from(opened.map_err(|error| Error::new("open", path, error))?);
        let appends = matches!(how, Open::Append { .. });
        Ok(Box::new(OsHandle { file, path: path.to_path_buf(), appends }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        rustix::fs::rename(from, to).map_err(|error| Error::new("replace", to, error))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        rename_new(from, to).map_err(|error| Error::new("create", to, error))
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        rustix::fs::link(from, to).map_err(|error| Error::new("link", to, error))
    }

    fn create_dir(&self, path: &Path, mode: u32) -> Result<()> {
        rustix::fs::mkdir(path, Mode::from_raw_mode(mode))
            .map_err(|error| Error::new("make the directory", path, error))
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        rustix::fs::unlink(path).map_err(|error| Error::new("remove", path, error))
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        rustix::fs::rmdir(path).map_err(|error| Error::new("remove the directory", path, error))
    }

    fn stat(&self, path: &Path) -> Result<Stat> {
        rustix::fs::lstat(path).map(|stat| known(&stat)).map_err(|error| Error::new("look at", path, error))
    }

    fn admit(&self, path: &Path, mode: u32, group: Option<u32>) -> Result<()> {
        super::permission::admit(path, mode, group)
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        let target = rustix::fs::readlink(path, Vec::new());
        let target = target.map_err(|error| Error::new("read the link", path, error))?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>> {
        let failed = |error: Errno| Error::new("list", path, error);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_os_string());
            }
        }
        names.sort();
        Ok(names)
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        let failed = |error: Errno| Error::new("flush the directory", path, error);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        rustix::io::retry_on_intr(|| rustix::fs::fsync(&directory)).map_err(failed)
    }

    #[cfg(target_os = "linux")]
    fn sync_all(&self, path: &Path) -> Result<()> {
        let failed = |error: Errno| Error::new("flush the file system of", path, error);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        rustix::io::retry_on_intr(|| rustix::fs::syncfs(&directory)).map_err(failed)
    }

    fn folder<'a>(&'a self, path: &Path) -> Result<Box<dyn Folder + 'a>> {
        OsFolder::open(path).map(|folder| Box::new(folder) as Box<dyn Folder>)
    }
}

#[cfg(target_os = "linux")]
fn rename_new(from: &Path, to: &Path) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => in_two_steps(from, to),
        done => done,
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Path, to: &Path) -> rustix::io::Result<()> {
    in_two_steps(from, to)
}

/// Where the file system cannot rename without replacing. The first step is the one that excludes: a link,
/// or for a directory, which cannot be linked, an empty one that may be replaced.
fn in_two_steps(from: &Path, to: &Path) -> rustix::io::Result<()> {
    if known(&rustix::fs::lstat(from)?).kind == Kind::Directory {
        rustix::fs::mkdir(to, Mode::RWXU)?;
        return rustix::fs::rename(from, to).inspect_err(|_| {
            // If not even that works, an empty directory has the name, as if somebody had been faster.
            let _ = rustix::fs::rmdir(to);
        });
    }
    rustix::fs::linkat(CWD, from, CWD, to, AtFlags::empty())?;
    rustix::fs::unlink(from)
}

/// What something is; none where the system does not say.
pub(super) const fn kind(of: FileType) -> Option<Kind> {
    match of {
        FileType::RegularFile => Some(Kind::File),
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Symlink),
        FileType::Unknown => None,
        _ => Some(Kind::Other),
    }
}

pub(super) fn known(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        kind: kind(FileType::from_raw_mode(stat.st_mode)).unwrap_or(Kind::Other),
        identity: Identity { device: stat.st_dev, inode: stat.st_ino },
        len: u64::try_from(stat.st_size).unwrap_or(0),
        mode: stat.st_mode & 0o7777,
        owner: stat.st_uid,
        modified_ms: stat.st_mtime.saturating_mul(1_000) + stat.st_mtime_nsec / 1_000_000,
        times: Some(Times {
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::io::Errno;

    use super::in_two_steps;

    #[test]
    fn what_is_renamed_in_two_steps_replaces_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        fs::write(at("file"), "f").unwrap();
        fs::create_dir(at("dir")).unwrap();
        fs::write(at("dir/inside"), "d").unwrap();
        fs::create_dir(at("taken")).unwrap();
        for from in ["file", "dir"] {
            assert_eq!(in_two_steps(&at(from), &at("taken")), Err(Errno::EXIST), "{from}");
            assert!(at(from).exists());
            in_two_steps(&at(from), &at(&format!("{from} moved"))).unwrap();
            assert!(!at(from).exists());
        }
        assert_eq!(fs::read_to_string(at("file moved")).unwrap(), "f");
        assert_eq!(fs::read_to_string(at("dir moved/inside")).unwrap(), "d");
        assert_eq!(fs::read_dir(at("taken")).unwrap().count(), 0);
    }
}
