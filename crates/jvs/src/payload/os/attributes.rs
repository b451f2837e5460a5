//! What a file has beside its content: owner, permission bits, times and extended attributes.
//!
//! Of the extended attributes those count that users and administrators set: `user.*`, access control lists
//! and capabilities. The rest belongs to the machine, and would differ on the next one.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::{Errno, Result};

use crate::payload::Entry;

type Attributes = Vec<(Vec<u8>, Vec<u8>)>;

fn counts(name: &[u8]) -> bool {
    name.starts_with(b"user.") || name.starts_with(b"system.posix_acl_") || name == b"security.capability"
}

/// The extended attributes that count, sorted by name; none where the file system has none.
pub(super) fn read(file: &OwnedFd) -> Result<Attributes> {
    let mut names = vec![0; 1_024];
    let len = loop {
        match rustix::fs::flistxattr(file, &mut names[..]) {
            Err(Errno::RANGE) if names.len() < 1 << 20 => names.resize(names.len() * 4, 0),
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
            len => break len?,
        }
    };
    let names = names.get(..len).unwrap_or_default();
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| counts(name)) {
        if let Some(value) = value(file, name)? {
            found.push((name.to_vec(), value));
        }
    }
    found.sort();
    Ok(found)
}

/// The value of an attribute; none if it cannot be read by this user.
fn value(file: &OwnedFd, name: &[u8]) -> Result<Option<Vec<u8>>> {
    let name = std::ffi::OsStr::from_bytes(name);
    let mut value = vec![0; 64 * 1_024];
    match rustix::fs::fgetxattr(file, name, &mut value[..]) {
        Ok(len) => {
            value.truncate(len);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::ACCESS | Errno::PERM) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a file the attributes, and says which it has now: where the file system or this user cannot keep
/// one, it is left out.
pub(super) fn write(file: &OwnedFd, attributes: Attributes) -> Result<Attributes> {
    let mut kept = Vec::with_capacity(attributes.len());
    for (name, value) in attributes {
        let os_name = std::ffi::OsStr::from_bytes(&name);
        match rustix::fs::fsetxattr(file, os_name, &value, XattrFlags::empty()) {
            Ok(()) => kept.push((name, value)),
            Err(Errno::NOTSUP | Errno::PERM | Errno::ACCESS | Errno::INVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(kept)
}

/// Gives an open file or directory the owner, the bits and the times of an entry. Whoever may not give a
/// file away keeps it.
pub(super) fn dress(file: &OwnedFd, entry: &Entry, me: (u32, u32)) -> Result<()> {
    if entry.owner != me {
        let (user, group) = entry.owner;
        match rustix::fs::fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group))) {
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(entry.mode))?;
    rustix::fs::futimens(file, &times(entry))
}

/// Gives a symbolic link the owner and the times of an entry.
pub(super) fn dress_link(path: &Path, entry: &Entry, me: (u32, u32)) -> Result<()> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    if entry.owner != me {
        let (user, group) = entry.owner;
        match rustix::fs::chownat(CWD, path, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)), flags) {
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    rustix::fs::utimensat(CWD, path, &times(entry), flags)
}

fn times(entry: &Entry) -> Timestamps {
    let modified = entry.mark.modified_ns;
    let spec = Timespec {
        tv_sec: i64::try_from(modified.div_euclid(1_000_000_000)).unwrap_or(0),
        tv_nsec: i64::try_from(modified.rem_euclid(1_000_000_000)).unwrap_or(0),
    };
    Timestamps { last_access: spec, last_modification: spec }
}

/// The user and the group that new files belong to.
pub(super) fn me() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}
