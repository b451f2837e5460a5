//! Changes of worktrees: made, restored, renamed, removed. Each is an intent, then long work out of sight, then
//! a few steps under the guard that a crash cannot leave halfway without the doctor knowing how to go on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use holdfast_store::whole;
use holdfast_sys::Sys;
use serde_json::{Map, json};

use crate::audit::Audit;
use crate::config::Config;
use crate::error::{Class, Error, Result};
use crate::intent::{Intent, Task, abandoned};
use crate::lock::Lock;
use crate::lock::session::Session;
use crate::names::{MAIN, OpId, WorktreeName};
use crate::payload::{Progress, Scan};
use crate::pins;
use crate::repo::{Actor, Repo, make_dir};
use crate::snapshot::{self, PAYLOAD};
use crate::worktree::{Isolation, Worktree};

/// Where the payload that was replaced is until it is removed.
pub(crate) const OLD: &str = "old";
/// Says that everything in the staging directory is complete and on its way to its place.
pub(crate) const LEAVING: &str = "leaving";

/// Makes a repository with an empty worktree `main`.
///
/// # Errors
/// When something is in the way.
pub fn found(sys: &Sys, root: &Path, actor: &Actor) -> Result<Config> {
    Repo::init(sys, root, |control| {
        let main = Worktree::fresh(sys, WorktreeName::new(MAIN)?, Isolation::Exclusive, None)?;
        whole::replace(sys, &Worktree::file(control, &main.worktree_id), &main.bytes()?, 0o644)?;
        let audit = Audit::at(sys, control.join("audit"), &actor.name);
        audit.begin("repo.created", &main.worktree_id)
    })
}

/// Makes a worktree, empty or with the payload of a snapshot.
///
/// # Errors
/// When the name is taken, or there is no such snapshot.
pub fn create(
    repo: &Repo,
    name: WorktreeName,
    isolation: Isolation,
    from: Option<OpId>,
    progress: &Progress,
) -> Result<Worktree> {
    is_available(repo, &name)?;
    let worktree = Worktree::fresh(&repo.sys, name, isolation, from)?;
    let task = Task::Create { worktree: worktree.clone() };
    let intent = begin(repo, task, from)?;
    let made = fetch(repo, intent.id, from, progress).and_then(|()| {
        repo.alone(|| {
            is_available(repo, &worktree.name)?;
            let data = Map::from_iter([
                ("name".to_owned(), json!(worktree.name)),
                ("from".to_owned(), json!(from)),
                ("head".to_owned(), json!(from)),
            ]);
            Audit::of(repo).append("worktree.created", Some(&worktree.worktree_id), data)?;
            make_dir(&repo.sys, &repo.root.join("worktrees"))?;
            let staging = repo.staging(intent.id);
            make_dir(&repo.sys, &staging.join(LEAVING))?;
            repo.sys.files.rename_new(&staging.join(PAYLOAD), &repo.payload(&worktree.name))?;
            repo.sys.files.sync_dir(&repo.root.join("worktrees"))?;
            worktree.save(repo)
        })
    });
    settle(repo, intent, &made);
    made.map(|()| worktree)
}

/// What becomes of a payload that is in no snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsaved {
    /// It stays, and nothing happens.
    Refuse,
    /// It is lost: somebody said so.
    Lose,
}

/// Puts a snapshot in the place of the payload of a worktree.
///
/// # Errors
/// When the session does not hold the lock, or there is no such snapshot. The payload is then as it was.
pub fn restore(
    repo: &Repo,
    worktree: &Worktree,
    from: OpId,
    reason: &str,
    session: Option<&Session>,
    unsaved: Unsaved,
    progress: &Progress,
) -> Result<()> {
    let lock = Lock::of(repo, worktree)?;
    match session {
        Some(session) => lock.check(session)?,
        None if worktree.isolation == Isolation::Shared => {}
        None => {
            let said = format!("restoring '{}' in place needs its lock", worktree.name);
            return Err(Error::new(Class::LockNotHeld, said).hint("run `jvs lock acquire`"));
        }
    }
    let seen = match unsaved {
        Unsaved::Lose => None,
        Unsaved::Refuse => {
            Some(saved(repo, worktree, "keep it with --snapshot-first, or lose it with --force", progress)?)
        }
    };
    let task = Task::Restore { worktree_id: worktree.worktree_id.clone(), from, head: worktree.head };
    let intent = begin(repo, task, Some(from))?;
    let restored = fetch(repo, intent.id, Some(from), progress).and_then(|()| {
        let swap = || {
            is_as_seen(repo, &worktree.payload(repo)?, seen.as_ref())?;
            swap(repo, &worktree.worktree_id, intent.id, from, reason)
        };
        repo.alone_with(&[&worktree.worktree_id], || match session {
            Some(session) => lock.write(session, |_| swap()),
            None => swap(),
        })
    });
    settle_restore(repo, intent, worktree, &restored);
    restored
}

/// As [`settle`]. The audit may have heard of a restore that did not happen; it hears that too, or the doctor says
/// so.
fn settle_restore(repo: &Repo, intent: Intent, worktree: &Worktree, done: &Result<()>) {
    let began = repo.is_there(&repo.staging(intent.id).join(OLD));
    let said = began.and_then(|began| match done {
        Err(_) if !began => abandoned(repo, &worktree.worktree_id, intent.id),
        _ => Ok(()),
    });
    if said.is_err() {
        return;
    }
    settle(repo, intent, done);
}

/// Takes the old payload out and puts the new one in. In between there is none, which the doctor completes.
fn swap(repo: &Repo, worktree_id: &str, id: OpId, from: OpId, reason: &str) -> Result<()> {
    let mut worktree = Worktree::load(repo, worktree_id)?
        .ok_or_else(|| Error::not_found("worktree", worktree_id, "it was removed meanwhile"))?;
    let data = Map::from_iter([
        ("from".to_owned(), json!(from)),
        ("reason".to_owned(), json!(reason)),
        ("operation".to_owned(), json!(id)),
        ("head".to_owned(), json!(from)),
    ]);
    Audit::of(repo).append("worktree.restored", Some(worktree_id), data)?;
    keep_reachable(repo, &worktree, from)?;
    let (payload, staging) = (worktree.payload(repo)?, repo.staging(id));
    repo.sys.files.rename_new(&payload, &staging.join(OLD))?;
    repo.sys.files.sync_dir(&staging)?;
    repo.sys.files.rename_new(&staging.join(PAYLOAD), &payload)?;
    repo.sys.files.sync_dir(parent(&payload))?;
    worktree.head = Some(from);
    worktree.save(repo)
}

/// Pins the head that a restore leaves behind, with everything that it descends from, unless it can be reached in
/// another way: what was published after the snapshot that is restored must not become garbage by that.
fn keep_reachable(repo: &Repo, worktree: &Worktree, from: OpId) -> Result<()> {
    let Some(left) = worktree.head else { return Ok(()) };
    let all: BTreeMap<OpId, Option<OpId>> =
        snapshot::all(repo)?.into_iter().map(|one| (one.snapshot_id, one.parent)).collect();
    let others = Worktree::survey(repo)?.readable.into_iter();
    let others = others.filter(|one| one.worktree_id != worktree.worktree_id).filter_map(|one| one.head);
    let reaches = |head: OpId| {
        let mut seen = BTreeSet::new();
        let line = std::iter::successors(Some(head), |id| all.get(id).copied().flatten());
        line.take_while(|id| seen.insert(*id)).any(|id| id == left)
    };
    if others.chain([from]).any(reaches) {
        return Ok(());
    }
    let reason = format!("the head of '{}' before {from} was restored", worktree.name);
    pins::write(repo, left, Some(&reason), true).map(drop)
}

/// Gives a worktree another name.
///
/// # Errors
/// When it is locked, or the name is taken.
pub fn rename(repo: &Repo, worktree: &Worktree, to: WorktreeName) -> Result<Worktree> {
    movable(worktree)?;
    repo.alone_with(&[&worktree.worktree_id], || {
        Lock::of(repo, worktree)?.is_free()?;
        is_available(repo, &to)?;
        let (worktree_id, from) = (worktree.worktree_id.clone(), worktree.name.clone());
        let task = Task::Rename { worktree_id, from: from.clone(), to: to.clone() };
        let intent = Intent::begin(repo, OpId::fresh(&repo.sys)?, task)?;
        let data = Map::from_iter([("from".to_owned(), json!(from)), ("to".to_owned(), json!(to))]);
        Audit::of(repo).append("worktree.renamed", Some(&worktree.worktree_id), data)?;
        repo.sys.files.rename_new(&worktree.payload(repo)?, &repo.payload(&to))?;
        repo.sys.files.sync_dir(&repo.root.join("worktrees"))?;
        let renamed = Worktree { name: to.clone(), ..worktree.clone() };
        renamed.save(repo)?;
        intent.finish(repo)?;
        Ok(renamed)
    })
}

/// Removes a worktree. Without `force` only if nothing is lost with it.
///
/// # Errors
/// When it is locked, or its payload is not that of its head.
pub fn remove(repo: &Repo, worktree: &Worktree, force: bool, progress: &Progress) -> Result<()> {
    movable(worktree)?;
    let seen = if force {
        None
    } else {
        Some(saved(repo, worktree, "take a snapshot first, or remove it with --force", progress)?)
    };
    let intent = repo.alone_with(&[&worktree.worktree_id], || {
        Lock::of(repo, worktree)?.is_free()?;
        let payload = repo.payload(&worktree.name);
        is_as_seen(repo, &payload, seen.as_ref())?;
        let (worktree_id, name) = (worktree.worktree_id.clone(), worktree.name.clone());
        let task = Task::Remove { worktree_id, name: name.clone() };
        let intent = Intent::begin(repo, OpId::fresh(&repo.sys)?, task)?;
        let data =
            Map::from_iter([("name".to_owned(), json!(name)), ("head".to_owned(), json!(worktree.head))]);
        Audit::of(repo).append("worktree.removed", Some(&worktree.worktree_id), data)?;
        make_dir(&repo.sys, &repo.staging(intent.id))?;
        forget(repo, &worktree.worktree_id)?;
        take_out(repo, &payload, intent.id)?;
        Ok(intent)
    })?;
    repo.trees.remove(&repo.staging(intent.id))?;
    intent.finish(repo)
}

/// Removes the file of a worktree: from here on there is none.
pub(crate) fn forget(repo: &Repo, worktree_id: &str) -> Result<()> {
    repo.sys.files.remove_file(&repo.control("worktrees").join(format!("{worktree_id}.json")))?;
    Ok(repo.sys.files.sync_dir(&repo.control("worktrees"))?)
}

/// Moves a payload out of the way, if it is there.
pub(crate) fn take_out(repo: &Repo, payload: &Path, id: OpId) -> Result<()> {
    match repo.sys.files.rename_new(payload, &repo.staging(id).join(OLD)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        moved => {
            moved?;
            Ok(repo.sys.files.sync_dir(parent(payload))?)
        }
    }
}

/// That a payload is in a snapshot as it is, or empty; gives what it looked like.
///
/// # Errors
/// When something in it would be lost with it; the hint says what else can be done.
pub fn saved(repo: &Repo, worktree: &Worktree, otherwise: &str, progress: &Progress) -> Result<Scan> {
    let payload = worktree.payload(repo)?;
    let scan = repo.trees.scan(&payload)?;
    let root = repo.trees.digest(&payload, progress)?.root.to_string();
    if scan.entries.is_empty() || snapshot::all(repo)?.iter().any(|one| one.payload_root_hash == root) {
        return Ok(scan);
    }
    let said = format!("the payload of '{}' is not in any snapshot as it is", worktree.name);
    Err(Error::new(Class::UnsavedChanges, said)
        .hint(format!("`jvs status` shows what is unsaved; {otherwise}")))
}

/// That nobody has written to a payload since it was looked at.
fn is_as_seen(repo: &Repo, payload: &Path, seen: Option<&Scan>) -> Result<()> {
    let Some(seen) = seen else { return Ok(()) };
    match seen.difference(&repo.trees.scan(payload)?) {
        Some(path) => Err(Error::changed(path)),
        None => Ok(()),
    }
}

fn movable(worktree: &Worktree) -> Result<()> {
    if worktree.name.is_main() {
        let said = "the worktree 'main' has its place in the repository: it is neither renamed nor removed";
        return Err(Error::new(Class::NameInvalid, said));
    }
    Ok(())
}

/// That no worktree has the name, and nothing is in its place.
fn is_available(repo: &Repo, name: &WorktreeName) -> Result<()> {
    // A record that cannot be read may have the name too, but then the payload is in its place.
    let taken = Worktree::survey(repo)?.readable.iter().any(|worktree| worktree.name == *name);
    if taken || repo.is_there(&repo.payload(name))? {
        let said = format!("there is already a worktree, or a file, called '{name}'");
        return Err(Error::new(Class::Exists, said).hint("choose another name"));
    }
    Ok(())
}

/// Begins long work, while what it copies from is surely there: from here on nobody deletes that.
fn begin(repo: &Repo, task: Task, from: Option<OpId>) -> Result<Intent> {
    repo.together(|| {
        if let Some(from) = from {
            snapshot::load(repo, from)?;
            // Whoever points to a snapshot must not outlive it.
            repo.sys.files.sync_dir(&repo.control("snapshots"))?;
        }
        Intent::begin(repo, OpId::fresh(&repo.sys)?, task)
    })
}

/// Puts the payload of a snapshot, or an empty one, into the staging directory.
fn fetch(repo: &Repo, id: OpId, from: Option<OpId>, progress: &Progress) -> Result<()> {
    let target = repo.staging(id).join(PAYLOAD);
    make_dir(&repo.sys, &repo.staging(id))?;
    make_dir(&repo.sys, &target)?;
    let Some(from) = from else { return Ok(()) };
    let (descriptor, _) = snapshot::load(repo, from)?;
    let payload = snapshot::payload(repo, from)?;
    let scan = repo.trees.scan(&payload)?;
    progress.expect(scan.size());
    let copied = repo.trees.copy(&payload, &scan, &target, progress)?;
    if copied.root != descriptor.root()? {
        let said = format!("the payload of {from} is not what was published");
        return Err(Error::new(Class::PayloadHashMismatch, said).hint("`jvs verify --all` checks the others"));
    }
    Ok(())
}

/// Removes what is left of finished or failed work. A swap that failed halfway is left to the doctor, who
/// needs the intent to know how to go on.
fn settle(repo: &Repo, intent: Intent, done: &Result<()>) {
    let staging = repo.staging(intent.id);
    // What cannot be told may be underway.
    let is_there = |name: &&str| repo.is_there(&staging.join(name)).unwrap_or(true);
    if done.is_err() && [OLD, LEAVING].iter().any(is_there) {
        return;
    }
    if repo.trees.remove(&staging).is_ok() {
        let _ = intent.finish(repo);
    }
}

fn parent(path: &Path) -> &Path {
    whole::parent(path)
}
