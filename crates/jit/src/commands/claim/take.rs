//! Taking a claim: on an issue, on the best one, on a fresh one.

use holdfast_tracker::Session;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::claims::lease::{ClaimOutput, Shown, left};
use holdfast_tracker::claims::{Terms, wait};
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::keep;
use holdfast_tracker::take::{self, Patience, Taken};
use schemars::JsonSchema;
use serde::Serialize;

use crate::background;
use crate::cli;
use crate::commands::issue;
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::output::leases::Called;
use crate::output::{Report, Undo};

/// An issue that was made and claimed, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ClaimCreateOutput {
    /// The issue.
    pub issue: Whole,
    /// The claim on it.
    #[serde(flatten)]
    pub claim: ClaimOutput,
}

/// What was claimed, as one JSON object: one claim, or several.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AcquireOutput {
    /// One.
    One(Box<ClaimOutput>),
    /// Several, in the order of their ids.
    Several(SeveralOutput),
}

/// Several claims.
#[derive(Serialize, JsonSchema)]
pub struct SeveralOutput {
    /// The leases.
    pub leases: Vec<Shown>,
    /// How many.
    pub count: usize,
    /// The issues that were held already.
    pub already_held: Vec<String>,
}

/// Claims an issue, or several.
pub(super) fn acquire(
    context: &Context,
    typed: &[String],
    given: &cli::Terms,
    when_ready: bool,
    wait: Option<&str>,
) -> Result<Report> {
    let limit = wait.map(wait::limit).transpose()?;
    let session = context.session()?;
    let terms = terms(context, &session, given)?;
    let known = Issues::new(&session);
    let ids: Vec<IssueId> = typed.iter().map(|issue| known.resolve(issue)).collect::<Result<_>>()?;
    drop(known);
    let waits;
    let patience = match limit {
        None => None,
        Some(limit) => {
            waits = Interrupt::listen()?;
            Some(Patience { limit, waits: &waits })
        }
    };
    let mut taken = if when_ready {
        take::acquire_ready(&session, &ids, &terms, patience.as_ref())?
    } else {
        let taken = take::acquire_all(&session, &ids, &terms, patience.as_ref())?;
        for id in &ids {
            if let Some(waits) = take::waits_for(&session, &[*id])? {
                context.printer.warn(&waits.to_string());
            }
        }
        taken
    };
    match (taken.pop(), taken.is_empty()) {
        (Some(only), true) => report(context, session, &only),
        (last, _) => several(context, session, taken.into_iter().chain(last).collect()),
    }
}

fn several(context: &Context, session: Session, taken: Vec<Taken>) -> Result<Report> {
    background::start(context, &session)?;
    let issues = Issues::new(&session);
    let said = taken.iter().map(|taken| {
        let (text, ClaimOutput { lease, .. }) = said(&issues, taken);
        (text, lease)
    });
    let (text, leases): (String, Vec<Shown>) = said.unzip();
    let held = taken.iter().filter(|taken| taken.already_held);
    let already_held = held.map(|taken| taken.lease.resource.to_string()).collect();
    let brief: Vec<String> = leases.iter().map(|lease| lease.lease_id.clone()).collect();
    let document = SeveralOutput { count: leases.len(), leases, already_held };
    drop(issues);
    let fresh: Vec<String> =
        taken.iter().filter(|taken| !taken.already_held).map(|taken| taken.lease.id.to_string()).collect();
    let undo = move || {
        for lease in &fresh {
            keep::release(&session, lease)?;
        }
        Ok(format!("{} claims were released again", fresh.len()))
    };
    Ok(Report::new(text, &AcquireOutput::Several(document))
        .brief(brief.join("\n"))
        .or_undo(Some(Undo::new(undo))))
}

/// Claims the best issue that is available.
pub(super) fn next(
    context: &Context,
    typed: &cli::Terms,
    filters: &cli::Filters,
    resume: bool,
    wait: Option<&str>,
) -> Result<Report> {
    let limit = wait.map(wait::limit).transpose()?;
    let session = context.session()?;
    let terms = terms(context, &session, typed)?;
    let filter = filters.parse()?;
    let next = || take::next(&session, &terms, &filter, resume);
    let taken = match limit {
        None => next()?,
        Some(limit) => {
            let waits = &Interrupt::listen()?;
            take::within(&session, Some(&Patience { limit, waits }), next)?
        }
    };
    report(context, session, &taken)
}

/// Creates an issue and claims it.
pub fn create(context: &Context, typed: &cli::CreateIssue, given: &cli::Terms) -> Result<Report> {
    let session = context.session()?;
    let terms = terms(context, &session, given)?;
    let (draft, taken) = take::create(&session, issue::fresh(&session, typed)?, &terms)?;
    background::start(context, &session)?;
    let issues = Issues::new(&session);
    let (text, claim) = said(&issues, &taken);
    let brief = claim.lease.lease_id.clone();
    let report =
        Report::new(text, &ClaimCreateOutput { issue: Whole::new(&issues, &draft), claim }).brief(brief);
    Ok(report.or_undo(release(session, &taken)))
}

/// The terms that were typed.
///
/// # Errors
/// When they cannot be had.
pub fn terms(context: &Context, session: &Session, typed: &cli::Terms) -> Result<Terms> {
    match (&typed.keeper, &context.keeper) {
        (Some(pid), _) => session.name_keeper("--keeper", pid)?,
        (None, Some(pid)) => session.name_keeper("JIT_KEEPER_PID", &pid.to_string_lossy())?,
        (None, None) => {}
    }
    Terms::parse(typed.ttl.as_deref(), typed.reason.as_deref(), session.config(), session.agent()?)
}

fn report(context: &Context, session: Session, taken: &Taken) -> Result<Report> {
    background::start(context, &session)?;
    let issues = Issues::new(&session);
    let (text, one) = said(&issues, taken);
    drop(issues);
    Ok(Report::new(text, &one).brief(one.lease.lease_id).or_undo(release(session, taken)))
}

/// Gives a fresh claim back that nobody can be told of. One that was held already stays.
fn release(session: Session, taken: &Taken) -> Option<Undo> {
    let lease = taken.lease.id.to_string();
    let undo = move || {
        let kept = keep::release(&session, &lease)?;
        Ok(format!("the claim on {} was released again", kept.lease.resource))
    };
    (!taken.already_held).then(|| Undo::new(undo))
}

/// A claim for people and for programs. Its issue is read once for both.
fn said(issues: &Issues<'_>, Taken { lease, already_held, now }: &Taken) -> (String, ClaimOutput) {
    let called = Called::of(issues, lease);
    let verb = if *already_held { "already claimed" } else { "claimed" };
    let text = format!("{verb} {} as {}: {}\n", called.phrase(), lease.holder, left(lease, now));
    let lease = called.shown(issues.session(), lease, now);
    (text, ClaimOutput { lease, already_held: Some(*already_held) })
}
