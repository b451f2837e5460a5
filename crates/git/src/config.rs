//! git's configuration, with the place that each value comes from: the machine, the user, the repository,
//! the worktree, the command. Read the way git reads it, includes and their conditions too, but never
//! written: setting a value is git's own work.
//!
//! What only git can know is an error where it matters and not a guess: `~user` and `%(prefix)` in a path.
//! The machine's file is `/etc/gitconfig` unless `GIT_CONFIG_SYSTEM` says otherwise; a git that was built
//! with another place for it needs that variable.

mod command;
mod glob;
mod read;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use crate::syntax::parse_bool;
use crate::{Environment, Error, Repository, Result};

/// Whose configuration a value belongs to. A later one wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scope {
    /// The machine's.
    System,
    /// The user's.
    Global,
    /// The repository's, shared by all its worktrees.
    Local,
    /// One worktree's, with `extensions.worktreeConfig`.
    Worktree,
    /// That of a command: `git -c`, `GIT_CONFIG_COUNT`.
    Command,
}

/// Where a value is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Whose configuration it is.
    pub scope: Scope,
    /// The file; none for a command's.
    pub file: Option<PathBuf>,
    /// The line in it; 0 for a command's.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "line {} of {}", self.line, file.display()),
            None => f.write_str("the environment of the command"),
        }
    }
}

/// One value that is set somewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its key: `section.name` or `section.subsection.name`, section and name in lower case.
    pub key: Vec<u8>,
    /// Its text; none for a key without `=`, which means true.
    pub value: Option<Vec<u8>>,
    /// Where it is set.
    pub origin: Origin,
}

/// Everything that is configured, in the order in which git reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    entries: Vec<Entry>,
    home: Option<OsString>,
}

impl Config {
    /// Reads what is configured for a repository, or outside of any.
    ///
    /// # Errors
    /// When a file cannot be read or is not a configuration.
    pub fn read(files: &dyn Files, env: &Environment, repository: Option<&Repository>) -> Result<Self> {
        Ok(Self { entries: read::entries(files, env, repository)?, home: env.home.clone() })
    }

    /// Every entry, in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Every entry of a key, in order. `key` is in the form of [`Entry::key`].
    pub fn all<'a>(&'a self, key: &'a str) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries.iter().filter(move |entry| entry.key == key.as_bytes())
    }

    /// The entry of a key that counts: the last one.
    #[must_use]
    pub fn get<'a>(&'a self, key: &'a str) -> Option<&'a Entry> {
        self.all(key).next_back()
    }

    /// The truth value of a key.
    ///
    /// # Errors
    /// When it is set to something else.
    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        let Some(entry) = self.get(key) else { return Ok(None) };
        let truth = parse_bool(entry.value.as_deref());
        truth.map(Some).ok_or_else(|| bad_value(entry, "true or false"))
    }

    /// The path of a key, with `~/` spelled out. It may be relative.
    ///
    /// # Errors
    /// When it has no value, or one that only git can spell out.
    pub fn path(&self, key: &str) -> Result<Option<PathBuf>> {
        self.get(key).map(|entry| self.entry_path(entry)).transpose()
    }

    /// The path that an entry names, with `~/` spelled out.
    pub(crate) fn entry_path(&self, entry: &Entry) -> Result<PathBuf> {
        let text = entry.value.as_deref().ok_or_else(|| bad_value(entry, "a path"))?;
        expand(self.home.as_deref(), text)
            .ok_or_else(|| bad_value(entry, "a path that can be spelled out here"))
    }
}

fn bad_value(entry: &Entry, wanted: &'static str) -> Error {
    Error::ConfigValue {
        key: String::from_utf8_lossy(&entry.key).into_owned(),
        value: String::from_utf8_lossy(entry.value.as_deref().unwrap_or_default()).into_owned(),
        origin: entry.origin.to_string(),
        wanted,
    }
}

/// The path with the home directory in the place of `~`; none for another user's, or git's own prefix.
fn expand(home: Option<&OsStr>, text: &[u8]) -> Option<PathBuf> {
    if text.starts_with(b"%(prefix)/") {
        return None;
    }
    let Some(rest) = text.strip_prefix(b"~") else {
        return Some(Path::new(OsStr::from_bytes(text)).to_path_buf());
    };
    if !rest.is_empty() && !rest.starts_with(b"/") {
        return None;
    }
    let mut path = home?.as_bytes().to_vec();
    path.extend(rest);
    Some(PathBuf::from(OsString::from_vec(path)))
}
