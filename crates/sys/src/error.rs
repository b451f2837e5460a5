//! What went wrong, on what. The text names the action and the path, because "permission denied" alone
//! helps nobody.

use std::io;
use std::path::{Path, PathBuf};

/// A call to the operating system that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", path.display())]
pub struct Error {
    /// What was tried, as a verb.
    pub action: &'static str,
    /// On what.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Error {
    /// An error of `action` on `path`.
    pub fn new(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self { action, path: path.to_path_buf(), source: source.into() }
    }

    /// The same error once more, for each of several callers that one call failed.
    #[must_use]
    pub fn again(&self) -> Self {
        let source = match self.source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(self.source.kind(), self.source.to_string()),
        };
        Self { action: self.action, path: self.path.clone(), source }
    }

    /// Whether there is a symbolic link, or too many of them, where none is followed.
    #[must_use]
    pub fn is_link(&self) -> bool {
        self.source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
    }

    /// The kind of what the system said.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

/// The result of a call to the operating system.
pub type Result<T> = std::result::Result<T, Error>;

/// Repeats `call` while a signal interrupts it.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
