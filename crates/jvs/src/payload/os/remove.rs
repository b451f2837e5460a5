//! Removing a tree. Directories that let nobody in are opened first; symbolic links are never followed.

use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::error::Result;

/// Removes a tree with its root; what is gone already is no failure.
pub(super) fn remove(root: &Path) -> Result<()> {
    let removed = match whole(root) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(root).and_then(|()| whole(root))
        }
        done => done,
    };
    Ok(removed.map_err(|error| holdfast_sys::Error::new("remove", root, error))?)
}

fn whole(root: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(root) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return std::fs::remove_file(root),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    match std::fs::remove_dir_all(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Lets this user into every directory of the tree.
fn unlock(directory: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A symbolic link in its place is no directory of the tree.
    drop(rustix::fs::open(directory, flags, Mode::empty())?);
    rustix::fs::chmod(directory, Mode::RWXU)?;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            unlock(&entry.path())?;
        }
    }
    Ok(())
}
