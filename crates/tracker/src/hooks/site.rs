//! The repository that a hook runs in: its objects, its HEAD, and the commits that are being merged. Opened
//! once for each run; only reads.

use std::collections::BTreeSet;
use std::path::PathBuf;

use holdfast_git::changes::Change;
use holdfast_git::objects::Commit;
use holdfast_git::{Git, ObjectId, Objects, Repository};

use crate::caller::Caller;
use crate::durable;
use crate::error::Result;
use crate::session::Session;
use crate::target;
use crate::workspace::{self, DATA, Ground};

/// A list of commits that are merged at once is never longer.
const LONGEST: usize = 1 << 16;

/// The repository that a hook runs in.
pub(super) struct Site<'a> {
    pub(super) caller: &'a Caller,
    pub(super) repository: Repository,
    root: Option<PathBuf>,
    pub(super) objects: Objects<'a>,
}

impl<'a> Site<'a> {
    /// The repository that the caller is in; none outside of any.
    pub(super) fn find(caller: &'a Caller) -> Result<Option<Self>> {
        let Ground { repository: Some(repository), root } = Ground::find(caller)? else { return Ok(None) };
        let objects = workspace::objects(caller, &repository)?;
        Ok(Some(Self { caller, repository, root, objects }))
    }

    /// A session in this repository, for what touches issues.
    pub(super) fn session(&self) -> Result<Session> {
        let ground = Ground { repository: Some(self.repository.clone()), root: self.root.clone() };
        Session::on(self.caller, ground)
    }

    /// Whether this worktree has still to follow its branch.
    pub(super) fn is_behind(&self) -> Result<bool> {
        let Some(root) = &self.root else { return Ok(false) };
        target::is_behind(&self.caller.sys, &self.repository.common_dir().join("jit"), root)
    }

    /// The commit that HEAD is on.
    pub(super) fn head(&self) -> Result<Option<ObjectId>> {
        Ok(workspace::head_commit(self.caller, &self.repository)?)
    }

    /// A commit.
    pub(super) fn commit(&self, id: &ObjectId) -> Result<Commit> {
        Ok(self.objects.commit(id)?)
    }

    /// The trees of commits.
    pub(super) fn trees(&self, commits: &[ObjectId]) -> Result<Vec<ObjectId>> {
        commits.iter().map(|commit| Ok(self.commit(commit)?.tree)).collect()
    }

    /// The commits that the next commit will merge into HEAD.
    pub(super) fn merge_heads(&self) -> Result<Vec<ObjectId>> {
        let path = self.repository.git_dir().join("MERGE_HEAD");
        let bytes = durable::read(&self.caller.sys, &path, LONGEST)?.unwrap_or_default();
        Ok(bytes.split(|byte| *byte == b'\n').filter_map(ObjectId::from_hex).collect())
    }

    /// What is staged below `.jit/`, compared with a tree.
    pub(super) fn staged(&self, tree: Option<&ObjectId>) -> Result<Vec<Change>> {
        let place = (&self.repository, &self.caller.git, self.caller.start.as_path());
        Ok(self.objects.staged(place, tree, DATA.as_bytes())?)
    }

    /// Those of `changes` that make something which no other parent of a merge has.
    pub(super) fn own_changes(&self, mut changes: Vec<Change>, others: &[ObjectId]) -> Result<Vec<Change>> {
        for tree in others {
            keep_common(&mut changes, self.staged(Some(tree))?);
        }
        Ok(changes)
    }

    /// Whether a tree has something at `path`.
    pub(super) fn has(&self, tree: &ObjectId, path: &[u8]) -> Result<bool> {
        Ok(self.objects.entry(tree, path)?.is_some())
    }

    /// The git program, in this repository.
    pub(super) fn git(&self) -> Git {
        Git::in_dir(&self.caller.start)
    }
}

/// Keeps the changes of one side of a merge that are changes from the other side too: the rest came from there.
pub(super) fn keep_common(changes: &mut Vec<Change>, others: Vec<Change>) {
    let others: BTreeSet<Vec<u8>> = others.into_iter().map(|change| change.path).collect();
    changes.retain(|change| others.contains(&change.path));
}
