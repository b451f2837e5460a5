//! The directory that all locks are in. It must be ours alone: in a place that others can write to, such as
//! `/tmp`, somebody may have been there first, and a symbolic link or a directory of theirs is not used.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_sys::{Kind, Stat, Sys};

use crate::error::{Error, Result};

/// Where locks are unless somebody says otherwise.
pub const DEFAULT: &str = "/tmp/intercore/locks";

const MODE: u32 = 0o700;
const WRITABLE_BY_OTHERS: u32 = 0o022;
const ANYBODY_MAY_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;
const SUPERUSER: u32 = 0;
/// As many links as the system follows.
const MOST_LINKS: u32 = 40;

/// The path without what would make the system look behind a link at its end: `link/` is not `link`.
#[must_use]
pub fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Whether the root is there, and fit to be used by `user`. Changes nothing.
///
/// # Errors
/// When it is there and not ours alone.
pub fn check(sys: &Sys, root: &Path, user: u32) -> Result<bool> {
    if let Some(above) = above(root) {
        follow(sys, above, user, &mut { MOST_LINKS })?;
    }
    let Some(stat) = look(sys, root)? else { return Ok(false) };
    match stat.kind {
        Kind::Directory => {}
        Kind::Symlink => return Err(bad(root, "it is a symbolic link, and links are not followed".into())),
        Kind::File | Kind::Other => return Err(bad(root, "it is not a directory".into())),
    }
    if stat.owner != user {
        return Err(bad(root, format!("it belongs to user {}, not to you", stat.owner)));
    }
    if stat.mode & WRITABLE_BY_OTHERS != 0 {
        return Err(bad(root, format!("others may write to it (mode {:o}): chmod go-w it", stat.mode)));
    }
    Ok(true)
}

/// Makes the root, and what is missing above it, if it is not there.
///
/// # Errors
/// When that is not possible, or the root is not ours alone.
pub fn make(sys: &Sys, root: &Path, user: u32) -> Result<()> {
    if check(sys, root, user)? {
        return Ok(());
    }
    let missing: Vec<&Path> = root.ancestors().take_while(|path| is_missing(sys, path)).collect();
    for path in missing.into_iter().rev() {
        match sys.files.create_dir(path, MODE) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
    }
    // Somebody may have been faster.
    check(sys, root, user).map(drop)
}

/// Goes down a path from the top, through links too, and refuses it if somebody else could put another directory in the
/// place of one on the way. What is not there yet is not looked at.
fn follow(sys: &Sys, path: &Path, user: u32, links: &mut u32) -> Result<()> {
    let mut at = PathBuf::new();
    for part in path.components() {
        at.push(part);
        let Some(stat) = look(sys, &at)? else { return Ok(()) };
        if stat.owner != user && stat.owner != SUPERUSER {
            return Err(bad(&at, format!("user {} owns it and could replace what is in it", stat.owner)));
        }
        match stat.kind {
            Kind::Symlink => {
                *links = links.checked_sub(1).ok_or_else(|| bad(&at, "too many links lead there".into()))?;
                let target = sys.files.read_link(&at)?;
                // Joining an absolute path starts again from the top.
                at = at.parent().unwrap_or(Path::new("")).join(target);
                follow(sys, &at, user, links)?;
            }
            Kind::Directory if stat.mode & ANYBODY_MAY_WRITE != 0 && stat.mode & STICKY == 0 => {
                let why = format!("anybody may replace what is in it (mode {:o}): chmod o-w it", stat.mode);
                return Err(bad(&at, why));
            }
            Kind::Directory | Kind::File | Kind::Other => {}
        }
    }
    Ok(())
}

fn above(root: &Path) -> Option<&Path> {
    root.parent().filter(|parent| !parent.as_os_str().is_empty())
}

fn is_missing(sys: &Sys, path: &Path) -> bool {
    let there = sys.files.stat(path).map(drop);
    !path.as_os_str().is_empty() && there.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

fn look(sys: &Sys, path: &Path) -> Result<Option<Stat>> {
    match sys.files.stat(path) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(bad(path, "you may not look at it, so somebody else owns what is above it".into()))
        }
        Err(error) => Err(error.into()),
    }
}

fn bad(path: &Path, why: String) -> Error {
    Error::BadRoot { path: path.to_path_buf(), why }
}
