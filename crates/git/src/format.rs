//! What a repository's own configuration says about its form: its version, its extensions, whether it is
//! bare, where its worktree is. Includes do not count here, and neither does anybody else's configuration:
//! a repository has the same form for everyone.

use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use crate::syntax::{BadLine, parse, parse_bool, parse_int};
use crate::{Error, Result, paths};

/// Far more than any repository's configuration; it is read by every command.
const LARGEST: usize = 16 << 20;

/// The newest version of the format that is known.
const NEWEST: i64 = 1;

/// The form of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Format {
    /// `core.bare`, if it counts here.
    pub(crate) bare: Option<bool>,
    /// `core.worktree`, if it counts here.
    pub(crate) work_tree: Option<PathBuf>,
    /// Whether each worktree has a configuration of its own.
    pub(crate) worktree_config: bool,
    /// Whether refs are kept as reftable.
    pub(crate) reftable: bool,
    /// Whether objects are named by SHA-256.
    pub(crate) sha256: bool,
}

impl Format {
    /// Reads the form of the repository as the owner of `git_dir` sees it.
    pub(crate) fn read(files: &dyn Files, git_dir: &Path, common_dir: &Path) -> Result<Self> {
        let path = common_dir.join("config");
        let mut reading =
            Reading { path: &path, format: Self::default(), version: None, newer: vec![], unknown: vec![] };
        reading.file(files)?;
        let mut format = reading.checked()?;
        if format.worktree_config {
            let path = git_dir.join("config.worktree");
            let mut own = Reading { path: &path, format, version: None, newer: vec![], unknown: vec![] };
            own.file(files)?;
            return Ok(own.format);
        }
        if git_dir != common_dir {
            // What the shared file says about these is about the main worktree only.
            format.bare = None;
            format.work_tree = None;
        }
        Ok(format)
    }
}

struct Reading<'a> {
    path: &'a Path,
    format: Format,
    version: Option<i64>,
    /// Extensions that need version 1.
    newer: Vec<String>,
    unknown: Vec<String>,
}

impl Reading<'_> {
    fn file(&mut self, files: &dyn Files) -> Result<()> {
        let Some(bytes) = paths::read_if_there(files, self.path, LARGEST)? else { return Ok(()) };
        let bad = |BadLine(line)| Error::ConfigSyntax { origin: self.path.display().to_string(), line };
        for set in parse(&bytes).map_err(bad)? {
            self.value(&set.key, set.value.as_deref())?;
        }
        Ok(())
    }

    fn value(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        match key {
            b"core.repositoryformatversion" => self.version = Some(self.int(key, value)?),
            b"core.bare" => self.format.bare = Some(self.bool(key, value)?),
            b"core.worktree" => {
                let text = value.ok_or_else(|| self.bad(key, value, "a path"))?;
                self.format.work_tree = Some(paths::from_bytes(text).to_path_buf());
            }
            _ => {
                if let Some(name) = key.strip_prefix(b"extensions.") {
                    self.extension(key, name, value)?;
                }
            }
        }
        Ok(())
    }

    fn extension(&mut self, key: &[u8], name: &[u8], value: Option<&[u8]>) -> Result<()> {
        match name {
            b"noop" | b"preciousobjects" | b"partialclone" => return Ok(()),
            b"worktreeconfig" => {
                self.format.worktree_config = self.bool(key, value)?;
                return Ok(());
            }
            b"objectformat" => {
                self.format.sha256 = self.choice(key, value, &[b"sha1", b"sha256"])? == b"sha256"
            }
            b"refstorage" => {
                self.format.reftable = self.choice(key, value, &[b"files", b"reftable"])? == b"reftable"
            }
            b"noop-v1" | b"compatobjectformat" | b"relativeworktrees" => {}
            _ => {
                self.unknown.push(String::from_utf8_lossy(name).into_owned());
                return Ok(());
            }
        }
        self.newer.push(String::from_utf8_lossy(name).into_owned());
        Ok(())
    }

    /// The format, if it is one that can be read. A file without a version has no say at all.
    fn checked(self) -> Result<Format> {
        let path = self.path.to_path_buf();
        match self.version {
            None => Ok(Format::default()),
            Some(version) if version > NEWEST => Err(Error::FormatVersion { path, version }),
            Some(version) if version >= 1 && !self.unknown.is_empty() => {
                Err(Error::Extensions { path, names: self.unknown })
            }
            Some(0) if !self.newer.is_empty() => Err(Error::Extensions { path, names: self.newer }),
            Some(_) => Ok(self.format),
        }
    }

    fn int(&self, key: &[u8], value: Option<&[u8]>) -> Result<i64> {
        value.and_then(parse_int).ok_or_else(|| self.bad(key, value, "a number"))
    }

    fn bool(&self, key: &[u8], value: Option<&[u8]>) -> Result<bool> {
        parse_bool(value).ok_or_else(|| self.bad(key, value, "true or false"))
    }

    fn choice<'v>(&self, key: &[u8], value: Option<&'v [u8]>, known: &[&[u8]]) -> Result<&'v [u8]> {
        let found = value.filter(|value| known.contains(value));
        found.ok_or_else(|| self.bad(key, value, "one that is known here"))
    }

    fn bad(&self, key: &[u8], value: Option<&[u8]>, wanted: &'static str) -> Error {
        Error::ConfigValue {
            key: String::from_utf8_lossy(key).into_owned(),
            value: String::from_utf8_lossy(value.unwrap_or_default()).into_owned(),
            origin: self.path.display().to_string(),
            wanted,
        }
    }
}
