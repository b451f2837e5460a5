//! Why a configuration could not be read or changed. Nothing has been written when one of these comes back.

use std::path::PathBuf;

use super::format::{FORMAT, too_old};
use super::keys::AGENT;
use super::problem::{Fault, Problems};
use crate::code::Code;

/// Why a configuration could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system failed.
    #[error(transparent)]
    Sys(#[from] holdfast_sys::Error),
    /// Files say what cannot be.
    #[error("{0}")]
    Invalid(Problems),
    /// A later version laid out the repository. Nothing was read any further.
    #[error("{} says that the repository has format {version}; jit {} reads format {FORMAT}", path.display(), env!("CARGO_PKG_VERSION"))]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// The number of the format.
        version: u64,
    },
    /// There is no such key.
    #[error("there is no configuration key {key}")]
    UnknownKey {
        /// What was asked for.
        key: String,
        /// What may have been meant.
        near: Vec<&'static str>,
    },
    /// The key has no value and no default.
    #[error("{key} is not set")]
    NotSet {
        /// The key.
        key: String,
    },
    /// The key cannot have that value.
    #[error("{key} cannot be set: {fault}")]
    BadValue {
        /// The key.
        key: String,
        /// What is wrong with the value.
        fault: Fault,
    },
    /// The key belongs to the user, not to the repository.
    #[error("{key} is the user's own and is never kept in a repository")]
    NotForRepositories {
        /// The key.
        key: String,
    },
    /// What concerns everybody is changed elsewhere.
    #[error("the repository's configuration is changed on {allowed}, not on {branch}")]
    WrongBranch {
        /// The branch of this worktree.
        branch: String,
        /// Where it may be changed.
        allowed: String,
    },
    /// The main branch has gone on without this one.
    #[error(
        "this branch does not have everything that {main} has, so it cannot change what concerns everybody"
    )]
    Behind {
        /// The main branch.
        main: String,
    },
    /// There is no file to keep the setting in.
    #[error("there is no {place} to keep the setting in")]
    Nowhere {
        /// What is missing.
        place: &'static str,
    },
    /// The file is written in a way that is not changed by machine.
    #[error("{}:{line}: {key} is written in a way that cannot be changed automatically", path.display())]
    ByHand {
        /// The file.
        path: PathBuf,
        /// The line to look at.
        line: usize,
        /// The key.
        key: String,
    },
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Sys(_) => Code::Io,
            Self::Invalid(_) => Code::ConfigInvalid,
            Self::Newer { .. } => Code::NewerFormat,
            Self::UnknownKey { .. } => Code::ConfigUnknownKey,
            Self::NotSet { .. } => Code::ConfigNotSet,
            Self::BadValue { .. } => Code::ConfigBadValue,
            Self::NotForRepositories { .. } => Code::ConfigUsersOwn,
            Self::WrongBranch { .. } => Code::ConfigWrongBranch,
            Self::Behind { .. } => Code::ConfigBehindMain,
            Self::Nowhere { .. } => Code::ConfigNowhere,
            Self::ByHand { .. } => Code::ConfigByHand,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Sys(_) => None,
            Self::Invalid(_) => Some("correct the file, then run `jit config validate`".to_owned()),
            Self::Newer { .. } => Some(too_old()),
            Self::UnknownKey { key, .. } if key.starts_with("policy.escalate") => {
                Some("it is a list of tables: write [[policy.escalate]] into the file by hand".to_owned())
            }
            Self::UnknownKey { near, .. } if near.is_empty() => {
                Some("`jit config show` lists every key".to_owned())
            }
            Self::UnknownKey { near, .. } => Some(format!("did you mean {}?", near.join(", "))),
            Self::NotSet { key } if AGENT.key(key).is_some() => {
                Some(format!("jit config set --global {key} <value>"))
            }
            Self::NotSet { key } => Some(format!("jit config set {key} <value>")),
            Self::BadValue { .. } => None,
            Self::NotForRepositories { key } => Some(format!("jit config set --global {key} <value>")),
            Self::WrongBranch { .. } => Some("change it there, or with --global for yourself".to_owned()),
            Self::Behind { main } => Some(format!("git rebase {main}")),
            Self::Nowhere { .. } => {
                Some("run it in a repository after `jit init`, or with --global".to_owned())
            }
            Self::ByHand { .. } => Some("edit the file, then run `jit config validate`".to_owned()),
        }
    }
}
