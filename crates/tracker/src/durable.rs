//! Files that are replaced whole: after a crash there is the old one or the new one, never a mixture.

use std::io;
use std::path::{Path, PathBuf};

use holdfast_store::whole::{self, Beside, Staged};
use holdfast_sys::{Kind, Open, Result, Sys};

/// Puts a file with this content in the place of `path`, durably.
///
/// # Errors
/// When that failed; the old one is then still there.
pub fn replace(sys: &Sys, path: &Path, content: &[u8], mode: u32) -> Result<()> {
    whole::replace_all(sys, &[(path, content)], Beside::Hidden, mode)
}

/// Puts a file with this content in the place of `path`, whole to everybody who looks; after a power loss there may be
/// anything.
///
/// # Errors
/// When that failed; the old one is then still there.
pub fn put(sys: &Sys, path: &Path, content: &[u8], mode: u32) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = whole::parent(path).join(format!(".{name}.new-{:032x}", sys.entropy.nonce()?));
    let put = || {
        sys.files.open(&beside, Open::New { mode })?.write_all_at(content, 0)?;
        sys.files.rename(&beside, path)
    };
    put().inspect_err(|_| drop(sys.files.remove_file(&beside)))
}

/// Puts files with these contents in their places in one directory, durably, each of them whole and in this
/// order. Their content is durable before the first gets its name, and one flush is for all names.
///
/// # Errors
/// When that failed; some may have been replaced then.
pub fn replace_all(sys: &Sys, files: &[(PathBuf, &[u8])], mode: u32) -> Result<()> {
    let files: Vec<(&Path, &[u8])> = files.iter().map(|(path, content)| (path.as_path(), *content)).collect();
    whole::replace_all(sys, &files, Beside::Hidden, mode)
}

/// As [`replace_all`], but for the names: after a power loss each file is the old one or the new one, whole, and none if
/// there was none. For copies of what is durable elsewhere.
///
/// # Errors
/// When that failed; some may have been replaced then.
pub fn place_all(sys: &Sys, files: &[(PathBuf, &[u8])], mode: u32) -> Result<()> {
    let files: Vec<(&Path, &[u8])> = files.iter().map(|(path, content)| (path.as_path(), *content)).collect();
    whole::place_all(sys, &files, Beside::Hidden, mode)
}

/// Writes files beside their places in one directory, durably but for their names; they are put in their places later.
///
/// # Errors
/// When that failed; nothing is left then.
pub fn stage_all<'a>(sys: &'a Sys, files: &[(PathBuf, &[u8])], mode: u32) -> Result<Staged<'a>> {
    let files: Vec<(&Path, &[u8])> = files.iter().map(|(path, content)| (path.as_path(), *content)).collect();
    whole::stage_all(sys, &files, Beside::Hidden, mode)
}

/// As [`stage_all`], for whoever makes many files durable at once before they are put in their places.
///
/// # Errors
/// When that failed; nothing is left then.
pub fn stage_unflushed<'a>(sys: &'a Sys, files: &[(PathBuf, &[u8])], mode: u32) -> Result<Staged<'a>> {
    let files: Vec<(&Path, &[u8])> = files.iter().map(|(path, content)| (path.as_path(), *content)).collect();
    whole::stage_unflushed(sys, &files, Beside::Hidden, mode)
}

/// Puts a file with this content at `path` if nothing is there, durably; says whether it did.
///
/// # Errors
/// When that failed.
pub fn create(sys: &Sys, path: &Path, content: &[u8], mode: u32) -> Result<bool> {
    whole::place(sys, path, content, Beside::Hidden, mode)
}

/// Makes a directory and those above it that are missing, durably.
///
/// # Errors
/// When that failed.
pub fn make_dirs(sys: &Sys, path: &Path, mode: u32) -> Result<()> {
    match make_dir(sys, path, mode) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some() => {
            make_dirs(sys, whole::parent(path), mode)?;
            // Once: a file system that takes no directories may say every time that something is missing.
            make_dir(sys, path, mode)
        }
        made => made,
    }
}

fn make_dir(sys: &Sys, path: &Path, mode: u32) -> Result<()> {
    match sys.files.create_dir(path, mode) {
        Ok(()) => sys.files.sync_dir(whole::parent(path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The content of a regular file of at most `limit` bytes; none if there is none. A link is not followed.
///
/// # Errors
/// When there is something else in its place, or it cannot be read.
pub fn read(sys: &Sys, path: &Path, limit: usize) -> Result<Option<Vec<u8>>> {
    let invalid =
        |why: &str| holdfast_sys::Error::new("read", path, io::Error::new(io::ErrorKind::InvalidData, why));
    let handle = match sys.files.open(path, Open::Read) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        handle => handle?,
    };
    if handle.stat()?.kind != Kind::File {
        return Err(invalid("it is not a file"));
    }
    let bytes = handle.read_from(0, limit + 1)?;
    if bytes.len() > limit { Err(invalid("it is far too large")) } else { Ok(Some(bytes)) }
}

/// Whether there is a directory of that name.
///
/// # Errors
/// When the system cannot tell.
pub fn is_dir(sys: &Sys, path: &Path) -> Result<bool> {
    is(sys, path, Kind::Directory)
}

/// Whether there is a file of that name.
///
/// # Errors
/// When the system cannot tell.
pub fn is_file(sys: &Sys, path: &Path) -> Result<bool> {
    is(sys, path, Kind::File)
}

fn is(sys: &Sys, path: &Path, kind: Kind) -> Result<bool> {
    match sys.files.stat(path) {
        Ok(stat) => Ok(stat.kind == kind),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
