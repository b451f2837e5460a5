//! Looking at claims. Nothing here writes a byte.

use std::collections::BTreeMap;

use holdfast_door::table;
use holdfast_kernel::{Lease, Resource};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::output::Report;
use crate::output::leases::{all, as_of, listing};
use holdfast_tracker::Session;
use holdfast_tracker::agent::AgentId;
use holdfast_tracker::claims::events::Envelope;
use holdfast_tracker::claims::lease::{ClaimListOutput, Kind};
use holdfast_tracker::claims::resource;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::ids::{IssueId, Typed};
use holdfast_tracker::issues::{Issues, Scope};

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

impl Told {
    fn row(&self) -> [String; 6] {
        let [number, when, what, issue, by, why] = self.event.row();
        [number, when, what, self.handle.clone().unwrap_or(issue), by, why]
    }
}

/// Shows who has claimed what.
pub(super) fn status(
    context: &Context,
    issue: Option<&str>,
    agent: Option<&str>,
    kind: Kind,
) -> Result<Report> {
    let session = context.session()?;
    let agent = agent.map(AgentId::new).transpose()?;
    let view = session.claims().view()?;
    let ids = view.table.iter().filter_map(|lease| IssueId::of(&lease.resource));
    let issue = issue.map(|typed| meant(&session, typed, ids.collect())).transpose()?;
    let wanted = |lease: &&Lease| {
        !lease.standing(&view.now).is_over()
            && kind.has(lease)
            && issue.as_ref().is_none_or(|issue| lease.resource == *issue)
            && agent.as_ref().is_none_or(|agent| lease.holder.agent == *agent.name())
    };
    let leases: Vec<&Lease> = view.table.iter().filter(wanted).collect();
    session.warn_of_ending(&view);
    let worktrees = session.visible_worktrees();
    let issues = Issues::new(&session);
    let shown = all(&issues, leases.iter().copied(), &view.now, &worktrees);
    let brief: Vec<_> = shown.iter().map(|lease| lease.lease_id.clone()).collect();
    let paint = context.printer.paint();
    let text = listing(session.sys(), paint, &leases, &shown, &view.now, &worktrees) + as_of(&session);
    let count = shown.len();
    Ok(Report::new(text, &ClaimListOutput { leases: shown, count }).brief(brief.join("\n")))
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

/// Shows everything that happened.
pub(super) fn history(context: &Context, issue: Option<&str>) -> Result<Report> {
    let session = context.session()?;
    let claims = session.claims();
    let mut events = Vec::new();
    claims.medium.history(&mut |record| events.push(Envelope::of(record)))?;
    if let Some(typed) = issue {
        let known = events.iter().filter_map(|event| IssueId::parse(event.subject())).collect();
        let issue = meant(&session, typed, known)?;
        events.retain(|event| event.subject() == issue.text());
    }
    let issues = Issues::new(&session);
    let mut titles = BTreeMap::new();
    let mut told = Vec::with_capacity(events.len());
    for event in events {
        let id = IssueId::parse(event.subject());
        let title = |id| issues.see(id, Scope::Nearest, |seen| seen.issue.title.to_string()).ok();
        let title = id.and_then(|id| titles.entry(id).or_insert_with(|| title(id)).clone());
        told.push(Told { handle: id.map(|id| issues.handle(id)), title, event });
    }
    let rows: Vec<_> = told.iter().map(Told::row).collect();
    let text = if rows.is_empty() {
        "no events\n".into()
    } else {
        table(["NUMBER", "WHEN", "WHAT", "ISSUE", "BY", "WHY"], &rows)
    };
    let count = told.len();
    Ok(Report::new(text, &ClaimHistoryOutput { events: told, count }))
}
