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
    /// The place that several machines share does not do its part.
    #[error("{what}")]
    Shared {
        /// What is the matter with it.
        trouble: Trouble,
        /// The same for a person, with the register's name.
        what: String,
    },
}

/// What is the matter with the place that several machines share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// It cannot be reached. Nothing has changed.
    Unavailable,
    /// It was asked to change something and did not say whether it did. The next operation finds out.
    Unresolved,
    /// Its history is not the one that this machine has seen: it was set back, deleted, restored, or forgot what it
    /// had confirmed. Nothing goes on before somebody decides.
    Forked,
    /// It refuses every change, for reasons of its own. Nothing has changed.
    Refused,
    /// It is kept by nobody, or its counter is not the configured one. Nothing has changed.
    Missing,
    /// The state of this clone was copied from another one. It has a new id; nothing else has changed.
    Copied,
    /// The leases are kept elsewhere, or about to be. Nothing has changed.
    Moved,
    /// This clone does not have what was landed last, so it cannot know what is left to do. Nothing has changed.
    Behind,
    /// It has no room for more. Nothing has changed.
    Full,
}

impl Trouble {
    /// The code that `spec/errors.md` explains.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unavailable => "UNAVAILABLE",
            Self::Unresolved => "UNRESOLVED",
            Self::Forked => "FORKED",
            Self::Refused => "REFUSED",
            Self::Missing => "NO_REGISTER",
            Self::Copied => "COPIED_CLONE",
            Self::Moved => "MOVED",
            Self::Behind => "BEHIND",
            Self::Full => "LIMIT_REACHED",
        }
    }

    /// The error that says so.
    #[must_use]
    pub fn because(self, what: impl Into<String>) -> Error {
        Error::Shared { trouble: self, what: what.into() }
    }
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
            Self::Shared { trouble, .. } => trouble.code(),
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
            Self::Shared { trouble, what } => Self::Shared { trouble: *trouble, what: what.clone() },
        }
    }

    /// The thread that was to write for this caller panicked.
    pub(crate) fn abandoned(path: &Path) -> Self {
        holdfast_sys::Error::new("write", path, io::Error::other("the writing thread panicked")).into()
    }

    /// Damage of a file at a place.
    pub fn damaged(path: &Path, place: impl Into<String>, what: impl std::fmt::Display) -> Self {
        let damage = Damage { place: place.into(), what: what.to_string() };
        Self::Damaged { path: path.to_path_buf(), damage }
    }
}
