//! Taking a claim: on an issue, on the best one, on a fresh one.

use holdfast_kernel::{Again, Answer, Lease, Policy, Refusal};
use serde_json::json;

use crate::claims::lease::{One, Shown, left};
use crate::claims::wait::{self, Waiter};
use crate::claims::{Claimant, Claims, Terms, warn};
use crate::cli;
use crate::commands::issue;
use crate::context::{Context, Identity};
use crate::control::Access;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issues, Priority, State, typed};
use crate::output::Report;
use crate::workspace::Workspace;

/// Everything that taking a claim needs.
struct Taker<'a> {
    context: &'a Context,
    workspace: Workspace,
    identity: Identity,
    terms: Terms,
}

impl<'a> Taker<'a> {
    fn new(context: &'a Context, typed: &cli::Terms) -> Result<Self> {
        let workspace = Workspace::open(context)?;
        let identity = context.identity()?;
        let terms = Terms::parse(typed, &workspace.config, &identity)?;
        Ok(Self { context, workspace, identity, terms })
    }

    fn claims(&self) -> Result<(Claims, Claimant)> {
        let claims = Claims::to_write(self.context, &self.workspace, &self.identity.agent)?;
        let who = Claimant::here(self.context, &self.workspace, &self.identity.agent)?;
        Ok((claims, who))
    }

    /// Reports a grant, and warns of what is about to end.
    fn report(&self, claims: &Claims, answer: Answer) -> Result<Report> {
        let view = claims.view()?;
        let threshold = self.workspace.config.coordination.lease_renewal_threshold_pct;
        warn::ending(&self.context.printer, &view, &self.identity.agent, threshold);
        crate::heartbeat::start(self.context, &self.identity);
        let (lease, already) = match answer {
            Answer::AlreadyHeld(lease) => (lease, true),
            Answer::Granted(lease) => (lease, false),
            other => return Err(unexpected(&other)),
        };
        let verb = if already { "already claimed" } else { "claimed" };
        let text = format!(
            "{verb} {} as {}: {}\nlease {}, fence {}\n",
            lease.resource,
            lease.holder,
            left(&lease, &view.now),
            lease.id,
            lease.fence
        );
        let one = One { lease: Shown::new(&lease, &view.now), already_held: Some(already) };
        Ok(Report::new(text, &one).brief(lease.id.to_string()))
    }
}

/// The medium answered another question.
fn unexpected(answer: &Answer) -> Error {
    Error::Usage(format!("the log answered {answer:?}"))
}

/// Claims an issue.
pub(super) fn acquire(
    context: &Context,
    issue: &str,
    terms: &cli::Terms,
    wait: Option<&str>,
) -> Result<Report> {
    let limit = wait.map(wait::limit).transpose()?;
    let taker = Taker::new(context, terms)?;
    let issue = Issues::new(context, &taker.workspace).resolve(issue)?;
    let (claims, who) = taker.claims()?;
    let answer = match limit {
        None => claims.acquire(issue, &who, &taker.terms)?,
        Some(limit) => {
            let group = taker.workspace.config.coordination.shared_group.as_deref();
            let access = Access::of(&context.sys, group)?;
            let agent = &taker.identity.agent;
            let waiter = Waiter { context, claims: &claims, issue, agent, access };
            waiter.acquire(&who, &taker.terms, limit)?
        }
    };
    taker.report(&claims, answer)
}

/// Claims the best issue that is available: nobody can come in between looking and taking.
pub(super) fn next(
    context: &Context,
    terms: &cli::Terms,
    priority: Option<&str>,
    resume: bool,
) -> Result<Report> {
    let taker = Taker::new(context, terms)?;
    let mut candidates = available(context, &taker.workspace, priority)?;
    let (claims, who) = taker.claims()?;
    if resume {
        let table = claims.view()?.table;
        let mine = |lease: &&Lease| lease.holder == who.holder;
        let held = table.iter().filter(mine).filter_map(|lease| IssueId::parse(lease.resource.as_str()));
        candidates.splice(..0, held);
    }
    let commands: Vec<_> = candidates
        .into_iter()
        .map(|issue| claims.acquiring(issue, &who, &taker.terms))
        .collect::<Result<_>>()?;
    // What this agent holds already is not available, not even to itself.
    let again = if resume { Again::Return } else { Again::Refuse };
    let policy = Policy { again, ..claims.policy.clone() };
    let taken = claims.log.transact_first(&policy, &commands, &is_taken)?;
    let (_, answer) = taken.ok_or(Error::NothingAvailable)?;
    taker.report(&claims, answer)
}

const fn is_taken(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Held { .. } | Refusal::ClockSkew { .. } | Refusal::AlreadyHeld { .. })
}

/// The issues that can be worked on, the most important and oldest first.
fn available(context: &Context, workspace: &Workspace, priority: Option<&str>) -> Result<Vec<IssueId>> {
    let priority = priority.map(|text| typed::<Priority>("--priority", text)).transpose()?;
    let listing = Issues::new(context, workspace).all()?;
    for problem in &listing.problems {
        context.printer.warn(problem);
    }
    let mut ready: Vec<_> = listing
        .issues
        .iter()
        .filter(|(_, issue)| issue.state == State::Ready)
        .filter(|(_, issue)| priority.is_none_or(|priority| issue.priority == priority))
        .map(|(id, issue)| (issue.priority, *id))
        .collect();
    ready.sort();
    Ok(ready.into_iter().map(|(_, id)| id).collect())
}

/// Creates an issue and claims it.
pub(super) fn create(context: &Context, typed: &cli::CreateIssue, terms: &cli::Terms) -> Result<Report> {
    let taker = Taker::new(context, terms)?;
    let (claims, who) = taker.claims()?;
    let issue = issue::create(context, &taker.workspace, typed)?;
    let id = IssueId::parse(&issue.id).ok_or_else(|| Error::BadId(issue.id.clone()))?;
    let answer = claims.acquire(id, &who, &taker.terms)?;
    let mut report = taker.report(&claims, answer)?;
    if let Some(document) = report.json.as_object_mut() {
        document.insert("issue".to_owned(), json!(issue));
    }
    Ok(report)
}
