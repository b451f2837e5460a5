//! Why a medium could not do what it was asked.

use std::path::PathBuf;

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
    /// Damage of a file at a place.
    pub(crate) fn damaged(
        path: &std::path::Path,
        place: impl Into<String>,
        what: impl std::fmt::Display,
    ) -> Self {
        let damage = Damage { place: place.into(), what: what.to_string() };
        Self::Damaged { path: path.to_path_buf(), damage }
    }
}
