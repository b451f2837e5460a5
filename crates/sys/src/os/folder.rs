//! Many small files of one directory: three system calls each, and no symbolic link is followed on the way,
//! not even one that was put there a moment ago.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::files::unfit;
use crate::{Error, Folder, Kind, Result, Stat};

/// What the first call reads at most: more than nearly every file that is read this way.
const CHUNK: usize = 4 << 10;

/// A pipe in the place of a file would block its opener for ever.
const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// A directory that is held open.
pub(super) struct OsFolder {
    directory: OwnedFd,
    path: PathBuf,
}

impl OsFolder {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let opened = rustix::fs::open(path, FLAGS.union(OFlags::DIRECTORY), Mode::empty());
        let directory = opened.map_err(|error| Error::new("open", path, error))?;
        Ok(Self { directory, path: path.to_path_buf() })
    }

    /// Why a file cannot be had, in words: the system says only that something on the way is no directory
    /// or a link.
    fn why(&self, path: &str, errno: Errno) -> Error {
        let mut at = self.path.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            let wanted = if parts.peek().is_some() { Kind::Directory } else { Kind::File };
            match rustix::fs::lstat(&at).map(|stat| super::files::known(&stat).kind) {
                Ok(kind) if kind != wanted => return unfit(&at, kind),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Error::new("read", &self.path.join(path), errno)
    }

    fn fill(&self, file: &OwnedFd, path: &str, into: &mut Vec<u8>, limit: usize) -> Result<()> {
        let most = limit.saturating_add(1);
        let mut filled = 0;
        while filled < most {
            into.resize((filled + filled.max(CHUNK)).min(most), 0);
            let room = into.get_mut(filled..).unwrap_or_default();
            let asked = room.len();
            let got = rustix::io::retry_on_intr(|| rustix::io::read(file, &mut *room));
            let got = got.map_err(|errno| self.why(path, errno))?;
            filled += got;
            // A regular file gives all it has; less than was asked for is its end.
            if got < asked {
                break;
            }
        }
        into.truncate(filled);
        if filled > 0 {
            return Ok(());
        }
        // A pipe looks like an empty file.
        let stat = rustix::fs::fstat(file).map_err(|errno| self.why(path, errno))?;
        match super::files::known(&stat).kind {
            Kind::File => Ok(()),
            kind => Err(unfit(&self.path.join(path), kind)),
        }
    }
}

impl Folder for OsFolder {
    fn read(&self, path: &str, into: &mut Vec<u8>, limit: usize) -> Result<bool> {
        into.clear();
        match open(self.directory.as_fd(), path) {
            Ok(file) => self.fill(&file, path, into, limit).map(|()| true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(self.why(path, errno)),
        }
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        match rustix::fs::statat(&self.directory, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(super::files::known(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(Error::new("look at", &self.path.join(path), errno)),
        }
    }

    fn each(&self, show: &mut dyn FnMut(&OsStr, Option<Kind>)) -> Result<()> {
        let failed = |errno: Errno| Error::new("list", &self.path, errno);
        for entry in Dir::read_from(&self.directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                show(name, super::files::kind(entry.file_type()));
            }
        }
        Ok(())
    }

    fn again(&self) -> Option<Box<dyn Folder>> {
        let flags = FLAGS.union(OFlags::DIRECTORY);
        let directory = rustix::fs::openat(&self.directory, ".", flags, Mode::empty()).ok()?;
        Some(Box::new(Self { directory, path: self.path.clone() }))
    }
}

#[cfg(target_os = "linux")]
fn open(directory: rustix::fd::BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let beneath = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::BENEATH);
    let open = || rustix::fs::openat2(directory, path, FLAGS, Mode::empty(), beneath);
    match rustix::io::retry_on_intr(open) {
        // A kernel or a sandbox without this call.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(directory, path),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn open(directory: rustix::fd::BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    step_by_step(directory, path)
}

/// Each directory on the way is opened by itself, so that none of them can be a link.
fn step_by_step(directory: rustix::fd::BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut at: Option<OwnedFd> = None;
    for part in above.split('/').filter(|part| !part.is_empty()) {
        let from = at.as_ref().map_or(directory, AsFd::as_fd);
        at = Some(rustix::fs::openat(from, part, FLAGS.union(OFlags::DIRECTORY), Mode::empty())?);
    }
    let from = at.as_ref().map_or(directory, AsFd::as_fd);
    rustix::io::retry_on_intr(|| rustix::fs::openat(from, name, FLAGS, Mode::empty()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::Files;
    use crate::os::OsFiles;

    #[test]
    fn no_link_is_followed_whichever_way_a_file_is_opened() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        fs::create_dir_all(at("home/real")).unwrap();
        fs::write(at("home/real/file"), "f").unwrap();
        symlink(at("home/real"), at("home/linked")).unwrap();
        symlink(at("home/real/file"), at("home/real/link")).unwrap();
        fs::create_dir(at("home/real/directory")).unwrap();
        let folder = OsFolder::open(&at("home")).unwrap();
        for how in [open, step_by_step] {
            assert!(how(folder.directory.as_fd(), "real/file").is_ok());
            assert!(how(folder.directory.as_fd(), "linked/file").is_err());
            assert!(how(folder.directory.as_fd(), "real/link").is_err());
            assert_eq!(how(folder.directory.as_fd(), "real/none").unwrap_err(), Errno::NOENT);
        }
        let mut into = Vec::new();
        for path in ["linked/file", "real/link", "real/directory"] {
            let refused = folder.read(path, &mut into, 9).unwrap_err();
            assert_eq!(refused.kind(), std::io::ErrorKind::InvalidData, "{path}");
        }
        assert!(OsFiles.folder(&at("home/linked")).is_err());
        let kind = |path: &str| folder.stat(path).unwrap().map(|stat| stat.kind);
        assert_eq!(
            ["real", "real/file", "real/link"].map(kind),
            [Kind::Directory, Kind::File, Kind::Symlink].map(Some)
        );
        assert_eq!((kind("linked"), kind("real/none")), (Some(Kind::Symlink), None));
        let mut listed = Vec::new();
        folder.each(&mut |name, kind| listed.push((name.to_owned(), kind))).unwrap();
        listed.sort_by_key(|(name, _): &(std::ffi::OsString, _)| name.clone());
        // A file system that does not tell what a name leads to says so; it never says something else.
        let right = [("linked", Kind::Symlink), ("real", Kind::Directory)];
        assert_eq!(listed.len(), right.len());
        for ((name, kind), (right, is)) in listed.iter().zip(right) {
            assert!(name == right && kind.is_none_or(|kind| kind == is), "{name:?} {kind:?}");
        }
    }

    #[test]
    fn a_file_is_read_to_its_end_and_not_past_the_limit() {
        let scratch = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..3 * CHUNK + 7).map(|n| u8::try_from(n % 251).unwrap()).collect();
        fs::write(scratch.path().join("large"), &content).unwrap();
        fs::write(scratch.path().join("empty"), "").unwrap();
        let folder = OsFolder::open(scratch.path()).unwrap();
        let mut into = b"from before".to_vec();
        assert!(folder.read("large", &mut into, content.len()).unwrap());
        assert!(into == content);
        for limit in [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK] {
            assert!(folder.read("large", &mut into, limit).unwrap());
            assert!(into == content[..=limit], "{limit}");
        }
        assert!(folder.read("empty", &mut into, 9).unwrap());
        assert!(into.is_empty());
        assert!(!folder.read("none", &mut into, 9).unwrap());
    }
}
