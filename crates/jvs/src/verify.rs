//! Whether what is there is what was published: payload against descriptor, descriptor against `.READY`, and
//! all of it against the audit log, whose own chain is checked as well. It never writes.

mod expected;

pub use expected::{Expected, vanished};

use crate::audit::{Audit, Chain};
use crate::error::{Class, Error, Result};
use crate::lock::Lock;
use crate::names::OpId;
use crate::payload::Progress;
use crate::repo::Repo;
use crate::snapshot;
use crate::worktree::{Survey, Worktree};

/// What the audit log is, and what does not agree with it.
pub struct Audited {
    /// What it says.
    pub expected: Expected,
    /// Its chain, which is whole.
    pub chain: Chain,
    /// Worktrees and locks that cannot be read, and so not be compared with it.
    pub unreadable: Vec<(String, Error)>,
    /// Worktrees whose tokens it has not heard of.
    pub unheard: Vec<Error>,
    /// Worktrees whose head is not the one that was last set.
    pub heads: Vec<(Worktree, Error)>,
    /// Snapshots that were published and are gone.
    pub missing: Vec<OpId>,
}

impl Audited {
    /// Everything that does not agree, and what it is about.
    #[must_use]
    pub fn wrong(self) -> Vec<(String, Error)> {
        let unheard = self.unheard.into_iter().map(|error| ("audit".to_owned(), error));
        let heads =
            self.heads.into_iter().map(|(worktree, error)| (format!("worktree {}", worktree.name), error));
        let missing = self.missing.into_iter().map(|id| (id.to_string(), vanished(id)));
        unheard.chain(heads).chain(missing).chain(self.unreadable).collect()
    }
}

/// Checks the audit log by itself, and against locks, worktrees and snapshots.
///
/// # Errors
/// When its chain is broken, or it cannot be looked at.
pub fn audit(repo: &Repo) -> Result<Audited> {
    let Survey { readable, damaged } = Worktree::survey(repo)?;
    let (mut views, mut unreadable) = (Vec::new(), Vec::new());
    unreadable.extend(damaged.into_iter().map(|one| (format!("worktree {}", one.worktree_id), one.error)));
    for worktree in readable {
        match Lock::of(repo, &worktree).and_then(|lock| lock.view()) {
            Ok(view) => views.push((view, worktree)),
            Err(error) => unreadable.push((format!("lock of {}", worktree.name), error)),
        }
    }
    repo.reading(|| {
        let mut expected = Expected::default();
        let chain = Audit::of(repo).read(&mut |entry| expected.note(entry))?.whole()?;
        let unheard =
            views.iter().filter_map(|(view, worktree)| expected.knows(worktree, view).err()).collect();
        let underway = repo.ids("intents")?;
        let mut heads = Vec::new();
        for (_, worktree) in &views {
            // It may have been changed or removed since.
            let Ok(Some(worktree)) = Worktree::load(repo, &worktree.worktree_id) else { continue };
            if let Err(error) = expected.agrees(&worktree, &underway) {
                heads.push((worktree, error));
            }
        }
        let missing = expected.missing(repo, &underway)?;
        Ok(Audited { expected, chain, unreadable, unheard, heads, missing })
    })
}

/// Checks one snapshot, payload and all.
///
/// # Errors
/// When it is not what was published; the class says which part.
pub fn snapshot(repo: &Repo, expected: Option<&Expected>, id: OpId, progress: &Progress) -> Result<()> {
    let (descriptor, hash) = snapshot::load(repo, id)?;
    if let Some(expected) = expected {
        expected.vouches(id, &hash)?;
    }
    let found = repo.trees.digest(&snapshot::payload(repo, id)?, progress)?;
    if found.root == descriptor.root()? {
        return Ok(());
    }
    let said = format!("the payload of {id} is not what was published: its hash is {}", found.root);
    Err(Error::new(Class::PayloadHashMismatch, said).hint("restore it from another copy of the repository"))
}
