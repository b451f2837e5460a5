//! Reading a configuration file that anybody may have written: never a link, a pipe or a gigabyte, and
//! never silently nothing.

use std::io;
use std::path::Path;
use std::sync::Arc;

use holdfast_sys::{Kind, Open, Sys};

use super::problem::{Fault, Problem, ProblemKind};

/// A longer file is no configuration.
pub(super) const LONGEST: usize = 1 << 20;

/// Where a value was set. Later ones win.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// For everybody on the machine.
    System,
    /// For one user.
    User,
    /// For one repository.
    Repository,
    /// For one agent.
    Agent,
}

impl Layer {
    /// The layer as programs know it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Repository => "repository",
            Self::Agent => "agent",
        }
    }
}

/// A file and what it says.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) layer: Layer,
    pub(super) path: Arc<Path>,
    /// Its text, nothing if it is not there; or why it cannot be used.
    pub(super) text: Result<Option<String>, Fault>,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// When the disk fails. What is wrong with the file itself is part of the source.
    pub(super) fn read(sys: &Sys, layer: Layer, path: &Path) -> holdfast_sys::Result<Self> {
        let text = match bytes(sys, path) {
            Ok(Ok(bytes)) => utf8(bytes).map(Some),
            Ok(Err(fault)) => Err(fault),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Ok(None),
                io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory => {
                    let what = format!("it cannot be read: {}", error.source);
                    Err(unreadable(what).fix("make it readable or remove it"))
                }
                _ => return Err(error),
            },
        };
        Ok(Self { layer, path: path.into(), text })
    }

    /// A file with these bytes; none if it is not there.
    pub(super) fn of(layer: Layer, path: &Path, bytes: Option<Vec<u8>>) -> Self {
        Self { layer, path: path.into(), text: bytes.map(utf8).transpose() }
    }

    /// What is wrong with the file as a whole.
    pub(super) fn problem(&self) -> Option<Problem> {
        let fault = self.text.as_ref().err()?.clone();
        Some(Problem { path: Arc::clone(&self.path), line: None, key: None, fault })
    }

    /// What it says.
    pub(super) fn text(&self) -> &str {
        self.text.as_ref().ok().and_then(Option::as_deref).unwrap_or_default()
    }
}

fn bytes(sys: &Sys, path: &Path) -> holdfast_sys::Result<Result<Vec<u8>, Fault>> {
    if let Some(fault) = misplaced(sys.files.stat(path)?.kind) {
        return Ok(Err(fault));
    }
    let file = sys.files.open(path, Open::Read)?;
    // What was looked at may have been replaced since.
    if let Some(fault) = misplaced(file.stat()?.kind) {
        return Ok(Err(fault));
    }
    let bytes = file.read_from(0, LONGEST + 1)?;
    if bytes.len() > LONGEST {
        return Ok(Err(unreadable(format!("it is longer than {LONGEST} bytes"))));
    }
    Ok(Ok(bytes))
}

fn misplaced(kind: Kind) -> Option<Fault> {
    let what = match kind {
        Kind::File => return None,
        Kind::Directory => "it is a directory",
        Kind::Symlink => "it is a symbolic link, which is never followed",
        Kind::Other => "it is a pipe, a socket or a device",
    };
    Some(unreadable(what).fix("put a regular file there"))
}

fn utf8(bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = good.filter(|byte| **byte == b'\n').count() + 1;
        unreadable(format!("line {line} is not UTF-8"))
    })
}

fn unreadable(what: impl Into<String>) -> Fault {
    Fault::new(ProblemKind::Unreadable, what)
}
