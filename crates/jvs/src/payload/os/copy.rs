//! Copying a tree: shared blocks where the file system can, otherwise one pass that reads, hashes and writes.
//!
//! The hash is of what was written to the copy, never of a second look at the source.
//!
//! A few files are flushed one by one. Many are not, because each flush costs as much as copying a hundred of
//! them: large files are flushed while others are still copied, and at the end one flush of the file system
//! covers everything, names included. That flush is asked of a handle that was open before the first write,
//! because only then does it tell of every failure in between. It also waits for what others have written,
//! which is why a few files do not use it.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rustix::fs::{CWD, FileType, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::{attributes, below, failed, flush, open_below, open_for_flush, open_root, pool};
use crate::error::{Error, Result};
use crate::payload::{Content, Entry, Hashed, Progress, Scan, Summary, What};

/// How much is read at once.
pub(super) const BUFFER: usize = 256 * 1_024;
/// From this size on a file is flushed while others are still copied.
const LARGE: u64 = 4 << 20;
/// Up to so many entries each is flushed by itself.
const FEW: usize = 64;

struct Copy<'a> {
    from: &'a Path,
    source: OwnedFd,
    to: &'a Path,
    scan: &'a Scan,
    links: Vec<Option<usize>>,
    me: (u32, u32),
    /// Whether the file system was not able to share blocks; then it is not asked again.
    no_sharing: AtomicBool,
    /// Whether any bytes were copied.
    copied: AtomicBool,
    /// Whether each entry is flushed by itself.
    few: bool,
    progress: &'a Progress,
    large: SyncSender<(OwnedFd, Vec<u8>)>,
}

/// Copies what was scanned at `from` into the empty directory `to`, durably.
pub(super) fn copy(from: &Path, scan: &Scan, to: &Path, progress: &Progress) -> Result<Summary> {
    let whole = open_for_flush(to)?;
    let (large, queue) = sync_channel(64);
    let copy = Copy {
        from,
        source: open_root(from)?,
        to,
        scan,
        links: scan.hard_links(),
        me: attributes::me(),
        no_sharing: AtomicBool::new(false),
        copied: AtomicBool::new(false),
        few: scan.entries.len() <= FEW,
        progress,
        large,
    };
    copy.make_directories()?;
    let (hashed, reflinked) = std::thread::scope(|scope| {
        let flusher = scope.spawn(move || flush_large(to, &queue));
        let done = copy.files().and_then(|hashed| copy.finish(hashed));
        let reflinked = !copy.copied.load(Ordering::Relaxed);
        // The flusher ends when nobody can send it anything any more.
        drop(copy);
        let flushed = flusher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.and_then(|hashed| flushed.map(|()| (hashed, reflinked)))
    })?;
    let flushed = if scan.entries.len() <= FEW { flush_one(&whole) } else { flush(&whole) };
    flushed.map_err(failed("flush", to, b""))?;
    Ok(Summary::new(scan, &hashed, reflinked))
}

/// Makes a file or a directory durable, with everything that is known about it.
fn flush_one(file: &OwnedFd) -> rustix::io::Result<()> {
    rustix::io::retry_on_intr(|| rustix::fs::fsync(file))
}

/// Flushes large files as they come.
fn flush_large(to: &Path, queue: &Receiver<(OwnedFd, Vec<u8>)>) -> Result<()> {
    queue.iter().try_for_each(|(file, path)| {
        rustix::io::retry_on_intr(|| rustix::fs::fdatasync(&file)).map_err(failed("flush", to, &path))
    })
}

impl Copy<'_> {
    fn make_directories(&self) -> Result<()> {
        for entry in self.scan.entries.iter().filter(|entry| entry.what == What::Directory) {
            let made = rustix::fs::mkdir(below(self.to, &entry.path), Mode::RWXU);
            made.map_err(failed("make the directory", self.to, &entry.path))?;
        }
        Ok(())
    }

    /// Copies all files; what is no file of its own is left to [`Copy::finish`].
    fn files(&self) -> Result<Vec<Hashed>> {
        pool::each(
            self.scan.entries.len(),
            || vec![0; BUFFER],
            |buffer, index| match (self.scan.entries.get(index), self.links.get(index).copied().flatten()) {
                (_, Some(first)) => Ok(Hashed::plain(Content::Link(first))),
                (Some(entry), None) if entry.what == What::File => self.file(entry, buffer),
                (Some(entry), None) if entry.what == What::Symlink => self.symlink(entry),
                _ => Ok(Hashed::plain(Content::Nothing)),
            },
        )
    }

    fn file(&self, entry: &Entry, buffer: &mut [u8]) -> Result<Hashed> {
        let fail = |action| failed(action, self.from, &entry.path);
        let source = open_below(&self.source, &entry.path, OFlags::RDONLY).map_err(fail("read"))?;
        let stat = rustix::fs::fstat(&source).map_err(fail("look at"))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Error::changed(&entry.path));
        }
        let wrong = |action| failed(action, self.to, &entry.path);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(below(self.to, &entry.path), flags, Mode::RUSR | Mode::WUSR);
        let target = opened.map_err(wrong("write"))?;
        let (len, hash, target) = self.content(source.as_fd(), target, &stat, buffer, entry)?;
        let listed = attributes::read(&source).map_err(fail("read the attributes of"))?;
        let attributes = attributes::write(&target, listed).map_err(wrong("set the attributes of"))?;
        attributes::dress(&target, entry, self.me).map_err(wrong("set the owner and the times of"))?;
        if self.few {
            flush_one(&target).map_err(wrong("flush"))?;
        } else if len >= LARGE {
            // Nobody listens only after the flusher has failed, and then that is what is reported.
            let _ = self.large.send((target, entry.path.clone()));
        }
        self.progress.file();
        Ok(Hashed { content: Content::File(len, hash), attributes })
    }

    /// Shares or copies the content; says how much there is and what its hash is.
    fn content(
        &self,
        source: std::os::fd::BorrowedFd<'_>,
        target: OwnedFd,
        stat: &rustix::fs::Stat,
        buffer: &mut [u8],
        entry: &Entry,
    ) -> Result<(u64, blake3::Hash, OwnedFd)> {
        let wrong = |error: std::io::Error| -> Error {
            holdfast_sys::Error::new("copy", &below(self.from, &entry.path), error).into()
        };
        let len = u64::try_from(stat.st_size).unwrap_or(0);
        let target = File::from(target);
        let mut hasher = blake3::Hasher::new();
        if len > 0 && self.share(&target, source) {
            let read = super::digest::content(&target, len, buffer, &mut hasher, self.progress);
            let read = read.map_err(wrong)?;
            return Ok((read, hasher.finalize(), target.into()));
        }
        let source = File::from(source.try_clone_to_owned().map_err(wrong)?);
        let blocks = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        let copied = if blocks < len {
            self.sparse(&source, &target, len, buffer, &mut hasher)
        } else {
            self.stretch(&source, &target, 0..len, buffer, &mut hasher)
        };
        let copied = copied.map_err(wrong)?;
        if copied > 0 {
            self.copied.store(true, Ordering::Relaxed);
        }
        Ok((copied, hasher.finalize(), target.into()))
    }

    /// Lets the copy share the blocks of the source, if the file system can.
    fn share(&self, target: &File, source: std::os::fd::BorrowedFd<'_>) -> bool {
        if self.no_sharing.load(Ordering::Relaxed) {
            return false;
        }
        match rustix::fs::ioctl_ficlone(target, source) {
            Ok(()) => true,
            Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::XDEV | Errno::INVAL | Errno::NOSYS) => {
                self.no_sharing.store(true, Ordering::Relaxed);
                false
            }
            Err(_) => false,
        }
    }

    /// Copies a stretch of a file; less if it ends before. Says where it ended.
    fn stretch(
        &self,
        source: &File,
        target: &File,
        range: std::ops::Range<u64>,
        buffer: &mut [u8],
        hasher: &mut blake3::Hasher,
    ) -> std::io::Result<u64> {
        let mut at = range.start;
        while at < range.end {
            let most = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(buffer.len());
            let part = buffer.get_mut(..most).unwrap_or_default();
            let got = match source.read_at(part, at) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            if got == 0 {
                break;
            }
            let part = part.get(..got).unwrap_or_default();
            hasher.update(part);
            target.write_all_at(part, at)?;
            at += got as u64;
            self.progress.bytes(got as u64);
        }
        Ok(at)
    }

    /// Copies only what is in a file with holes, and leaves the holes.
    fn sparse(
        &self,
        source: &File,
        target: &File,
        len: u64,
        buffer: &mut [u8],
        hasher: &mut blake3::Hasher,
    ) -> std::io::Result<u64> {
        target.set_len(len)?;
        let mut at = 0;
        while at < len {
            let data = match rustix::fs::seek(source, SeekFrom::Data(at)) {
                Err(Errno::NXIO) => len,
                data => data?.min(len),
            };
            self.zeros(data - at, buffer, hasher);
            if data == len {
                break;
            }
            let hole = rustix::fs::seek(source, SeekFrom::Hole(data))?.min(len);
            at = self.stretch(source, target, data..hole, buffer, hasher)?;
            if at < hole {
                target.set_len(at)?;
                return Ok(at);
            }
        }
        Ok(len)
    }

    fn zeros(&self, mut count: u64, buffer: &mut [u8], hasher: &mut blake3::Hasher) {
        if count > 0 {
            buffer.fill(0);
        }
        while count > 0 {
            let most = usize::try_from(count).unwrap_or(usize::MAX).min(buffer.len());
            hasher.update(buffer.get(..most).unwrap_or_default());
            count -= most as u64;
            self.progress.bytes(most as u64);
        }
    }

    fn symlink(&self, entry: &Entry) -> Result<Hashed> {
        let fail = |action| failed(action, self.from, &entry.path);
        let target = super::digest::target(&self.source, &entry.path).map_err(fail("read the link"))?;
        let path = below(self.to, &entry.path);
        let wrong = |action| failed(action, self.to, &entry.path);
        rustix::fs::symlinkat(target.as_slice(), CWD, &path).map_err(wrong("make the link"))?;
        attributes::dress_link(&path, entry, self.me).map_err(wrong("set the owner and the times of"))?;
        Ok(Hashed::plain(Content::Target(target)))
    }

    /// Makes the hard links, and gives the directories what they have, the innermost first: one that is
    /// read-only takes nothing in any more.
    fn finish(&self, mut hashed: Vec<Hashed>) -> Result<Vec<Hashed>> {
        for (entry, first) in self.scan.entries.iter().zip(&self.links) {
            let Some(first) = first.and_then(|first| self.scan.entries.get(first)) else { continue };
            let made = rustix::fs::link(below(self.to, &first.path), below(self.to, &entry.path));
            made.map_err(failed("link", self.to, &entry.path))?;
            self.progress.file();
            self.progress.bytes(entry.mark.len);
        }
        for (entry, hashed) in self.scan.entries.iter().zip(&mut hashed).rev() {
            if entry.what == What::Directory {
                hashed.attributes = self.directory(entry)?;
            }
        }
        Ok(hashed)
    }

    fn directory(&self, entry: &Entry) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let fail = |action| failed(action, self.from, &entry.path);
        let wrong = |action| failed(action, self.to, &entry.path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let source = open_below(&self.source, &entry.path, flags).map_err(fail("open"))?;
        let opened = rustix::fs::open(below(self.to, &entry.path), flags | OFlags::CLOEXEC, Mode::empty());
        let target = opened.map_err(wrong("open"))?;
        let listed = attributes::read(&source).map_err(fail("read the attributes of"))?;
        let kept = attributes::write(&target, listed).map_err(wrong("set the attributes of"))?;
        attributes::dress(&target, entry, self.me).map_err(wrong("set the owner and the times of"))?;
        if self.few {
            flush_one(&target).map_err(wrong("flush"))?;
        }
        Ok(kept)
    }
}
