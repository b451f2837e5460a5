//! Where HEAD is: on a branch, born or not, or on a commit. One or two small files; this is on the way of
//! every command.

use std::collections::BTreeMap;
use std::path::Path;

use holdfast_sys::Files;

use crate::refs::{self, Content};
use crate::{Error, ObjectId, RefName, Repository, Result};

/// Where HEAD is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Head {
    /// On a branch, which need not have a commit yet.
    Branch(RefName),
    /// On a commit, apart from any branch.
    Detached(ObjectId),
}

impl Head {
    /// The branch, if HEAD is on one.
    #[must_use]
    pub const fn branch(&self) -> Option<&RefName> {
        match self {
            Self::Branch(name) => Some(name),
            Self::Detached(_) => None,
        }
    }
}

impl Repository {
    /// Where HEAD of this worktree is. A branch that is another name of a branch counts as that one.
    ///
    /// # Errors
    /// When HEAD cannot be read, or [`Error::Reftable`] when only git can read it.
    pub fn head(&self, files: &dyn Files) -> Result<Head> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: self.git_dir.clone() });
        }
        at(files, &self.git_dir, &self.common_dir)
    }

    /// The commit that HEAD of this worktree is on; none on a branch without one.
    ///
    /// # Errors
    /// As [`Repository::head`].
    pub fn head_commit(&self, files: &dyn Files) -> Result<Option<ObjectId>> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: self.git_dir.clone() });
        }
        match refs::read(files, &self.git_dir.join("HEAD"))? {
            Content::Symbolic(name) => self.resolve(files, &name),
            Content::Id(id) => Ok(Some(id)),
        }
    }

    /// The object that a ref is on; none if there is no such ref.
    ///
    /// # Errors
    /// When the ref cannot be read, or [`Error::Reftable`] when only git can read it.
    pub fn resolve(&self, files: &dyn Files, name: &RefName) -> Result<Option<ObjectId>> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: self.git_dir.clone() });
        }
        Ok(refs::follow(files, &self.git_dir, &self.common_dir, name)?.1)
    }

    /// Every ref below a prefix such as `refs/heads`, with the object that it is on, by name.
    ///
    /// # Errors
    /// As [`Repository::resolve`].
    pub fn refs_below(&self, files: &dyn Files, prefix: &str) -> Result<BTreeMap<RefName, ObjectId>> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: self.git_dir.clone() });
        }
        refs::below(files, &self.git_dir, &self.common_dir, &format!("{prefix}/"))
    }

    /// Every ref whose name begins with this, such as `refs/heads/topic-`, with the object that it is on, by name. Others
    /// are not looked at.
    ///
    /// # Errors
    /// As [`Repository::resolve`].
    pub fn refs_starting(&self, files: &dyn Files, start: &str) -> Result<BTreeMap<RefName, ObjectId>> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: self.git_dir.clone() });
        }
        refs::below(files, &self.git_dir, &self.common_dir, start)
    }

    /// The ref that a symbolic one stands for; none if it stands for none.
    ///
    /// # Errors
    /// As [`Repository::resolve`].
    pub fn stands_for(&self, files: &dyn Files, name: &RefName) -> Result<Option<RefName>> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: self.git_dir.clone() });
        }
        let end = refs::end(files, &self.git_dir, &self.common_dir, name.clone())?;
        Ok(Some(end).filter(|end| end != name))
    }

    /// Where HEAD of the main worktree is, or of the repository itself if it has none.
    ///
    /// # Errors
    /// As [`Repository::head`].
    pub fn main_head(&self, files: &dyn Files) -> Result<Head> {
        if self.has_reftable() {
            return Err(Error::Reftable { git_dir: self.git_dir.clone() });
        }
        at(files, &self.common_dir, &self.common_dir)
    }
}

/// Where HEAD of the worktree with this git directory is.
pub(crate) fn at(files: &dyn Files, git_dir: &Path, common_dir: &Path) -> Result<Head> {
    match refs::read(files, &git_dir.join("HEAD"))? {
        Content::Id(id) => Ok(Head::Detached(id)),
        Content::Symbolic(name) => Ok(Head::Branch(refs::end(files, git_dir, common_dir, name)?)),
    }
}
