//! Evictions that wait for approval, and what became of one.

use schemars::JsonSchema;
use serde::Serialize;

use super::leases::shown;
use crate::approvals::{Approved, rules};
use crate::claims::approvals::Request;
use crate::claims::lease::Shown;
use crate::error::Result;
use crate::issues::Issues;
use crate::session::Session;
use crate::times::rfc3339;

/// An eviction that somebody asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Asked {
    /// The claim that is to be ended.
    pub lease: Shown,
    /// Who asked for it.
    pub asked_by: String,
    /// When.
    pub asked_at: String,
    /// Until when it can be approved.
    pub expires_at: Option<String>,
    /// Why, as it was said.
    pub reason: Option<String>,
    /// Who has approved it.
    pub approved_by: Vec<String>,
    /// How many approvals are missing.
    pub missing: u32,
}

impl Asked {
    fn new(issues: &Issues<'_>, request: &Request, missing: u32, now: &holdfast_kernel::Stamp) -> Self {
        Self {
            lease: shown(issues, &request.lease, now),
            asked_by: request.asked.holder.agent.to_string(),
            asked_at: rfc3339(&request.asked.granted),
            expires_at: request.asked.deadline().map(|at| rfc3339(&at)),
            reason: request.asked.reason.as_ref().map(ToString::to_string),
            approved_by: request.approvers(),
            missing,
        }
    }
}

/// An approval, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimApproveOutput {
    /// The eviction.
    pub request: Asked,
    /// Always true.
    pub approved: bool,
    /// Whether that was the last approval, and the claim is ended.
    pub evicted: bool,
}

/// Evictions that wait for approval, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimRequestsOutput {
    /// The evictions, in the order in which they were asked for.
    pub requests: Vec<Asked>,
    /// How many.
    pub count: usize,
}

fn missing(lacks: Option<(u32, u32)>) -> u32 {
    lacks.map_or(0, |(given, needed)| needed.saturating_sub(given))
}

/// What became of an approval.
///
/// # Errors
/// When the clock cannot be read.
pub fn approved(session: &Session, approved: &Approved) -> Result<ClaimApproveOutput> {
    let now = session.sys().clock.now()?;
    let missing = missing(approved.lacks);
    let request = Asked::new(&Issues::new(session), &approved.request, missing, &now);
    Ok(ClaimApproveOutput { request, approved: true, evicted: missing == 0 })
}

/// The evictions that wait for approval.
///
/// # Errors
/// When claims or configuration cannot be read.
pub fn requests(session: &Session) -> Result<ClaimRequestsOutput> {
    let found = session.claims().requests()?;
    if found.is_empty() {
        return Ok(ClaimRequestsOutput { requests: Vec::new(), count: 0 });
    }
    let (now, rules, issues) = (session.sys().clock.now()?, rules(session)?, Issues::new(session));
    let asked =
        found.iter().map(|request| Asked::new(&issues, request, missing(request.lacks(&rules)), &now));
    let requests: Vec<Asked> = asked.collect();
    Ok(ClaimRequestsOutput { count: requests.len(), requests })
}
