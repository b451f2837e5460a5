//! What the holder of a claim does with it, and what an operator does to it.

use holdfast_kernel::Millis;
use holdfast_tracker::Session;
use holdfast_tracker::agent::AgentId;
use holdfast_tracker::claims::lease::{
    ClaimEvictOutput, ClaimHeartbeatOutput, ClaimReleaseOutput, ClaimRenewOutput, ClaimTransferOutput, Shown,
    left,
};
use holdfast_tracker::claims::{reason, seconds};
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::keep::{self, Kept};
use serde::Serialize;

use crate::context::Context;
use crate::output::Report;
use crate::output::leases::Called;

/// Prolongs a claim.
pub(super) fn renew(context: &Context, typed: &str, ttl: Option<&str>) -> Result<Report> {
    let ttl = ttl.map(|text| seconds("--ttl", text)).transpose()?.map(Millis::from_secs);
    let session = context.session()?;
    let kept = keep::renew(&session, typed, ttl)?;
    Ok(report(&session, &kept, "renewed", |lease| ClaimRenewOutput { lease, renewed: true }))
}

/// Beats for a claim without a deadline.
pub(super) fn beat(context: &Context, typed: &str) -> Result<Report> {
    let session = context.session()?;
    let kept = keep::beat(&session, typed)?;
    Ok(report(&session, &kept, "beaten", |lease| ClaimHeartbeatOutput { lease, beaten: true }))
}

/// Gives a claim back.
pub(super) fn release(context: &Context, typed: &str) -> Result<Report> {
    let session = context.session()?;
    let kept = keep::release(&session, typed)?;
    Ok(report(&session, &kept, "released", |lease| ClaimReleaseOutput { lease, released: true }))
}

/// Takes a claim away from its holder.
pub(super) fn evict(context: &Context, typed: &str, why: &str) -> Result<Report> {
    let reason = reason("--reason", why)?;
    let session = context.session()?;
    let kept = keep::evict(&session, typed, &reason)?;
    Ok(report(&session, &kept, "evicted", |lease| ClaimEvictOutput { lease, evicted: true }))
}

/// Hands a claim to another agent, in a worktree that is there.
pub(super) fn transfer(
    context: &Context,
    typed: &str,
    to_agent: &str,
    to_worktree: &str,
    why: &str,
) -> Result<Report> {
    let reason = reason("--reason", why)?;
    let agent = AgentId::new(to_agent)?;
    let session = context.session()?;
    let kept = keep::transfer(&session, typed, &agent, to_worktree, reason)?;
    Ok(report(&session, &kept, "transferred", |lease| ClaimTransferOutput { lease, transferred: true }))
}

/// Says what became of a claim, to programs as `document` makes it.
fn report<T: Serialize>(session: &Session, kept: &Kept, verb: &str, document: fn(Shown) -> T) -> Report {
    let Kept { lease, is_there, now } = kept;
    let issues = Issues::new(session);
    let called = Called::of(&issues, lease);
    let time = if *is_there { format!(": {}", left(lease, now)) } else { String::new() };
    let text = format!("{verb} {} of {}{time}\n", called.phrase(), lease.holder);
    Report::new(text, &document(called.shown(session, lease, now))).brief(lease.id.to_string())
}
