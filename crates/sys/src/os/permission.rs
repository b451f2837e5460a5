//! Who may use what, for doors that several users of one machine share.

use std::path::Path;

use rustix::fs::{Gid, Mode, OFlags};
use rustix::process::umask;

use crate::{Error, Result};

/// Sets the permission bits and the group of what has this name. It is opened first, so that nobody can put
/// a link in its place between a look and the change.
pub(super) fn admit(path: &Path, mode: u32, group: Option<u32>) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let set = || -> rustix::io::Result<()> {
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        if let Some(group) = group {
            rustix::fs::fchown(&file, None, Some(Gid::from_raw(group)))?;
        }
        // Last, because a change of the group clears the bit that makes new files inherit it.
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))
    };
    set().map_err(|error| Error::new("set the permissions of", path, error))
}

/// From here on this process masks no permission of the group when it makes files.
pub fn keep_group_bits() {
    let masked = umask(Mode::RWXG | Mode::RWXO);
    umask(masked - Mode::RWXG);
}
