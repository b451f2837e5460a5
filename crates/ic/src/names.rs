//! What a lock is called. Names from outside are checked here, once; nothing deeper sees one that is not.

use std::fmt;
use std::path::{Path, PathBuf};

use holdfast_kernel::Name;

use crate::error::{Error, Result};

const LONGEST: usize = 128;

/// The name of a lock: `<name>/<scope>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LockName {
    resource: Name,
}

impl LockName {
    /// The lock `<name>/<scope>`.
    ///
    /// # Errors
    /// When one of them is not 1 to 128 letters, digits, `.`, `_` or `-`, or is `.` or `..`.
    pub fn new(name: &str, scope: &str) -> Result<Self> {
        part("name", name)?;
        part("scope", scope)?;
        let resource = Name::new(&format!("{name}/{scope}"));
        resource.map(|resource| Self { resource }).map_err(|_| bad("scope", scope))
    }

    /// The lock that a lease is on.
    #[must_use]
    pub const fn of(resource: Name) -> Self {
        Self { resource }
    }

    /// The lock as the medium knows it.
    #[must_use]
    pub const fn resource(&self) -> &Name {
        &self.resource
    }

    /// What stands before and behind the slash.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        self.resource.as_str().split_once('/').unwrap_or((self.resource.as_str(), ""))
    }

    /// The directory that is there while the lock is held, to see whether something has changed.
    #[must_use]
    pub fn directory(&self, root: &Path) -> PathBuf {
        let (name, scope) = self.parts();
        root.join(name).join(scope)
    }
}

impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.resource.fmt(f)
    }
}

fn part(what: &'static str, text: &str) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let good = (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain) && text != "." && text != "..";
    if good { Ok(()) } else { Err(bad(what, text)) }
}

fn bad(what: &'static str, given: &str) -> Error {
    Error::BadName { what, given: given.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::LockName;

    #[test]
    fn a_lock_is_a_name_and_a_scope_of_at_most_128_bytes_each() {
        let longest = "x".repeat(128);
        assert_eq!(LockName::new(&longest, &longest).unwrap().parts(), (longest.as_str(), longest.as_str()));
        assert!(LockName::new(".hidden", "a.b_c-D9").is_ok());
        for bad in ["", ".", "..", "a/b", "a b", "ü", "a\n", "-\u{7}", &"x".repeat(129)] {
            assert!(LockName::new(bad, "x").is_err(), "{bad:?}");
            assert!(LockName::new("x", bad).is_err(), "{bad:?}");
        }
    }
}
