//! Doing what was listed. Each remedy looks once more before it acts: what was found may be over by now.

use holdfast_store::whole::leftover_of;
use serde_json::{Map, json};

use super::{Finding, Kind, Remedy};
use crate::audit::Audit;
use crate::error::Result;
use crate::intent::{Found, Intent};
use crate::lock::Lock;
use crate::names::OpId;
use crate::recover;
use crate::repo::Repo;
use crate::worktree::Worktree;

/// Does what can be done about the findings; gives those that something was done about. The audit comes
/// first, because everything else has to be written down there.
///
/// # Errors
/// When a remedy failed.
pub fn mend<'a>(repo: &Repo, findings: &'a [Finding]) -> Result<Vec<&'a Finding>> {
    let mut done = Vec::new();
    let (audits, others): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| matches!(finding.remedy, Remedy::MendAudit(_)));
    for finding in audits.into_iter().chain(others) {
        if remedied(repo, finding)? {
            done.push(finding);
        }
    }
    Ok(done)
}

fn remedied(repo: &Repo, finding: &Finding) -> Result<bool> {
    match &finding.remedy {
        Remedy::None => Ok(false),
        Remedy::MendAudit(found) if found.torn => {
            noted(repo, finding)?;
            Ok(true)
        }
        Remedy::MendAudit(found) => Audit::of(repo).repair(found).map(|()| true),
        Remedy::SetLockAside(worktree_id) => set_lock_aside(repo, finding, worktree_id),
        Remedy::WriteOff(id) => {
            let data = Map::from_iter([("snapshot_id".to_owned(), json!(id))]);
            Audit::of(repo).append("snapshot.lost", None, data).map(|()| true)
        }
        Remedy::EndWork(id) => end_work(repo, finding, *id),
        Remedy::Remove(path) => {
            noted(repo, finding)?;
            if finding.kind == Kind::OrphanedTmp {
                // Whoever replaces a small file is inside the guard, so nobody uses it.
                let leftover = path.file_name().is_some_and(|name| leftover_of(name).is_some());
                return repo.alone(|| if leftover { repo.trees.remove(path) } else { Ok(()) }).map(|()| true);
            }
            repo.trees.remove(path).map(|()| true)
        }
    }
}

/// Writes down what is about to be repaired.
fn noted(repo: &Repo, finding: &Finding) -> Result<()> {
    let path = finding.path.strip_prefix(&repo.root).unwrap_or(&finding.path);
    let data = Map::from_iter([
        ("finding".to_owned(), json!(finding.kind.name())),
        ("path".to_owned(), json!(path.to_string_lossy())),
    ]);
    Audit::of(repo).append("doctor.repaired", None, data)
}

fn end_work(repo: &Repo, finding: &Finding, id: OpId) -> Result<bool> {
    let ours = repo.alone(|| {
        let ours = Intent::all(repo)?.into_iter().find_map(|found| match found {
            Found::Abandoned(intent) if intent.id == id => Some(intent),
            _ => None,
        });
        if let Some(intent) = &ours {
            noted(repo, finding)?;
            recover::settle(repo, intent)?;
        }
        Ok(ours)
    })?;
    let Some(intent) = ours else { return Ok(false) };
    recover::clear(repo, intent).map(|()| true)
}

fn set_lock_aside(repo: &Repo, finding: &Finding, worktree_id: &str) -> Result<bool> {
    repo.alone_with(&[worktree_id], || {
        let Some(worktree) = Worktree::load(repo, worktree_id)? else { return Ok(false) };
        noted(repo, finding)?;
        Ok(!Lock::of(repo, &worktree)?.record().set_aside()?.is_empty())
    })
}
