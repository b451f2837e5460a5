//! Refs as git keeps them in files: one file each, or a line in `packed-refs`. A ref's name is a path, so
//! only a checked [`RefName`] ever becomes one.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt};
use std::path::{Path, PathBuf};

use holdfast_sys::Files;

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

/// Reads the ref's file at `path`. A symbolic link into `refs/` is the old form of a symbolic ref.
pub(crate) fn read(files: &dyn Files, path: &Path) -> Result<Content> {
    let bytes = match raw(files, path)? {
        Raw::Bytes(bytes) => bytes,
        Raw::Link(target) if target.starts_with(b"refs/") => [b"ref: ", &target[..]].concat(),
        Raw::Link(_) => paths::read(files, path, paths::SMALL)?,
    };
    let bad = |fault| Error::BadRef { path: path.to_path_buf(), fault };
    let text = paths::trim(&bytes);
    if let Some(name) = text.strip_prefix(b"ref:") {
        let name = RefName::new(paths::trim(name)).ok_or_else(|| bad("it names a ref that cannot be one"))?;
        return Ok(Content::Symbolic(name));
    }
    let word = text.split(|byte| is_space(*byte)).next().unwrap_or_default();
    ObjectId::from_hex(word).map(Content::Id).ok_or_else(|| bad("it names neither a ref nor an object"))
}

enum Raw {
    Bytes(Vec<u8>),
    Link(Vec<u8>),
}

fn raw(files: &dyn Files, path: &Path) -> Result<Raw> {
    match paths::read_plain(files, path, paths::SMALL) {
        Err(error) if paths::is_link(files, path, &error) => {
            Ok(Raw::Link(files.read_link(path)?.into_os_string().into_vec()))
        }
        done => done.map(Raw::Bytes),
    }
}

/// Whether the file at `path` looks like a HEAD. This is less than [`read`] asks for: with reftable, HEAD is
/// a file whose only purpose is to pass this test.
pub(crate) fn looks_like_head(files: &dyn Files, path: &Path) -> Result<bool> {
    let bytes = match paths::if_visible(raw(files, path)) {
        Ok(Some(Raw::Bytes(bytes))) => bytes,
        Ok(Some(Raw::Link(target))) => return Ok(target.starts_with(b"refs/")),
        Ok(None) | Err(Error::TooLarge { .. } | Error::NotAFile { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let symbolic = bytes.strip_prefix(b"ref:").is_some_and(|name| paths::trim(name).starts_with(b"refs/"));
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    Ok(symbolic || digits >= 40)
}

/// The ref that `name` is in the end, whether it exists or not: a symbolic ref is another name of a ref.
pub(crate) fn end(files: &dyn Files, git_dir: &Path, common_dir: &Path, name: RefName) -> Result<RefName> {
    Ok(chain(files, git_dir, common_dir, name)?.0)
}

/// The ref that `name` is in the end, and the object that it is on, if it is there.
pub(crate) fn follow(
    files: &dyn Files,
    git_dir: &Path,
    common_dir: &Path,
    name: &RefName,
) -> Result<(RefName, Option<ObjectId>)> {
    let (end, id) = chain(files, git_dir, common_dir, name.clone())?;
    let id = if id.is_none() { packed(files, common_dir, &end)? } else { id };
    Ok((end, id))
}

/// The ref that `name` is in the end, and what its own file holds, if it has one.
fn chain(
    files: &dyn Files,
    git_dir: &Path,
    common_dir: &Path,
    name: RefName,
) -> Result<(RefName, Option<ObjectId>)> {
    let mut end = name.clone();
    for _ in 0..LONGEST_CHAIN {
        match loose(files, &path_of(git_dir, common_dir, &end))? {
            Some(Content::Symbolic(next)) => end = next,
            Some(Content::Id(id)) => return Ok((end, Some(id))),
            None => return Ok((end, None)),
        }
    }
    Err(Error::RefLoop { name })
}

fn path_of(git_dir: &Path, common_dir: &Path, name: &RefName) -> PathBuf {
    let base = if name.is_per_worktree() { git_dir } else { common_dir };
    base.join(name.as_path())
}

/// What the ref's own file holds, if it has one. A directory in its place belongs to other refs.
fn loose(files: &dyn Files, path: &Path) -> Result<Option<Content>> {
    match paths::if_there(read(files, path)) {
        Err(Error::NotAFile { .. }) => Ok(None),
        content => content,
    }
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

/// Whether a ref in `packed-refs` has this name, or one that is a directory of it or in it: a name cannot be both.
pub(crate) fn packed_meets(files: &dyn Files, common_dir: &Path, name: &RefName) -> Result<bool> {
    let bytes = paths::read_if_there(files, &common_dir.join("packed-refs"), LARGEST_PACKED)?;
    let own = name.as_bytes();
    let is_within = |inner: &[u8], outer: &[u8]| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let meets = |line: &[u8]| {
        let other = line.iter().position(|byte| *byte == b' ').and_then(|space| line.get(space + 1..));
        other.is_some_and(|other| is_within(own, other) || is_within(other, own))
    };
    Ok(bytes.unwrap_or_default().split(|byte| *byte == b'\n').any(meets))
}

/// Every ref whose name begins with `start`, with the object that it is on, by name. One that leads nowhere is left out.
pub(crate) fn below(
    files: &dyn Files,
    git_dir: &Path,
    common_dir: &Path,
    start: &str,
) -> Result<BTreeMap<RefName, ObjectId>> {
    let start = start.as_bytes();
    let folder = start.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
    // Those with files of their own first: one that is packed meanwhile is then found in either.
    let mut all = BTreeMap::new();
    let mut open = vec![start.get(..folder).unwrap_or_default().to_vec()];
    while let Some(name) = open.pop() {
        let path = common_dir.join(paths::from_bytes(&name));
        let parts = match files.list(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                let Some(name) = RefName::new(&name) else { continue };
                match follow(files, git_dir, common_dir, &name) {
                    Ok((_, Some(id))) => drop(all.insert(name, id)),
                    // As git, which says so and goes on.
                    Ok((_, None)) | Err(Error::BadRef { .. } | Error::RefLoop { .. }) => {}
                    Err(error) => return Err(error),
                }
                continue;
            }
            parts => parts?,
        };
        let names = parts.into_iter().map(|part| [&name[..], b"/", part.as_bytes()].concat());
        open.extend(names.filter(|name| name.starts_with(start)));
    }
    for (name, id) in packed_below(files, common_dir, start)? {
        all.entry(name).or_insert(id);
    }
    Ok(all)
}

fn packed_below(files: &dyn Files, common_dir: &Path, start: &[u8]) -> Result<BTreeMap<RefName, ObjectId>> {
    let bytes = paths::read_if_there(files, &common_dir.join("packed-refs"), LARGEST_PACKED)?;
    let bytes = bytes.unwrap_or_default();
    let one = |line: &[u8]| {
        let space = line.iter().position(|byte| *byte == b' ')?;
        let (id, name) = (ObjectId::from_hex(line.get(..space)?)?, line.get(space + 1..)?);
        name.starts_with(start).then(|| RefName::new(name))?.map(|name| (name, id))
    };
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(one).collect())
}
