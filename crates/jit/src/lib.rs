//! Issues and claims for work in parallel git worktrees.

pub mod config;
