//! `GIT_CEILING_DIRECTORIES`: directories in which a search from below must not look.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use crate::{Result, paths};

/// The lowest ceiling above `start`. Symbolic links in the list are resolved up to its first empty entry,
/// which says that the rest has none.
pub(super) fn above(files: &dyn Files, list: Option<&OsStr>, start: &Path) -> Result<Option<PathBuf>> {
    let mut lowest: Option<PathBuf> = None;
    let mut literal = false;
    for entry in list.map(|list| list.as_bytes()).unwrap_or_default().split(|byte| *byte == b':') {
        let path = paths::from_bytes(entry);
        literal |= entry.is_empty();
        if !path.is_absolute() {
            continue;
        }
        let path =
            if literal { Some(path.to_path_buf()) } else { paths::if_visible(paths::real(files, path))? };
        let path = path.filter(|path| start.starts_with(path) && start != path);
        lowest = lowest.into_iter().chain(path).max_by_key(|path| path.as_os_str().len());
    }
    Ok(lowest)
}
