//! What the holder of a claim does with it, and what an operator does to it.

use holdfast_kernel::{Answer, Command, Holder, Lease, Millis, Name, Transfer};
use serde::Serialize;

use crate::agent::AgentId;
use crate::claims::lease::{Beaten, Evicted, Released, Renewed, Shown, Transferred, left};
use crate::claims::{Claimant, Claims, branch_tags, reason, seconds, warn};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::output::Report;
use crate::workspace::Workspace;
use crate::{heartbeat, worktree};

/// Somebody who changes a claim.
struct Actor<'a> {
    context: &'a Context,
    workspace: Workspace,
    agent: AgentId,
    claims: Claims,
    holder: Holder,
}

impl<'a> Actor<'a> {
    fn new(context: &'a Context) -> Result<Self> {
        let workspace = Workspace::open(context)?;
        let agent = context.identity()?.agent;
        let claims = Claims::to_write(context, &workspace, &agent)?;
        let holder = Claimant::here(context, &workspace, &agent)?.holder;
        Ok(Self { context, workspace, agent, claims, holder })
    }

    /// Has the command carried out and reports it, to programs as `document` makes it.
    fn carry_out<T: Serialize>(
        &self,
        command: &Command,
        verb: &str,
        document: fn(Shown) -> T,
    ) -> Result<(Lease, Report)> {
        let lease = match self.claims.command(command)? {
            Answer::Renewed(lease)
            | Answer::Beaten(lease)
            | Answer::Released(lease)
            | Answer::Transferred(lease)
            | Answer::Evicted(lease) => lease,
            other => return Err(Error::unexpected("change a lease", &other)),
        };
        let view = self.claims.view()?;
        let threshold = self.workspace.config.coordination.lease_renewal_threshold_pct;
        warn::ending(&self.context.printer, &view, &self.agent, threshold);
        let time = if view.table.get(lease.id).is_some() {
            format!(": {}", left(&lease, &view.now))
        } else {
            String::new()
        };
        let text = format!("{verb} {}, lease {} of {}{time}\n", lease.resource, lease.id, lease.holder);
        let document = document(Shown::new(&lease, &view.now));
        let report = Report::new(text, &document).brief(lease.id.to_string());
        Ok((lease, report))
    }
}

/// Prolongs a claim.
pub(super) fn renew(context: &Context, typed: &str, ttl: Option<&str>) -> Result<Report> {
    let ttl = ttl.map(|text| seconds("--ttl", text)).transpose()?.map(Millis::from_secs);
    let actor = Actor::new(context)?;
    let lease = actor.claims.resolve(typed)?.id;
    let command = Command::Renew { lease, holder: actor.holder.clone(), ttl };
    Ok(actor.carry_out(&command, "renewed", |lease| Renewed { lease, renewed: true })?.1)
}

/// Gives a sign of life for a claim without a deadline.
pub(super) fn beat(context: &Context, typed: &str) -> Result<Report> {
    let actor = Actor::new(context)?;
    let lease = actor.claims.resolve(typed)?.id;
    let command = Command::Beat { lease, holder: actor.holder.clone() };
    let (_, report) = actor.carry_out(&command, "beaten", |lease| Beaten { lease, beaten: true })?;
    heartbeat::write(
        context,
        &actor.workspace,
        &actor.holder,
        actor.workspace.config.coordination.heartbeat_interval_secs,
    )?;
    Ok(report)
}

/// Gives a claim back.
pub(super) fn release(context: &Context, typed: &str) -> Result<Report> {
    let actor = Actor::new(context)?;
    let lease = actor.claims.resolve(typed)?.id;
    let command = Command::Release { lease, holder: actor.holder.clone() };
    Ok(actor.carry_out(&command, "released", |lease| Released { lease, released: true })?.1)
}

/// Takes a claim away from its holder.
pub(super) fn evict(context: &Context, typed: &str, why: &str) -> Result<Report> {
    let reason = reason("--reason", why)?;
    let actor = Actor::new(context)?;
    let lease = actor.claims.resolve(typed)?.id;
    let command = Command::Evict { lease, by: actor.holder.clone(), reason };
    let (lease, report) = actor.carry_out(&command, "evicted", |lease| Evicted { lease, evicted: true })?;
    context.printer.warn(&format!("{} has lost its claim on {}", lease.holder, lease.resource));
    Ok(report)
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
    let actor = Actor::new(context)?;
    let known = worktree::all(context, &actor.workspace)?;
    let target = known.iter().find(|entry| entry.worktree_id.as_deref() == Some(to_worktree));
    let target = target.ok_or_else(|| Error::NoSuchWorktree(to_worktree.to_owned()))?;
    let place = Name::new(to_worktree).map_err(|_| Error::NoSuchWorktree(to_worktree.to_owned()))?;
    let command = Command::Transfer(Transfer {
        lease: actor.claims.resolve(typed)?.id,
        holder: actor.holder.clone(),
        id: actor.claims.fresh_id()?,
        to: Holder { agent: agent.name().clone(), place },
        reason,
        tags: branch_tags(target.branch.as_deref()),
    });
    Ok(actor.carry_out(&command, "transferred", |lease| Transferred { lease, transferred: true })?.1)
}
