//! What the audit log says that must be: which snapshots were published and not deleted, which head each worktree
//! has, which tokens were given out.
//!
//! A line stands in the log before what it speaks of happens, so the last word about something may be about what
//! never came to be. Whoever gave up says so in a later line, and whoever was cut off left an intent.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_store::View;
use serde_json::Value;

use crate::audit::Entry;
use crate::error::{Class, Error, Result};
use crate::names::OpId;
use crate::repo::Repo;
use crate::snapshot;
use crate::worktree::Worktree;

/// What the audit says that must be.
#[derive(Default)]
pub struct Expected {
    published: BTreeMap<OpId, Published>,
    /// Snapshots that were deleted or written off.
    gone: BTreeSet<OpId>,
    /// Operations that did not happen.
    abandoned: BTreeSet<OpId>,
    /// The heads of every worktree, the last one last.
    heads: BTreeMap<String, Vec<Head>>,
    /// The largest token of every worktree.
    tokens: BTreeMap<String, u64>,
    /// Whether a part was lost and somebody has said that they know.
    repaired: bool,
}

struct Published {
    descriptor_hash: String,
    /// Whether the log would also say that it did not come to be. An earlier version said nothing.
    is_certain: bool,
}

struct Head {
    head: Option<OpId>,
    operation: Option<OpId>,
    is_certain: bool,
}

impl Expected {
    /// Takes note of a line.
    pub(super) fn note(&mut self, entry: &Entry) {
        let id = |key: &str| entry.data.get(key).and_then(Value::as_str).and_then(|id| id.parse().ok());
        let is_certain = entry.data.contains_key("head");
        let head = |head, operation, is_certain| Head { head, operation, is_certain };
        match entry.event.as_str() {
            "snapshot.published" => {
                let hash = entry.data.get("descriptor_hash").and_then(Value::as_str);
                if let Some((id, hash)) = id("snapshot_id").zip(hash) {
                    self.published.insert(id, Published { descriptor_hash: hash.to_owned(), is_certain });
                    if entry.data.get("head").is_none_or(|head| !head.is_null()) {
                        self.head(entry, head(Some(id), Some(id), is_certain));
                    }
                }
            }
            "snapshot.deleted" | "snapshot.lost" => self.gone.extend(id("snapshot_id")),
            "operation.abandoned" => self.abandoned.extend(id("operation")),
            "repo.created" | "worktree.created" => self.head(entry, head(id("from"), None, true)),
            "worktree.restored" => self.head(entry, head(id("from"), id("operation"), is_certain)),
            "audit.repaired" => {
                self.repaired = true;
                self.heads.clear();
            }
            event if event.starts_with("lock.") => {
                let token = entry.data.get("fencing_token").and_then(Value::as_u64).unwrap_or(0);
                if let Some(worktree) = &entry.worktree_id {
                    let largest = self.tokens.entry(worktree.clone()).or_insert(0);
                    *largest = token.max(*largest);
                }
            }
            _ => {}
        }
    }

    fn head(&mut self, entry: &Entry, head: Head) {
        if let Some(worktree) = &entry.worktree_id {
            self.heads.entry(worktree.clone()).or_default().push(head);
        }
    }

    /// That the audit has the line about a snapshot.
    ///
    /// # Errors
    /// When it has none, or one about another descriptor.
    pub fn vouches(&self, id: OpId, descriptor_hash: &str) -> Result<()> {
        match self.published.get(&id) {
            Some(published) if published.descriptor_hash == descriptor_hash => Ok(()),
            None if self.repaired => Ok(()),
            Some(_) => Err(Error::new(
                Class::DescriptorCorrupt,
                format!("the audit log has another descriptor for {id} than the one that is there"),
            )),
            None => Err(lines_missing(&format!("it has no line about the snapshot {id}, which is there"))),
        }
    }

    /// That the audit has heard of every token of a worktree: a grant is in the audit before its token is in
    /// the counter. The other way round proves nothing, because what was written down may not have happened.
    /// The lock has to be looked at before the audit is read.
    ///
    /// # Errors
    /// When a line must be missing.
    pub(super) fn knows(&self, worktree: &Worktree, view: &View) -> Result<()> {
        let known = self.tokens.get(&worktree.worktree_id).copied().unwrap_or(0);
        let given = view.next.get() - 1;
        if self.repaired || view.counter.is_none() || given <= known {
            return Ok(());
        }
        let said = format!("token {given} of '{}' was given out, the last line knows {known}", worktree.name);
        Err(lines_missing(&said))
    }

    /// The snapshots that were published and are gone, although nobody deleted them. Only inside the repository's
    /// guard: nobody must publish or delete between the reading of the audit and this.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub(super) fn missing(&self, repo: &Repo, underway: &[OpId]) -> Result<Vec<OpId>> {
        let pointed_to = self.pointed_to(repo)?;
        let mut missing = Vec::new();
        for (id, published) in &self.published {
            let accounted_for =
                self.gone.contains(id) || self.abandoned.contains(id) || underway.contains(id);
            if !accounted_for
                && (published.is_certain || pointed_to.contains(id))
                && !repo.is_there(&repo.snapshot(*id))?
            {
                missing.push(*id);
            }
        }
        Ok(missing)
    }

    /// The snapshots that others rest on, so that they must have come to be.
    fn pointed_to(&self, repo: &Repo) -> Result<BTreeSet<OpId>> {
        let parents = snapshot::all(repo)?.into_iter().filter_map(|one| one.parent);
        let heads = self.heads.values().filter_map(|heads| heads.last()).filter_map(|head| head.head);
        Ok(parents.chain(heads).collect())
    }

    /// That the head of a worktree is the one that was last set, where this work is underway.
    ///
    /// # Errors
    /// When it is another one.
    pub(super) fn agrees(&self, worktree: &Worktree, underway: &[OpId]) -> Result<()> {
        let heads = self.heads.get(&worktree.worktree_id).map_or(&[][..], Vec::as_slice);
        let happened = |head: &&Head| head.operation.is_none_or(|one| !self.abandoned.contains(&one));
        for head in heads.iter().rev().filter(happened) {
            if head.head == worktree.head {
                return Ok(());
            }
            if head.is_certain && head.operation.is_none_or(|one| !underway.contains(&one)) {
                return Err(moved(worktree, head.head));
            }
        }
        Ok(())
    }
}

fn lines_missing(what: &str) -> Error {
    Error::new(Class::AuditChainBroken, format!("lines are missing from the audit log: {what}"))
        .hint("somebody cut the log; `jvs audit` shows what is left of it")
}

fn moved(worktree: &Worktree, head: Option<OpId>) -> Error {
    let shown = |head: Option<OpId>| head.map_or_else(|| "none".to_owned(), |head| head.to_string());
    let (is, was) = (shown(worktree.head), shown(head));
    let said = format!("the head of '{}' is {is}, but the audit log says {was}", worktree.name);
    Error::new(Class::DescriptorCorrupt, said)
        .hint("somebody changed it; `jvs history` shows the snapshots, `jvs restore <id> --inplace` sets the head")
        .detail("worktree", worktree.name.as_str())
        .detail("head", is)
        .detail("expected", was)
}

/// The failure that a snapshot which is gone is.
#[must_use]
pub fn vanished(id: OpId) -> Error {
    let said = format!("the snapshot {id} was published and is gone, although nobody deleted it");
    Error::new(Class::PartialSnapshot, said)
        .hint("bring it back from a copy of the repository, or write it off with `jvs doctor --repair`")
        .detail("snapshot_id", id.to_string())
}
