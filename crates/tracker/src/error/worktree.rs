//! What can be wrong when worktrees are made and taken away.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::code::Code;

/// What can be wrong when worktrees are made and taken away.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// Something is there already.
    #[error("there is something at {} already", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// It has work that would be lost or forgotten.
    #[error("the worktree {name} has work that would be left behind: {}", what.join(", "))]
    HasWork {
        /// What it is called.
        name: String,
        /// What would be left behind.
        what: Vec<String>,
    },
    /// Somebody else has claims there.
    #[error("the worktree {name} has claims of {}", holders.join(", "))]
    HasClaims {
        /// What it is called.
        name: String,
        /// Whose claims they are.
        holders: Vec<String>,
        /// The issues that are claimed.
        issues: Vec<String>,
    },
    /// It is the one that the command runs in, or the repository's own.
    #[error("{} cannot be removed: {why}", path.display())]
    Needed {
        /// Where it is.
        path: PathBuf,
        /// Why it cannot go.
        why: &'static str,
    },
}

impl WorktreeError {
    /// What kind of error it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Exists { .. } => Code::WorktreeExists,
            Self::HasWork { .. } => Code::WorktreeHasWork,
            Self::HasClaims { .. } => Code::WorktreeClaimed,
            Self::Needed { .. } => Code::WorktreeNeeded,
        }
    }

    /// What to type next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exists { .. } => "jit worktree list shows those that there are; take another name".into(),
            Self::HasWork { name, .. } => {
                format!(
                    "finish or commit it there; jit worktree remove {name} --force removes it all the same"
                )
            }
            Self::HasClaims { issues, .. } => {
                format!("jit claim force-evict {} --reason 'its worktree is removed'", issues.first()?)
            }
            Self::Needed { .. } => "jit worktree list shows the others".into(),
        })
    }

    /// What a program can go on with.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Exists { path } | Self::Needed { path, .. } => {
                json!({ "path": path.display().to_string() })
            }
            Self::HasWork { name, what } => json!({ "worktree": name, "work": what }),
            Self::HasClaims { name, holders, issues } => {
                json!({ "worktree": name, "holders": holders, "issues": issues })
            }
        }
    }
}
