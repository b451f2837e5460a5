//! Which snapshots nobody needs, and deleting them. A plan is a list, and its id is the hash of that list: a
//! run deletes exactly what was shown, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, json};

use crate::audit::Audit;
use crate::error::{Class, Error, Result};
use crate::intent::{Intent, Task};
use crate::names::OpId;
use crate::pins;
use crate::repo::{Repo, make_dir};
use crate::snapshot::{self, Descriptor};
use crate::worktree::Worktree;

/// What could be deleted.
pub struct Plan {
    /// The hash of the list.
    pub id: String,
    /// The snapshots, the oldest first.
    pub snapshots: Vec<Descriptor>,
    /// How many are kept.
    pub kept: usize,
}

/// What could be deleted at the moment.
///
/// # Errors
/// When it cannot be told what is needed.
pub fn plan(repo: &Repo) -> Result<Plan> {
    repo.alone(|| make_plan(repo))
}

fn make_plan(repo: &Repo) -> Result<Plan> {
    let all: BTreeMap<OpId, Descriptor> =
        snapshot::all(repo)?.into_iter().map(|snapshot| (snapshot.snapshot_id, snapshot)).collect();
    let needed = needed(repo, &all)?;
    let total = all.len();
    let snapshots: Vec<Descriptor> =
        all.into_values().filter(|one| !needed.contains(&one.snapshot_id)).collect();
    let mut hasher = blake3::Hasher::new();
    hasher.update(repo.config.repo_id.as_bytes());
    for snapshot in &snapshots {
        hasher.update(snapshot.snapshot_id.to_string().as_bytes());
    }
    let id = hasher.finalize().to_hex().chars().take(16).collect();
    Ok(Plan { id, kept: total - snapshots.len(), snapshots })
}

/// The heads with all their ancestors, the pinned ones, and those that somebody is working with.
fn needed(repo: &Repo, all: &BTreeMap<OpId, Descriptor>) -> Result<BTreeSet<OpId>> {
    let pins = pins::all(repo)?;
    let mut needed: BTreeSet<OpId> = pins.iter().map(|pin| pin.snapshot_id).collect();
    let mut lines: Vec<OpId> =
        Worktree::all(repo)?.into_iter().filter_map(|worktree| worktree.head).collect();
    lines.extend(pins.iter().filter(|pin| pin.with_ancestors).map(|pin| pin.snapshot_id));
    for found in Intent::all(repo)? {
        lines.push(found.id());
        match found.task() {
            Some(Task::Restore { from, .. }) => lines.push(*from),
            Some(Task::Create { worktree }) => lines.extend(worktree.head),
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    while let Some(id) = lines.pop() {
        if !seen.insert(id) {
            continue;
        }
        match all.get(&id) {
            Some(snapshot) => lines.extend(snapshot.parent),
            // What cannot be read may have ancestors that are needed.
            None if repo.sys.files.stat(&repo.snapshot(id)).is_ok() => drop(snapshot::load(repo, id)?),
            None => {}
        }
    }
    needed.extend(seen);
    Ok(needed)
}

/// Deletes what a plan listed, if it is still what could be deleted; says how many that were.
///
/// # Errors
/// When the plan is another one by now; nothing is deleted then.
pub fn run(repo: &Repo, plan_id: &str) -> Result<Vec<OpId>> {
    let (intent, ids) = repo.alone(|| {
        let plan = make_plan(repo)?;
        if plan.id != plan_id {
            let said = format!("'{}' is not the plan for what could be deleted now", plan_id.escape_debug());
            return Err(
                Error::new(Class::GcPlanMismatch, said).hint("run `jvs gc plan` and look at its list")
            );
        }
        let ids: Vec<OpId> = plan.snapshots.iter().map(|snapshot| snapshot.snapshot_id).collect();
        let intent = Intent::begin(repo, OpId::fresh(&repo.sys)?, Task::Collect)?;
        let staging = repo.staging(intent.id);
        make_dir(&repo.sys, &staging)?;
        for snapshot in &plan.snapshots {
            let id = snapshot.snapshot_id;
            let data = Map::from_iter([
                ("snapshot_id".to_owned(), json!(id)),
                ("plan_id".to_owned(), json!(plan_id)),
            ]);
            Audit::of(repo).append("snapshot.deleted", Some(&snapshot.worktree_id), data)?;
            repo.sys.files.rename_new(&repo.snapshot(id), &staging.join(id.to_string()))?;
        }
        repo.sys.files.sync_dir(&repo.control("snapshots"))?;
        Ok((intent, ids))
    })?;
    repo.trees.remove(&repo.staging(intent.id))?;
    intent.finish(repo)?;
    Ok(ids)
}
