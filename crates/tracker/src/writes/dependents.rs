//! Deleting an issue. Nothing may be left that depends on what is not there, so those who depend on it lose
//! that dependency first: a crash in between leaves an issue that nobody waits for, and no dangling edge.
//!
//! That is a write to each of them. Where leases are insisted on, the dependents are leased for the moment: one
//! that somebody else holds refuses the whole deletion before anything is changed.

use holdfast_kernel::{Answer, Command, Lease, LeaseId, Request};
use holdfast_sys::LockMode;
use serde_json::json;

use super::deleted;
use super::events::{Event, Witness};
use super::files::Place;
use super::locks::Locks;
use super::members::{DEPS, deps_of};
use super::permit;
use super::writer::Writer;
use crate::claims::{Claimant, Terms, reason};
use crate::config::EnforceLeases;
use crate::error::Result;
use crate::ids::IssueId;
use crate::notes;
use crate::times::rfc3339;

/// What became of a deletion.
pub struct Deleted {
    /// The issue's title.
    pub title: String,
    /// Those that depended on it.
    pub dependents: Vec<IssueId>,
}

impl Writer<'_> {
    /// Deletes an issue, and gives the claim on it back.
    ///
    /// # Errors
    /// When the caller may not, when somebody else holds one that depends on it, or when it cannot be written.
    pub fn delete(&self, id: IssueId) -> Result<Deleted> {
        let mut graph = self.locks.graph()?;
        let section = graph.enter(self.session.sys(), LockMode::Exclusive)?;
        self.may(id, "deleting")?;
        let title = self.issues.base(id)?.title;
        let dependents = self.dependents(id)?;
        let taken = self.take(id, &dependents)?;
        let done = self.cut(id, &dependents).and_then(|()| self.remove(id));
        drop(section);
        for lease in taken {
            self.give_back(lease);
        }
        done?;
        self.give_back_own(id);
        Ok(Deleted { title, dependents })
    }

    /// The issues that depend on one.
    fn dependents(&self, id: IssueId) -> Result<Vec<IssueId>> {
        let text = id.to_string();
        let mut found = Vec::new();
        for other in self.issues.ids()? {
            // Most name it nowhere, and need not be understood.
            let copies = self.issues.copies(&format!("issues/{other}/{DEPS}"))?;
            let named = |copy: &Vec<u8>| copy.windows(text.len()).any(|part| part == text.as_bytes());
            if copies.iter().any(named) && deps_of(&self.issues, other)?.contains(&text) {
                found.push(other);
            }
        }
        Ok(found)
    }

    /// Takes leases on the dependents that the caller does not hold; all of them or none.
    fn take(&self, id: IssueId, dependents: &[IssueId]) -> Result<Vec<LeaseId>> {
        if self.mode != EnforceLeases::Strict {
            return Ok(Vec::new());
        }
        let agent = self.session.agent()?;
        let ttl = self.session.config().ttl_for(&agent.file, agent.id.kind());
        let why = reason("--reason", &format!("{id} is deleted"))?;
        let terms = Terms { request: Request::Finite(ttl), reason: Some(why), reserve: None };
        let claims = self.session.claims_to_change()?;
        let who = Claimant { holder: self.session.holder()?.clone(), tags: self.session.tags()? };
        let mut taken = Vec::new();
        for dependent in dependents {
            match claims.acquire(*dependent, &who, &terms) {
                Ok(Answer::Granted(lease)) => taken.push(lease.id),
                Ok(_) => {}
                Err(error) => {
                    taken.into_iter().for_each(|lease| self.give_back(lease));
                    return Err(error);
                }
            }
        }
        Ok(taken)
    }

    fn cut(&self, id: IssueId, dependents: &[IssueId]) -> Result<()> {
        let id = id.to_string();
        for dependent in dependents {
            self.change(*dependent, "changing", |draft| draft.depend(&id, false))?;
        }
        Ok(())
    }

    fn remove(&self, id: IssueId) -> Result<()> {
        self.guarded(id, "deleting", &mut |held| {
            let sys = self.session.sys();
            let now = rfc3339(&sys.clock.now()?);
            let data = self.session.own_data()?;
            let title = self.issues.base(id)?.title;
            let witnesses =
                vec![deleted::witness(id, &now), Witness::gone(format!("issues/{id}/issue.json"))];
            let title = json!({ "title": title });
            let event = Event::about("issue.deleted", &id.to_string(), title, witnesses);
            self.logged(&Locks::of(id), vec![event], held.map(|held| held.lease().id), &now, || {
                // The mark of all worktrees comes first: from then on nobody is granted the issue.
                if let Some(shared) = self.session.shared_data() {
                    deleted::mark(sys, shared, id, &now, self.locks.access().places())?;
                }
                deleted::mark(sys, &data, id, &now, (0o755, 0o644))?;
                Place::new(sys, &data, id).remove()?;
                notes::forget(self.session, id);
                self.take_back(id)
            })
        })
    }

    /// Gives the caller's own claim on what is gone back.
    fn give_back_own(&self, id: IssueId) {
        if self.is_known
            && let Ok((Some(Lease { id, .. }), _)) = permit::lease(self.session, id)
        {
            self.give_back(id);
        }
    }

    /// Gives a lease back. One that cannot be given back ends by itself.
    fn give_back(&self, lease: LeaseId) {
        if let Some(holder) = self.holder() {
            let _ = self.session.claims().command(&Command::Release { lease, holder: holder.clone() });
        }
    }
}
