//! Looking at claims. Nothing here writes a byte.

use holdfast_door::table;
use holdfast_kernel::{Lease, Name};
use schemars::JsonSchema;
use serde::Serialize;

use crate::agent::AgentId;
use crate::claims::events::Envelope;
use crate::claims::lease::{Many, Shown, listing};
use crate::claims::{Claims, resource, warn};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ids::{IssueId, Typed};
use crate::issues::Issues;
use crate::output::Report;
use crate::workspace::Workspace;

/// What happened to claims, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct History {
    /// The events, in their order.
    pub events: Vec<Envelope>,
    /// How many.
    pub count: usize,
}

/// Shows who has claimed what.
pub(super) fn status(context: &Context, issue: Option<&str>, agent: Option<&str>) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    let agent = agent.map(AgentId::new).transpose()?;
    let claims = Claims::to_read(context, &workspace);
    let view = claims.view()?;
    let ids = view.table.iter().filter_map(|lease| IssueId::parse(lease.resource.as_str()));
    let issue = issue.map(|typed| meant(context, &workspace, typed, ids.collect())).transpose()?;
    let wanted = |lease: &&Lease| {
        !lease.standing(&view.now).is_over()
            && issue.as_ref().is_none_or(|issue| lease.resource == *issue)
            && agent.as_ref().is_none_or(|agent| lease.holder.agent == *agent.name())
    };
    let leases: Vec<&Lease> = view.table.iter().filter(wanted).collect();
    if let Some(agent) = context.known_agent() {
        let threshold = workspace.config.coordination.lease_renewal_threshold_pct;
        warn::ending(&context.printer, &view, &agent, threshold);
    }
    let shown: Vec<_> = leases.iter().map(|lease| Shown::new(lease, &view.now)).collect();
    let brief: Vec<_> = shown.iter().map(|lease| lease.lease_id.clone()).collect();
    let text = listing(leases.into_iter(), &view.now);
    let count = shown.len();
    Ok(Report::new(text, &Many { leases: shown, count }).brief(brief.join("\n")))
}

/// The issue that was meant, among those that are claimed and those that can be seen.
fn meant(context: &Context, workspace: &Workspace, typed: &str, claimed: Vec<IssueId>) -> Result<Name> {
    let among_claimed = Typed::new(typed)?.only(claimed);
    match Issues::new(context, workspace).resolve(typed) {
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
    let workspace = Workspace::open(context)?;
    let claims = Claims::to_read(context, &workspace);
    let mut events = Vec::new();
    claims.log.history(&mut |record| events.push(Envelope::of(record)))?;
    if let Some(typed) = issue {
        let known = events.iter().filter_map(|event| IssueId::parse(event.issue())).collect();
        let issue = meant(context, &workspace, typed, known)?;
        events.retain(|event| event.issue() == issue.as_str());
    }
    let rows: Vec<_> = events.iter().map(Envelope::row).collect();
    let text = if rows.is_empty() {
        "nothing has happened\n".into()
    } else {
        table(["NUMBER", "WHEN", "WHAT", "ISSUE", "BY", "WHY"], &rows)
    };
    let count = events.len();
    Ok(Report::new(text, &History { events, count }))
}
