//! The directory whose hooks git runs.

use std::path::PathBuf;

use crate::{Config, Repository, Result};

/// The hooks directory that git uses in this worktree: `core.hooksPath` from wherever it is set, else
/// `hooks` in the directory that all worktrees share. A relative `core.hooksPath` is relative to where git
/// runs hooks: the root of the worktree, or the git directory where there is none. So it differs between
/// worktrees, and the directory need not exist.
///
/// # Errors
/// When `core.hooksPath` is set to what cannot be spelled out here.
pub fn directory(repository: &Repository, config: &Config) -> Result<PathBuf> {
    let Some(configured) = config.path("core.hookspath")? else {
        return Ok(repository.common_dir().join("hooks"));
    };
    Ok(repository.work_tree().unwrap_or(repository.git_dir()).join(configured))
}
