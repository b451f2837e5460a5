//! Marks of issues that were deleted. A deleted issue may still be in a commit or in another worktree, and must not
//! come back from there. There are two: one in the control plane, which hides the issue from every worktree until it
//! is made again; and one in the worktree that deleted it, for where there is no control plane. Neither is versioned. A
//! copy of the worktree's own, from a merge or a checkout, counts more than the mark of that worktree.

use std::path::{Path, PathBuf};

use holdfast_sys::Sys;

use super::events::Witness;
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;

/// Whether an issue is marked there.
pub(super) fn is_marked(sys: &Sys, data: &Path, id: IssueId) -> bool {
    sys.files.stat(&path(data, id)).is_ok()
}

/// Marks an issue as deleted, in a place whose directories and files have these modes.
pub(super) fn mark(sys: &Sys, data: &Path, id: IssueId, at: &str, modes: (u32, u32)) -> Result<()> {
    let path = path(data, id);
    durable::make_dirs(sys, path.parent().unwrap_or(data), modes.0)?;
    Ok(durable::replace(sys, &path, content(at).as_bytes(), modes.1)?)
}

/// What shows that an issue was marked at this moment.
pub(super) fn witness(id: IssueId, at: &str) -> Witness {
    Witness::is(relative(id), content(at).as_bytes())
}

fn content(at: &str) -> String {
    format!("{at}\n")
}

/// Takes the mark away, if there is one.
pub(super) fn unmark(sys: &Sys, data: &Path, id: IssueId) -> Result<()> {
    let path = path(data, id);
    match sys.files.remove_file(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => {
            removed?;
            Ok(sys.files.sync_dir(path.parent().unwrap_or(data))?)
        }
    }
}

fn path(data: &Path, id: IssueId) -> PathBuf {
    data.join(relative(id))
}

fn relative(id: IssueId) -> String {
    format!("deleted/{id}")
}
