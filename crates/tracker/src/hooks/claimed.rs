//! Whether somebody who changes an issue holds it: the question that a commit asks of the claims as they
//! stand. The kernel answers it.

use holdfast_git::changes::{Change, Version};
use holdfast_git::{Git, Objects};
use holdfast_kernel::{Claim, Fence, Holder, Lease, Refusal, Resource, check};
use holdfast_store::View;

use super::brought::is_as_written;
use super::claim_logs::ClaimLogs;
use super::files::{self, Fenced};
use super::findings::{Findings, Weight};
use crate::claims::{lease, resource};
use crate::code::Code;
use crate::error::Problem;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::times::rfc3339;

/// Somebody who commits.
pub(super) struct Committer<'a> {
    pub(super) objects: &'a Objects<'a>,
    pub(super) git: Git,
    pub(super) logs: &'a ClaimLogs,
    pub(super) holder: &'a Holder,
    pub(super) view: &'a View,
    /// What becomes of a change without a lease.
    pub(super) weight: Weight,
    /// What becomes of a change that another clone's lease stands for.
    pub(super) foreign: Weight,
}

impl Committer<'_> {
    /// Judges a change of an issue; `change` is that of its own file, if that changed.
    pub(super) fn judge(
        &self,
        issue: IssueId,
        change: Option<&Change>,
        findings: &mut Findings,
    ) -> Result<()> {
        let name = resource(issue)?;
        let Some(held) = self.view.table.held_by(&name, self.holder) else {
            if !self.brings(issue, change)? {
                findings.add(self.weight, self.without(issue, &name));
            }
            return Ok(());
        };
        let fence = match change.and_then(|change| change.new) {
            None => held.fence,
            Some(version) => match Fenced::of(self.objects, version) {
                Err(why) => {
                    findings.add(self.weight, unreadable(issue, &why));
                    return Ok(());
                }
                Ok(fenced) => {
                    let before = change.and_then(|change| change.old);
                    self.carried(issue, &fenced, before, held, findings)?.unwrap_or(held.fence)
                }
            },
        };
        let claim = Claim { resource: name, lease: held.id, holder: self.holder.clone(), fence };
        if let Err(refusal) = check(&self.view.table, &claim, &self.view.now) {
            findings.add(self.weight, refused(issue, held, refusal));
        }
        Ok(())
    }

    /// The fence to present, if it is not simply that of the lease. A file may still be as an earlier holder
    /// wrote it, for a claim brings the newest copy; it must not be older than the commit before, and
    /// nobody may carry a fence above its own. A file without one was not written under any lease.
    fn carried(
        &self,
        issue: IssueId,
        fenced: &Fenced,
        before: Option<Version>,
        held: &Lease,
        findings: &mut Findings,
    ) -> Result<Option<Fence>> {
        let counter = self.view.counter.map(|counter| counter.to_string());
        let Some((fence, log)) = fenced.pair() else {
            let message = format!(
                "issue {issue}: its file carries no fence, so it was not written under your lease {}",
                held.id
            );
            findings.add(self.weight, Problem::with(issue, Code::NoFence, message, rewrite(issue)));
            return Ok(None);
        };
        if counter.as_deref() != Some(log) {
            findings.add(self.foreign, foreign(issue, fence, log));
            return Ok(None);
        }
        // Only a file that is older than the lease can be older than the commit before.
        let older = before.filter(|_| fence < held.fence.get());
        let before = older.map(|old| Fenced::replaced(self.objects, old)).transpose()?;
        let before = before.as_ref().and_then(Fenced::pair);
        if let Some((there, _)) = before.filter(|(there, same)| *same == log && *there > fence) {
            let message =
                format!("issue {issue}: its file carries fence {fence}, but the commit before has {there}");
            findings.add(self.weight, Problem::with(issue, Code::FenceLowered, message, rewrite(issue)));
        }
        // A number that no grant has fences everybody out.
        let carried = Fence::new(fence).unwrap_or(Fence::LAST);
        Ok((carried > held.fence).then_some(carried))
    }

    /// Whether a change is what the last holder committed elsewhere.
    fn brings(&self, issue: IssueId, change: Option<&Change>) -> Result<bool> {
        let Some(version) = change.and_then(|change| change.new) else { return Ok(false) };
        let fenced = Fenced::of(self.objects, version).unwrap_or_default();
        let Some((fence, log)) = fenced.pair() else { return Ok(false) };
        match self.logs.log(log) {
            Some(log) => is_as_written(&self.git, log, issue, version, fence),
            None => Ok(false),
        }
    }

    fn without(&self, issue: IssueId, name: &Resource) -> Problem {
        let now = &self.view.now;
        let current = self.view.table.on(name).find(|lease| !lease.standing(now).is_over());
        let (message, hint) = match current {
            Some(other) => (
                format!(
                    "issue {issue} is changed, but {} holds it since {} ({})",
                    other.holder,
                    rfc3339(&other.granted),
                    lease::left(other, now)
                ),
                format!(
                    "keep your change out: git restore --staged --worktree .jit/issues/{issue}; \
                     or wait your turn: jit claim acquire {issue} --wait 600"
                ),
            ),
            None => (
                format!("issue {issue} is changed, but {} does not hold it", self.holder),
                format!(
                    "to commit it: jit claim acquire {issue}; \
                     to leave it out: git restore --staged .jit/issues/{issue}"
                ),
            ),
        };
        Problem::with(issue, Code::NoLease, message, hint)
    }
}

fn refused(issue: IssueId, held: &Lease, refusal: Refusal) -> Problem {
    if let Refusal::FencedOut { presented, .. } = &refusal {
        let message = format!(
            "issue {issue}: its file carries fence {}, your lease {} has {}: another lease stands behind it",
            presented.get(),
            held.id,
            held.fence.get()
        );
        return Problem::with(issue, Code::FencedOut, message, rewrite(issue));
    }
    let error = Error::from(refusal);
    let message = format!("issue {issue}: {error}");
    Problem::with(issue, error.code(), message, error.hint().unwrap_or_default())
}

fn rewrite(issue: IssueId) -> String {
    format!(
        "put the file back (git checkout HEAD -- .jit/issues/{issue}), and make the change with jit edit {issue}, or: \
         jit issue update {issue} …"
    )
}

/// A file that cannot be read.
pub(super) fn unreadable(issue: IssueId, why: &str) -> Problem {
    let message = format!("issue {issue}: its file cannot be read: {why}");
    let hint = format!("git checkout HEAD -- .jit/issues/{issue}/issue.json");
    Problem::with(issue, Code::BadIssue, message, hint)
}

/// A fence of a log that cannot be seen here.
pub(super) fn foreign(issue: IssueId, fence: u64, log: &str) -> Problem {
    let message = format!("issue {issue}: its fence {fence} was granted by another clone (log {log})");
    let hint = "enforcement.foreign_claims says what is done about claims of other clones".to_owned();
    Problem::with(issue, Code::ForeignClaim, message, hint)
}

/// What is wrong with a merge, seen from one side of it: issues that carry a lower fence than that side has.
pub(super) fn fallen_behind(objects: &Objects<'_>, changes: Vec<Change>) -> Vec<Problem> {
    let issues = files::sorted(changes).issues.into_iter();
    let both = issues.filter_map(|(issue, change)| Some((issue, change.as_ref()?.old?, change?.new?)));
    both.filter_map(|(issue, old, new)| falls_behind(objects, issue, old, new)).collect()
}

fn falls_behind(objects: &Objects<'_>, issue: IssueId, old: Version, new: Version) -> Option<Problem> {
    let result = match Fenced::of(objects, new) {
        Ok(fenced) => fenced,
        Err(why) => return Some(unreadable(issue, &why)),
    };
    let before = Fenced::of(objects, old).ok()?;
    let (fence, log) = before.pair()?;
    let carried = match result.pair() {
        Some((carried, same)) if same == log => Some(carried),
        // Two logs cannot be compared.
        Some(_) => return None,
        None => None,
    };
    if carried.is_some_and(|carried| carried >= fence) {
        return None;
    }
    let carried = carried.map_or_else(|| "no fence".to_owned(), |carried| format!("fence {carried}"));
    let message = format!("issue {issue}: the merge carries {carried}, but one side of it has fence {fence}");
    let hint = format!("git checkout --merge -- .jit/issues/{issue}/issue.json, and let jit merge it");
    Some(Problem::with(issue, Code::FenceLowered, message, hint))
}
