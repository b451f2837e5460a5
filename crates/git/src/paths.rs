//! Paths without symbolic links, and small files read whole. Everything goes through [`Files`], which
//! follows no link at the last step; whoever needs one followed asks for the real path first.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use holdfast_sys::{Files, Handle, Kind, Open, Stat};

use crate::{Error, Result};

/// As many links as Linux follows before it calls a path a loop.
const MOST_LINKS: usize = 40;

/// Enough for every one-line file that git writes.
pub(crate) const SMALL: usize = 64 << 10;

/// The absolute path `path` without symbolic links, `.` and `..`.
///
/// # Errors
/// When nothing is there, or the links go in circles.
pub fn real(files: &dyn Files, path: &Path) -> Result<PathBuf> {
    real_from(files, Path::new("/"), path)
}

/// The same for `path` as seen from the directory `base`, which is a real path and not looked at again.
pub(crate) fn real_from(files: &dyn Files, base: &Path, path: &Path) -> Result<PathBuf> {
    let mut done = if path.is_absolute() { PathBuf::from("/") } else { base.to_path_buf() };
    let mut ahead = parts(path);
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        if part == ".." {
            done.pop();
            continue;
        }
        done.push(part);
        match files.read_link(&done) {
            Ok(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Error::LinkLoop { path: base.join(path) });
                }
                if target.is_absolute() {
                    done = PathBuf::from("/");
                } else {
                    done.pop();
                }
                ahead.append(&mut parts(&target));
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(done)
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |component| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}

/// The content of a file of at most `limit` bytes; symbolic links are followed.
pub(crate) fn read(files: &dyn Files, path: &Path, limit: usize) -> Result<Vec<u8>> {
    match read_plain(files, path, limit) {
        Err(error) if is_link(files, path, &error) => read_plain(files, &real(files, path)?, limit),
        done => done,
    }
}

/// Opens a file for reading; symbolic links are followed.
pub(crate) fn open(files: &dyn Files, path: &Path) -> Result<Box<dyn Handle>> {
    match files.open(path, Open::Read).map_err(Error::from) {
        Err(error) if is_link(files, path, &error) => Ok(files.open(&real(files, path)?, Open::Read)?),
        opened => opened,
    }
}

/// The content of a file of at most `limit` bytes that is not a symbolic link.
pub(crate) fn read_plain(files: &dyn Files, path: &Path, limit: usize) -> Result<Vec<u8>> {
    let handle = files.open(path, Open::Read)?;
    let bytes = match handle.read_from(0, limit + 1) {
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Err(not_a_file(path)),
        read => read?,
    };
    // A pipe or, on some file systems, an empty directory looks like an empty file.
    if bytes.is_empty() && handle.stat()?.kind != Kind::File {
        return Err(not_a_file(path));
    }
    if bytes.len() > limit { Err(Error::TooLarge { path: path.to_path_buf(), limit }) } else { Ok(bytes) }
}

fn not_a_file(path: &Path) -> Error {
    Error::NotAFile { path: path.to_path_buf() }
}

/// Whether opening `path` failed because it is a symbolic link. Only a failure makes it worth a look.
pub(crate) fn is_link(files: &dyn Files, path: &Path, error: &Error) -> bool {
    let absent = |error: &holdfast_sys::Error| error.kind() == io::ErrorKind::NotFound;
    let failed = matches!(error, Error::Sys(error) if !absent(error));
    failed && files.stat(path).is_ok_and(|stat| stat.kind == Kind::Symlink)
}

/// As [`read`], but a file that is not there has no content.
pub(crate) fn read_if_there(files: &dyn Files, path: &Path, limit: usize) -> Result<Option<Vec<u8>>> {
    if_there(read(files, path, limit))
}

/// What a name leads to, symbolic links followed; nothing if there is nothing that this user can see.
pub(crate) fn look(files: &dyn Files, path: &Path) -> Result<Option<Stat>> {
    let seen = match files.stat(path) {
        Ok(stat) if stat.kind == Kind::Symlink => real(files, path).and_then(|path| Ok(files.stat(&path)?)),
        stat => stat.map_err(Error::from),
    };
    if_visible(seen)
}

/// Nothing, where the failure only says that there is nothing. A disk that fails is not that: it must
/// never look like an empty place.
pub(crate) fn if_there<T>(result: Result<T>) -> Result<Option<T>> {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Sys(error)) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// As [`if_there`], and nothing too where this user may not look or a link leads nowhere. For probing
/// places that need not be ours.
pub(crate) fn if_visible<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(Error::Sys(error)) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(Error::LinkLoop { .. }) => Ok(None),
        other => if_there(other),
    }
}

/// The path that these bytes spell.
pub(crate) fn from_bytes(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A one-line file's content without the end of its line.
pub(crate) fn line(mut bytes: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = bytes {
        bytes = rest;
    }
    bytes
}

/// What git calls white space.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The bytes without white space at both ends.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let Some(first) = bytes.iter().position(|byte| !is_space(*byte)) else { return &[] };
    let last = bytes.iter().rposition(|byte| !is_space(*byte)).unwrap_or(first);
    bytes.get(first..=last).unwrap_or_default()
}
