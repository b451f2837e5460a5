//! Making one change of an issue, under its lock. Whoever asks for a claim must not wait for what takes long: so what the
//! change consists of is found out before the section of the claims is entered, and its files are written beside their
//! places. In the section the lease is checked, and the files get their names.

use holdfast_store::Held;
use holdfast_store::whole::Staged;
use holdfast_sys::LockMode;

use super::copy::{Copy, Local};
use super::draft::Draft;
use super::files::{Content, Place};
use super::locks::Locks;
use super::permit::{self, Grant, Permit};
use super::redo::Noted;
use super::writer::{Changed, Writer};
use crate::config::EnforceLeases;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::notes;
use crate::times::rfc3339;

/// What is done to an issue.
pub(super) type Act<'a, T> = &'a mut dyn FnMut(&mut Draft) -> Result<T>;

/// A change that is about to be written.
pub(super) struct Prepared<T> {
    value: T,
    pub(super) draft: Draft,
    pub(super) local: Local,
    pub(super) content: Content,
    pub(super) at: String,
    /// Whether anything of the issue differs.
    pub(super) changed: bool,
    /// Whether a file is written.
    pub(super) written: bool,
}

impl<T> Prepared<T> {
    pub(super) fn done(self) -> Changed<T> {
        Changed { value: self.value, draft: self.draft, written: self.written }
    }
}

impl Writer<'_> {
    /// Makes a change alone with the issue, under the lease if there has to be one.
    pub(super) fn alone<T>(&self, id: IssueId, what: &'static str, act: Act<'_, T>) -> Result<Changed<T>> {
        let mut lock = self.locks.issue(id)?;
        let _section = lock.enter(self.session.sys(), LockMode::Exclusive)?;
        let (prepared, grant) = self.found_out(id, what, act)?;
        self.finish(prepared, grant, what, act)
    }

    /// Finds out what a change consists of, and under which lease it is to be made. Runs under the lock of the issue.
    pub(super) fn found_out<T>(
        &self,
        id: IssueId,
        what: &'static str,
        act: Act<'_, T>,
    ) -> Result<(Prepared<T>, Option<Box<Grant>>)> {
        self.catch_up(id)?;
        let grant = match permit::find(self, id, what)? {
            Permit::Free => None,
            Permit::Under(grant) => match self.check(&grant) {
                Ok(()) => Some(grant),
                Err(error) => self.without_lease(error, id, what).map(|()| None)?,
            },
        };
        Ok((self.prepare(id, grant.as_deref(), act)?, grant))
    }

    /// Writes a change that was found out, alone. Runs under the lock of the issue.
    pub(super) fn finish<T>(
        &self,
        mut prepared: Prepared<T>,
        grant: Option<Box<Grant>>,
        what: &'static str,
        act: Act<'_, T>,
    ) -> Result<Changed<T>> {
        if let Some(grant) = grant {
            let id = prepared.draft.id();
            match self.write_under(&prepared, &grant) {
                Ok(()) => return Ok(prepared.done()),
                Err(error) => self.without_lease(error, id, what)?,
            }
            prepared = self.prepare(id, None, act)?;
        }
        self.write(&prepared, None)?;
        Ok(prepared.done())
    }

    /// Goes on although the claim has run out, if that is why something failed and the configuration does not insist on
    /// one.
    fn without_lease(&self, error: Error, id: IssueId, what: &'static str) -> Result<()> {
        match error {
            Error::Refused(_) if self.mode != EnforceLeases::Strict => {
                permit::unclaimed(self, id, what);
                Ok(())
            }
            other => Err(other),
        }
    }

    /// Puts right what somebody who died left of an issue. Runs under its lock.
    pub(super) fn catch_up(&self, id: IssueId) -> Result<()> {
        self.complete(id)?;
        self.outbox().settle_made(id, true).map(drop)
    }

    /// Asks again about a lease that was over when it was looked at, before anything is done in vain.
    fn check(&self, grant: &Grant) -> Result<()> {
        if grant.was_in_force {
            return Ok(());
        }
        Ok(self.session.claims().medium.guarded(&grant.claim(), &mut |_| {})?)
    }

    /// Writes a change under a lease. If that is refused, nothing was written.
    fn write_under<T>(&self, prepared: &Prepared<T>, grant: &Grant) -> Result<()> {
        if self.is_brief(prepared) {
            return self.write_briefly(prepared, grant);
        }
        let medium = self.session.claims().medium.as_medium();
        medium.write_under(&grant.claim(), &[], |held| self.write(prepared, Some(held)))?
    }

    /// Finds out what a change consists of.
    fn prepare<T>(&self, id: IssueId, grant: Option<&Grant>, act: Act<'_, T>) -> Result<Prepared<T>> {
        let sys = self.session.sys();
        let at = rfc3339(&sys.clock.now()?);
        let copy = Copy::newest(&self.issues, id)?;
        let local = copy.local;
        // Whoever holds the issue has its newest copy here, also if an earlier change was cut off.
        let behind = grant.is_some() && local.issue.as_ref() != Some(&copy.issue);
        let mut draft =
            Draft::new(sys, id, self.agent(), at.clone(), copy.issue, copy.labels, copy.deps, copy.results);
        let value = act(&mut draft)?;
        self.settle(&mut draft)?;
        draft.stamp(grant.map(|grant| (grant.lease.fence, grant.counter)));
        let content = content(&draft, &local);
        content.check(id)?;
        let changed = draft.is_changed();
        let written = draft.bring || behind || changed;
        Ok(Prepared { value, draft, local, content, at, changed, written })
    }

    /// Whether a change is nothing but the issue's own files in this worktree. What is handed over, judged or finished is
    /// several steps, all of which belong into the section.
    pub(super) fn is_brief<T>(&self, prepared: &Prepared<T>) -> bool {
        let Prepared { draft, local, content, .. } = prepared;
        let is_judged = content.results != local.results || local.old_results;
        !self.session.is_linked() && !is_judged && draft.finished().is_none()
    }

    /// Writes a change of which nothing but that its files get their names happens in the section.
    fn write_briefly<T>(&self, prepared: &Prepared<T>, grant: &Grant) -> Result<()> {
        let Prepared { draft, local, content, at, changed, written, .. } = prepared;
        let (id, data) = (draft.id(), self.session.own_data()?);
        let place = Place::new(self.session.sys(), &data, id);
        let noted = self.note_change(draft, &data)?;
        let made = self.logged(&Locks::of(id), draft.events(), Some(grant.lease.id), at, || {
            let staged = if *written { place.stage(content, local)? } else { None };
            let is_staged = staged.is_some();
            let medium = self.session.claims().medium.as_medium();
            medium.write_under(&grant.claim(), &[], |held| {
                if held.counter() != grant.counter {
                    return Err(Error::Internal(format!(
                        "{id} was to be written under the fence of another log"
                    )));
                }
                Ok(staged.map_or(Ok(()), Staged::reveal)?)
            })??;
            if is_staged { place.flush_names() } else { Ok(()) }
        });
        if matches!(made, Ok(()) | Err(Error::Refused(_))) {
            noted.iter().for_each(Noted::done);
        }
        if made.is_ok() && *changed {
            self.take_back(id)?;
        }
        made
    }

    /// Writes a change, all of it, in the section that it is allowed in.
    fn write<T>(&self, prepared: &Prepared<T>, held: Option<&Held<'_>>) -> Result<()> {
        let Prepared { draft, local, content, at, changed, written, .. } = prepared;
        if *changed && let Some(held) = held {
            self.note_finished(draft, held)?;
        }
        let (id, data) = (draft.id(), self.session.own_data()?);
        let noted = self.note_change(draft, &data)?;
        self.logged(&Locks::of(id), draft.events(), held.map(|held| held.lease().id), at, || {
            let is_kept = *changed && self.hand_over(draft)?;
            let place = Place::new(self.session.sys(), &data, id);
            if !written {
                return Ok(());
            }
            // What is finished counts only while this worktree says so itself.
            if is_kept && draft.finished().is_none() {
                place.write_copy(content, local)
            } else {
                place.write(content, local)
            }
        })?;
        noted.iter().for_each(Noted::done);
        if *changed && !self.session.is_linked() {
            self.take_back(id)?;
        }
        if *changed && held.is_some() && draft.finished().is_some() {
            notes::bring(self.session, id)?;
        }
        Ok(())
    }
}

/// What the files shall hold after a change.
fn content(draft: &Draft, local: &Local) -> Content {
    let same = local.issue.as_ref() == Some(draft.issue());
    Content {
        issue: (!same).then(|| draft.issue().bytes()),
        labels: draft.labels.bytes.clone(),
        deps: draft.deps.bytes.clone(),
        results: draft.results().files(draft.id()),
    }
}
