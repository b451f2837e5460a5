//! Reading a whole tree to know its hash. It never writes.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::copy::BUFFER;
use super::{attributes, failed, open_below, open_root, pool, walk};
use crate::error::Result;
use crate::payload::{Content, Entry, Hashed, Listing, Progress, What};

/// Reads everything below `root`.
pub(super) fn read(root: &Path, progress: &Progress) -> Result<Listing> {
    let scan = walk::scan(root)?;
    progress.expect(scan.size());
    let base = open_root(root)?;
    let links = scan.hard_links();
    let hashed = pool::each(
        scan.entries.len(),
        || vec![0; BUFFER],
        |buffer, index| match (scan.entries.get(index), links.get(index).copied().flatten()) {
            (_, Some(first)) => {
                progress.file();
                Ok(Hashed::plain(Content::Link(first)))
            }
            (Some(entry), None) => one(root, &base, entry, buffer, progress),
            (None, None) => Ok(Hashed::plain(Content::Nothing)),
        },
    )?;
    Ok(Listing { scan, hashed })
}

fn one(root: &Path, base: &OwnedFd, entry: &Entry, buffer: &mut [u8], progress: &Progress) -> Result<Hashed> {
    let fail = |action| failed(action, root, &entry.path);
    let open = |flags| open_below(base, &entry.path, flags).map_err(fail("read"));
    match entry.what {
        What::Other => Ok(Hashed::plain(Content::Nothing)),
        What::Symlink => {
            let target = target(base, &entry.path).map_err(fail("read the link"))?;
            Ok(Hashed::plain(Content::Target(target)))
        }
        What::Directory => {
            let directory = open(OFlags::RDONLY | OFlags::DIRECTORY)?;
            let attributes = attributes::read(&directory).map_err(fail("read the attributes of"))?;
            Ok(Hashed { content: Content::Nothing, attributes })
        }
        What::File => {
            let file = open(OFlags::RDONLY)?;
            let attributes = attributes::read(&file).map_err(fail("read the attributes of"))?;
            let mut hasher = blake3::Hasher::new();
            let read = content(&File::from(file), entry.mark.len, buffer, &mut hasher, progress);
            let len = read
                .map_err(|error| holdfast_sys::Error::new("read", &super::below(root, &entry.path), error))?;
            progress.file();
            Ok(Hashed { content: Content::File(len, hasher.finalize()), attributes })
        }
    }
}

/// Hashes the first `len` bytes of a file, or fewer if it ends before; says how many there were. Whoever
/// knows the length spares a small file the read that only meets its end.
pub(super) fn content(
    file: &File,
    len: u64,
    buffer: &mut [u8],
    hasher: &mut blake3::Hasher,
    progress: &Progress,
) -> io::Result<u64> {
    let mut at = 0;
    while at < len {
        let got = match file.read_at(buffer, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            got => got?,
        };
        if got == 0 {
            break;
        }
        hasher.update(buffer.get(..got).unwrap_or_default());
        at += got as u64;
        progress.bytes(got as u64);
    }
    Ok(at)
}

/// Where a symbolic link leads.
pub(super) fn target(base: &OwnedFd, path: &[u8]) -> rustix::io::Result<Vec<u8>> {
    let link = open_below(base, path, OFlags::PATH)?;
    Ok(rustix::fs::readlinkat(link, std::ffi::OsStr::from_bytes(b""), Vec::new())?.into_bytes())
}
