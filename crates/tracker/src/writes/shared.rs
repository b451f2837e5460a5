//! What linked worktrees hand over. A branch is merged some day, or its worktree is removed before; until then
//! nobody else would know that an issue is done, and it would be worked on twice. So whatever is written in a
//! linked worktree is also put into the control plane, where every worktree sees it. It goes from there once
//! the main worktree has it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdfast_sys::LockMode;

use super::copy::results_in;
use super::draft::Draft;
use super::files::{Content, Place};
use super::locks::Locks;
use super::members::{DEPS, LABELS};
use super::results;
use super::writer::Writer;
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{Issue, LONGEST};

/// How many that were handed over are looked at after a change: no change pays for the whole past.
const LOOKED_AT: usize = 4;

/// How many are left lying by whoever begins to work: they go together then, with one flush.
pub(super) const FEW: usize = 8;

impl Writer<'_> {
    /// Hands over what this worktree is about to write. That comes first: whoever is cut off in between and
    /// tries again finds it here, and writes it. Says whether there is anything to hand it over to.
    pub(super) fn hand_over(&self, draft: &Draft) -> Result<bool> {
        let Some(shared) = self.session.shared_data().filter(|_| self.session.is_linked()) else {
            return Ok(false);
        };
        let content = Content {
            issue: Some(draft.issue().bytes()),
            labels: draft.labels.bytes.clone(),
            deps: draft.deps.bytes.clone(),
            results: draft.results().files(draft.id()),
        };
        Place::shared(self.session.sys(), shared, draft.id(), self.locks.access()).replace(&content)?;
        Ok(true)
    }

    /// Takes away what was handed over, because the main worktree has written something later, or because
    /// the issue is gone. Runs under the issue's lock.
    pub(super) fn take_back(&self, id: IssueId) -> Result<()> {
        match self.session.shared_data() {
            Some(shared)
                if durable::is_dir(self.session.sys(), &shared.join("issues").join(id.to_string()))? =>
            {
                Place::shared(self.session.sys(), shared, id, self.locks.access()).remove()
            }
            _ => Ok(()),
        }
    }

    /// Looks at some that were handed over, if there are as many, and takes away those that the main worktree has by now.
    /// Runs under no lock. What it cannot tell stays, and harms nobody.
    pub(super) fn tidy_shared(&self, at_least: usize) {
        let sys = self.session.sys();
        let Some(shared) = self.session.shared_data() else { return };
        let Ok(Some(main)) = self.main() else { return };
        let names = sys.files.list(&shared.join("issues")).unwrap_or_default();
        if names.len() < at_least {
            return;
        }
        let Ok(nonce) = sys.entropy.nonce() else { return };
        let start = usize::try_from(nonce % (names.len().max(1) as u128)).unwrap_or(0);
        let some = names.iter().cycle().skip(start).take(LOOKED_AT.min(names.len()));
        let some = some.filter_map(|name| IssueId::parse(name.to_str()?));
        let hide = |id| self.hide_if_known(shared, &main, id).ok().flatten().map(|gone| (id, gone));
        let gone: Vec<_> = some.filter_map(hide).collect();
        if gone.is_empty() || sys.files.sync_dir(&shared.join("issues")).is_err() {
            return;
        }
        for (id, gone) in gone {
            Place::shared(sys, shared, id, self.locks.access()).discard(&gone);
        }
    }

    fn main(&self) -> Result<Option<PathBuf>> {
        if self.session.is_linked() { self.session.main_data() } else { Ok(self.session.data()) }
    }

    fn hide_if_known(&self, shared: &Path, main: &Path, id: IssueId) -> Result<Option<PathBuf>> {
        let mut lock = self.locks.issue(id)?;
        let _section = lock.enter(self.session.sys(), LockMode::Exclusive)?;
        if self.has_all(shared, main, id)? {
            // What is taken away may be all that shows that something has happened.
            self.outbox().settle(&Locks::of(id))?;
            let place = Place::shared(self.session.sys(), shared, id, self.locks.access());
            let gone = place.hide()?;
            place.forget_results()?;
            return Ok(gone);
        }
        Ok(None)
    }

    /// Whether the main worktree has everything that was handed over of an issue, or something later.
    fn has_all(&self, shared: &Path, main: &Path, id: IssueId) -> Result<bool> {
        let read = |data: &Path, file: &str| durable::read(self.session.sys(), &data.join(file), LONGEST);
        let file = |name: &str| format!("issues/{id}/{name}");
        let lines = |bytes: Option<Vec<u8>>| -> BTreeSet<Vec<u8>> {
            bytes.unwrap_or_default().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
        };
        for name in [LABELS, DEPS] {
            if !lines(read(shared, &file(name))?).is_subset(&lines(read(main, &file(name))?)) {
                return Ok(false);
            }
        }
        let (old, sys) = (results::old_file(id), self.session.sys());
        let has_results = results_in(sys, shared, id)?.iter().all({
            let known = results_in(sys, main, id)?;
            move |(key, theirs)| known.get(key) == Some(theirs)
        });
        if !has_results || (read(shared, &old)?.is_some() && read(shared, &old)? != read(main, &old)?) {
            return Ok(false);
        }
        let issue =
            |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| serde_json::from_slice::<Issue>(&bytes).ok());
        let (theirs, ours) =
            (issue(read(shared, &file("issue.json"))?), issue(read(main, &file("issue.json"))?));
        Ok(theirs.zip(ours).is_some_and(|(theirs, ours)| {
            let one_log = theirs.fence_log.is_some() && theirs.fence_log == ours.fence_log;
            theirs == ours || (one_log && ours.fence >= theirs.fence)
        }))
    }
}
