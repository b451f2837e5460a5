//! What git is in the middle of in a worktree: nothing is begun, finished or moved there before that has come to its end.

use std::path::Path;

use crate::error::{Error, LandError, Result};
use crate::session::Session;

const REBASE: &str = "rebase";

/// The file or directory that says so, what it is, and the command that ends it.
const ALL: [(&str, &str, &str); 5] = [
    ("rebase-merge", REBASE, "git rebase"),
    ("rebase-apply", REBASE, "git rebase"),
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
pub(super) fn refuse(session: &Session, directory: &Path) -> Result<()> {
    let Some((what, command)) = find(session, directory) else { return Ok(()) };
    let has_begun = what != REBASE || is_detached(session)?;
    Err(LandError::UnderWay { what, command, has_begun }.into())
}

/// As [`refuse`], for whoever stays on the branch that it is on: a rebase that was killed before it had begun changes nothing.
///
/// # Errors
/// As [`refuse`].
pub(super) fn refuse_begun(session: &Session, directory: &Path) -> Result<()> {
    match refuse(session, directory) {
        Err(Error::Land(LandError::UnderWay { has_begun: false, .. })) => Ok(()),
        refused => refused,
    }
}

/// Whether a worktree is on no branch, as one is in which a rebase has begun.
fn is_detached(session: &Session) -> Result<bool> {
    Ok(session.branch()?.is_none_or(|branch| branch == "HEAD"))
}
