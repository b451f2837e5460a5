//! A lease as programs and people read it.

use holdfast_kernel::{Lease, Millis, Mode, Resource, Stamp, Standing, Term};
use holdfast_store::liveness;
use holdfast_sys::Sys;
use schemars::JsonSchema;
use serde::Serialize;

use super::keeper;
use super::reserved::claim_of;
use crate::ids::IssueId;
use crate::times::{rfc3339, span};

/// A lease as JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Shown {
    /// Its id.
    pub lease_id: String,
    /// The issue that is claimed; none if it is no issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_id: Option<String>,
    /// What it is called where people read and type.
    pub handle: Option<String>,
    /// What it is about, if it can be read.
    pub title: Option<String>,
    /// What else is held: `branch:main` by whoever lands work there, `paths:<lease>` by whoever reserved paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The pattern of the paths that are reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Whether others may reserve them too, as long as they share them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The lease of the claim that a reservation belongs to; none if it stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_lease_id: Option<String>,
    /// Who claims it.
    pub agent_id: String,
    /// In which worktree.
    pub worktree_id: String,
    /// On which branch.
    pub branch: Option<String>,
    /// How long it lasts; 0 without a deadline.
    pub ttl_secs: u64,
    /// When it was granted.
    pub acquired_at: String,
    /// When it ends; never by itself without a deadline.
    pub expires_at: Option<String>,
    /// The number of the grant.
    pub fence: u64,
    /// Whether it was silent for too long.
    pub stale: bool,
    /// Why it was taken.
    pub reason: Option<String>,
    /// The last sign of life, where there is no deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_beat: Option<String>,
    /// How much of it is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_secs: Option<u64>,
    /// Whether that worktree is known to be gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worktree_gone: bool,
    /// The process that stands for whoever claims it, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeper: Option<Keeper>,
}

/// The process that stands for the holder of a lease.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Keeper {
    /// On which machine it runs.
    pub host: String,
    /// Its number there.
    pub pid: u32,
    /// Whether it is known to be gone.
    pub gone: bool,
}

impl Shown {
    /// The lease as it is at `now`, judged from this machine.
    #[must_use]
    pub fn new(sys: &Sys, lease: &Lease, now: &Stamp) -> Self {
        let standing = lease.standing(now);
        let (ttl_secs, last_beat) = match &lease.term {
            Term::Finite { ttl, .. } => (ttl.get() / 1_000, None),
            Term::Indefinite { beat, .. } => (0, Some(rfc3339(beat))),
        };
        let (issue_id, resource) = match IssueId::of(&lease.resource) {
            Some(_) => (Some(lease.resource.to_string()), None),
            None => (None, Some(named(lease))),
        };
        Self {
            lease_id: lease.id.to_string(),
            issue_id,
            handle: None,
            title: None,
            resource,
            pattern: lease.resource.pattern().map(ToString::to_string),
            shared: lease.mode == Mode::Shared,
            claim_lease_id: claim_of(lease).map(|claim| claim.to_string()),
            agent_id: lease.holder.agent.to_string(),
            worktree_id: lease.holder.place.to_string(),
            branch: lease.tags.get("branch").map(ToString::to_string),
            ttl_secs,
            acquired_at: rfc3339(&lease.granted),
            expires_at: lease.deadline().map(|at| rfc3339(&at)),
            fence: lease.fence.get(),
            stale: matches!(standing, Standing::Stale { .. }),
            reason: lease.reason.as_ref().map(ToString::to_string),
            last_beat,
            remaining_secs: match standing {
                Standing::Live { left } => Some(left.get() / 1_000),
                _ => None,
            },
            worktree_gone: false,
            keeper: liveness::process(lease).map(|keeper| Keeper {
                host: keeper.host,
                pid: keeper.pid,
                gone: keeper::is_gone(sys, lease),
            }),
        }
    }
}

impl Shown {
    /// What it is on; [`Kind::All`] if that has no kind of its own.
    #[must_use]
    pub fn kind(&self) -> Kind {
        let Some(name) = self.resource.as_deref() else { return Kind::Issue };
        let kinds = [Kind::Branch, Kind::Approval, Kind::Escalation];
        let named = kinds.into_iter().find(|kind| kind.prefixes().iter().any(|with| name.starts_with(with)));
        if self.pattern.is_some() { Kind::Paths } else { named.unwrap_or(Kind::All) }
    }
}

/// What a lease that is no claim is on, for programs. A pattern may look like anything, so it has a name of its own.
#[must_use]
pub fn named(lease: &Lease) -> String {
    match &lease.resource {
        Resource::Name(name) => name.to_string(),
        Resource::Pattern(_) => format!("paths:{}", lease.id),
    }
}
/// What the name of a request to end a claim begins with; the claim's lease follows.
pub(crate) const REQUEST: &str = "evict:";
/// What the name of an approval begins with; the claim's lease and the agent follow.
pub(crate) const APPROVAL: &str = "approval:";
/// What the name of a record of an escalation begins with.
pub(crate) const ESCALATION: &str = "escalation:";
/// Where they say which issue they are about.
pub(crate) const ISSUE_TAG: &str = "issue";

/// What leases are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Issues.
    #[default]
    Issue,
    /// Branches that work lands on.
    Branch,
    /// Paths that are reserved.
    Paths,
    /// Requests to end claims, and approvals of them.
    Approval,
    /// What was escalated.
    Escalation,
    /// All that there are.
    All,
}

impl Kind {
    /// Whether a lease is of this kind.
    #[must_use]
    pub fn has(self, lease: &Lease) -> bool {
        match self {
            Self::Issue => IssueId::of(&lease.resource).is_some(),
            Self::Paths => lease.resource.pattern().is_some(),
            Self::Branch | Self::Approval | Self::Escalation => begins(lease, self.prefixes()),
            Self::All => true,
        }
    }

    /// What the names begin with that leases of this kind are on, if they have names of their own.
    const fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Branch => &["branch:"],
            Self::Approval => &[REQUEST, APPROVAL],
            Self::Escalation => &[ESCALATION],
            Self::Issue | Self::Paths | Self::All => &[],
        }
    }
}

/// Whether a lease is a record of the tracker's own, which nobody holds in a worktree.
#[must_use]
pub fn is_record(lease: &Lease) -> bool {
    Kind::Approval.has(lease) || Kind::Escalation.has(lease)
}

fn begins(lease: &Lease, with: &[&str]) -> bool {
    let name = lease.resource.name().map(|name| name.as_str());
    name.is_some_and(|name| with.iter().any(|prefix| name.starts_with(prefix)))
}

/// A lease or several, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimOutput {
    /// The lease.
    pub lease: Shown,
    /// Whether it was held already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_held: Option<bool>,
}

/// A lease that was prolonged, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimRenewOutput {
    /// The lease.
    pub lease: Shown,
    /// Always true.
    pub renewed: bool,
}

/// A lease that gave a sign of life, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimHeartbeatOutput {
    /// The lease.
    pub lease: Shown,
    /// Always true.
    pub beaten: bool,
}

/// A lease that was given back, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimReleaseOutput {
    /// The lease.
    pub lease: Shown,
    /// Always true.
    pub released: bool,
}

/// The lease that another agent was handed, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimTransferOutput {
    /// The lease.
    pub lease: Shown,
    /// Always true.
    pub transferred: bool,
}

/// A lease that was taken away, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimEvictOutput {
    /// The lease.
    pub lease: Shown,
    /// Always true.
    pub evicted: bool,
}

/// Several leases.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClaimListOutput {
    /// The leases.
    pub leases: Vec<Shown>,
    /// How many.
    pub count: usize,
}

/// What is left of a lease, in words, and whether its keeper is gone.
#[must_use]
pub fn left_and_keeper(sys: &Sys, lease: &Lease, now: &Stamp) -> String {
    let left = left(lease, now);
    if keeper::is_gone(sys, lease) { format!("{left}, keeper gone") } else { left }
}

/// What is left of a lease, in words.
#[must_use]
pub fn left(lease: &Lease, now: &Stamp) -> String {
    match lease.standing(now) {
        Standing::Live { left } => format!("{} left", span(left)),
        Standing::Beating => "no deadline".to_owned(),
        Standing::Stale { silent } => format!("stale, silent for {}", span(silent)),
        Standing::Lapsed { ago, .. } | Standing::Open { ago } => format!("over since {}", span(ago)),
    }
}

/// How much of a finite lease is left, in percent of its length.
#[must_use]
pub fn percent_left(lease: &Lease, now: &Stamp) -> Option<(u64, Millis)> {
    match (&lease.term, lease.standing(now)) {
        (Term::Finite { ttl, .. }, Standing::Live { left }) => {
            Some((left.get().saturating_mul(100) / ttl.get().max(1), left))
        }
        _ => None,
    }
}
