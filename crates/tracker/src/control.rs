//! The control plane's directories, and who may look into them: their owner only, or the members of one
//! group. They are made when the first write needs them.

use std::io;
use std::path::Path;

use holdfast_sys::{Identity, Kind, Sys, os};

use crate::durable;
use crate::error::{Error, Result};

/// Who may use the control plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    group: Option<u32>,
}

impl Access {
    /// Who may use it, by the name of the group that shares it. From here on this process makes files that
    /// the group can write.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn of(sys: &Sys, group: Option<&str>) -> Result<Self> {
        let group = group.map(|name| find_group(sys, name)).transpose()?;
        if group.is_some() {
            os::keep_group_bits();
        }
        Ok(Self { group })
    }

    /// Permission bits of a file.
    #[must_use]
    pub const fn file(self) -> u32 {
        if self.group.is_some() { 0o660 } else { 0o600 }
    }

    /// Permission bits of a directory and of a file.
    #[must_use]
    pub const fn places(self) -> (u32, u32) {
        (self.directory(), self.file())
    }

    /// Permission bits of a directory. In a shared one new files get its group.
    #[must_use]
    pub const fn directory(self) -> u32 {
        if self.group.is_some() { 0o2770 } else { 0o700 }
    }
}

/// The directories below the control plane. The last one is made last, so that it shows that all are there.
const DIRECTORIES: [&str; 3] = ["heartbeat", "events", "locks"];

/// Makes the control plane at `path`, if it is not there, and lets the right people in. Gives the identity of the
/// directory of its locks.
///
/// # Errors
/// When that is not possible.
pub fn prepare(sys: &Sys, path: &Path, access: Access) -> Result<Identity> {
    let locks = path.join("locks");
    match sys.files.stat(&locks) {
        // The whole mode: one that somebody widened by hand does not let new files have the group.
        Ok(stat) if stat.mode == access.directory() => return Ok(stat.identity),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => make(sys, path, access)?,
    }
    Ok(sys.files.stat(&locks)?.identity)
}

fn make(sys: &Sys, path: &Path, access: Access) -> Result<()> {
    // Outside of git claims live in `.jit/` beside issues, which everybody may read.
    let own = !path.ends_with(crate::workspace::DATA);
    durable::make_dirs(sys, path, if own { 0o700 } else { 0o755 })?;
    // Whoever made it may have died before its name was durable.
    sys.files.sync_dir(path.parent().unwrap_or(path))?;
    if own {
        admit(sys, path, access)?;
    }
    for name in DIRECTORIES {
        let directory = path.join(name);
        durable::make_dirs(sys, &directory, 0o700)?;
        if own || name != "events" {
            admit_files(sys, &directory, access)?;
            admit(sys, &directory, access)?;
        }
    }
    admit_files(sys, path, access)
}

fn admit(sys: &Sys, path: &Path, access: Access) -> Result<()> {
    Ok(sys.files.admit(path, access.directory(), access.group)?)
}

fn admit_files(sys: &Sys, directory: &Path, access: Access) -> Result<()> {
    for name in sys.files.list(directory)? {
        let path = directory.join(&name);
        let ours =
            !directory.ends_with(crate::workspace::DATA) || name.to_string_lossy().starts_with("claims.");
        if ours {
            admit_file(sys, &path, access)?;
        }
    }
    Ok(())
}

/// Somebody else may be at work here: a file that it wrote beside another can be gone by now.
fn admit_file(sys: &Sys, path: &Path, access: Access) -> Result<()> {
    let admitted = match sys.files.stat(path) {
        Ok(stat) if stat.kind == Kind::File => sys.files.admit(path, access.file(), access.group),
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    match admitted {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => Ok(done?),
    }
}

/// The number of a group of this machine.
fn find_group(sys: &Sys, name: &str) -> Result<u32> {
    let groups = durable::read(sys, Path::new("/etc/group"), 1 << 24)?.unwrap_or_default();
    let groups = String::from_utf8_lossy(&groups);
    let number = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    number.ok_or_else(|| Error::BadValue {
        what: "coordination.shared_group",
        given: name.to_owned(),
        why: "this machine has no such group".into(),
    })
}
