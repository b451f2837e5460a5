//! Publishing a snapshot. Everything is put together out of sight, and one rename makes it visible: under the
//! repository's guard and the lock's, after the token was compared with the one in force. Before that rename
//! nobody sees anything; after it everything is there and durable.

use std::cell::Cell;
use std::path::Path;

use holdfast_kernel::Millis;
use holdfast_store::{Held, rfc3339};
use serde_json::{Map, json};

use crate::audit::Audit;
use crate::error::{Class, Error, Result};
use crate::intent::{Intent, Task, abandoned};
use crate::lock::Lock;
use crate::lock::session::Session;
use crate::names::OpId;
use crate::payload::{Progress, Scan, Summary};
use crate::repo::{FORMAT, Repo, make_dir};
use crate::snapshot::{Consistency, Descriptor, PAYLOAD};
use crate::worktree::{Isolation, Worktree};

/// How fine the clocks of file systems are at the worst.
const TICK: Millis = Millis::new(20);

/// What is wanted of a snapshot.
pub struct Wanted<'a> {
    /// What to write about it.
    pub note: Option<String>,
    /// What to promise about its moment.
    pub consistency: Consistency,
    /// The session that holds the lock, if one does.
    pub session: Option<&'a Session>,
}

/// Takes a snapshot of a worktree.
///
/// # Errors
/// When the session does not hold the lock, the payload changed, or something failed. Nothing is visible
/// then, unless the error says so.
pub fn publish(
    repo: &Repo,
    worktree: &Worktree,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<Descriptor> {
    let lock = Lock::of(repo, worktree)?;
    match wanted.session {
        Some(session) => lock.check(session)?,
        None if worktree.isolation == Isolation::Shared || wanted.consistency == Consistency::BestEffort => {}
        None => return Err(not_held(worktree)),
    }
    let id = OpId::fresh(&repo.sys)?;
    let task = Task::Snapshot { worktree_id: worktree.worktree_id.clone() };
    let intent = repo.together(|| Intent::begin(repo, id, task))?;
    let publisher = Publisher { repo, worktree, wanted, lock: &lock, id, told: Cell::new(false) };
    let published = publisher.run(progress).map_err(|error| publisher.told_if_visible(error));
    clear(repo, intent, worktree, published.is_err(), publisher.told.get());
    published
}

fn not_held(worktree: &Worktree) -> Error {
    let said = format!(
        "a quiesced snapshot of '{}' needs its lock, which this session does not hold",
        worktree.name
    );
    Error::new(Class::LockNotHeld, said)
        .hint("run `jvs lock acquire`, or take it with --consistency best_effort")
}

/// Removes what is of no use to anybody. What cannot be removed is left to the doctor, and so is a snapshot
/// that became visible although its publishing failed.
fn clear(repo: &Repo, intent: Intent, worktree: &Worktree, failed: bool, told: bool) {
    if failed && repo.is_there(&repo.snapshot(intent.id)).unwrap_or(true) {
        return;
    }
    // What the audit heard of and did not happen is said there too; otherwise the doctor says it.
    if failed && told && abandoned(repo, &worktree.worktree_id, intent.id).is_err() {
        return;
    }
    if !failed || repo.trees.remove(&repo.staging(intent.id)).is_ok() {
        let _ = intent.finish(repo);
    }
}

struct Publisher<'a> {
    repo: &'a Repo,
    worktree: &'a Worktree,
    wanted: &'a Wanted<'a>,
    lock: &'a Lock,
    id: OpId,
    /// Whether the audit has heard of it.
    told: Cell<bool>,
}

impl Publisher<'_> {
    fn run(&self, progress: &Progress) -> Result<Descriptor> {
        let payload = self.worktree.payload(self.repo)?;
        let before = self.scan(&payload)?;
        progress.expect(before.size());
        let staging = self.repo.staging(self.id);
        make_dir(&self.repo.sys, &staging)?;
        make_dir(&self.repo.sys, &staging.join(PAYLOAD))?;
        let summary = self.repo.trees.copy(&payload, &before, &staging.join(PAYLOAD), progress);
        let summary = summary.map_err(|error| self.explained(&payload, &before, error))?;
        if self.wanted.consistency == Consistency::Quiesced {
            self.unchanged(&payload, &before)?;
        }
        self.repo.alone_with(&[&self.worktree.worktree_id], || match self.wanted.session {
            Some(session) => self.lock.write(session, |held| self.commit(&summary, Some(held))),
            None => self.commit(&summary, None),
        })
    }

    /// What is in the payload. If the last change was a moment ago, another one could get the same time, and
    /// nobody could tell them apart; so it is looked at again when the clock has moved on.
    fn scan(&self, payload: &Path) -> Result<Scan> {
        let scan = self.repo.trees.scan(payload)?;
        let now = i128::from(self.repo.sys.clock.now()?.wall_ms());
        if now.abs_diff(scan.newest_ms()) > u128::from(TICK.get()) {
            return Ok(scan);
        }
        self.repo.sys.clock.sleep(TICK);
        self.repo.trees.scan(payload)
    }

    fn unchanged(&self, payload: &Path, before: &Scan) -> Result<()> {
        let after = self.repo.trees.scan(payload)?;
        before.difference(&after).map_or(Ok(()), |path| Err(Error::changed(path)))
    }

    /// A file that is gone when it is to be copied was removed meanwhile; that is no failure of the disk.
    fn explained(&self, payload: &Path, before: &Scan, error: Error) -> Error {
        match self.unchanged(payload, before) {
            Err(changed) if changed.class() == Class::ConsistencyUnavailable => changed,
            _ => error,
        }
    }

    /// The steps that nobody may come between.
    fn commit(&self, summary: &Summary, held: Option<&Held<'_>>) -> Result<Descriptor> {
        let (repo, id) = (self.repo, self.id);
        let current = Worktree::load(repo, &self.worktree.worktree_id)?;
        let mut worktree = current.ok_or_else(|| {
            Error::not_found("worktree", self.worktree.name.as_str(), "it was removed meanwhile")
        })?;
        let descriptor = Descriptor {
            aside: held.is_none() && self.is_locked(&worktree)?,
            ..self.descriptor(&worktree, summary, held)?
        };
        let staging = repo.staging(id);
        let hash = descriptor.write(repo, &staging)?;
        let data = Map::from_iter([
            ("snapshot_id".to_owned(), json!(id)),
            ("payload_root_hash".to_owned(), json!(descriptor.payload_root_hash)),
            ("descriptor_hash".to_owned(), json!(hash)),
            ("fencing_token".to_owned(), json!(descriptor.fencing_token)),
            ("parent".to_owned(), json!(descriptor.parent)),
            ("head".to_owned(), json!((!descriptor.aside).then_some(id))),
        ]);
        self.told.set(true);
        Audit::of(repo).append("snapshot.published", Some(&worktree.worktree_id), data)?;
        repo.sys.files.rename_new(&staging, &repo.snapshot(id))?;
        repo.sys.files.sync_dir(&repo.control("snapshots"))?;
        if !descriptor.aside {
            worktree.head = Some(id);
            worktree.save(repo)?;
        }
        Ok(descriptor)
    }

    /// Whether somebody has the lock: the head of a worktree is its holder's.
    fn is_locked(&self, worktree: &Worktree) -> Result<bool> {
        match self.lock.is_free() {
            _ if worktree.isolation == Isolation::Shared => Ok(false),
            Ok(()) => Ok(false),
            Err(error) if error.class() == Class::LockConflict => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// A failure that came when everybody could see the snapshot already says so: whoever tries again makes a second
    /// one.
    fn told_if_visible(&self, error: Error) -> Error {
        let said = match self.repo.is_there(&self.repo.snapshot(self.id)) {
            Ok(false) => return error,
            Ok(true) => format!("{error}; all the same the snapshot {} is published", self.id),
            Err(_) => format!("{error}; whether the snapshot {} is published is unknown", self.id),
        };
        let hint =
            "do not repeat it, that would make another snapshot: `jvs doctor --repair` completes this one";
        Error::new(error.class(), said).hint(hint).detail("published", self.id.to_string())
    }

    fn descriptor(
        &self,
        worktree: &Worktree,
        summary: &Summary,
        held: Option<&Held<'_>>,
    ) -> Result<Descriptor> {
        let now = self.repo.sys.clock.now()?;
        Ok(Descriptor {
            format: FORMAT,
            snapshot_id: self.id,
            worktree_id: worktree.worktree_id.clone(),
            worktree: worktree.name.clone(),
            parent: worktree.head,
            created_at: rfc3339(&now),
            note: self.wanted.note.clone(),
            consistency: self.wanted.consistency,
            risk: self.wanted.consistency.risk().map(str::to_owned),
            fencing_token: held.map(|held| held.lease().fence.get()),
            fence_counter: held.map(|held| held.counter().to_string()),
            lock_id: held.map(|held| held.lease().id.to_string()),
            engine: if summary.reflinked { "reflink" } else { "copy" }.to_owned(),
            payload_root_hash: summary.root.to_string(),
            files: summary.files,
            directories: summary.directories,
            symlinks: summary.symlinks,
            bytes: summary.bytes,
            skipped: summary.skipped,
            aside: false,
        })
    }
}
