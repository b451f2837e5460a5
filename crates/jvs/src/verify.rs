//! Whether what is there is what was published: payload against descriptor, descriptor against `.READY`, and
//! all of it against the audit log, whose own chain is checked as well. It never writes.

use std::collections::BTreeMap;

use crate::audit::{Audit, Chain, Entry};
use crate::error::{Class, Error, Result};
use crate::lock::Lock;
use crate::names::OpId;
use crate::payload::Progress;
use crate::repo::Repo;
use crate::snapshot;
use crate::worktree::Worktree;

/// What the audit says that must be.
#[derive(Default)]
pub struct Ledger {
    /// Every snapshot that was published, with the hash of its descriptor.
    published: BTreeMap<OpId, String>,
    /// The largest token of every worktree.
    tokens: BTreeMap<String, u64>,
    /// Whether a part was lost and somebody has said that they know.
    repaired: bool,
}

impl Ledger {
    /// Reads the audit log.
    ///
    /// # Errors
    /// When its chain is broken.
    pub fn read(repo: &Repo) -> Result<(Self, Chain)> {
        let mut ledger = Self::default();
        let chain = Audit::of(repo).read(&mut |entry| ledger.note(entry))?;
        Ok((ledger, chain.whole()?))
    }

    fn note(&mut self, entry: &Entry) {
        let text = |key: &str| entry.data.get(key).and_then(|value| value.as_str());
        match (entry.event.as_str(), &entry.worktree_id) {
            ("snapshot.published", _) => {
                if let Some((id, hash)) =
                    text("snapshot_id").and_then(|id| id.parse().ok()).zip(text("descriptor_hash"))
                {
                    self.published.insert(id, hash.to_owned());
                }
            }
            ("audit.repaired", _) => self.repaired = true,
            (event, Some(worktree)) if event.starts_with("lock.") => {
                let token = entry.data.get("fencing_token").and_then(serde_json::Value::as_u64).unwrap_or(0);
                let largest = self.tokens.entry(worktree.clone()).or_insert(0);
                *largest = token.max(*largest);
            }
            _ => {}
        }
    }

    /// That the audit has the line about a snapshot.
    ///
    /// # Errors
    /// When it has none, or one about another descriptor.
    pub fn vouches(&self, id: OpId, descriptor_hash: &str) -> Result<()> {
        match self.published.get(&id) {
            Some(hash) if hash == descriptor_hash => Ok(()),
            None if self.repaired => Ok(()),
            Some(_) => Err(Error::new(
                Class::DescriptorCorrupt,
                format!("the audit log has another descriptor for {id} than the one that is there"),
            )),
            None => Err(missing(&format!("it has no line about the snapshot {id}, which is there"))),
        }
    }

    /// That the audit has heard of every token of a worktree: a grant is in the audit before its token is in
    /// the counter. The other way round proves nothing, because what was written down may not have happened.
    ///
    /// # Errors
    /// When a line must be missing.
    pub fn knows(&self, repo: &Repo, worktree: &Worktree) -> Result<()> {
        if self.repaired {
            return Ok(());
        }
        let view = Lock::of(repo, worktree)?.view()?;
        let known = self.tokens.get(&worktree.worktree_id).copied().unwrap_or(0);
        let given = view.next.get() - 1;
        if view.counter.is_some() && given > known {
            let said =
                format!("token {given} of '{}' was given out, the last line knows {known}", worktree.name);
            return Err(missing(&said));
        }
        Ok(())
    }
}

fn missing(what: &str) -> Error {
    Error::new(Class::AuditChainBroken, format!("lines are missing from the audit log: {what}"))
        .hint("somebody cut the log; `jvs audit` shows what is left of it")
}

/// Checks the audit log by itself and against the locks.
///
/// # Errors
/// When it is not what was written.
pub fn audit(repo: &Repo) -> Result<(Ledger, Chain)> {
    let (ledger, chain) = Ledger::read(repo)?;
    for worktree in Worktree::all(repo)? {
        ledger.knows(repo, &worktree)?;
    }
    Ok((ledger, chain))
}

/// Checks one snapshot, payload and all.
///
/// # Errors
/// When it is not what was published; the class says which part.
pub fn snapshot(repo: &Repo, ledger: Option<&Ledger>, id: OpId, progress: &Progress) -> Result<()> {
    let (descriptor, hash) = snapshot::load(repo, id)?;
    if let Some(ledger) = ledger {
        ledger.vouches(id, &hash)?;
    }
    let found = repo.trees.digest(&snapshot::payload(repo, id)?, progress)?;
    if found.root == descriptor.root()? {
        return Ok(());
    }
    let said = format!("the payload of {id} is not what was published: its hash is {}", found.root);
    Err(Error::new(Class::PayloadHashMismatch, said).hint("restore it from another copy of the repository"))
}
