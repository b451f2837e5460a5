//! Documents of issues: files of the worktree, named from its root. A path that leads out of the worktree, into
//! git's own files or through a link is refused, whoever wrote it.

use std::path::{Component, Path, PathBuf};

use holdfast_git::{ObjectId, Objects};
use holdfast_sys::Kind;

use crate::durable;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::workspace;

/// The largest document that is printed.
const LONGEST: usize = 16 << 20;

/// A document's path, from the root of the worktree on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocPath(String);

impl DocPath {
    /// The path that was typed: from where the program was started, or absolute.
    ///
    /// # Errors
    /// When it leads out of the worktree or into git's own files.
    pub fn typed(session: &Session, text: &str) -> Result<Self> {
        let root = root(session)?;
        let start = session.caller.start.strip_prefix(&root).unwrap_or(Path::new(""));
        let given = Path::new(text);
        let path = match given.strip_prefix(&root) {
            Ok(within) => within.to_path_buf(),
            Err(_) if given.is_absolute() => return Err(bad(text, "it is not in this worktree")),
            Err(_) => start.join(given),
        };
        Self::plain(text, &path)
    }

    fn plain(text: &str, path: &Path) -> Result<Self> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    parts.pop().ok_or_else(|| bad(text, "it leads out of the worktree"))?;
                }
                Component::Normal(name) => {
                    parts.push(name.to_str().ok_or_else(|| bad(text, "it is not UTF-8"))?);
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(bad(text, "it is not in this worktree"));
                }
            }
        }
        if parts.is_empty() || parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(bad(text, "it is not a file of the worktree"));
        }
        if parts.iter().any(|part| part.chars().any(char::is_control)) {
            return Err(bad(text, "it holds a control character"));
        }
        Ok(Self(parts.join("/")))
    }

    /// The path as an issue has it, which anybody may have written.
    ///
    /// # Errors
    /// When it leads out of the worktree.
    pub fn kept(text: &str) -> Result<Self> {
        let plain = Self::plain(text, Path::new(text))?;
        if plain.0 == text { Ok(plain) } else { Err(bad(text, "it is not in its plain form")) }
    }

    /// The text of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the file is.
    ///
    /// # Errors
    /// When there is no file, or a link on the way.
    pub fn find(&self, session: &Session) -> Result<PathBuf> {
        let mut path = root(session)?;
        let mut parts = self.0.split('/').peekable();
        while let Some(part) = parts.next() {
            path.push(part);
            let wanted = if parts.peek().is_some() { Kind::Directory } else { Kind::File };
            match session.sys().files.stat(&path) {
                Ok(stat) if stat.kind == wanted => {}
                Ok(stat) if stat.kind == Kind::Symlink => {
                    return Err(bad(&self.0, "it leads through a link"));
                }
                Ok(_) => return Err(bad(&self.0, "it is not a file")),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(bad(&self.0, "there is no such file"));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(path)
    }

    /// What the file holds: in the worktree, else in the last commit.
    ///
    /// # Errors
    /// When it is in neither, or cannot be read.
    pub fn read(&self, session: &Session) -> Result<Vec<u8>> {
        let missing = match self.find(session) {
            Ok(path) => match durable::read(session.sys(), &path, LONGEST)? {
                Some(bytes) => return Ok(bytes),
                None => bad(&self.0, "there is no such file"),
            },
            Err(missing) => missing,
        };
        let Some((objects, head)) = committed(session)? else { return Err(missing) };
        let tree = objects.commit(&head)?.tree;
        let file = objects.entry(&tree, self.0.as_bytes())?.filter(|entry| {
            matches!(entry.mode, holdfast_git::objects::Mode::File | holdfast_git::objects::Mode::Executable)
        });
        match file {
            Some(entry) => Ok(objects.blob(&entry.id, LONGEST)?),
            None => Err(missing),
        }
    }
}

/// The objects of the repository and the last commit; none outside of git or before the first commit.
///
/// # Errors
/// When git stands in the way.
pub fn committed<'a>(session: &'a Session) -> Result<Option<(Objects<'a>, ObjectId)>> {
    let Some(repository) = session.repository() else { return Ok(None) };
    let Some(head) = workspace::head_commit(&session.caller, repository)? else { return Ok(None) };
    Ok(Some((workspace::objects(&session.caller, repository)?, head)))
}

fn root(session: &Session) -> Result<PathBuf> {
    let root = session.root().map(Path::to_path_buf);
    root.ok_or_else(|| Error::NoWorktree(session.control().to_path_buf()))
}

fn bad(text: &str, why: &str) -> Error {
    Error::BadValue { what: "the document path", given: text.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::DocPath;

    #[test]
    fn a_path_stays_in_the_worktree() {
        let plain = |text: &str| DocPath::plain(text, Path::new(text)).map(|path| path.0);
        assert_eq!(plain("docs/./a/../b.md").unwrap(), "docs/b.md");
        for text in
            ["", ".", "..", "../x", "a/../../x", "/etc/passwd", ".git/config", "a/.GIT/x", "a\n", "a/.."]
        {
            assert!(plain(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_an_issue_has_is_in_its_plain_form() {
        assert!(DocPath::kept("docs/a.md").is_ok());
        for text in ["./a", "a//b", "../a", "/a"] {
            assert!(DocPath::kept(text).is_err(), "{text:?}");
        }
    }
}
