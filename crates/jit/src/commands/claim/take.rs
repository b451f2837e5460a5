//! Taking a claim: on an issue, on the best one, on a fresh one.

use holdfast_kernel::{Again, Answer, Command, Lease, Policy, Refusal, RefusalKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::claims::lease::{One, Shown, left};
use crate::claims::wait::{self, Waiter};
use crate::claims::{Claimant, Claims, Terms, warn};
use crate::cli;
use crate::commands::issue::{self, show::Whole};
use crate::context::{Context, Identity};
use crate::control::Access;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::output::{Form, Report};
use crate::queries::{Board, Claimed, Filter, can_be_worked_on};
use crate::workspace::Workspace;
use crate::writes::Writer;

/// An issue that was made and claimed, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Created {
    /// The issue.
    pub issue: Whole,
    /// The claim on it.
    #[serde(flatten)]
    pub claim: One,
}

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

    /// Reports a grant.
    fn report(&self, claims: &Claims, answer: Answer) -> Result<Report> {
        let (text, one) = self.granted(claims, answer)?;
        Ok(Report::new(text, &one).brief(one.lease.lease_id))
    }

    /// What there is to say of a grant. Warns of what is about to end.
    fn granted(&self, claims: &Claims, answer: Answer) -> Result<(String, One)> {
        let view = claims.view()?;
        let threshold = self.workspace.config.coordination.lease_renewal_threshold_pct;
        warn::ending(&self.context.printer, &view, &self.identity.agent, threshold);
        crate::heartbeat::start(self.context, &self.identity);
        let (lease, already) = match answer {
            Answer::AlreadyHeld(lease) => (lease, true),
            Answer::Granted(lease) => (lease, false),
            other => return Err(Error::unexpected("grant a lease", &other)),
        };
        self.bring(&lease);
        let verb = if already { "already claimed" } else { "claimed" };
        let text = format!(
            "{verb} {} as {}: {}\nlease {}, fence {}\n",
            lease.resource,
            lease.holder,
            left(&lease, &view.now),
            lease.id,
            lease.fence
        );
        Ok((text, One { lease: Shown::new(&lease, &view.now), already_held: Some(already) }))
    }
}

impl Taker<'_> {
    /// Brings what is claimed here, so that it can be worked on. The lease is granted whether or not that
    /// succeeds, and its holder has to be told of it.
    fn bring(&self, lease: &Lease) {
        let Some(id) = IssueId::parse(lease.resource.as_str()) else { return };
        let brought = Writer::open(self.context, &self.workspace).and_then(|writer| writer.bring(id));
        if let Err(error) = brought {
            self.context.printer.warn(&format!("{id} could not be brought into this worktree: {error}"));
        }
    }
}

impl Taker<'_> {
    /// Takes the first of the candidates that is free and still can be worked on: while it is free, somebody
    /// else may have taken, finished and released it since it was looked at. Once it is held, nobody can.
    fn first(
        &self,
        claims: &Claims,
        who: &Claimant,
        mut candidates: Vec<IssueId>,
        resume: bool,
    ) -> Result<Answer> {
        // What this agent holds already is not available, not even to itself.
        let again = if resume { Again::Return } else { Again::Refuse };
        let policy = Policy { again, ..claims.policy.clone() };
        let issues = Issues::new(self.context, &self.workspace);
        loop {
            let ask = |issue: &IssueId| claims.acquiring(*issue, who, &self.terms);
            let commands: Vec<_> = candidates.iter().map(ask).collect::<Result<_>>()?;
            let taken = claims.log.transact_first(&policy, &commands, &is_taken)?;
            let (at, answer) = taken.ok_or(Error::NothingAvailable)?;
            let Answer::Granted(lease) = &answer else { return Ok(answer) };
            let issue = candidates.drain(..=at).next_back();
            let claimed = Claimed::load(self.context, &self.workspace)?;
            if issue.map_or(Ok(false), |issue| can_be_worked_on(&issues, &claimed, issue))? {
                return Ok(answer);
            }
            claims.command(&Command::Release { lease: lease.id, holder: who.holder.clone() })?;
        }
    }
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
    filters: &cli::Filters,
    resume: bool,
) -> Result<Report> {
    let taker = Taker::new(context, terms)?;
    let mut candidates = available(context, &taker.workspace, filters)?;
    let (claims, who) = taker.claims()?;
    if resume {
        let table = claims.view()?.table;
        let mine = |lease: &&Lease| lease.holder == who.holder;
        let held = table.iter().filter(mine).filter_map(|lease| IssueId::parse(lease.resource.as_str()));
        candidates.splice(..0, held);
    }
    let answer = taker.first(&claims, &who, candidates, resume)?;
    taker.report(&claims, answer)
}

const fn is_taken(refusal: &Refusal) -> bool {
    refusal.blocker().is_some() || matches!(refusal.kind(), RefusalKind::AlreadyHeld)
}

/// The issues that can be worked on, the most important and oldest first.
fn available(context: &Context, workspace: &Workspace, filters: &cli::Filters) -> Result<Vec<IssueId>> {
    let filter = Filter::new(filters)?;
    let issues = Issues::new(context, workspace);
    let board = Board::load(&issues, Claimed::load(context, workspace)?, &filter, Form::Brief)?;
    issues.warn(&board.problems);
    Ok(board.available().iter().map(|node| node.id).collect())
}

/// Creates an issue and claims it.
///
/// # Errors
/// What went wrong.
pub fn create(context: &Context, typed: &cli::CreateIssue, terms: &cli::Terms) -> Result<Report> {
    let taker = Taker::new(context, terms)?;
    let (claims, who) = taker.claims()?;
    let draft = issue::create(context, &taker.workspace, typed)?;
    let answer = claims.acquire(draft.id(), &who, &taker.terms)?;
    let (text, claim) = taker.granted(&claims, answer)?;
    let brief = claim.lease.lease_id.clone();
    Ok(Report::new(text, &Created { issue: Whole::from(&draft), claim }).brief(brief))
}
