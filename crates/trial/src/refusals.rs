//! One of every refusal of the kernel and of every failure of a medium, for what must have an answer to each.

use std::path::PathBuf;
use std::sync::Arc;

use holdfast_kernel::{
    Fence, Holder, Lease, LeaseId, LimitKind, Millis, Mode, Name, Refusal, RefusalKind, Stamp, Tags, Term,
    TtlRange,
};
use holdfast_store::{Damage, Error, Trouble};

/// One of every refusal.
#[must_use]
pub fn refusals() -> Vec<Refusal> {
    RefusalKind::ALL.iter().map(|kind| refusal(*kind)).collect()
}

/// One of every error that a medium gives, every refusal among them.
#[must_use]
pub fn medium_errors() -> Vec<Error> {
    let path = || PathBuf::from("leases");
    let failed = || std::io::Error::other("the disk is gone");
    let damage = Damage { place: "line 3".into(), what: "not a record".into() };
    let mut all: Vec<Error> = refusals().into_iter().map(Error::Refused).collect();
    all.extend([
        Error::Sys(holdfast_sys::Error::new("read", &path(), failed())),
        Error::Damaged { path: path(), damage },
        Error::Newer { path: path(), version: 99 },
        Error::Unsupported { path: path(), what: "a shared lease" },
        Error::Unwitnessed(Arc::new(failed())),
    ]);
    let troubles = [
        Trouble::Unavailable,
        Trouble::Unresolved,
        Trouble::Forked,
        Trouble::Refused,
        Trouble::Missing,
        Trouble::Copied,
        Trouble::Moved,
        Trouble::Behind,
    ];
    all.extend(troubles.map(|trouble| trouble.because("the register does not do its part")));
    all
}

/// A lease that can be in the way of something.
///
/// # Panics
/// Never: it is made of constants that can be what they are.
#[must_use]
pub fn lease() -> Lease {
    let name = |text| Name::new(text).unwrap();
    let stamp = Stamp::new(1_700_000_000_000, None).unwrap();
    Lease {
        id: LeaseId::new(7),
        resource: name("resource").into(),
        holder: Holder { agent: name("agent:anna"), place: name("place") },
        mode: Mode::Exclusive,
        fence: Fence::new(3).unwrap(),
        granted: stamp,
        term: Term::Finite { ttl: Millis::from_secs(600), from: stamp },
        skew: Millis::ZERO,
        grace: Millis::ZERO,
        reason: None,
        tags: Tags::none(),
    }
}

/// The refusal of a kind.
///
/// # Panics
/// Never, as [`lease`].
#[must_use]
pub fn refusal(kind: RefusalKind) -> Refusal {
    let lease = || Box::new(lease());
    let span = Millis::from_secs(5);
    match kind {
        RefusalKind::Held => Refusal::Held { blocker: lease(), others: 0, retry_after: Some(span) },
        RefusalKind::ClockSkew => Refusal::ClockSkew { blocker: lease(), ahead: span },
        RefusalKind::AlreadyHeld => Refusal::AlreadyHeld { lease: lease() },
        RefusalKind::HeldShared => Refusal::HeldShared { lease: lease() },
        RefusalKind::NotFound => Refusal::NotFound { lease: lease().id },
        RefusalKind::NotHolder => Refusal::NotHolder { lease: lease() },
        RefusalKind::Expired => Refusal::Expired { lease: lease(), ago: span },
        RefusalKind::Stale => Refusal::Stale { lease: lease(), silent: span },
        RefusalKind::FencedOut => Refusal::FencedOut {
            resource: lease().resource,
            presented: Fence::new(2).unwrap(),
            current: vec![*lease()],
        },
        RefusalKind::NotIndefinite => Refusal::NotIndefinite { lease: lease() },
        RefusalKind::NotFinite => Refusal::NotFinite { lease: lease() },
        RefusalKind::TtlOutOfRange => {
            Refusal::TtlOutOfRange { asked: span, range: TtlRange { min: span, max: span } }
        }
        RefusalKind::DeadlineTooFar => Refusal::DeadlineTooFar { ttl: span },
        RefusalKind::IndefiniteForbidden => Refusal::IndefiniteForbidden,
        RefusalKind::ReasonRequired => Refusal::ReasonRequired,
        RefusalKind::LimitReached => Refusal::LimitReached { kind: LimitKind::LeasesPerAgent, limit: 3 },
        RefusalKind::DuplicateId => Refusal::DuplicateId { lease: lease().id },
        RefusalKind::SameHolder => Refusal::SameHolder { lease: lease() },
        RefusalKind::FencesExhausted => Refusal::FencesExhausted,
        RefusalKind::CounterBehind => Refusal::CounterBehind { next: Fence::new(1).unwrap(), lease: lease() },
    }
}
