//! Refs as git keeps them in files: one file each, or a line in `packed-refs`. A ref's name is a path, so
//! only a checked [`RefName`] ever becomes one.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use holdfast_sys::{Files, Kind};

use crate::paths::{self, is_space};
use crate::{Error, ObjectId, RefName, Result};

/// As many refs as git follows one after the other.
const LONGEST_CHAIN: usize = 5;

/// Room for millions of refs.
const LARGEST_PACKED: usize = 1 << 30;

/// What a ref's file holds.
pub(crate) enum Content {
    /// The name of another ref.
    Symbolic(RefName),
    /// An object.
    Id(ObjectId),
}

/// Reads the ref's file at `path`.
pub(crate) fn read(files: &dyn Files, path: &Path) -> Result<Content> {
    let bad = |fault| Error::BadRef { path: path.to_path_buf(), fault };
    let bytes = raw(files, path)?;
    let text = paths::trim(&bytes);
    if let Some(name) = text.strip_prefix(b"ref:") {
        let name = RefName::new(paths::trim(name)).ok_or_else(|| bad("it names a ref that cannot be one"))?;
        return Ok(Content::Symbolic(name));
    }
    let word = text.split(|byte| is_space(*byte)).next().unwrap_or_default();
    ObjectId::from_hex(word).map(Content::Id).ok_or_else(|| bad("it names neither a ref nor an object"))
}

/// What the file at `path` holds. A symbolic link into `refs/` is the old form of a symbolic ref.
fn raw(files: &dyn Files, path: &Path) -> Result<Vec<u8>> {
    match files.stat(path)?.kind {
        Kind::File => paths::read(files, path, paths::SMALL),
        Kind::Symlink => match linked_ref(files, path)? {
            Some(name) => Ok([b"ref: ", &name[..]].concat()),
            None => paths::read(files, &paths::real(files, path)?, paths::SMALL),
        },
        Kind::Directory | Kind::Other => Err(Error::NotAFile { path: path.to_path_buf() }),
    }
}

/// The ref that the symbolic link at `path` names, if it names one.
fn linked_ref(files: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>> {
    let target = files.read_link(path)?.into_os_string().into_vec();
    Ok(target.starts_with(b"refs/").then_some(target))
}

/// Whether the file at `path` looks like a HEAD. This is less than [`read`] asks for: with reftable, HEAD is
/// a file whose only purpose is to pass this test.
pub(crate) fn looks_like_head(files: &dyn Files, path: &Path) -> Result<bool> {
    let kind = paths::if_visible(files.stat(path).map_err(Error::from))?.map(|stat| stat.kind);
    match kind {
        Some(Kind::File) => {}
        Some(Kind::Symlink) => return Ok(linked_ref(files, path)?.is_some()),
        Some(Kind::Directory | Kind::Other) | None => return Ok(false),
    }
    let bytes = match paths::if_visible(paths::read(files, path, paths::SMALL)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) | Err(Error::TooLarge { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let symbolic = bytes.strip_prefix(b"ref:").is_some_and(|name| paths::trim(name).starts_with(b"refs/"));
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    Ok(symbolic || digits >= 40)
}

/// The ref that `name` is in the end, whether it exists or not: a symbolic ref is another name of a ref.
pub(crate) fn end(files: &dyn Files, git_dir: &Path, common_dir: &Path, name: RefName) -> Result<RefName> {
    let mut end = name.clone();
    for _ in 0..LONGEST_CHAIN {
        match loose(files, &path_of(git_dir, common_dir, &end))? {
            Some(Content::Symbolic(next)) => end = next,
            Some(Content::Id(_)) | None => return Ok(end),
        }
    }
    Err(Error::RefLoop { name })
}

/// The ref that `name` is in the end, and the object that it is on, if it is there.
pub(crate) fn follow(
    files: &dyn Files,
    git_dir: &Path,
    common_dir: &Path,
    name: &RefName,
) -> Result<(RefName, Option<ObjectId>)> {
    let end = end(files, git_dir, common_dir, name.clone())?;
    let id = match loose(files, &path_of(git_dir, common_dir, &end))? {
        Some(Content::Id(id)) => Some(id),
        Some(Content::Symbolic(_)) => return Err(Error::RefLoop { name: name.clone() }),
        None => packed(files, common_dir, &end)?,
    };
    Ok((end, id))
}

fn path_of(git_dir: &Path, common_dir: &Path, name: &RefName) -> PathBuf {
    let base = if name.is_per_worktree() { git_dir } else { common_dir };
    base.join(name.as_path())
}

/// What the ref's own file holds, if it has one. A directory in its place belongs to other refs.
fn loose(files: &dyn Files, path: &Path) -> Result<Option<Content>> {
    let there = paths::if_there(files.stat(path).map_err(Error::from))?;
    if there.is_none_or(|stat| stat.kind == Kind::Directory) {
        return Ok(None);
    }
    // git may pack the ref away between the two looks; then it is in `packed-refs` already.
    paths::if_there(read(files, path))
}

/// The object that a ref in `packed-refs` is on.
fn packed(files: &dyn Files, common_dir: &Path, name: &RefName) -> Result<Option<ObjectId>> {
    let path = common_dir.join("packed-refs");
    let Some(bytes) = paths::read_if_there(files, &path, LARGEST_PACKED)? else { return Ok(None) };
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(digits) = line.strip_suffix(name.as_bytes()).and_then(|rest| rest.strip_suffix(b" ")) else {
            continue;
        };
        let fault = "a line holds no object";
        return ObjectId::from_hex(digits).map(Some).ok_or(Error::BadRef { path, fault });
    }
    Ok(None)
}
