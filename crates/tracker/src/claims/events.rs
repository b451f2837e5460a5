//! What happened to claims, in the envelope that events of both planes share.

use holdfast_kernel::{Cause, Event, Holder, Lease, Mode, Stamp, Term};
use holdfast_store::{Record, liveness};
use schemars::JsonSchema;
use serde::Serialize;

use super::lease::{ISSUE_TAG, Kind, REQUEST, is_record, named};
use super::reserved::claim_of;
use crate::config::keys;
use crate::ids::IssueId;
use crate::json;
use crate::times::rfc3339;

/// An event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Envelope {
    /// The version of this form.
    schema_version: u32,
    /// Its place in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    /// What happened.
    event_type: &'static str,
    /// The moment of the transition.
    timestamp: String,
    /// Who did it.
    actor: Actor,
    /// What it was about.
    payload: Payload,
}

/// Who did it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Actor {
    /// The agent; `system:jit` where time did it.
    agent_id: String,
    /// In which worktree.
    worktree_id: Option<String>,
}

/// What it was about.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
struct Payload {
    /// The lease.
    lease_id: String,
    /// The issue that it is on; none if it is no issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_id: Option<String>,
    /// What else it is on: `branch:main` where work lands.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    /// The pattern of the paths that are reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    /// Whether they are shared with others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shared: bool,
    /// The lease of the claim that a reservation belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_lease_id: Option<String>,
    /// Its holder.
    agent_id: String,
    /// The worktree of its holder.
    worktree_id: String,
    /// The branch of that worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The number of the grant.
    fence: u64,
    /// The lease that was handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_lease_id: Option<String>,
    /// How long it lasts from then on; 0 without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_secs: Option<u64>,
    /// When it ends, unless something happens.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Why, as somebody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Why it was taken away: `expired`, `dead` or `forced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
}

/// An event without an envelope.
#[derive(Debug, Serialize)]
struct Flat<'a> {
    schema_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    op: &'static str,
    at: &'a str,
    by: &'a str,
    #[serde(flatten)]
    payload: &'a Payload,
}

impl Envelope {
    /// The event that a record is.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        Self {
            schema_version: 1,
            sequence: Some(record.sequence.get()),
            event_type: kind(record).0,
            timestamp: rfc3339(record.event.at()),
            actor: actor(record),
            payload: payload(record),
        }
    }

    /// What it is about: an issue, or whatever else a lease is on.
    #[must_use]
    pub fn subject(&self) -> &str {
        let Payload { issue_id, pattern, resource, .. } = &self.payload;
        issue_id.as_deref().or(pattern.as_deref()).or(resource.as_deref()).unwrap_or_default()
    }

    /// The issue that it is about, if it is about one.
    #[must_use]
    pub fn issue(&self) -> Option<IssueId> {
        self.payload.issue_id.as_deref().and_then(IssueId::parse)
    }

    /// When, what, who, in the columns of a table.
    #[must_use]
    pub fn row(&self) -> [String; 6] {
        let why = [self.payload.cause, self.payload.reason.as_deref()];
        [
            self.sequence.map(|number| number.to_string()).unwrap_or_default(),
            self.timestamp.clone(),
            self.event_type.to_owned(),
            self.subject().to_owned(),
            self.actor.agent_id.clone(),
            why.into_iter().flatten().collect::<Vec<_>>().join(": "),
        ]
    }
}

/// The line of a record in the event log, as the configuration wants it.
#[must_use]
pub fn line(record: &Record, style: &keys::Events) -> Vec<u8> {
    let mut envelope = Envelope::of(record);
    if !style.enable_sequences {
        envelope.sequence = None;
    }
    if style.use_unified_envelope {
        json::line(&envelope)
    } else {
        json::line(&Flat {
            schema_version: 1,
            sequence: envelope.sequence,
            op: kind(record).1,
            at: &envelope.timestamp,
            by: &envelope.actor.agent_id,
            payload: &envelope.payload,
        })
    }
}

/// The event's name in the envelope and in the log.
fn kind(record: &Record) -> (&'static str, &'static str) {
    let on = match &record.event {
        Event::Granted { lease } => lease,
        _ => &record.lease,
    };
    // What is only on record has one name in both: nobody shall take it for a claim.
    if Kind::Approval.has(on) {
        let name = match &record.event {
            Event::Granted { .. } if on.resource.text().starts_with(REQUEST) => "eviction.requested",
            Event::Granted { .. } => "eviction.approved",
            _ => "eviction.closed",
        };
        return (name, name);
    }
    if Kind::Escalation.has(on) {
        let name = match &record.event {
            Event::Granted { .. } => "escalation.fired",
            Event::Renewed { .. } => "escalation.done",
            _ => "escalation.closed",
        };
        return (name, name);
    }
    match &record.event {
        Event::Granted { .. } => ("claim.acquired", "acquire"),
        Event::Renewed { .. } => ("claim.renewed", "renew"),
        Event::Beaten { .. } => ("claim.heartbeat", "heartbeat"),
        Event::Released { .. } => ("claim.released", "release"),
        Event::Transferred { .. } => ("claim.transferred", "transfer"),
        Event::Evicted { cause: Cause::Forced { .. }, .. } => ("claim.evicted", "force-evict"),
        Event::Evicted { .. } => ("claim.evicted", "auto-evict"),
    }
}

fn actor(record: &Record) -> Actor {
    let person = |holder: &Holder| Actor {
        agent_id: holder.agent.to_string(),
        worktree_id: Some(holder.place.to_string()),
    };
    match &record.event {
        Event::Evicted { cause: Cause::Forced { by, .. }, .. } => person(by),
        // Time did it, and nobody.
        Event::Evicted { .. } => Actor { agent_id: "system:jit".to_owned(), worktree_id: None },
        _ => person(&record.lease.holder),
    }
}

fn payload(record: &Record) -> Payload {
    let on = |lease: &Lease| Some(named(lease));
    let is_issue = |lease: &Lease| IssueId::of(&lease.resource).is_some();
    let about = |lease: &Lease| Payload {
        lease_id: lease.id.to_string(),
        issue_id: on(lease).filter(|_| is_issue(lease)).or_else(|| about_issue(lease)),
        resource: on(lease).filter(|_| !is_issue(lease)),
        pattern: lease.resource.pattern().map(ToString::to_string),
        shared: lease.mode == Mode::Shared,
        claim_lease_id: claim_of(lease).map(|claim| claim.to_string()),
        agent_id: lease.holder.agent.to_string(),
        worktree_id: lease.holder.place.to_string(),
        branch: lease.tags.get("branch").map(ToString::to_string),
        fence: lease.fence.get(),
        ..Payload::default()
    };
    let old = about(&record.lease);
    match &record.event {
        Event::Granted { lease } => granted(about(lease), lease),
        Event::Transferred { from, lease, why } => Payload {
            from_lease_id: Some(from.to_string()),
            reason: Some(why.to_string()),
            ..granted(about(lease), lease)
        },
        Event::Renewed { ttl, at, .. } => {
            Payload { ttl_secs: Some(ttl.get() / 1_000), expires_at: Some(until(at, *ttl)), ..old }
        }
        Event::Beaten { .. } | Event::Released { .. } => old,
        Event::Evicted { cause, .. } => match cause {
            Cause::Expired => Payload { cause: Some("expired"), ..old },
            Cause::Dead => Payload { cause: Some("dead"), reason: keeper_gone(&record.lease), ..old },
            Cause::Forced { reason, .. } => {
                Payload { cause: Some("forced"), reason: Some(reason.to_string()), ..old }
            }
        },
    }
}

/// The issue that something on record is about.
fn about_issue(lease: &Lease) -> Option<String> {
    let issue = lease.tags.get(ISSUE_TAG).filter(|_| is_record(lease))?;
    IssueId::parse(issue.as_str()).map(|issue| issue.to_string())
}

/// Which process stood for the holder that was found dead.
fn keeper_gone(lease: &Lease) -> Option<String> {
    let keeper = liveness::process(lease)?;
    Some(format!("its keeper, process {} on {}, is gone", keeper.pid, keeper.host))
}

fn granted(payload: Payload, lease: &Lease) -> Payload {
    let ttl_secs = match &lease.term {
        Term::Finite { ttl, .. } => ttl.get() / 1_000,
        Term::Indefinite { .. } => 0,
    };
    Payload {
        ttl_secs: Some(ttl_secs),
        expires_at: lease.deadline().map(|at| rfc3339(&at)),
        reason: lease.reason.as_ref().map(ToString::to_string),
        ..payload
    }
}

fn until(at: &Stamp, ttl: holdfast_kernel::Millis) -> String {
    rfc3339(&at.plus(ttl))
}
