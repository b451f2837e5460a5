//! An object that has a file of its own. Git packs objects late, so what a commit is about is nearly always in
//! one: it costs an open and a read, where the database must be opened first. Such a file is never left to the
//! database: libgit2 does not come back from one that was cut short, as a power loss leaves it.
//!
//! Git gives the file its name when it has hashed what is in it, also for what is pushed, and the checksum
//! inside finds what a disk did to it later. Like git, this does not hash it again.

use std::path::{Path, PathBuf};

use holdfast_sys::Files;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};

use crate::{ObjectId, paths};

/// More than the kind and the length take.
const LONGEST_HEAD: usize = 32;

/// More than any repository borrows from. Lists may lead in circles, and from one to many.
const MOST_PLACES: usize = 64;

/// The content of the object `id` below the directory `objects`; none if it has no file there.
///
/// # Errors
/// Why it cannot be had: it is not of that kind, longer than `limit`, or damaged.
pub(super) fn read(
    files: &dyn Files,
    objects: &Path,
    id: &ObjectId,
    kind: &str,
    limit: usize,
) -> Result<Option<Vec<u8>>, String> {
    let name = id.to_string();
    let (folder, file) = name.split_at_checked(2).unwrap_or_default();
    let opened = paths::if_there(paths::open(files, &objects.join(folder).join(file)));
    let Some(handle) = opened.map_err(|error| error.to_string())? else { return Ok(None) };
    // What does not shrink grows by a few bytes in every block.
    let most = limit.saturating_add(limit / 1_000 + 1_024);
    let packed = handle.read_from(0, most).map_err(|error| error.to_string())?;
    let object = match decompress_to_vec_zlib_with_limit(&packed, limit.saturating_add(LONGEST_HEAD)) {
        Ok(object) => object,
        Err(error) if error.status == TINFLStatus::HasMoreOutput => error.output,
        Err(_) => return Err("it is damaged".to_owned()),
    };
    content(object, kind, limit).map(Some)
}

/// What is behind the head of an object, or its beginning if it is longer than `limit`.
fn content(mut object: Vec<u8>, kind: &str, limit: usize) -> Result<Vec<u8>, String> {
    let (found, len, start) = head(&object).ok_or("it is damaged")?;
    if found != kind {
        return Err(format!("it is a {found}"));
    }
    if len > limit {
        return Err(format!("it is {len} bytes long; at most {limit} are read"));
    }
    object.drain(..start);
    if object.len() == len { Ok(object) } else { Err("it is damaged".to_owned()) }
}

/// The kind and the length of an object, and where its content begins.
fn head(object: &[u8]) -> Option<(&'static str, usize, usize)> {
    let end = object.iter().take(LONGEST_HEAD).position(|byte| *byte == 0)?;
    let (kind, len) = std::str::from_utf8(object.get(..end)?).ok()?.split_once(' ')?;
    let kind = ["commit", "tree", "blob", "tag"].into_iter().find(|known| *known == kind)?;
    Some((kind, len.parse().ok()?, end + 1))
}

/// The directories that these directories of objects borrow from, and those that they borrow from in turn.
pub(super) fn borrowed(files: &dyn Files, places: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = places.to_vec();
    let mut at = 0;
    while let Some(place) = all.get(at).filter(|_| at < MOST_PLACES).cloned() {
        at += 1;
        // Whoever cannot read the list has nothing from there either.
        let list = paths::read_if_there(files, &place.join("info/alternates"), paths::SMALL);
        let list = list.ok().flatten().unwrap_or_default();
        for line in
            list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        {
            let other = place.join(paths::from_bytes(line));
            if !all.contains(&other) {
                all.push(other);
            }
        }
    }
    all.drain(..places.len());
    all
}
