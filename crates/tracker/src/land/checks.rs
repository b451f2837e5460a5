//! What keeps work from being finished: something that would be left behind, nothing that was done, other issues that
//! would come along, and those that have to land first.

use std::collections::BTreeSet;

use holdfast_git::ObjectId;

use super::finish::{Asked, Finisher};
use super::plumbing::FLUSHING;
use crate::config::Satisfied;
use crate::error::{LandError, Result};
use crate::hooks;
use crate::ids::IssueId;
use crate::issues::{Issue, Scope};
use crate::notes;
use crate::workspace::DATA;

impl Finisher<'_> {
    /// Stages what is to be committed, but for the issue's own files: these say something else once it is done. Refuses
    /// to leave something behind that nobody was asked about. Gives what is staged then.
    ///
    /// # Errors
    /// What would be left behind, or what failed.
    pub(super) fn stage(&self, asked: &Asked) -> Result<Vec<Vec<u8>>> {
        let (home, results) = self.own();
        let mut staged = if asked.all {
            let except = |path: &str| format!(":(top,exclude,literal){path}");
            let (home, results) = (except(&home), except(&results));
            let add = ["add", "-A", "--", ":/", &home, &results];
            self.plumbing.git().run(&[&FLUSHING[..], &add].concat())?;
            self.plumbing.staged()?
        } else {
            let dirty = self.plumbing.dirty()?;
            let left = dirty.iter().filter(|dirty| !asked.leave && !dirty.is_ours() && !dirty.is_staged);
            let left: Vec<String> =
                left.map(|dirty| String::from_utf8_lossy(&dirty.path).into_owned()).collect();
            if !left.is_empty() {
                return Err(LandError::LeftOver(left).into());
            }
            dirty.into_iter().filter(|dirty| dirty.is_in_index).map(|dirty| dirty.path).collect()
        };
        let own = [format!("{home}/"), format!("{results}/")];
        let is_own = |path: &Vec<u8>| own.iter().any(|own| path.starts_with(own.as_bytes()));
        if staged.iter().any(is_own) {
            self.plumbing.git().ask(&["reset", "-q", "--", &home, &results], &[])?;
            staged.retain(|path| !is_own(path));
        }
        let staged = self.leave_others(staged, asked)?;
        // No hook of git's sees this commit.
        hooks::reserved::check(self.session, &staged)?;
        Ok(staged)
    }

    /// The directories of the issue's own files.
    pub(super) fn own(&self) -> (String, String) {
        (format!("{DATA}/issues/{}", self.id), format!("{DATA}/gates/results/{}", self.id))
    }

    pub(super) fn check_change(&self, is_there: bool, asked: &Asked) -> Result<()> {
        if is_there || (asked.empty && asked.message.is_some()) {
            return Ok(());
        }
        Err(LandError::NoChange(self.handle.clone()).into())
    }

    /// Refuses to land changes of issues that are somebody else's matter: those that are there and not over.
    pub(super) fn check_others(&self, source: &ObjectId, asked: &Asked) -> Result<()> {
        let named = |path: &Vec<u8>| {
            let text = String::from_utf8_lossy(path).into_owned();
            let rest = text.strip_prefix(&format!("{DATA}/issues/"))?.to_owned();
            IssueId::parse(rest.split('/').next()?)
        };
        let onto = self.onto()?;
        let base = self.plumbing.base(&onto, source)?.unwrap_or(onto);
        let changed = self.plumbing.changed(&base, source)?;
        let changed = changed.iter().filter(|path| !notes::is_note(path));
        let others: BTreeSet<IssueId> = changed.filter_map(named).filter(|other| *other != self.id).collect();
        let mut foreign = Vec::new();
        for other in others.into_iter().filter(|other| !asked.with.contains(other)) {
            let path = format!("{DATA}/issues/{other}/issue.json");
            if self.plumbing.show(&onto, &path)?.is_none() {
                continue;
            }
            let bytes = self.plumbing.show(source, &path)?.unwrap_or_default();
            let issue = serde_json::from_slice::<Issue>(&bytes).ok();
            if issue.is_none_or(|issue| !issue.state.is_over()) {
                foreign.push(self.writer.issues.handle(other));
            }
        }
        if foreign.is_empty() { Ok(()) } else { Err(LandError::OtherIssues(foreign).into()) }
    }

    /// The issue that has to land before this one, if there is one: where it is enough that it is done to begin, it is
    /// not enough to land.
    pub(super) fn waits_for(&self) -> Result<Option<String>> {
        let issues = &self.writer.issues;
        let deps = issues.see(self.id, Scope::All, |seen| {
            seen.deps.members().filter_map(IssueId::parse).collect::<Vec<_>>()
        })?;
        for dep in deps {
            let waits = issues.see(dep, Scope::All, |seen| {
                let is_on_its_way = seen.standing.satisfies(Satisfied::Done);
                let has_landed = seen.standing.satisfies(Satisfied::Landed);
                (is_on_its_way && !has_landed).then(|| seen.issue.title.to_string())
            });
            // One that is gone is nobody's to wait for.
            if let Ok(Some(title)) = waits {
                return Ok(Some(format!("it waits for {} ({title}) to land", issues.handle(dep))));
            }
        }
        Ok(None)
    }
}
