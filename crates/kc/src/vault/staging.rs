//! Where a vault is made before it has its name, and how what a killed program left there is told from what a living
//! one is at. Whoever makes a vault holds the lock of the secret's file in it from beginning to end; a lock ends with
//! its process, so a directory whose secret can be locked is nobody's.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_sys::{Handle, Kind, LockMode, Open, Result, Sys};

use super::{DATABASE, SECRET};

/// What the names of these directories begin with; 32 hexadecimal digits follow.
const PREFIX: &str = ".kc_cli.new-";

/// How often others may take a directory for left over before it is locked: each time they were faster by a hair.
const TRIES: usize = 100;

/// A directory in which a vault is being made.
pub(super) struct Staging {
    pub(super) path: PathBuf,
    /// The secret's file, empty and locked.
    pub(super) secret: Box<dyn Handle>,
}

impl Staging {
    /// A new one in `parent`.
    pub(super) fn new(sys: &Sys, parent: &Path) -> Result<Self> {
        for _ in 0..TRIES {
            let path = parent.join(format!("{PREFIX}{:032x}", sys.entropy.nonce()?));
            sys.files.create_dir(&path, 0o700)?;
            match claim(sys, &path) {
                Ok(Some(secret)) => return Ok(Self { path, secret }),
                Ok(None) => {}
                Err(error) => {
                    // The first failure is the one to report; what is left now is removed by the next one.
                    let _ = discard(sys, &path);
                    return Err(error);
                }
            }
        }
        Err(holdfast_sys::Error::new("make a directory in", parent, ErrorKind::ResourceBusy))
    }

    /// Removes it with everything in it. What is left where that fails is removed by whoever makes a vault next.
    pub(super) fn discard(self, sys: &Sys) -> Result<()> {
        discard(sys, &self.path)
    }
}

/// Makes the secret's file in a new directory and locks it; none if others took the directory for left over first.
fn claim(sys: &Sys, directory: &Path) -> Result<Option<Box<dyn Handle>>> {
    let path = directory.join(SECRET);
    let secret = match sys.files.open(&path, Open::New { mode: 0o600 }) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        secret => secret?,
    };
    if !secret.try_lock(LockMode::Exclusive)? {
        return Ok(None);
    }
    match sys.files.stat(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        stat => Ok((stat?.identity == secret.stat()?.identity).then_some(secret)),
    }
}

/// Removes what programs left in `parent` that were killed while they made a vault there.
pub(super) fn sweep(sys: &Sys, parent: &Path) -> Result<()> {
    for name in sys.files.list(parent)? {
        let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(is_digit)) {
            match sweep_one(sys, &parent.join(name)) {
                // Another user's, or already gone, or something came into it: not ours to remove.
                Err(error) if is_not_ours(error.kind()) => {}
                swept => swept?,
            }
        }
    }
    Ok(())
}

const fn is_not_ours(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty)
}

fn sweep_one(sys: &Sys, directory: &Path) -> Result<()> {
    if sys.files.stat(directory)?.kind != Kind::Directory || !sys.files.list(directory)?.iter().all(is_ours) {
        return Ok(());
    }
    match sys.files.open(&directory.join(SECRET), Open::Read) {
        // Nobody has got further than making the directory, or nobody further than removing it.
        Err(error) if error.kind() == ErrorKind::NotFound => sys.files.remove_dir(directory),
        secret => {
            let secret = secret?;
            // Its maker is gone, has not locked it yet and will notice, or has renamed the directory meanwhile.
            if secret.try_lock(LockMode::Exclusive)? { discard(sys, directory) } else { Ok(()) }
        }
    }
}

/// Removes the files of a directory and the directory. The secret's file goes last: without its lock nobody could
/// tell whose the rest is.
fn discard(sys: &Sys, directory: &Path) -> Result<()> {
    let mut names = sys.files.list(directory)?;
    names.retain(is_ours);
    names.sort_by_key(|name| name == SECRET);
    for name in names {
        match sys.files.remove_file(&directory.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    sys.files.remove_dir(directory)
}

/// Whether a file of this name is made on the way to a vault: the database under its own and its first name, with what
/// SQLite keeps beside it, and the secret.
fn is_ours(name: &std::ffi::OsString) -> bool {
    let Some(name) = name.to_str() else { return false };
    name == SECRET || name.trim_start_matches('.').starts_with(DATABASE)
}
