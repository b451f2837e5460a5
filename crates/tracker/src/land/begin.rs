//! Beginning work: the claim, the branch, the state, and what there is to know.

use holdfast_kernel::Lease;

use super::checkout::Checkout;
use super::going;
use super::started::Started;
use super::working::Working;
use super::{Briefing, begun, held_here, over};
use crate::claims::{Claimant, Terms};
use crate::error::{Error, LandError, Result, named};
use crate::ids::IssueId;
use crate::issues::{Issue, Issues, State};
use crate::notice::Notice;
use crate::queries::Filter;
use crate::session::Session;
use crate::take::{self, Patience, Taken};
use crate::workspace;
use crate::writes::Writer;

/// What is wanted.
pub struct Wanted<'a> {
    /// This issue, or the best one that is available.
    pub issue: Option<IssueId>,
    /// Among these.
    pub filter: &'a Filter,
    /// One more, also if one is held here already.
    pub another: bool,
    /// Where.
    pub on: Branch,
}

/// The branch that is worked on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branch {
    /// The issue's own. If that is where the worktree is, it goes on with what is there.
    Own,
    /// The issue's own, without what somebody has left in the worktree.
    Fresh,
    /// The one that the worktree is on.
    Here,
}

/// Work that was begun.
pub struct Begun {
    /// The claim.
    pub taken: Taken,
    /// The issue.
    pub issue: Issue,
    /// What it is called.
    pub handle: String,
    /// The branch to work on; none outside of git.
    pub branch: Option<String>,
    /// What there is to know.
    pub briefing: Briefing,
}

/// Claims an issue and begins work on it. What is held here already is what is returned, unless another one is wanted.
///
/// # Errors
/// The refusal, a worktree that cannot go to another branch, or what failed. Nothing is claimed then.
pub fn start(
    session: &Session,
    wanted: &Wanted<'_>,
    terms: &Terms,
    patience: Option<&Patience<'_>>,
) -> Result<Begun> {
    let working = Working::begin(session)?;
    going::settle(session)?;
    if !held_here(session)?.is_empty() {
        // It may have landed, and whoever asked for that was killed before it heard of it. What is not known goes on as before.
        let _ = take::catch_up(session);
    }
    over::go_on(session, wanted.issue)?;
    let taken = match resumed(session, wanted)? {
        Some(taken) => {
            if let Some(paths) = &terms.reserve {
                let who = Claimant { holder: session.holder()?.clone(), tags: session.tags()? };
                session.claims_to_change()?.reserve(paths, &who, Some(&taken.lease))?;
            }
            taken
        }
        None => {
            wanted.issue.map_or(Ok(()), |id| over::refuse(session, id))?;
            let checkout = checkout(session, wanted, working.as_ref())?;
            let between = |lease: &Lease| {
                // Whoever held it until now may have finished it, and nobody can once it is held here.
                wanted.issue.map_or(Ok(()), |id| over::refuse(session, id))?;
                checkout.as_ref().map_or(Ok(()), |checkout| checkout.switch(lease))
            };
            match wanted.issue {
                Some(issue) => take::acquire_then(session, issue, terms, patience, Some(&between))?,
                None => {
                    // What was granted to somebody who was killed before it heard of it is known only now.
                    let next =
                        || take::next_then(session, terms, wanted.filter, !wanted.another, Some(&between));
                    take::within(session, patience, next)?
                }
            }
        }
    };
    // Whoever was cut off between the grant and the branch goes there now.
    let has_begun = IssueId::of(&taken.lease.resource)
        .is_some_and(|id| Started::read(session, id, taken.lease.fence.get()).is_some());
    if taken.already_held && wanted.on != Branch::Here && !has_begun {
        go_on_to_branch(session, &taken.lease, working.as_ref())?;
    }
    begin(session, taken)
}

/// The worktree, if it is to go to another branch. One that has work on the very issue stays where it is.
fn checkout<'a>(
    session: &'a Session,
    wanted: &Wanted<'_>,
    working: Option<&'a Working<'a>>,
) -> Result<Option<Checkout<'a>>> {
    if wanted.on == Branch::Here {
        return Ok(None);
    }
    match Checkout::prepare(session, working) {
        Err(Error::Land(LandError::Busy { what, files, begun: Some(begun), .. }))
            if wanted.on == Branch::Own && wanted.issue.is_some_and(|id| id.to_string() == begun.issue) =>
        {
            session.notice(&Notice::GoesOn { handle: begun.handle, what: what + &named(&files) });
            Ok(None)
        }
        prepared => prepared,
    }
}

/// Goes to the branch of an issue whose holder was cut off between the grant and that; a worktree with work in it stays
/// where it is.
///
/// # Errors
/// When git cannot.
pub fn go_to_branch(session: &Session, lease: &Lease) -> Result<()> {
    go_on_to_branch(session, lease, None)
}

fn go_on_to_branch(session: &Session, lease: &Lease, working: Option<&Working<'_>>) -> Result<()> {
    let id = IssueId::of(&lease.resource);
    if id.is_none() || begun(session, &Issues::new(session))? == id {
        return Ok(());
    }
    match Checkout::prepare(session, working) {
        Ok(Some(checkout)) => checkout.switch(lease),
        Ok(None) | Err(Error::Land(LandError::Busy { .. } | LandError::UnderWay { .. })) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What is held here already, if that is what is wanted.
fn resumed(session: &Session, wanted: &Wanted<'_>) -> Result<Option<Taken>> {
    let held = held_here(session)?;
    let is_meant = |(id, _): &&(IssueId, Lease)| wanted.issue == Some(*id);
    let lease = match (wanted.issue, held.as_slice()) {
        (Some(_), _) => held.iter().find(is_meant).map(|(_, lease)| lease.clone()),
        (None, _) if wanted.another => None,
        (None, []) => None,
        (None, [(_, only)]) => Some(only.clone()),
        (None, several) => {
            let issues = Issues::new(session);
            let handles = several.iter().map(|(id, _)| issues.handle(*id)).collect();
            return Err(LandError::SeveralClaims(handles).into());
        }
    };
    let now = session.sys().clock.now()?;
    Ok(lease.map(|lease| Taken { lease, already_held: true, now }))
}

fn begin(session: &Session, taken: Taken) -> Result<Begun> {
    let resource = taken.lease.resource.text();
    let id = IssueId::parse(resource)
        .ok_or_else(|| Error::Internal(format!("{resource} was claimed as an issue")))?;
    let writer = Writer::open(session)?;
    let before = writer.issues.read(id)?;
    let fence = taken.lease.fence.get();
    if Started::read(session, id, fence).is_none() {
        let base = match session.repository() {
            Some(repository) => workspace::head_commit(&session.caller, repository)?,
            None => None,
        };
        // Whoever gives back what is half done, or done and not landed, gives it back to be done.
        let state = match before.state {
            State::Backlog | State::Ready => before.state,
            _ => State::Ready,
        };
        Started { fence, state, base: base.map(|base| base.to_string()) }.write(session, id)?;
    }
    let agent = session.agent()?.id.to_string();
    // What was done since it has landed is a part of it; it is not begun again, or others would be offered it.
    let has_landed = before.state.is_over() && over::has_landed(&writer.issues, id)?;
    let changed = writer.begin(id, |draft| {
        if draft.issue().state != State::InProgress && !has_landed {
            draft.step(State::InProgress, false);
        }
        draft.edit().assignee = Some(agent.clone());
        Ok(())
    })?;
    let issues = Issues::new(session);
    let branch = session.branch()?;
    let briefing = Briefing::of(session, &issues, id, &before, branch.as_deref())?;
    let (issue, handle) = (changed.draft.issue().clone(), issues.handle(id));
    Ok(Begun { taken, issue, handle, branch, briefing })
}
