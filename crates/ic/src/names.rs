//! What a lock is called. Names from outside are checked here, once; nothing deeper sees one that is not.

use std::fmt;
use std::path::{Path, PathBuf};

use holdfast_kernel::{Name, Resource};
use holdfast_store::directory;

const LONGEST: usize = 128;

/// Why something cannot be the name of a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadName {
    /// Which part of it.
    pub what: &'static str,
    /// What was given.
    pub given: String,
    /// Whether it could be one, if nothing else were kept under it.
    pub is_reserved: bool,
}

/// The name of a lock: `<name>/<scope>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LockName {
    resource: Resource,
}

impl LockName {
    /// The lock `<name>/<scope>`.
    ///
    /// # Errors
    /// When one of them is not 1 to 128 letters, digits, `.`, `_` or `-`, or is `.` or `..`, or is what this program
    /// keeps its own files under.
    pub fn new(name: &str, scope: &str) -> Result<Self, BadName> {
        part("name", name, directory::is_reserved_name)?;
        part("scope", scope, directory::is_reserved_scope)?;
        let resource = Name::new(&format!("{name}/{scope}"));
        resource.map(|resource| Self { resource: resource.into() }).map_err(|_| bad("scope", scope))
    }

    /// The lock that a lease is on.
    #[must_use]
    pub const fn of(resource: Resource) -> Self {
        Self { resource }
    }

    /// The lock as the medium knows it.
    #[must_use]
    pub const fn resource(&self) -> &Resource {
        &self.resource
    }

    /// What stands before and behind the slash.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        self.resource.text().split_once('/').unwrap_or((self.resource.text(), ""))
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

fn part(what: &'static str, text: &str, is_reserved: fn(&str) -> bool) -> Result<(), BadName> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let good = (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain) && text != "." && text != "..";
    match is_reserved(text) {
        _ if !good => Err(bad(what, text)),
        true => Err(BadName { is_reserved: true, ..bad(what, text) }),
        false => Ok(()),
    }
}

fn bad(what: &'static str, given: &str) -> BadName {
    BadName { what, given: given.to_owned(), is_reserved: false }
}

#[cfg(test)]
mod tests {
    use super::{BadName, LockName};

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

    #[test]
    fn what_is_kept_beside_the_locks_is_no_lock_s_name() {
        for name in [".guard", ".fence", ".drawn", ".order", ".fence.00000000000000000000000000000000.tmp"] {
            let BadName { what, is_reserved, .. } = LockName::new(name, "x").unwrap_err();
            assert_eq!((what, is_reserved), ("name", true), "{name}");
            assert!(LockName::new("x", name).is_ok(), "{name}");
        }
        for scope in [".making-1", ".breaking-x"] {
            let BadName { what, is_reserved, .. } = LockName::new("x", scope).unwrap_err();
            assert_eq!((what, is_reserved), ("scope", true), "{scope}");
            assert!(LockName::new(scope, "x").is_ok(), "{scope}");
        }
    }
}
