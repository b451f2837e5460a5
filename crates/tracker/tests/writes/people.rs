//! What people do on a stage: they claim issues, make them and change them.

use holdfast_kernel::{LeaseId, Millis, Request};
use holdfast_tracker::claims::{Claimant, Terms, resource};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::keep;
use holdfast_tracker::writes::{Changed, Draft, Fresh, Results, Writer, blank};
use holdfast_tracker::{Result, Session};

use crate::stage::{ANNA, Agent, Stage, parsed};

impl Stage {
    /// Somebody claims an issue.
    pub(crate) fn claim(&mut self, agent: Agent, id: &str) -> LeaseId {
        self.claim_for(agent, id, Millis::from_secs(600))
    }

    pub(crate) fn claim_for(&mut self, agent: Agent, id: &str, span: Millis) -> LeaseId {
        let id = parsed(id);
        self.by(agent, move |session| claimed(session, id, span))
    }

    pub(crate) fn claim_all(&mut self, agent: Agent, ids: &[&str]) {
        for id in ids {
            self.claim(agent, id);
        }
    }

    /// Somebody gives a claim back.
    pub(crate) fn release(&mut self, agent: Agent, lease: LeaseId) {
        self.by(agent, move |session| keep::release(session, &lease.to_string()).map(drop).unwrap());
    }

    /// The lease on an issue, if there is one.
    pub(crate) fn lease(&mut self, id: &str) -> Option<LeaseId> {
        let id = parsed(id);
        self.by(ANNA, move |session| lease_on(session, id))
    }

    /// Somebody changes an issue.
    pub(crate) fn change<T: Send + 'static>(
        &mut self,
        agent: Agent,
        id: &str,
        act: impl FnMut(&mut Draft) -> Result<T> + Send + 'static,
    ) -> std::result::Result<Changed<T>, String> {
        let id = parsed(id);
        self.by(agent, move |session| changed(session, id, act))
    }

    /// Somebody changes an issue, which has to work.
    pub(crate) fn edit(
        &mut self,
        agent: Agent,
        id: &str,
        mut act: impl FnMut(&mut Draft) + Send + 'static,
    ) -> Changed<()> {
        let changed = self.change(agent, id, move |draft| {
            act(draft);
            Ok(())
        });
        changed.unwrap()
    }

    /// Anna claims an issue and changes it.
    pub(crate) fn held_change<T: Send + 'static>(
        &mut self,
        id: &str,
        act: impl FnMut(&mut Draft) -> Result<T> + Send + 'static,
    ) -> Changed<T> {
        self.claim(ANNA, id);
        self.change(ANNA, id, act).unwrap()
    }

    /// Somebody makes an issue of this id, with labels and dependencies.
    pub(crate) fn create(
        &mut self,
        agent: Agent,
        id: &str,
        labels: &[&str],
        on: &[&str],
    ) -> std::result::Result<(), String> {
        let fresh = fresh(id, labels, on);
        self.by(agent, move |session| created(session, fresh))
    }
}

/// Whoever asks claims an issue for so long.
pub(crate) fn claimed(session: &Session, id: IssueId, span: Millis) -> LeaseId {
    let who = Claimant { holder: session.holder().unwrap().clone(), tags: session.tags().unwrap() };
    let terms = Terms { request: Request::Finite(span), reason: None, reserve: None };
    session.claims_to_change().unwrap().acquire(id, &who, &terms).unwrap();
    lease_on(session, id).unwrap()
}

fn lease_on(session: &Session, id: IssueId) -> Option<LeaseId> {
    let view = session.claims().view().unwrap();
    view.table.on(&resource(id).unwrap()).next().map(|lease| lease.id)
}

pub(crate) fn changed<T>(
    session: &Session,
    id: IssueId,
    act: impl FnMut(&mut Draft) -> Result<T>,
) -> std::result::Result<Changed<T>, String> {
    let writer = Writer::open(session).map_err(|error| error.to_string())?;
    writer.change(id, "changing", act).map_err(|error| error.to_string())
}

pub(crate) fn created(
    session: &Session,
    fresh: impl FnOnce(&Session) -> Fresh,
) -> std::result::Result<(), String> {
    let writer = Writer::open(session).map_err(|error| error.to_string())?;
    writer.create(fresh(session)).map(drop).map_err(|error| error.to_string())
}

/// An issue of this id that is to be made.
pub(crate) fn fresh(
    id: &str,
    labels: &[&str],
    on: &[&str],
) -> impl FnOnce(&Session) -> Fresh + Send + 'static {
    let (id, labels) = (id.to_owned(), labels.iter().map(ToString::to_string).collect());
    let dependencies = on.iter().map(|id| parsed(id)).collect();
    move |session| {
        let mut issue = blank(session.sys(), "made".to_owned()).unwrap();
        issue.id = id;
        Fresh { issue, labels, dependencies, results: Results::default() }
    }
}
