//! Finding everything in a tree. Directories are read through their handles, so that a directory that is
//! swapped for a symbolic link meanwhile leads nowhere.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, OFlags};

use super::{failed, open_below, open_root, pool};
use crate::error::Result;
use crate::payload::{Entry, Mark, Scan, What};

/// Everything below `root`, level by level: the directories of one level are read on all cores.
pub(super) fn scan(root: &Path) -> Result<Scan> {
    let base = open_root(root)?;
    let mut entries = Vec::new();
    let mut level: Vec<Vec<u8>> = vec![Vec::new()];
    while !level.is_empty() {
        let read = pool::each(
            level.len(),
            || (),
            |(), index| list(root, &base, level.get(index).map_or(&[], Vec::as_slice)),
        )?;
        level = Vec::new();
        for entry in read.into_iter().flatten() {
            if entry.what == What::Directory {
                level.push(entry.path.clone());
            }
            entries.push(entry);
        }
    }
    entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(Scan { entries })
}

/// What is in one directory.
fn list(root: &Path, base: &OwnedFd, path: &[u8]) -> Result<Vec<Entry>> {
    let fail = |action| failed(action, root, path);
    let own = if path.is_empty() { b"." } else { path };
    let directory = open_below(base, own, OFlags::RDONLY | OFlags::DIRECTORY).map_err(fail("list"))?;
    let mut entries = Vec::new();
    for found in Dir::read_from(&directory).map_err(fail("list"))? {
        let found = found.map_err(fail("list"))?;
        let name = found.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat =
            rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail("look into"))?;
        let mut full = Vec::with_capacity(path.len() + 1 + name.to_bytes().len());
        full.extend_from_slice(path);
        if !path.is_empty() {
            full.push(b'/');
        }
        full.extend_from_slice(name.to_bytes());
        entries.push(entry(full, &stat));
    }
    Ok(entries)
}

#[allow(clippy::useless_conversion, reason = "the type of a link count is not the same on all machines")]
fn entry(path: Vec<u8>, stat: &rustix::fs::Stat) -> Entry {
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => What::File,
        FileType::Directory => What::Directory,
        FileType::Symlink => What::Symlink,
        _ => What::Other,
    };
    Entry {
        path,
        what,
        mode: stat.st_mode & 0o7777,
        owner: (stat.st_uid, stat.st_gid),
        links: u64::from(stat.st_nlink),
        mark: mark(stat),
    }
}

/// What changes when somebody writes to it.
pub(super) fn mark(stat: &rustix::fs::Stat) -> Mark {
    let nanos = |secs: i64, nanos: i128| i128::from(secs) * 1_000_000_000 + nanos;
    Mark {
        identity: (stat.st_dev, stat.st_ino),
        len: u64::try_from(stat.st_size).unwrap_or(0),
        modified_ns: nanos(stat.st_mtime, stat.st_mtime_nsec as i128),
        changed_ns: nanos(stat.st_ctime, stat.st_ctime_nsec as i128),
    }
}
