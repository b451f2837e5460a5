//! What git is in the middle of in a worktree: nothing is begun, finished or moved there before that has come to its end.

use std::path::Path;

use crate::error::LandError;
use crate::session::Session;

/// The file or directory that says so, what it is, and the command that ends it.
const ALL: [(&str, &str, &str); 5] = [
    ("rebase-merge", "rebase", "git rebase"),
    ("rebase-apply", "rebase", "git rebase"),
    ("MERGE_HEAD", "merge", "git merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick"),
    ("REVERT_HEAD", "revert", "git revert"),
];

/// What is under way in the worktree with this git directory, and the command that ends it.
pub(super) fn find(session: &Session, directory: &Path) -> Option<(&'static str, &'static str)> {
    let there = |(name, _, _): &&(&str, &str, &str)| session.sys().files.stat(&directory.join(name)).is_ok();
    ALL.iter().find(there).map(|(_, what, command)| (*what, *command))
}

/// Refuses a worktree in which something is under way.
///
/// # Errors
/// What that is.
pub(super) fn refuse(session: &Session, directory: &Path) -> Result<(), LandError> {
    match find(session, directory) {
        Some((what, command)) => Err(LandError::UnderWay { what, command }),
        None => Ok(()),
    }
}
