//! Evictions that need approval: what waits, and saying yes.

use std::io::IsTerminal as _;

use holdfast_door::table;
use holdfast_tracker::answers::approvals::{self as answers, Asked};
use holdfast_tracker::approvals::{self, Presence};
use holdfast_tracker::claims::reason;
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;

use crate::cli::Fresh;
use crate::context::Context;
use crate::output::Report;
use crate::output::leases::Called;

/// Approves an eviction, which happens if that was the last approval that it needs.
pub(super) fn approve(context: &Context, typed: &str, why: Option<&str>) -> Result<Report> {
    let why = why.map(|text| reason("--reason", text)).transpose()?;
    // Where both are a terminal, somebody is at it.
    let is_there = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let presence = if is_there { Presence::Person } else { Presence::Program };
    let session = context.session()?;
    let approved = approvals::approve(&session, typed, why.as_ref(), presence)?;
    let document = answers::approved(&session, &approved)?;
    let lease = &approved.request.lease;
    let issues = Issues::new(&session);
    let called = Called::of(&issues, lease).phrase();
    let text = match document.request.missing {
        0 => format!("approved; evicted {} from {called}\n", lease.holder.agent),
        missing => {
            format!("approved the eviction of {} from {called}: {missing} more to go\n", lease.holder.agent)
        }
    };
    Ok(Report::new(text, &document).brief(lease.id.to_string()))
}

/// Shows the evictions that wait for approval.
pub(super) fn requests(context: &Context, claims: Fresh) -> Result<Report> {
    let session = context.session()?;
    claims.ask(&session)?;
    let document = answers::requests(&session)?;
    let rows: Vec<_> = document.requests.iter().map(row).collect();
    let text = if rows.is_empty() {
        "no eviction waits for approval\n".into()
    } else {
        table(["ISSUE", "HELD BY", "ASKED BY", "APPROVED BY", "MISSING", "WHY"], &rows)
    };
    let brief: Vec<_> = document.requests.iter().map(|asked| asked.lease.lease_id.clone()).collect();
    Ok(Report::new(text, &document).brief(brief.join("\n")))
}

fn row(asked: &Asked) -> [String; 6] {
    [
        asked.lease.handle.clone().unwrap_or_default(),
        asked.lease.agent_id.clone(),
        asked.asked_by.clone(),
        asked.approved_by.join(", "),
        asked.missing.to_string(),
        asked.reason.clone().unwrap_or_default(),
    ]
}
