//! Intents: what somebody is in the middle of. An intent is on the disk before the first byte of the work is,
//! and its owner holds a lock on its file for as long as it works. So whatever a crash leaves can be told
//! from work that goes on, on whichever machine and however long it stands still: if the lock can be had, the
//! owner is gone.

use std::path::PathBuf;

use holdfast_sys::{Handle, LockMode, Open};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use crate::audit::Audit;
use crate::error::Result;
use crate::names::{OpId, WorktreeName};
use crate::repo::{FORMAT, Repo, line};
use crate::worktree::Worktree;

/// What somebody is about to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    /// Publish the payload of a worktree.
    Snapshot {
        /// Which worktree.
        worktree_id: String,
    },
    /// Make a worktree.
    Create {
        /// The worktree that it will be.
        worktree: Worktree,
    },
    /// Put a snapshot in the place of the payload of a worktree.
    Restore {
        /// Which worktree.
        worktree_id: String,
        /// Which snapshot.
        from: OpId,
        /// What the head was before.
        head: Option<OpId>,
    },
    /// Give a worktree another name.
    Rename {
        /// Which worktree.
        worktree_id: String,
        /// What it was called.
        from: WorktreeName,
        /// What it will be called.
        to: WorktreeName,
    },
    /// Remove a worktree.
    Remove {
        /// Which worktree.
        worktree_id: String,
        /// What it was called.
        name: WorktreeName,
    },
    /// Delete snapshots that nobody needs.
    Collect,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: u64,
    id: OpId,
    work: Task,
}

/// An intent whose file this process has locked.
pub struct Intent {
    /// The id of the work; its staging directory has the same name.
    pub id: OpId,
    /// What it is; none if the file was cut off before it said so, which is before any work began.
    pub task: Option<Task>,
    path: PathBuf,
    _lock: Box<dyn Handle>,
}

/// What there is about an intent.
pub enum Found {
    /// Its owner works.
    Busy(OpId, Option<Task>),
    /// Its owner is gone; the intent is ours.
    Abandoned(Intent),
}

fn path(repo: &Repo, id: OpId) -> PathBuf {
    repo.control("intents").join(format!("{id}.json"))
}

impl Intent {
    /// Writes down what is about to be done, durably. Only inside the repository's guard: nobody must look
    /// for owners between the making of the file and its lock.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(repo: &Repo, id: OpId, task: Task) -> Result<Self> {
        let path = path(repo, id);
        let file = repo.sys.files.open(&path, Open::New { mode: 0o600 })?;
        file.lock(LockMode::Exclusive)?;
        file.write_all_at(&line(&Wire { format: FORMAT, id, work: task.clone() })?, 0)?;
        file.sync()?;
        repo.sys.files.sync_dir(&repo.control("intents"))?;
        Ok(Self { id, task: Some(task), path, _lock: file })
    }

    /// All intents. Only inside the repository's guard, alone.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(repo: &Repo) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        for id in repo.ids("intents")? {
            let path = path(repo, id);
            let file = match repo.sys.files.open(&path, Open::Write) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                file => file?,
            };
            let bytes = file.read_from(0, holdfast_store::whole::LONGEST)?;
            let task = serde_json::from_slice::<Wire>(&bytes)
                .ok()
                .filter(|wire| wire.id == id)
                .map(|wire| wire.work);
            found.push(if file.try_lock(LockMode::Exclusive)? {
                Found::Abandoned(Self { id, task, path, _lock: file })
            } else {
                Found::Busy(id, task)
            });
        }
        Ok(found)
    }

    /// The work is over, one way or the other, and nothing of it is left in the staging directory.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn finish(self, repo: &Repo) -> Result<()> {
        match repo.sys.files.remove_file(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => Ok(removed?),
        }
    }
}

impl Found {
    /// Which work it is.
    #[must_use]
    pub const fn id(&self) -> OpId {
        match self {
            Self::Busy(id, _) => *id,
            Self::Abandoned(intent) => intent.id,
        }
    }

    /// What it is about.
    #[must_use]
    pub const fn task(&self) -> Option<&Task> {
        match self {
            Self::Busy(_, task) => task.as_ref(),
            Self::Abandoned(intent) => intent.task.as_ref(),
        }
    }
}

/// Writes down that something did not happen which the audit may have heard of.
///
/// # Errors
/// When it could not be written.
pub fn abandoned(repo: &Repo, worktree_id: &str, id: OpId) -> Result<()> {
    let data = Map::from_iter([("operation".to_owned(), json!(id))]);
    Audit::of(repo).append("operation.abandoned", Some(worktree_id), data)
}
