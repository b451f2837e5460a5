//! Who has claimed what, and what happened to claims. Nothing here writes a byte.

use std::collections::BTreeMap;

use holdfast_kernel::{Lease, Resource, Stamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::leases::all;
use crate::agent::AgentId;
use crate::claims::events::Envelope;
use crate::claims::lease::{ClaimListOutput, Kind};
use crate::claims::resource;
use crate::error::{Error, Result};
use crate::ids::{IssueId, Typed};
use crate::issues::{Issues, Scope};
use crate::session::Session;
use crate::worktree::Entry;

/// What happened to claims, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ClaimHistoryOutput {
    /// The events, in their order.
    pub events: Vec<Told>,
    /// How many.
    pub count: usize,
}

/// An event, with what its issue is called.
#[derive(Serialize, JsonSchema)]
pub struct Told {
    /// The event.
    #[serde(flatten)]
    pub event: Envelope,
    /// What the issue is called where people read and type.
    pub handle: Option<String>,
    /// What the issue is about, if it can be read.
    pub title: Option<String>,
}

/// Which claims are wanted.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Only those on this issue.
    pub issue: Option<&'a str>,
    /// Only those of this agent.
    pub agent: Option<&'a str>,
    /// What they are on.
    pub kind: Kind,
}

/// Claims that were looked at.
pub struct Looked {
    /// The leases.
    pub leases: Vec<Lease>,
    /// The same for programs.
    pub document: ClaimListOutput,
    /// When it was looked.
    pub now: Stamp,
    /// The worktrees that there are.
    pub worktrees: Vec<Entry>,
}

/// Who has claimed what.
///
/// # Errors
/// When the claims cannot be read, or what is wanted is not known.
pub fn status(session: &Session, wanted: &Wanted<'_>) -> Result<Looked> {
    let agent = wanted.agent.map(AgentId::new).transpose()?;
    let view = session.claims().view()?;
    let ids = view.table.iter().filter_map(|lease| IssueId::of(&lease.resource));
    let issue = wanted.issue.map(|typed| meant(session, typed, ids.collect())).transpose()?;
    let is_wanted = |lease: &&Lease| {
        !lease.standing(&view.now).is_over()
            && wanted.kind.has(lease)
            && issue.as_ref().is_none_or(|issue| lease.resource == *issue)
            && agent.as_ref().is_none_or(|agent| lease.holder.agent == *agent.name())
    };
    let mut leases: Vec<Lease> = view.table.iter().filter(is_wanted).cloned().collect();
    // Ids of one moment have no order of their own.
    leases.sort_by_key(|lease| lease.fence);
    session.warn_of_ending(&view);
    let worktrees = session.visible_worktrees();
    let issues = Issues::new(session);
    let shown = all(&issues, leases.iter(), &view.now, &worktrees);
    let document = ClaimListOutput { count: shown.len(), leases: shown };
    Ok(Looked { leases, document, now: view.now, worktrees })
}

/// The issue that was meant, among those that are claimed and those that can be seen.
fn meant(session: &Session, typed: &str, claimed: Vec<IssueId>) -> Result<Resource> {
    let among_claimed = Typed::new(typed)?.issue(&claimed);
    match Issues::new(session).resolve(typed) {
        Ok(issue) => resource(issue),
        // An issue that only another worktree has can be claimed all the same.
        Err(Error::NoIssue(id)) => match among_claimed? {
            Some(issue) => resource(issue),
            None => Err(Error::NoIssue(id)),
        },
        Err(error) => Err(error),
    }
}

/// Everything that happened to claims: on one issue, or on all.
///
/// # Errors
/// When the claims cannot be read, or there is no such issue.
pub fn history(session: &Session, issue: Option<&str>) -> Result<ClaimHistoryOutput> {
    let mut events = Vec::new();
    session.claims().medium.history(&mut |record| events.push(Envelope::of(record)))?;
    if let Some(typed) = issue {
        let known = events.iter().filter_map(Envelope::issue).collect();
        let issue = meant(session, typed, known)?;
        let issue = IssueId::of(&issue);
        events.retain(|event| event.issue() == issue);
    }
    let issues = Issues::new(session);
    let mut titles = BTreeMap::new();
    let mut told = Vec::with_capacity(events.len());
    for event in events {
        let id = event.issue();
        let title = |id| issues.see(id, Scope::Nearest, |seen| seen.issue.title.to_string()).ok();
        let title = id.and_then(|id| titles.entry(id).or_insert_with(|| title(id)).clone());
        told.push(Told { handle: id.map(|id| issues.handle(id)), title, event });
    }
    Ok(ClaimHistoryOutput { count: told.len(), events: told })
}
