//! Whether a path is a git directory, or a file that leads to one. Hostile content is the normal case here:
//! any directory on the way up may hold a `.git` that somebody else made.

use std::path::{Path, PathBuf};

use holdfast_sys::{Files, Kind};

use crate::error::GitFileFault;
use crate::{Environment, Error, Result, paths, refs};

/// As large as git lets a `.git` file be.
const LARGEST_GIT_FILE: usize = 1 << 20;

/// A git directory, and the one that its worktrees share. Both are real paths.
pub(crate) struct GitDir {
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
}

/// What is needed to tell a git directory.
pub(crate) struct Probe<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) env: &'a Environment,
    /// What relative paths in the environment are relative to; a real one.
    pub(crate) start: &'a Path,
}

impl Probe<'_> {
    /// The git directory that `path` is or, being a file, leads to. `path` is seen from `base`, a real one.
    pub(crate) fn at(&self, base: &Path, path: &Path) -> Result<Option<GitDir>> {
        let whole = base.join(path);
        match paths::look(self.files, &whole)?.map(|stat| stat.kind) {
            Some(Kind::File) => self.by_file(base, &whole).map(Some),
            Some(Kind::Directory) => self.git_dir(base, path),
            Some(Kind::Symlink | Kind::Other) | None => Ok(None),
        }
    }

    /// The git directory that the `.git` file at `path` leads to.
    fn by_file(&self, base: &Path, path: &Path) -> Result<GitDir> {
        let failed = |fault| Error::GitFile { path: path.to_path_buf(), fault };
        let bytes = paths::read(self.files, path, LARGEST_GIT_FILE)?;
        let target = bytes.strip_prefix(b"gitdir: ").ok_or_else(|| failed(GitFileFault::Form))?;
        let target = paths::line(target);
        if target.is_empty() {
            return Err(failed(GitFileFault::NoPath));
        }
        // A path that holds a zero byte is none to the system, and git would stop reading there.
        if target.contains(&0) {
            return Err(failed(GitFileFault::Form));
        }
        let target = path.parent().unwrap_or(path).join(paths::from_bytes(target));
        self.git_dir(base, &target)?.ok_or_else(|| failed(GitFileFault::NotARepository(target)))
    }

    /// The git directory at `path` as seen from `base`, a real one, if it is one: it has a HEAD, and it or
    /// the one that it shares has objects and refs.
    pub(crate) fn git_dir(&self, base: &Path, path: &Path) -> Result<Option<GitDir>> {
        if !refs::looks_like_head(self.files, &base.join(path).join("HEAD"))? {
            return Ok(None);
        }
        let git_dir = paths::real_from(self.files, base, path)?;
        let Some(common_dir) = self.common_dir(&git_dir)? else { return Ok(None) };
        let objects = match &self.env.object_directory {
            Some(named) => self.start.join(named),
            None => common_dir.join("objects"),
        };
        let whole = self.is_dir(&objects)? && self.is_dir(&common_dir.join("refs"))?;
        Ok(whole.then_some(GitDir { git_dir, common_dir }))
    }

    fn is_dir(&self, path: &Path) -> Result<bool> {
        Ok(paths::look(self.files, path)?.is_some_and(|stat| stat.kind == Kind::Directory))
    }

    /// The directory that the worktrees of `git_dir` share; nothing if it is said to be where nothing is.
    fn common_dir(&self, git_dir: &Path) -> Result<Option<PathBuf>> {
        if let Some(named) = &self.env.common_dir {
            return paths::if_visible(paths::real_from(self.files, self.start, Path::new(named)));
        }
        match paths::read_if_there(self.files, &git_dir.join("commondir"), paths::SMALL)? {
            None => Ok(Some(git_dir.to_path_buf())),
            Some(bytes) => {
                let named = paths::from_bytes(paths::line(&bytes));
                paths::if_visible(paths::real_from(self.files, git_dir, named))
            }
        }
    }
}
