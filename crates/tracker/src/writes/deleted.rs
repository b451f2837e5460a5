//! Marks of issues that were deleted here. A deleted issue may still be in the last commit or in the main
//! worktree, and must not come back from there. The mark belongs to one worktree and is not versioned: once
//! the deletion is committed and merged, the issue is gone everywhere. A copy of this worktree's own, from
//! a merge or a checkout, counts more than the mark.

use std::path::{Path, PathBuf};

use holdfast_sys::Sys;

use super::events::Witness;
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;

/// Whether an issue was deleted in the worktree with this `.jit/`.
#[must_use]
pub fn is_marked(sys: &Sys, data: &Path, id: IssueId) -> bool {
    sys.files.stat(&path(data, id)).is_ok()
}

/// Marks an issue as deleted here.
pub(super) fn mark(sys: &Sys, data: &Path, id: IssueId, at: &str) -> Result<()> {
    let path = path(data, id);
    durable::make_dirs(sys, path.parent().unwrap_or(data), 0o755)?;
    Ok(durable::replace(sys, &path, content(at).as_bytes(), 0o644)?)
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
