//! Going on where somebody stopped: for every kind of work what a crash at any step leaves, and whether it is
//! completed or undone. Doing it twice is doing it once, because this can be cut off as well.

use crate::change::{LEAVING, OLD, forget, take_out};
use crate::error::Result;
use crate::intent::{Intent, Task, abandoned};
use crate::names::{OpId, WorktreeName};
use crate::repo::{Repo, make_dir};
use crate::snapshot::{self, PAYLOAD};
use crate::worktree::Worktree;

/// Brings abandoned work to an end, as far as others can see it. Only inside the repository's guard, alone.
/// What is left in the staging directory is for [`clear`], which may take its time.
///
/// # Errors
/// When a step failed; the intent is still there then.
pub fn settle(repo: &Repo, intent: &Intent) -> Result<()> {
    firm(repo, intent.id)?;
    match &intent.task {
        None | Some(Task::Collect) => Ok(()),
        Some(Task::Snapshot { worktree_id }) => after_publish(repo, worktree_id, intent.id),
        Some(Task::Create { worktree }) => after_create(repo, worktree, intent.id),
        Some(Task::Restore { worktree_id, from, head }) => {
            after_restore(repo, worktree_id, intent.id, *from, *head)
        }
        Some(Task::Rename { worktree_id, from, to }) => after_rename(repo, worktree_id, from, to),
        Some(Task::Remove { worktree_id, name }) => after_remove(repo, worktree_id, name, intent.id),
    }
}

/// Makes durable what everybody sees: whoever died may have done so before its names were, and what is about
/// to be built on them must not outlive them.
fn firm(repo: &Repo, id: OpId) -> Result<()> {
    let control = ["worktrees", "snapshots", "staging"].map(|name| repo.control(name));
    let others = [repo.root.clone(), repo.root.join("worktrees"), repo.staging(id)];
    for directory in control.iter().chain(&others) {
        if repo.is_there(directory)? {
            repo.sys.files.sync_dir(directory)?;
        }
    }
    Ok(())
}

/// Removes what abandoned work left in its staging directory, and the intent.
///
/// # Errors
/// When something cannot be removed.
pub fn clear(repo: &Repo, intent: Intent) -> Result<()> {
    repo.trees.remove(&repo.staging(intent.id))?;
    intent.finish(repo)
}

/// A snapshot that became visible stays, and its worktree gets to know it, unless it has gone on since.
fn after_publish(repo: &Repo, worktree_id: &str, id: OpId) -> Result<()> {
    if !repo.is_there(&repo.snapshot(id))? {
        return abandoned(repo, worktree_id, id);
    }
    let Ok((descriptor, _)) = snapshot::load(repo, id) else { return Ok(()) };
    if descriptor.aside { Ok(()) } else { set_head(repo, worktree_id, descriptor.parent, id) }
}

fn set_head(repo: &Repo, worktree_id: &str, before: Option<OpId>, head: OpId) -> Result<()> {
    match Worktree::load(repo, worktree_id)? {
        Some(worktree) if worktree.head == before => Worktree { head: Some(head), ..worktree }.save(repo),
        _ => Ok(()),
    }
}

/// A payload that left the staging directory is the worktree's; one that did not is of no use.
fn after_create(repo: &Repo, worktree: &Worktree, id: OpId) -> Result<()> {
    let staging = repo.staging(id);
    let left = repo.is_there(&staging.join(LEAVING))? && !repo.is_there(&staging.join(PAYLOAD))?;
    let known = Worktree::load(repo, &worktree.worktree_id)?.is_some();
    if left && !known && repo.is_there(&repo.payload(&worktree.name))? {
        worktree.save(repo)?;
    }
    Ok(())
}

/// Once the old payload was taken out, the new one goes in: it is complete, and the token was in force.
fn after_restore(repo: &Repo, worktree_id: &str, id: OpId, from: OpId, head: Option<OpId>) -> Result<()> {
    let staging = repo.staging(id);
    let Some(worktree) = Worktree::load(repo, worktree_id)? else { return Ok(()) };
    if !repo.is_there(&staging.join(OLD))? {
        // Either it had not begun, or all of it was done and cleared away.
        return if worktree.head == Some(from) { Ok(()) } else { abandoned(repo, worktree_id, id) };
    }
    let payload = repo.payload(&worktree.name);
    if !repo.is_there(&payload)? {
        repo.sys.files.rename_new(&staging.join(PAYLOAD), &payload)?;
    }
    repo.sys.files.sync_dir(holdfast_store::whole::parent(&payload))?;
    set_head(repo, worktree_id, head, from)
}

/// Where the payload is, there the name goes.
fn after_rename(repo: &Repo, worktree_id: &str, from: &WorktreeName, to: &WorktreeName) -> Result<()> {
    let Some(worktree) = Worktree::load(repo, worktree_id)?.filter(|worktree| worktree.name == *from) else {
        return Ok(());
    };
    if repo.is_there(&repo.payload(to))? && !repo.is_there(&repo.payload(from))? {
        Worktree { name: to.clone(), ..worktree }.save(repo)?;
    }
    Ok(())
}

/// A worktree whose file is gone is removed with its payload.
fn after_remove(repo: &Repo, worktree_id: &str, name: &WorktreeName, id: OpId) -> Result<()> {
    if repo.is_there(&repo.staging(id).join(OLD))? && Worktree::load(repo, worktree_id)?.is_some() {
        forget(repo, worktree_id)?;
    }
    let somebodys = Worktree::all(repo)?.iter().any(|worktree| worktree.name == *name);
    if somebodys {
        return Ok(());
    }
    make_dir(&repo.sys, &repo.staging(id))?;
    take_out(repo, &repo.payload(name), id)
}
