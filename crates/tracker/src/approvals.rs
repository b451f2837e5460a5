//! Taking a claim away, where that may need approval: what is configured, who asks, who approves. Every eviction goes
//! through here, whichever command or door it comes from.

use holdfast_kernel::{Holder, Lease, Name, Refusal, Text};

use crate::claims::approvals::{Request, Rule};
use crate::config::{Config, ForceEvict, Sources};
use crate::error::{ApprovalError, Error, Result};
use crate::session::Session;
use crate::target::Target;
use crate::workspace::DATA;
use crate::workspace::{self, Ground};

/// The kind of agents that are people.
const PERSON: &str = "person:";

/// Whether a person is there when something is approved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// At a terminal, or with the dashboard in a browser.
    Person,
    /// A program asks, and nobody may be watching it.
    Program,
}

/// What became of an approval.
#[derive(Clone, Debug)]
pub struct Approved {
    /// The claim, which is ended once enough have approved.
    pub request: Request,
    /// How many have approved, of how many that are needed; none if that is enough.
    pub lacks: Option<(u32, u32)>,
}

/// What the end of a claim needs: nothing, or what every one of these says. A worktree whose branch is older than a rule is
/// held to it all the same, so the target's configuration counts as well as that of the worktree, that of the main
/// worktree, where a rule may not be committed yet, and the user's and the machine's.
///
/// # Errors
/// When a configuration cannot be read.
pub fn rules(session: &Session) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    let mut add = |config: &Config| {
        let said = &config.policies;
        let rule = Rule { approvers: said.approvers.clone(), approvals: said.approvals };
        if said.force_evict == ForceEvict::Approved && !rules.contains(&rule) {
            rules.push(rule);
        }
    };
    let (sys, caller) = (session.sys(), &session.caller);
    // Each by itself: what one leaves open is not for another one to fill in.
    add(&Config::load(sys, &Ground { repository: None, root: None }.sources(caller))?);
    for data in std::iter::once(session.own_data()?).chain(session.main_data()?) {
        let repository = Some(data.join("config.toml"));
        add(&Config::load(sys, &Sources { repository, ..Sources::default() })?);
    }
    let Some(repository) = session.repository() else { return Ok(rules) };
    // Where work lands can be configured too; whoever changed that is still held to what the usual branch says.
    let usual = Config::load(sys, &Sources::default())?;
    let mut tips = Vec::new();
    for config in [session.config(), &usual] {
        tips.extend(Target::find(caller, repository, config)?.iter().flat_map(Target::tips));
    }
    tips.dedup();
    let path = format!("{DATA}/config.toml");
    let objects = workspace::objects(caller, repository)?;
    for tip in tips {
        let entry = objects.entry(&objects.commit(&tip)?.tree, path.as_bytes())?;
        let bytes = entry.map(|entry| objects.blob(&entry.id, 1 << 20)).transpose()?;
        add(&Config::load_committed(sys, &Sources::default(), path.as_ref(), bytes)?);
    }
    Ok(rules)
}

/// Takes a claim away from its holder; where that needs approval and does not have it, asks for it.
///
/// # Errors
/// [`ApprovalError::Needed`], the refusal, or what failed.
pub fn evict(session: &Session, lease: &Lease, by: &Holder, reason: &Text) -> Result<Lease> {
    let (claims, rules) = (session.claims_to_change()?, rules(session)?);
    if let Some(leave) = claims.leave(&rules, lease.id, by)? {
        return claims.end(leave, reason);
    }
    let request = claims.ask_for_end(lease, by, reason)?;
    // It may have been approved when somebody asked before.
    match claims.leave(&rules, lease.id, by)? {
        Some(leave) => claims.end(leave, reason),
        None => Err(needed(&request, &rules).into()),
    }
}

fn needed(request: &Request, rules: &[Rule]) -> ApprovalError {
    let (given, needed) = request.lacks(rules).unwrap_or_default();
    let mut approvers: Vec<String> = Vec::new();
    for approver in rules.iter().flat_map(|rule| &rule.approvers) {
        if !approvers.contains(approver) {
            approvers.push(approver.clone());
        }
    }
    ApprovalError::Needed {
        lease: Box::new(request.lease.clone()),
        asked_by: request.asked.holder.agent.to_string(),
        approved_by: request.approvers(),
        approvers,
        given,
        needed,
    }
}

/// Approves the end of a claim that somebody asked for; with the last approval that it needs, the claim ends.
///
/// # Errors
/// When nobody asked for it, the caller may not approve it, or something failed.
pub fn approve(session: &Session, lease: &str, why: Option<&Text>, presence: Presence) -> Result<Approved> {
    let claims = session.claims_to_change()?;
    // It may have been asked for in another clone.
    claims.ask()?;
    let lease = claims.resolve(lease)?;
    let by = session.holder()?;
    let rules = rules(session)?;
    let Some(request) = claims.request(&lease)? else {
        return Err(ApprovalError::NoRequest { lease: Box::new(lease) }.into());
    };
    may_approve(&request, &rules, &by.agent, presence)?;
    claims.approve(&lease, by, why)?;
    let request = claims.request(&lease)?.unwrap_or(request);
    let lacks = request.lacks(&rules);
    if lacks.is_none() {
        end(session, &request, &rules)?;
    }
    Ok(Approved { request, lacks })
}

/// Ends a claim that enough have approved the end of; whoever approved at the same time may have been faster.
fn end(session: &Session, request: &Request, rules: &[Rule]) -> Result<()> {
    let (claims, by) = (session.claims(), session.holder()?);
    let reason = request.asked.reason.clone().map_or_else(|| Text::new("approved"), Ok);
    let reason = reason.map_err(|_| Error::Internal("a reason that cannot be kept".to_owned()))?;
    let leave = claims.leave(rules, request.lease.id, by);
    let Err(error) = leave.and_then(|leave| leave.map(|leave| claims.end(leave, &reason)).transpose()) else {
        return Ok(());
    };
    if let Error::Refused(refusal) = &error
        && let Refusal::NotFound { .. } = **refusal
    {
        return claims.close(by);
    }
    if let Error::NoLease(_) = error { claims.close(by) } else { Err(error) }
}

fn may_approve(request: &Request, rules: &[Rule], agent: &Name, presence: Presence) -> Result<()> {
    let agent_id = agent.to_string();
    if request.asked.holder.agent == *agent {
        return Err(ApprovalError::Own { agent: agent_id }.into());
    }
    if let Some(rule) = rules.iter().find(|rule| !rule.lets(agent)) {
        return Err(ApprovalError::NotApprover { agent: agent_id, approvers: rule.approvers.clone() }.into());
    }
    if agent_id.starts_with(PERSON) && presence == Presence::Program {
        return Err(ApprovalError::NotThere { agent: agent_id }.into());
    }
    Ok(())
}

/// Whether all claims may be ended at once, where a place of shared claims begins anew.
///
/// # Errors
/// [`ApprovalError::AllAtOnce`], or what failed.
pub(crate) fn refuse_all_at_once(session: &Session) -> Result<()> {
    if rules(session)?.is_empty() {
        return Ok(());
    }
    let agent = session.agent()?.id.name();
    // Who holds what may be unknown: that is what a place that was lost comes to.
    let holders = session.claims().view().map(|view| {
        let others = view.table.iter().filter(|lease| lease.holder.agent != *agent);
        let in_force = others.filter(|lease| !lease.standing(&view.now).is_over());
        in_force.map(|lease| lease.holder.agent.to_string()).collect::<Vec<_>>()
    });
    match holders {
        Ok(holders) if holders.is_empty() => Ok(()),
        known => Err(ApprovalError::AllAtOnce { holders: known.unwrap_or_default() }.into()),
    }
}
