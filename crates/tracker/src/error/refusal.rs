//! A refusal of the kernel as jit says it. Each match names every refusal: a new one does not compile until it
//! has a code, a hint and details.
#![deny(clippy::wildcard_enum_match_arm)]

use holdfast_kernel::{Lease, LeaseId, Refusal, RefusalKind, Resource};
use serde_json::{Value, json};

use crate::code::Code;
use crate::times;

/// The code of a refusal. The kernel speaks of leases alone, so it has no need to say what was not found.
pub(super) const fn code(kind: RefusalKind) -> Code {
    match kind {
        RefusalKind::Held => Code::Held,
        RefusalKind::ClockSkew => Code::ClockSkew,
        RefusalKind::AlreadyHeld => Code::AlreadyHeld,
        RefusalKind::HeldShared => Code::HeldShared,
        RefusalKind::NotFound => Code::LeaseNotFound,
        RefusalKind::NotHolder => Code::NotHolder,
        RefusalKind::Expired => Code::Expired,
        RefusalKind::Stale => Code::Stale,
        RefusalKind::FencedOut => Code::FencedOut,
        RefusalKind::NotIndefinite => Code::NotIndefinite,
        RefusalKind::NotFinite => Code::NotFinite,
        RefusalKind::TtlOutOfRange => Code::TtlOutOfRange,
        RefusalKind::DeadlineTooFar => Code::DeadlineTooFar,
        RefusalKind::IndefiniteForbidden => Code::IndefiniteForbidden,
        RefusalKind::ReasonRequired => Code::ReasonRequired,
        RefusalKind::LimitReached => Code::LimitReached,
        RefusalKind::DuplicateId => Code::DuplicateId,
        RefusalKind::SameHolder => Code::SameHolder,
        RefusalKind::FencesExhausted => Code::FencesExhausted,
        RefusalKind::CounterBehind => Code::CounterBehind,
    }
}

/// A refusal in words, with the moment at which a lease ends.
pub(super) fn text(refusal: &Refusal) -> String {
    let Refusal::Held { blocker, retry_after: Some(wait), .. } = refusal else { return refusal.to_string() };
    let what = match &blocker.resource {
        Resource::Pattern(pattern) => format!("{pattern} has paths in common with it and"),
        Resource::Name(name) => name.to_string(),
    };
    let until = blocker.deadline().map(|at| format!(" until {}", times::rfc3339(&at))).unwrap_or_default();
    format!(
        "{what} is held by {}{until}: try again in {}, or sooner if it is released",
        blocker.holder,
        times::span(*wait)
    )
}

pub(super) fn hint(refusal: &Refusal) -> Option<String> {
    let again = |lease: &Lease| format!("jit claim acquire {}", lease.resource);
    Some(match refusal {
        Refusal::Held { blocker, retry_after, .. } if blocker.resource.pattern().is_some() => {
            let secs = retry_after.map(|span| format!(" {}", span.get().div_ceil(1_000) + 1));
            let wait = secs.unwrap_or_default();
            format!("jit reserve list shows who has what; the same with --wait{wait} waits for it")
        }
        Refusal::HeldShared { lease } if lease.resource.pattern().is_some() => {
            format!("jit reserve release '{}', and reserve it again", lease.resource)
        }
        Refusal::Held { blocker, retry_after: Some(span), .. } => {
            format!("{} --wait {}", again(blocker), span.get().div_ceil(1_000) + 1)
        }
        Refusal::Held { blocker, .. } | Refusal::ClockSkew { blocker, .. } => {
            format!("if its holder is gone: jit claim force-evict {} --reason '…'", blocker.resource)
        }
        Refusal::NotHolder { lease } => format!("jit claim status --issue {}", lease.resource),
        Refusal::NotFound { .. } => "jit claim list".into(),
        Refusal::Expired { lease, .. } => again(lease),
        Refusal::Stale { lease, .. } | Refusal::NotFinite { lease } => {
            format!("jit claim heartbeat {}", lease.resource)
        }
        Refusal::NotIndefinite { lease } => format!("jit claim renew {}", lease.resource),
        Refusal::FencedOut { resource, .. } => format!("jit claim status --issue {resource}"),
        Refusal::ReasonRequired => "add --reason '…', or give a --ttl above 0".into(),
        Refusal::IndefiniteForbidden => "give a --ttl above 0".into(),
        Refusal::LimitReached { .. } => "jit claim list shows what is held".into(),
        Refusal::CounterBehind { .. } => "jit recover".into(),
        Refusal::DuplicateId { .. } => "run the same command again".into(),
        Refusal::AlreadyHeld { .. }
        | Refusal::HeldShared { .. }
        | Refusal::SameHolder { .. }
        | Refusal::TtlOutOfRange { .. }
        | Refusal::DeadlineTooFar { .. }
        | Refusal::FencesExhausted => return None,
    })
}

/// A lease, as far as whoever is refused may go on with it.
pub(crate) fn shown(lease: &Lease) -> Value {
    let subject = match &lease.resource {
        Resource::Pattern(_) => "pattern",
        // What is no issue says what it is, `branch:main`.
        Resource::Name(name) if name.as_str().contains(':') => "resource",
        Resource::Name(_) => "issue_id",
    };
    json!({
        "lease_id": lease.id.to_string(),
        subject: lease.resource.text(),
        "agent_id": lease.holder.agent.as_str(),
        "worktree_id": lease.holder.place.as_str(),
        "fence": lease.fence.get(),
        "acquired_at": times::rfc3339(&lease.granted),
        "expires_at": lease.deadline().map(|at| times::rfc3339(&at)),
    })
}

pub(super) fn details(refusal: &Refusal) -> Value {
    let id = |lease: &LeaseId| json!({ "lease_id": lease.to_string() });
    match refusal {
        Refusal::Held { blocker, retry_after, .. } => {
            let secs = retry_after.map(|span| span.get().div_ceil(1_000));
            json!({ "held_by": shown(blocker), "retry_after_secs": secs })
        }
        Refusal::ClockSkew { blocker, .. } => json!({ "held_by": shown(blocker) }),
        Refusal::AlreadyHeld { lease }
        | Refusal::HeldShared { lease }
        | Refusal::NotHolder { lease }
        | Refusal::SameHolder { lease }
        | Refusal::Expired { lease, .. }
        | Refusal::Stale { lease, .. }
        | Refusal::NotIndefinite { lease }
        | Refusal::NotFinite { lease }
        | Refusal::CounterBehind { lease, .. } => json!({ "lease": shown(lease) }),
        Refusal::NotFound { lease } | Refusal::DuplicateId { lease } => id(lease),
        Refusal::FencedOut { current, presented, .. } => {
            json!({ "fence": presented.get(), "held_by": current.iter().map(shown).collect::<Vec<_>>() })
        }
        Refusal::LimitReached { limit, kind } => json!({ "limit": limit, "of": kind.to_string() }),
        Refusal::TtlOutOfRange { .. }
        | Refusal::DeadlineTooFar { .. }
        | Refusal::IndefiniteForbidden
        | Refusal::ReasonRequired
        | Refusal::FencesExhausted => json!({}),
    }
}
