//! Short names for what tests write down often.

use std::collections::BTreeMap;

use holdfast_kernel::{
    Acquire, Again, Boot, BootId, Claim, Command, Fence, Holder, KindRule, LeaseId, Limits, Millis, Mode,
    Name, Pattern, Policy, Request, Resource, Stamp, Tags, Text, Transfer, TtlRange,
};

pub(crate) const fn ms(ms: u64) -> Millis {
    Millis::new(ms)
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// A resource: a name, or behind a `~` a pattern.
pub(crate) fn named(text: &str) -> Resource {
    match text.strip_prefix('~') {
        Some(pattern) => Pattern::new(pattern).unwrap().into(),
        None => name(text).into(),
    }
}

pub(crate) fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

/// `agent:a@place`
pub(crate) fn holder(text: &str) -> Holder {
    let (agent, place) = text.split_once('@').unwrap();
    Holder { agent: name(agent), place: name(place) }
}

pub(crate) const fn id(number: u128) -> LeaseId {
    LeaseId::new(number)
}

pub(crate) fn fence(number: u64) -> Fence {
    Fence::new(number).unwrap()
}

/// A moment by the wall clock only.
pub(crate) fn wall(wall_ms: u64) -> Stamp {
    Stamp::new(wall_ms.cast_signed(), None).unwrap()
}

/// A moment of a machine with a boot-time clock.
pub(crate) fn boot(wall_ms: u64, boot: u128, ms: u64) -> Stamp {
    Stamp::new(wall_ms.cast_signed(), Some(Boot { id: BootId::new(boot), ms })).unwrap()
}

/// Leases of 1 s to 1 h, indefinite ones too, stale after 60 s; skew 2 s, grace 1 s; no limits.
pub(crate) fn policy() -> Policy {
    Policy {
        again: Again::Return,
        rule: KindRule { ttl: range(1_000, 3_600_000), indefinite: true },
        kinds: BTreeMap::new(),
        skew: ms(2_000),
        grace: ms(1_000),
        stale_after: ms(60_000),
        limits: Limits::NONE,
    }
}

pub(crate) const fn range(min: u64, max: u64) -> TtlRange {
    TtlRange { min: ms(min), max: ms(max) }
}

/// Asks for `doc`, exclusively, for 10 s.
pub(crate) fn acquire(number: u128, who: &str) -> Acquire {
    Acquire {
        id: id(number),
        resource: named("doc"),
        holder: holder(who),
        mode: Mode::Exclusive,
        request: Request::Finite(ms(10_000)),
        reason: None,
        tags: Tags::none(),
        dead: Vec::new(),
    }
}

pub(crate) fn shared(number: u128, who: &str) -> Acquire {
    Acquire { mode: Mode::Shared, ..acquire(number, who) }
}

pub(crate) fn indefinite(number: u128, who: &str) -> Acquire {
    Acquire { request: Request::Indefinite, reason: Some(text("schema migration")), ..acquire(number, who) }
}

pub(crate) fn lasting(ttl: u64, acquire: Acquire) -> Acquire {
    Acquire { request: Request::Finite(ms(ttl)), ..acquire }
}

pub(crate) fn on(resource: &str, acquire: Acquire) -> Acquire {
    Acquire { resource: named(resource), ..acquire }
}

pub(crate) fn transfer(lease: u128, who: &str, number: u128, to: &str) -> Transfer {
    Transfer {
        lease: id(lease),
        holder: holder(who),
        id: id(number),
        to: holder(to),
        reason: text("hand-over for review"),
        tags: Tags::none(),
    }
}

pub(crate) fn renew(lease: u128, who: &str, ttl: Option<u64>) -> Command {
    Command::Renew { lease: id(lease), holder: holder(who), ttl: ttl.map(ms) }
}

pub(crate) fn beat(lease: u128, who: &str) -> Command {
    Command::Beat { lease: id(lease), holder: holder(who) }
}

pub(crate) fn release(lease: u128, who: &str) -> Command {
    Command::Release { lease: id(lease), holder: holder(who) }
}

pub(crate) fn evict(lease: u128, by: &str) -> Command {
    Command::Evict { lease: id(lease), by: holder(by), reason: text("its holder is gone") }
}

/// Claims `doc`.
pub(crate) fn check(lease: u128, who: &str, number: u64) -> Command {
    Command::Check(Claim {
        resource: named("doc"),
        lease: id(lease),
        holder: holder(who),
        fence: fence(number),
    })
}
