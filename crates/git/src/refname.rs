//! The name of a ref, checked: it is also a path below the git directory, so a hostile one must not lead
//! out of it.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The full name of a ref, `refs/heads/main`. It need not be UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefName(Vec<u8>);

impl RefName {
    /// The name, if git would accept it: below `refs/`, no empty, hidden, `..` or `.lock` part, and none
    /// of the characters that mean something to git or to a terminal.
    #[must_use]
    pub fn new(name: &[u8]) -> Option<Self> {
        let parts = name.strip_prefix(b"refs/")?.split(|byte| *byte == b'/');
        let hazard = |pair: &[u8]| pair == b".." || pair == b"@{";
        let valid = name.iter().all(|byte| is_allowed(*byte))
            && !name.windows(2).any(hazard)
            && !name.ends_with(b".")
            && parts.clone().all(is_part);
        valid.then(|| Self(name.to_vec()))
    }

    /// The full name.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The branch's name without `refs/heads/`; none if this is not a branch.
    #[must_use]
    pub fn branch(&self) -> Option<&[u8]> {
        self.0.strip_prefix(b"refs/heads/")
    }

    /// Whether each worktree has its own ref of this name.
    pub(crate) fn is_per_worktree(&self) -> bool {
        [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"]
            .iter()
            .any(|own| self.0.starts_with(own))
    }

    /// Where the ref is, below a git directory.
    pub(crate) fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

const fn is_allowed(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f && !matches!(byte, b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\')
}

fn is_part(part: &[u8]) -> bool {
    !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock")
}

impl fmt::Display for RefName {
    /// The branch's name, or the full name of what is no branch. Bytes that are not UTF-8 are replaced.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.branch().unwrap_or(&self.0)))
    }
}

impl fmt::Debug for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RefName({})", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::RefName;

    #[test]
    fn names_that_git_accepts() {
        for name in
            ["refs/heads/main", "refs/heads/a/b-c.d", "refs/heads/@", "refs/heads/ä", "refs/heads/x@y"]
        {
            assert!(RefName::new(name.as_bytes()).is_some(), "{name}");
        }
        assert!(RefName::new(b"refs/heads/\xff\xfe").is_some());
    }

    #[test]
    fn names_that_git_refuses() {
        let names = [
            "",
            "HEAD",
            "refs/",
            "refs/heads/",
            "/refs/heads/a",
            "refs/heads//a",
            "refs/heads/../x",
            "refs/heads/a..b",
            "refs/../../etc/passwd",
            "refs/heads/.a",
            "refs/heads/a.lock",
            "refs/heads/a.lock/b",
            "refs/heads/a.",
            "refs/heads/a b",
            "refs/heads/a\nb",
            "refs/heads/a\x7f",
            "refs/heads/a~1",
            "refs/heads/a@{b",
            "refs/heads/a\\b",
            "refs/heads/a:b",
            "refs/heads/a?",
            "refs/heads/a*",
            "refs/heads/[a",
            "refs/heads/a^",
        ];
        for name in names {
            assert!(RefName::new(name.as_bytes()).is_none(), "{name:?}");
        }
    }
}
