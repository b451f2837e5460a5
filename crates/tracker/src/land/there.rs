//! What the target has already: whether that is this work, and what is left to do for somebody who was cut off after it had
//! landed.

use holdfast_git::ObjectId;

use super::finish::{Finisher, How, ONTO};
use super::going;
use super::plumbing::{Plumbing, is_ours};
use super::turn::Turn;
use super::working;
use crate::config::Strategy;
use crate::error::{Error, LandError, Result};
use crate::ids::IssueId;
use crate::issues::{Issue, State};
use crate::notice::Notice;
use crate::workspace::DATA;

/// The commit that the work on an issue was put on when it landed, if it says so.
pub(super) fn landed_on(issue: &Issue) -> Option<ObjectId> {
    ObjectId::from_hex(issue.links.get(ONTO)?.as_bytes())
}

impl Plumbing<'_> {
    /// The last commit that says how an issue stands, if it is that it is done, with the issue as it has it.
    pub(super) fn finished(&self, tip: &ObjectId, id: IssueId) -> Result<Option<(ObjectId, Issue)>> {
        let file = format!("{DATA}/issues/{id}/issue.json");
        let Some(done) = self.last_change(tip, &file)? else { return Ok(None) };
        let bytes = self.show(&done, &file)?.unwrap_or_default();
        let issue = serde_json::from_slice::<Issue>(&bytes).ok();
        Ok(issue.filter(|issue| issue.state == State::Done).map(|issue| (done, issue)))
    }
}

impl Finisher<'_> {
    /// The issue as a commit has it; none if it has none that can be read.
    fn issue_at(&self, commit: &ObjectId) -> Result<Option<Issue>> {
        let path = format!("{DATA}/issues/{}/issue.json", self.id);
        let bytes = self.plumbing.show(commit, &path)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Whether a tip of the target has the issue done under this very grant: then only the rest is left.
    pub(super) fn is_landed(&self, tip: &ObjectId) -> Result<bool> {
        self.issue_at(tip)?.map_or(Ok(false), |issue| self.is_ours(&issue))
    }

    /// Whether an issue is done under this very grant.
    fn is_ours(&self, issue: &Issue) -> Result<bool> {
        let log = self.session.claims().view()?.counter.map(|counter| counter.to_string());
        let is_ours = issue.fence == Some(self.lease.fence.get()) && issue.fence_log == log;
        Ok(issue.state == State::Done && is_ours)
    }

    /// Refuses what a tip of the target has already, from a clone whose claims say nothing here: nothing is done twice
    /// unless somebody took it back from there.
    pub(super) fn refuse_elsewhere(&self, tip: &ObjectId) -> Result<()> {
        let Some(there) = self.issue_at(tip)?.filter(|issue| issue.state.is_over()) else { return Ok(()) };
        let log = self.session.claims().view()?.counter.map(|counter| counter.to_string());
        let is_known =
            || self.writer.issues.base(self.id).map(|own| own.reopened.contains(&there.updated_at));
        if there.fence_log.is_none() || there.fence_log == log || is_known()? {
            return Ok(());
        }
        let (handle, branch) = (self.handle.clone(), self.target.branch.clone());
        Err(LandError::Elsewhere { handle, state: there.state.to_string(), branch }.into())
    }

    /// What somebody has left to do who was cut off after the target had it.
    pub(super) fn landed_before(&self, source: &ObjectId, tip: &ObjectId) -> Result<How> {
        if self.target.remote.is_some() {
            self.publisher().say_landed(tip)?;
            self.publisher().catch_up(&Turn::take(self.session, &self.target.branch)?, tip);
        }
        self.bring_along(source, tip, false)?;
        Ok(self.landed(tip))
    }

    pub(super) fn landed(&self, tip: &ObjectId) -> How {
        How::Landed { target: self.target.branch.clone(), commit: tip.to_string() }
    }

    /// What is left to do once the target has it: a branch that has nothing else, as one whose tip `is_all_there`, goes
    /// where the target is.
    pub(super) fn bring_along(&self, source: &ObjectId, tip: &ObjectId, is_all_there: bool) -> Result<()> {
        if self.branch.is_none() && self.plumbing.head()? == *source {
            if is_all_there || self.has_nothing_else(source, tip)? {
                self.go_to(source, tip);
            } else {
                let why = "it has commits that have not landed";
                self.session.notice(&Notice::BranchStays(why.to_owned()));
            }
        }
        Ok(())
    }

    /// Whether there is work that the target does not have, on the branch of an issue that has landed: whoever was killed
    /// before it heard of that went on.
    pub(super) fn has_more(&self, source: &ObjectId, onto: &ObjectId) -> Result<bool> {
        if self.branch.is_some() || self.has_nothing_else(source, onto)? {
            return Ok(false);
        }
        match self.build(*onto, source) {
            Ok(candidate) => Ok(candidate.has_work),
            Err(Error::Land(LandError::Conflict { .. })) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Whether everything that a commit has, the target has or had too, but for the tracker's own files.
    fn has_nothing_else(&self, source: &ObjectId, tip: &ObjectId) -> Result<bool> {
        if self.adds_nothing(source, tip, tip)? {
            return Ok(true);
        }
        // Others may have changed since what landed.
        match self.plumbing.finished(tip, self.id)? {
            Some((done, issue)) if self.is_ours(&issue)? => match landed_on(&issue) {
                Some(onto) => self.adds_nothing(source, &onto, &done),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// Whether a commit on top of `onto` comes to nothing that is not in `there`.
    fn adds_nothing(&self, source: &ObjectId, onto: &ObjectId, there: &ObjectId) -> Result<bool> {
        match self.build_as(Strategy::Squash, *onto, source) {
            Ok(joined) => Ok(self.plumbing.changed(there, &joined.tip)?.iter().all(|path| is_ours(path))),
            Err(Error::Land(LandError::Conflict { .. })) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Moves this worktree and its branch to what landed.
    fn go_to(&self, from: &ObjectId, to: &ObjectId) {
        let advance = || going::advance(self.session, &self.plumbing, from, to);
        // A git that moved the target and was killed after that may have left a lock that keeps this one out.
        let moved =
            advance().or_else(|why| if working::clear_tables(self.session) { advance() } else { Err(why) });
        if let Err(error) = moved {
            self.session.notice(&Notice::BranchStays(error.to_string()));
        }
    }
}
