//! The worktrees of the repository.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::session::Session;
use crate::worktree::Entry;

/// All worktrees, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct WorktreeListOutput {
    /// The worktrees.
    pub worktrees: Vec<Entry>,
    /// How many.
    pub count: usize,
}

/// All worktrees.
///
/// # Errors
/// When they cannot be listed.
pub fn list(session: &Session) -> Result<WorktreeListOutput> {
    let worktrees = session.worktrees()?;
    Ok(WorktreeListOutput { count: worktrees.len(), worktrees })
}
