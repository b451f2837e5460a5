//! Whether a branch would go back: no issue may get a lower fence than the branch already has, and none may
//! vanish without a lease. This needs no log, so a server that sees nothing of the claims can tell.

use holdfast_git::changes::{Change, Version};
use holdfast_git::trailers::Style;
use holdfast_git::{Git, ObjectId};

use super::claimed::{foreign, unreadable};
use super::commits::CommitCheck;
use super::files::{self, Fenced};
use super::findings::Findings;
use super::trailers::{self, Named};
use crate::code::Code;
use crate::error::Problem;
use crate::error::Result;
use crate::ids::IssueId;
use crate::times::rfc3339;

/// A branch before and after a push.
pub(super) struct BranchCheck<'a> {
    pub(super) commits: &'a CommitCheck<'a>,
    pub(super) git: Git,
    /// What the branch is called there.
    pub(super) branch: String,
    /// The commit that it is on.
    pub(super) old: ObjectId,
    /// The leases that the pushed commits name.
    pub(super) named: &'a [Named],
    /// How to get what is there.
    pub(super) catch_up: String,
}

impl BranchCheck<'_> {
    /// Compares the trees of the branch before and after.
    pub(super) fn judge(&self, before: &ObjectId, after: &ObjectId, findings: &mut Findings) -> Result<()> {
        let changes = self.commits.objects.changes(Some(before), Some(after), b".jit/issues")?;
        for (issue, change) in files::sorted(changes).issues {
            if let Some(Change { old: Some(old), new, .. }) = change {
                self.issue(issue, old, new, findings)?;
            }
        }
        Ok(())
    }

    fn issue(
        &self,
        issue: IssueId,
        old: Version,
        new: Option<Version>,
        findings: &mut Findings,
    ) -> Result<()> {
        let before = Fenced::replaced(self.commits.objects, old)?;
        let Some(new) = new else { return self.vanished(issue, &before, findings) };
        let after = match Fenced::of(self.commits.objects, new) {
            Ok(after) => after,
            Err(why) => {
                findings.add(self.commits.weight, unreadable(issue, &why));
                return Ok(());
            }
        };
        let Some((there, log)) = before.pair() else { return Ok(()) };
        let says = match after.pair() {
            Some((fence, same)) if same == log && fence >= there => return Ok(()),
            Some((fence, same)) if same == log => format!("would put fence {fence} in its place"),
            Some((fence, other)) => {
                let visible = self.commits.logs.log(other).is_some();
                let (fence, log) = if visible { (there, log) } else { (fence, other) };
                findings.add(self.commits.foreign, foreign(issue, fence, log));
                return Ok(());
            }
            None => "would put a file without a fence in its place".to_owned(),
        };
        findings.add(self.commits.weight, self.behind(issue, there, log, &says)?);
        Ok(())
    }

    fn vanished(&self, issue: IssueId, before: &Fenced, findings: &mut Findings) -> Result<()> {
        let text = issue.to_string();
        let fences = self.named.iter().filter(|named| named.issue == text);
        let best = fences.filter_map(|named| named.fence.parse::<u64>().ok()).max();
        if best.is_some_and(|best| before.fence.is_none_or(|fence| best >= fence)) {
            return Ok(());
        }
        let problem = match before.pair() {
            Some((there, log)) => self.behind(issue, there, log, "would remove it")?,
            None => {
                let message = format!("issue {issue} is on {}, and this push would remove it", self.branch);
                Problem::with(issue, Code::Vanished, message, self.catch_up.clone())
            }
        };
        findings.add(self.commits.weight, problem);
        Ok(())
    }

    fn behind(&self, issue: IssueId, there: u64, log: &str, says: &str) -> Result<Problem> {
        let who = self.writer(issue, there, log)?;
        let message =
            format!("issue {issue}: {} already has fence {there}{who}; this push {says}", self.branch);
        let hint = format!("{}, then claim the issue again: jit claim acquire {issue}", self.catch_up);
        Ok(Problem::with(issue, Code::Displaced, message, hint))
    }

    /// Who wrote what is there: as the log says, else as the commit says that brought it.
    fn writer(&self, issue: IssueId, fence: u64, log: &str) -> Result<String> {
        if let Some(log) = self.commits.logs.log(log)
            && let Some(lease) = log.granted(fence)?
        {
            return Ok(format!(", written by {} (lease since {})", lease.holder, rfc3339(&lease.granted)));
        }
        let path = String::from_utf8_lossy(&files::file(issue)).into_owned();
        let said = self.git.run(&["rev-list", "-1", &self.old.to_string(), "--", &path])?;
        let Some(id) = ObjectId::from_hex(said.trim_ascii()) else { return Ok(String::new()) };
        let commit = self.commits.objects.commit(&id)?;
        let named = trailers::read(&commit.message, &Style::default());
        let named = named.iter().find(|named| named.issue == issue.to_string());
        let short: String = id.to_string().chars().take(10).collect();
        Ok(match named {
            Some(named) => format!(
                ", written by {} in {} (commit {short})",
                named.agents.join(", "),
                named.worktrees.join(", ")
            ),
            None => format!(" since commit {short}"),
        })
    }
}
