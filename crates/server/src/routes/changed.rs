//! Questions that change something. The server acts as its own agent, in its own worktree, and needs claims like everybody.

use std::sync::{Arc, Mutex, PoisonError};

use holdfast_kernel::Millis;
use holdfast_tracker::agent::AgentId;
use holdfast_tracker::answers::leases::shown;
use holdfast_tracker::answers::{
    approvals as approvals_answer, create as create_answer, gates, notes, session, update as update_answer,
};
use holdfast_tracker::approvals::{self, Presence};
use holdfast_tracker::claims::lease::{
    ClaimEvictOutput, ClaimOutput, ClaimReleaseOutput, ClaimRenewOutput, ClaimTransferOutput, Shown,
};
use holdfast_tracker::claims::{Terms, reason};
use holdfast_tracker::issues::Issues;
use holdfast_tracker::keep::{self, Kept};
use holdfast_tracker::names::Names;
use holdfast_tracker::take::{self, Taken};
use holdfast_tracker::writes::{Verdict, Writer};
use holdfast_tracker::{Caller, Listener, Notice, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Ask;
use super::asked::made;
use crate::body::{Made, parsed};
use crate::gatekeeper::Entry;
use crate::problem::Problem;

/// Which issue is claimed, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Acquire {
    /// The issue.
    issue: String,
    /// How long the claim lasts; 0 for no deadline, which needs a reason.
    ttl_secs: Option<u64>,
    /// Why it is claimed.
    reason: Option<String>,
}

/// How a claim is renewed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Renew {
    /// How long from now on; as long as before if not given.
    ttl_secs: Option<u64>,
}

/// Nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Release {}

/// Who gets a claim.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Transfer {
    /// Who gets it.
    to_agent: String,
    /// The worktree it works in.
    to_worktree: String,
    /// Why.
    reason: String,
}

/// Why a claim is taken away.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Evict {
    /// Why.
    reason: String,
}

/// That a claim may be ended.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approve {
    /// Why.
    reason: Option<String>,
}

/// A note.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    /// What it says.
    text: String,
}

/// How a gate is judged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Judge {
    /// The verdict.
    status: Status,
    /// What there is to say about it.
    note: Option<String>,
}

/// A verdict.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Passed,
    Failed,
}

/// What the tracker lets know besides the answer.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Listener for Heard {
    fn hear(&self, notice: &Notice) {
        if !notice.is_progress() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(notice.to_string());
        }
    }
}

/// An answer with what there is to say beside it.
#[derive(Serialize)]
struct Warned<T> {
    #[serde(flatten)]
    document: T,
    warnings: Vec<String>,
}

/// Changes something. Warnings stand beside the answer, as a command says them beside its own.
fn change<T: Serialize>(
    ask: &Ask,
    act: impl FnOnce(&Session) -> Result<T, Problem>,
) -> Result<Made, Problem> {
    let heard = Arc::new(Heard::default());
    let listener = Arc::clone(&heard) as Arc<dyn Listener>;
    let session = session(&Caller { listener, ..ask.caller.clone() })?;
    let document = act(&session)?;
    let mut warnings = std::mem::take(&mut *heard.0.lock().unwrap_or_else(PoisonError::into_inner));
    if warnings.is_empty() {
        return made(&document);
    }
    let names = Names::new(ask.caller.clone());
    warnings.iter_mut().for_each(|warning| *warning = names.put(warning));
    made(&Warned { document, warnings })
}

pub(super) fn acquire(ask: &Ask) -> Result<Made, Problem> {
    let body: Acquire = parsed(&ask.body)?;
    change(ask, |session| {
        let ttl = body.ttl_secs.map(|secs| secs.to_string());
        let terms = Terms::parse(ttl.as_deref(), body.reason.as_deref(), session.config(), session.agent()?)?;
        let issues = Issues::new(session);
        let Taken { lease, already_held, now } =
            take::acquire(session, issues.resolve(&body.issue)?, &terms, None)?;
        Ok(ClaimOutput { lease: shown(&issues, &lease, &now), already_held: Some(already_held) })
    })
}

/// The claim that was changed, as programs read it.
fn after(session: &Session, kept: &Kept) -> Shown {
    shown(&Issues::new(session), &kept.lease, &kept.now)
}

pub(super) fn renew(ask: &Ask) -> Result<Made, Problem> {
    let body: Renew = parsed(&ask.body)?;
    change(ask, |session| {
        let kept = keep::renew(session, ask.part(0), body.ttl_secs.map(Millis::from_secs))?;
        Ok(ClaimRenewOutput { lease: after(session, &kept), renewed: true })
    })
}

pub(super) fn release(ask: &Ask) -> Result<Made, Problem> {
    let Release {} = parsed(&ask.body)?;
    change(ask, |session| {
        let kept = keep::release(session, ask.part(0))?;
        Ok(ClaimReleaseOutput { lease: after(session, &kept), released: true })
    })
}

pub(super) fn transfer(ask: &Ask) -> Result<Made, Problem> {
    let body: Transfer = parsed(&ask.body)?;
    change(ask, |session| {
        let why = reason("reason", &body.reason)?;
        let agent = AgentId::new(&body.to_agent).map_err(holdfast_tracker::Error::from)?;
        let kept = keep::transfer(session, ask.part(0), &agent, &body.to_worktree, why)?;
        Ok(ClaimTransferOutput { lease: after(session, &kept), transferred: true })
    })
}

pub(super) fn evict(ask: &Ask) -> Result<Made, Problem> {
    let body: Evict = parsed(&ask.body)?;
    change(ask, |session| {
        let kept = keep::evict(session, ask.part(0), &reason("reason", &body.reason)?)?;
        Ok(ClaimEvictOutput { lease: after(session, &kept), evicted: true })
    })
}

/// Approves an eviction. A page in a browser has a person before it, and a tool with the token need not.
pub(super) fn approve(ask: &Ask) -> Result<Made, Problem> {
    let body: Approve = parsed(&ask.body)?;
    let presence = if ask.entry == Entry::Cookie { Presence::Person } else { Presence::Program };
    change(ask, |session| {
        let why = body.reason.as_deref().map(|why| reason("reason", why)).transpose()?;
        let approved = approvals::approve(session, ask.part(0), why.as_ref(), presence)?;
        Ok(approvals_answer::approved(session, &approved)?)
    })
}

pub(super) fn create(ask: &Ask) -> Result<Made, Problem> {
    let body = parsed(&ask.body)?;
    change(ask, |session| Ok(create_answer::create(session, &body)?))
}

pub(super) fn update(ask: &Ask) -> Result<Made, Problem> {
    let body = parsed(&ask.body)?;
    change(ask, |session| Ok(update_answer::update(session, &[ask.part(0).to_owned()], &body)?.document))
}

pub(super) fn note(ask: &Ask) -> Result<Made, Problem> {
    let body: Note = parsed(&ask.body)?;
    change(ask, |session| Ok(notes::add(&Issues::new(session), ask.part(0), || Ok(body.text.clone()))?))
}

pub(super) fn judge(ask: &Ask) -> Result<Made, Problem> {
    let body: Judge = parsed(&ask.body)?;
    let verdict = match body.status {
        Status::Passed => Verdict::Passed,
        Status::Failed => Verdict::Failed,
    };
    change(ask, |session| {
        let writer = Writer::open(session)?;
        let changed = gates::judge(&writer, ask.part(0), ask.part(1), verdict, body.note.as_deref())?;
        Ok(gates::GateOutput::new(&writer.issues, &changed))
    })
}
