//! Who may use what, for doors that several users of one machine share. Not part of `Files`: no medium
//! depends on it, and the simulated machine has one user.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, Gid, Mode};
use rustix::process::umask;

use crate::{Error, Result};

/// Sets the permission bits of a file or directory, whatever the process masks.
///
/// # Errors
/// When the system refuses.
pub fn set_mode(path: &Path, mode: u32) -> Result<()> {
    rustix::fs::chmod(path, Mode::from_raw_mode(mode))
        .map_err(|error| Error::new("set the permissions of", path, error))
}

/// Gives a file or directory to a group. A link is not followed.
///
/// # Errors
/// When the system refuses: the owner may give it only to groups that it belongs to.
pub fn set_group(path: &Path, group: u32) -> Result<()> {
    rustix::fs::chownat(CWD, path, None, Some(Gid::from_raw(group)), AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| Error::new("set the group of", path, error))
}

/// From here on this process masks no permission of the group when it makes files.
pub fn keep_group_bits() {
    let masked = umask(Mode::RWXG | Mode::RWXO);
    umask(masked - Mode::RWXG);
}
