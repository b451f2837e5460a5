//! Finding the repository that a directory belongs to, by git's rules and without git: a handful of small
//! files, no child process, well under a tenth of a millisecond. Every command pays for this, so nothing
//! here reads a configuration other than the repository's own unless the answer depends on it.

mod ceiling;
mod trust;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use holdfast_sys::Files;

use crate::candidate::{GitDir, Probe};
use crate::format::Format;
use crate::{Environment, Error, Repository, Result, paths};

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// The repository.
    Repository(Box<Repository>),
    /// The directory is not in a repository.
    Nothing {
        /// The mount point at which the search ended, if it did not end at the root or at a ceiling.
        boundary: Option<PathBuf>,
    },
}

/// Finds the repository that the directory `start` (absolute) belongs to.
///
/// # Errors
/// When the file system fails, or when there is a repository that must not or cannot be used.
pub fn discover(files: &dyn Files, start: &Path, env: &Environment) -> Result<Found> {
    let search = Search { files, env, start: paths::real(files, start)? };
    match &env.git_dir {
        Some(named) => search.named(named),
        None => search.walk(),
    }
}

struct Search<'a> {
    files: &'a dyn Files,
    env: &'a Environment,
    start: PathBuf,
}

/// How a repository was come upon; that decides which directory is its worktree.
enum Way<'a> {
    /// `GIT_DIR` names it.
    Named,
    /// This directory has a `.git`.
    DotGit(&'a Path),
    /// The directory is itself a git directory.
    Inside,
}

impl Search<'_> {
    fn named(&self, named: &OsStr) -> Result<Found> {
        let missing = || Error::NotARepository { path: self.start.join(named) };
        if named.is_empty() {
            return Err(missing());
        }
        let found = self.probe().at(&self.start, Path::new(named))?;
        self.repository(found.ok_or_else(missing)?, &Way::Named)
    }

    fn walk(&self) -> Result<Found> {
        let ceiling = ceiling::above(self.files, self.env.ceiling_directories.as_deref(), &self.start)?;
        let (mut device, mut below) = (None, None);
        for dir in self.start.ancestors().take_while(|dir| Some(*dir) != ceiling.as_deref()) {
            let here = self.device(dir)?;
            if *device.get_or_insert(here) != here {
                return Ok(Found::Nothing { boundary: below });
            }
            if let Some(found) = self.at(dir)? {
                return Ok(found);
            }
            below = Some(dir.to_path_buf());
        }
        Ok(Found::Nothing { boundary: None })
    }

    /// The file system of `dir`; none if it does not matter.
    fn device(&self, dir: &Path) -> Result<Option<u64>> {
        if self.env.crosses_file_systems() {
            return Ok(None);
        }
        Ok(Some(self.files.stat(dir)?.identity.device))
    }

    /// The repository of `dir` itself, if it has one or is one.
    fn at(&self, dir: &Path) -> Result<Option<Found>> {
        let dot_git = dir.join(".git");
        if let Some(found) = self.probe().at(dir, Path::new(".git"))? {
            let elsewhere = Some(&*found.git_dir).filter(|git_dir| *git_dir != dot_git);
            let judged: Vec<&Path> = [&*dot_git, dir].into_iter().chain(elsewhere).collect();
            trust::check(self.files, self.env, dir, &judged)?;
            return self.repository(found, &Way::DotGit(dir)).map(Some);
        }
        let Some(found) = self.probe().git_dir(dir, Path::new(""))? else { return Ok(None) };
        trust::check_bare(self.files, self.env, dir)?;
        trust::check(self.files, self.env, dir, &[dir])?;
        self.repository(found, &Way::Inside).map(Some)
    }

    fn probe(&self) -> Probe<'_> {
        Probe { files: self.files, env: self.env, start: &self.start }
    }

    fn repository(&self, found: GitDir, way: &Way<'_>) -> Result<Found> {
        let GitDir { git_dir, common_dir } = found;
        let format = Format::read(self.files, &git_dir, &common_dir)?;
        let work_tree = self.work_tree(&git_dir, &format, way)?;
        Ok(Found::Repository(Box::new(Repository { git_dir, common_dir, work_tree, format })))
    }

    fn work_tree(&self, git_dir: &Path, format: &Format, way: &Way<'_>) -> Result<Option<PathBuf>> {
        if let Some(named) = &self.env.work_tree {
            return paths::real_from(self.files, &self.start, Path::new(named)).map(Some);
        }
        if format.bare == Some(true) {
            return Ok(None);
        }
        if let Some(configured) = &format.work_tree {
            return paths::real_from(self.files, git_dir, configured).map(Some);
        }
        Ok(match way {
            Way::Named => self.env.implies_work_tree().then(|| self.start.clone()),
            Way::DotGit(dir) => Some(dir.to_path_buf()),
            Way::Inside => None,
        })
    }
}
