//! What SQLite says, as the errors that every medium gives: damage is named, a busy database is told from a
//! full disk, and nothing that a file holds becomes a panic.

use std::io;
use std::path::Path;

use holdfast_store::{Damage, Error};
use rusqlite::ErrorCode;

/// Damage of the database at a place in it.
pub(super) fn damaged(path: &Path, place: impl Into<String>, what: impl std::fmt::Display) -> Error {
    Error::Damaged {
        path: path.to_path_buf(),
        damage: Damage { place: place.into(), what: what.to_string() },
    }
}

const BUSY: &str = "others kept it busy for too long: try again";

/// Others changed it as often as somebody looked.
pub(super) fn busy(path: &Path) -> Error {
    holdfast_sys::Error::new("read", path, io::Error::new(io::ErrorKind::TimedOut, BUSY)).into()
}

/// What a failure of `action` means.
pub(super) fn failed(path: &Path, action: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |error| match kind(&error) {
        Some(kind) => {
            let source = io::Error::new(kind, text(&error, kind));
            holdfast_sys::Error::new(action, path, source).into()
        }
        None => damaged(path, "the database", &error),
    }
}

/// What kind of failure of the machine it is; none if the file itself is wrong.
fn kind(error: &rusqlite::Error) -> Option<io::ErrorKind> {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return None };
    match failure.code {
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::ConstraintViolation
        | ErrorCode::TypeMismatch
        | ErrorCode::TooBig => None,
        // SQLite says "error" of whatever a statement stumbles over: a table that is not there.
        ErrorCode::Unknown if failure.extended_code == rusqlite::ffi::SQLITE_ERROR => None,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(io::ErrorKind::TimedOut),
        ErrorCode::DiskFull => Some(io::ErrorKind::StorageFull),
        ErrorCode::ReadOnly => Some(io::ErrorKind::ReadOnlyFilesystem),
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            Some(io::ErrorKind::PermissionDenied)
        }
        ErrorCode::OutOfMemory => Some(io::ErrorKind::OutOfMemory),
        _ => Some(io::ErrorKind::Other),
    }
}

fn text(error: &rusqlite::Error, kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::TimedOut => BUSY.into(),
        io::ErrorKind::ReadOnlyFilesystem => "it is read-only here, and nothing was changed".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        _ => error.to_string(),
    }
}
