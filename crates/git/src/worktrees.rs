//! The worktrees of a repository, as `git worktree list` knows them. Reading the list repairs and removes
//! nothing: a worktree that is gone is listed with the reason why it could be pruned.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::{Files, Kind};

use crate::format::Format;
use crate::{Error, Head, Repository, Result, head, paths};

/// One worktree.
#[derive(Debug)]
pub struct Worktree {
    /// Its root. For the main one of a bare repository the repository itself; for a linked one what git
    /// wrote down, which may be gone or go through symbolic links.
    pub path: PathBuf,
    /// Its git directory.
    pub git_dir: PathBuf,
    /// What git calls it; none for the main one.
    pub id: Option<OsString>,
    /// Whether there is no worktree, because the repository is bare.
    pub bare: bool,
    /// Where its HEAD is. One that cannot be read spoils only this entry.
    pub head: Result<Head>,
    /// Why it must not be pruned, if it is locked; the reason may be empty.
    pub locked: Option<String>,
    /// Why it could be pruned, if it could.
    pub prunable: Option<Prunable>,
    /// Whether it is the one that the list was asked from.
    pub current: bool,
}

impl Worktree {
    /// Whether it is the one that belongs to the repository itself.
    #[must_use]
    pub const fn is_main(&self) -> bool {
        self.id.is_none()
    }
}

/// Why a worktree could be pruned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prunable {
    /// Nothing is where git wrote that it is.
    Gone,
    /// What git wrote is not a path.
    NoPath,
}

impl fmt::Display for Prunable {
    /// In git's own words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "gitdir file points to non-existent location",
            Self::NoPath => "invalid gitdir file",
        })
    }
}

impl Repository {
    /// All worktrees: the main one first, the others by path.
    ///
    /// # Errors
    /// When the file system fails or the shared configuration cannot be read.
    pub fn worktrees(&self, files: &dyn Files) -> Result<Vec<Worktree>> {
        let home = self.common_dir.join("worktrees");
        let ids = match files.list(&home) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            ids => ids?,
        };
        let mut linked = Vec::with_capacity(ids.len());
        for id in ids {
            linked.extend(self.linked(files, &home, &id)?);
        }
        linked.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        linked.insert(0, self.main(files)?);
        Ok(linked)
    }

    fn main(&self, files: &dyn Files) -> Result<Worktree> {
        let format = Format::read(files, &self.common_dir, &self.common_dir)?;
        let root = self.main_work_tree(files)?;
        Ok(Worktree {
            path: root.unwrap_or_else(|| self.common_dir.clone()),
            git_dir: self.common_dir.clone(),
            id: None,
            bare: format.bare == Some(true),
            head: self.head_of(files, &self.common_dir),
            locked: None,
            prunable: None,
            current: !self.is_linked(),
        })
    }

    /// The worktree that git calls `id`; none if git wrote nothing about where it is.
    fn linked(&self, files: &dyn Files, home: &Path, id: &OsStr) -> Result<Option<Worktree>> {
        let git_dir = home.join(id);
        let written = paths::read_if_there(files, &git_dir.join("gitdir"), paths::SMALL)?;
        let Some(written) = written.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
        let dot_git = spelled_out(files, &git_dir, paths::from_bytes(trim_end(&written)))?;
        let locked = paths::read_if_there(files, &git_dir.join("locked"), paths::SMALL)?;
        let locked = locked.map(|reason| String::from_utf8_lossy(paths::trim(&reason)).into_owned());
        let prunable = if locked.is_some() { None } else { prunable(files, &written, &dot_git)? };
        Ok(Some(Worktree {
            path: if dot_git.ends_with(".git") { parent(&dot_git) } else { dot_git },
            current: git_dir == self.git_dir,
            id: Some(id.to_os_string()),
            bare: false,
            head: self.head_of(files, &git_dir),
            locked,
            prunable,
            git_dir,
        }))
    }

    fn head_of(&self, files: &dyn Files, git_dir: &Path) -> Result<Head> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: git_dir.to_path_buf() });
        }
        head::at(files, git_dir, &self.common_dir)
    }
}

/// What git wrote down, as an absolute path.
fn spelled_out(files: &dyn Files, git_dir: &Path, written: &Path) -> Result<PathBuf> {
    if written.is_absolute() {
        return Ok(written.to_path_buf());
    }
    let joined = git_dir.join(written);
    Ok(paths::if_visible(paths::real(files, &joined))?.unwrap_or(joined))
}

fn prunable(files: &dyn Files, written: &[u8], dot_git: &Path) -> Result<Option<Prunable>> {
    if paths::line(written).is_empty() {
        return Ok(Some(Prunable::NoPath));
    }
    let there = paths::if_visible(files.stat(dot_git).map_err(Error::from))?;
    Ok(there.map_or(Some(Prunable::Gone), |stat| (stat.kind == Kind::Other).then_some(Prunable::Gone)))
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| !paths::is_space(*byte)).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_path_buf()
}
