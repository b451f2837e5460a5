//! Where the locks of a directory medium are, and which names can be locks at all. Nothing else may make a
//! path of a name from outside: a name that is not checked here could lead out of the root.

use std::path::{Path, PathBuf};

use holdfast_kernel::Resource;

use crate::whole;

/// The file in a lock's directory that says whose it is.
pub(super) const OWNER: &str = "owner.json";
/// The file by which the plain-`mkdir` way of locking marks its own.
pub(super) const FALLBACK: &str = ".fallback";
/// The guard, in the root.
pub(super) const GUARD: &str = ".guard";
/// The fence file, in the root.
pub(super) const FENCE: &str = ".fence";
/// How far the numbers that the fence file sets aside are used up, in the root.
pub(super) const DRAWN: &str = ".drawn";
/// A directory in the root for what a door keeps beside its locks. It is no lock's.
pub const BESIDE: &str = ".order";

const MAKING: &str = ".making-";
const BREAKING: &str = ".breaking-";
const LONGEST_PART: usize = 128;

/// The place of one lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Spot {
    /// What is locked: `<name>/<scope>`.
    pub(super) resource: Resource,
    /// `<root>/<name>`, the directory that the lock's directory is in. It stays once it is there.
    pub(super) family: PathBuf,
    /// `<root>/<name>/<scope>`, the lock's directory: there while the resource is held.
    pub(super) dir: PathBuf,
}

impl Spot {
    /// The place for a resource, if it can be a lock.
    pub(super) fn new(root: &Path, resource: &Resource) -> Option<Self> {
        let (name, scope) = resource.name()?.as_str().split_once('/')?;
        (is_name(name) && is_scope(scope)).then(|| {
            let family = root.join(name);
            Self { resource: resource.clone(), dir: family.join(scope), family }
        })
    }

    /// The file that says whose it is.
    pub(super) fn owner(&self) -> PathBuf {
        self.dir.join(OWNER)
    }

    /// Where a lock's directory is put together before it appears.
    pub(super) fn making(&self, nonce: u128) -> PathBuf {
        self.family.join(format!("{MAKING}{nonce:032x}"))
    }

    /// Where a lock's directory goes when it is over.
    pub(super) fn breaking(&self, nonce: u128) -> PathBuf {
        self.family.join(format!("{BREAKING}{nonce:032x}"))
    }
}

/// Whether a directory in the root can be a family of locks.
pub(super) fn is_name(name: &str) -> bool {
    is_part(name) && !is_reserved_name(name)
}

/// Whether the medium keeps something of its own under that name, so that no lock can be called `<name>/…`.
#[must_use]
pub fn is_reserved_name(name: &str) -> bool {
    [GUARD, FENCE, DRAWN, BESIDE].contains(&name) || whole::is_leftover(name.as_ref(), FENCE.as_ref())
}

/// Whether the medium keeps something of its own under that scope, so that no lock can be called `…/<scope>`.
#[must_use]
pub fn is_reserved_scope(scope: &str) -> bool {
    is_leftover(scope)
}

/// Whether a directory in a family can be a lock.
fn is_scope(scope: &str) -> bool {
    is_part(scope) && !is_leftover(scope)
}

/// Whether it is what a crash left of making or breaking a lock, or pretends to be.
pub(super) fn is_leftover(name: &str) -> bool {
    name.starts_with(MAKING) || name.starts_with(BREAKING)
}

fn is_part(part: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=LONGEST_PART).contains(&part.len()) && part.bytes().all(plain) && part != "." && part != ".."
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use holdfast_kernel::Name;

    use super::Spot;

    fn dir(resource: &str) -> Option<String> {
        let spot = Spot::new(Path::new("/locks"), &Name::new(resource).unwrap().into())?;
        Some(spot.dir.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_lock_is_a_name_and_a_scope() {
        assert_eq!(dir("sprint/7").as_deref(), Some("/locks/sprint/7"));
        assert_eq!(dir(".hidden/a.b_c-D").as_deref(), Some("/locks/.hidden/a.b_c-D"));
        assert!(dir(&format!("{}/{}", "n".repeat(128), "s".repeat(128))).is_some());
    }

    #[test]
    fn nothing_leads_out_of_the_root_or_onto_the_medium_s_own_files() {
        for resource in [
            "sprint",
            "/sprint",
            "sprint/",
            "a/b/c",
            "../x",
            "x/..",
            "./x",
            "x/.",
            "a b/c",
            "a/b\\c",
            "ü/x",
            ".guard/x",
            ".fence/x",
            ".drawn/x",
            ".order/x",
            ".fence.00000000000000000000000000000000.tmp/x",
            "x/.breaking-1",
            "x/.making-1",
        ] {
            assert_eq!(dir(resource), None, "{resource}");
        }
        assert_eq!(dir(&format!("x/{}", "s".repeat(129))), None);
    }
}
