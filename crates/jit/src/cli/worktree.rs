//! `jit worktree`: names and help.

use clap::Subcommand;

/// Worktrees.
#[derive(Subcommand, Debug)]
pub enum Worktree {
    /// Show this worktree
    Info,
    /// List all worktrees
    List,
    /// Give this worktree an identity
    Init,
}
