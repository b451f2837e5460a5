//! The repository that a directory belongs to. A value of this type was found and checked; it holds real,
//! absolute paths and keeps nothing open.

use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use crate::candidate::Probe;
use crate::format::Format;
use crate::{Environment, Error, Result, paths};

/// What kind of place in a repository a directory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The worktree that belongs to the repository itself.
    Main,
    /// A worktree that was added to it.
    Linked,
    /// A repository without a worktree of its own.
    Bare,
    /// Inside a git directory, where there is no worktree either.
    GitDir,
}

/// A repository, seen from one of its worktrees.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repository {
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
    pub(crate) work_tree: Option<PathBuf>,
    pub(crate) format: Format,
}

impl Repository {
    /// The git directory of this worktree.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees share.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The root of this worktree, if there is one.
    #[must_use]
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// What kind of place this is.
    #[must_use]
    pub fn place(&self) -> Place {
        match (&self.work_tree, self.is_linked()) {
            (Some(_), false) => Place::Main,
            (Some(_), true) => Place::Linked,
            (None, false) if self.format.bare == Some(true) => Place::Bare,
            (None, false) if self.format.bare.is_none() && !self.git_dir.ends_with(".git") => Place::Bare,
            (None, _) => Place::GitDir,
        }
    }

    /// Whether this is an added worktree, with a git directory of its own inside the shared one.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// Whether each worktree has a configuration of its own.
    #[must_use]
    pub const fn has_worktree_config(&self) -> bool {
        self.format.worktree_config
    }

    /// Whether only git itself can read the refs.
    #[must_use]
    pub const fn has_reftable(&self) -> bool {
        self.format.reftable
    }

    /// The git directory of the repository that this one is a submodule of. A submodule is recognised by
    /// where its git directory is: below `modules` in that of its superproject. One that kept its git
    /// directory in its own worktree is, to git too, a repository like any other.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn superproject(&self, files: &dyn Files) -> Result<Option<PathBuf>> {
        let probe = Probe { files, env: &Environment::empty(0), start: &self.common_dir };
        for above in self.common_dir.ancestors().skip(1).filter(|path| path.ends_with("modules")) {
            let Some(outer) = above.parent() else { break };
            if probe.git_dir(outer, Path::new(""))?.is_some() {
                return Ok(Some(outer.to_path_buf()));
            }
        }
        Ok(None)
    }

    /// The root of the main worktree, wherever this is asked from; none if the repository is bare, or if
    /// nothing on disk says where it is (a git directory that was set apart from its worktree, asked from
    /// a linked one).
    ///
    /// # Errors
    /// When the file system fails or the shared configuration cannot be read.
    pub fn main_work_tree(&self, files: &dyn Files) -> Result<Option<PathBuf>> {
        if self.place() == Place::Main {
            return Ok(self.work_tree.clone());
        }
        let format = Format::read(files, &self.common_dir, &self.common_dir)?;
        if format.bare == Some(true) {
            return Ok(None);
        }
        let root = match (&format.work_tree, self.common_dir.parent()) {
            (Some(path), _) => paths::real_from(files, &self.common_dir, path),
            (None, Some(parent)) if self.common_dir.ends_with(".git") => Ok(parent.to_path_buf()),
            (None, _) => return Ok(None),
        };
        match root {
            Err(Error::Sys(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            root => root.map(Some),
        }
    }
}
