//! Why a medium could not do what it was asked.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_kernel::Refusal;

/// The result of an operation on a medium.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation on a medium failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The rules do not allow it. Nothing has changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The operating system failed. Nothing was acknowledged, and nothing acknowledged before is lost.
    #[error(transparent)]
    Sys(#[from] holdfast_sys::Error),
    /// What is on disk cannot have been written by this program. Nothing has changed.
    #[error("{} is damaged: {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// What is on disk was written by a later version. Nothing has changed.
    #[error("{} has format version {version}, which is newer than this program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// This medium has no room for what was asked for. Nothing has changed.
    #[error("{} cannot keep {what}", path.display())]
    Unsupported {
        /// The file or directory that the medium keeps its leases in.
        path: PathBuf,
        /// What it cannot keep.
        what: &'static str,
    },
    /// Whoever must know of a transition beforehand could not be told. Nothing has changed.
    #[error("nothing was done, because the audit log could not be written")]
    Unwitnessed(#[source] Arc<dyn std::error::Error + Send + Sync>),
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Damage {
    /// Where, as a person would look for it: `line 12`, `the first line`.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl Error {
    /// The code that `spec/errors.md` explains.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Sys(_) => "SYS",
            Self::Damaged { .. } => "DAMAGED",
            Self::Newer { .. } => "NEWER_FORMAT",
            Self::Unsupported { .. } => "UNSUPPORTED",
            Self::Unwitnessed(_) => "UNWITNESSED",
        }
    }

    /// The same error once more, for each of several callers that one failure concerns.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(refusal.clone()),
            Self::Sys(error) => Self::Sys(error.again()),
            Self::Damaged { path, damage } => Self::Damaged { path: path.clone(), damage: damage.clone() },
            Self::Newer { path, version } => Self::Newer { path: path.clone(), version: *version },
            Self::Unsupported { path, what } => Self::Unsupported { path: path.clone(), what },
            Self::Unwitnessed(why) => Self::Unwitnessed(Arc::clone(why)),
        }
    }

    /// The thread that was to write for this caller panicked.
    pub(crate) fn abandoned(path: &Path) -> Self {
        holdfast_sys::Error::new("write", path, io::Error::other("the writing thread panicked")).into()
    }

    /// Damage of a file at a place.
    pub(crate) fn damaged(path: &Path, place: impl Into<String>, what: impl std::fmt::Display) -> Self {
        let damage = Damage { place: place.into(), what: what.to_string() };
        Self::Damaged { path: path.to_path_buf(), damage }
    }
}
