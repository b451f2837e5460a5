//! The kernel's types as the vectors write them. `spec/vectors/README.md` describes the form.

use holdfast_kernel::{
    Acquire, Again, Answer, Cause, Claim, Command, Event, Holder, Inconsistent, KindRule, Lease, LimitKind,
    Limits, Millis, Mode, Policy, Refusal, Request, Resource, Stamp, Standing, Tags, Term, Transfer,
    TtlRange,
};

use super::json::Json;

pub(crate) fn stamp(stamp: &Stamp) -> Json {
    let boot = |boot: holdfast_kernel::Boot| {
        Json::object([("id", Json::text(boot.id)), ("ms", Json::Number(boot.ms))])
    };
    Json::object([("wall_ms", Json::Number(stamp.wall_ms())), ("boot", Json::optional(stamp.boot(), boot))])
}

fn millis(span: Millis) -> Json {
    assert!(span.get() < 1 << 53, "{} is no JSON number in every language", span.get());
    Json::Number(span.get())
}

fn holder(holder: &Holder) -> Json {
    Json::object([("agent", Json::text(&holder.agent)), ("place", Json::text(&holder.place))])
}

fn resource(resource: &Resource) -> Json {
    match resource {
        Resource::Name(name) => Json::text(name),
        Resource::Pattern(pattern) => Json::object([("pattern", Json::text(pattern))]),
    }
}

fn mode(mode: Mode) -> Json {
    Json::text(match mode {
        Mode::Exclusive => "exclusive",
        Mode::Shared => "shared",
    })
}

fn tags(tags: &Tags) -> Json {
    Json::Object(tags.iter().map(|(key, value)| (key.to_owned(), Json::text(value))).collect())
}

pub(crate) fn lease(lease: &Lease) -> Json {
    let term = match &lease.term {
        Term::Finite { ttl, from } => {
            Json::tagged("finite", [("ttl_ms", millis(*ttl)), ("from", stamp(from))])
        }
        Term::Indefinite { beat, stale_after } => {
            Json::tagged("indefinite", [("beat", stamp(beat)), ("stale_after_ms", millis(*stale_after))])
        }
    };
    Json::object([
        ("id", Json::text(lease.id)),
        ("resource", resource(&lease.resource)),
        ("holder", holder(&lease.holder)),
        ("mode", mode(lease.mode)),
        ("fence", Json::Number(lease.fence.get())),
        ("granted", stamp(&lease.granted)),
        ("term", term),
        ("skew_ms", millis(lease.skew)),
        ("grace_ms", millis(lease.grace)),
        ("reason", Json::optional(lease.reason.as_ref(), Json::text)),
        ("tags", tags(&lease.tags)),
    ])
}

fn range(range: &TtlRange) -> Json {
    Json::object([("min_ms", millis(range.min)), ("max_ms", millis(range.max))])
}

pub(crate) fn policy(policy: &Policy) -> Json {
    let Policy { again, rule, kinds, skew, grace, stale_after, limits } = policy;
    let again = match again {
        Again::Return => "return",
        Again::Refuse => "refuse",
    };
    let one = |rule: &KindRule| {
        Json::object([("ttl", range(&rule.ttl)), ("indefinite", Json::Bool(rule.indefinite))])
    };
    let Limits { leases_per_agent, leases_per_table, indefinite_per_agent, indefinite_per_table } = *limits;
    let limit = |limit: u32| Json::optional((limit < u32::MAX).then_some(limit), |n| Json::Number(n.into()));
    let limits = Json::object([
        ("leases_per_agent", limit(leases_per_agent)),
        ("leases_per_table", limit(leases_per_table)),
        ("indefinite_per_agent", limit(indefinite_per_agent)),
        ("indefinite_per_table", limit(indefinite_per_table)),
    ]);
    Json::object([
        ("again", Json::text(again)),
        ("rule", one(rule)),
        ("kinds", Json::Object(kinds.iter().map(|(kind, rule)| (kind.clone(), one(rule))).collect())),
        ("skew_ms", millis(*skew)),
        ("grace_ms", millis(*grace)),
        ("stale_after_ms", millis(*stale_after)),
        ("limits", limits),
    ])
}

pub(crate) fn command(command: &Command) -> Json {
    let held = |tag, lease: &holdfast_kernel::LeaseId, by| {
        Json::tagged(tag, [("lease", Json::text(lease)), ("holder", holder(by))])
    };
    match command {
        Command::Acquire(wanted) => acquire(wanted),
        Command::Renew { lease, holder: by, ttl } => Json::tagged(
            "renew",
            [("lease", Json::text(lease)), ("holder", holder(by)), ("ttl_ms", Json::optional(*ttl, millis))],
        ),
        Command::Beat { lease, holder } => held("beat", lease, holder),
        Command::Release { lease, holder } => held("release", lease, holder),
        Command::Transfer(wanted) => transfer(wanted),
        Command::Evict { lease, by, reason } => Json::tagged(
            "evict",
            [("lease", Json::text(lease)), ("by", holder(by)), ("reason", Json::text(reason))],
        ),
        Command::Sweep => Json::tagged("sweep", []),
        Command::Check(claim) => check(claim),
    }
}

fn acquire(wanted: &Acquire) -> Json {
    let request = match wanted.request {
        Request::Finite(ttl) => Json::tagged("finite", [("ttl_ms", millis(ttl))]),
        Request::Indefinite => Json::tagged("indefinite", []),
    };
    Json::tagged(
        "acquire",
        [
            ("id", Json::text(wanted.id)),
            ("resource", resource(&wanted.resource)),
            ("holder", holder(&wanted.holder)),
            ("mode", mode(wanted.mode)),
            ("request", request),
            ("reason", Json::optional(wanted.reason.as_ref(), Json::text)),
            ("tags", tags(&wanted.tags)),
            ("dead", Json::list(&wanted.dead, Json::text)),
        ],
    )
}

fn transfer(wanted: &Transfer) -> Json {
    Json::tagged(
        "transfer",
        [
            ("lease", Json::text(wanted.lease)),
            ("holder", holder(&wanted.holder)),
            ("id", Json::text(wanted.id)),
            ("to", holder(&wanted.to)),
            ("reason", Json::text(&wanted.reason)),
            ("tags", tags(&wanted.tags)),
        ],
    )
}

fn check(claim: &Claim) -> Json {
    Json::tagged(
        "check",
        [
            ("resource", resource(&claim.resource)),
            ("lease", Json::text(claim.lease)),
            ("holder", holder(&claim.holder)),
            ("fence", Json::Number(claim.fence.get())),
        ],
    )
}

pub(crate) fn event(event: &Event) -> Json {
    let at = |tag, lease: &holdfast_kernel::LeaseId, at| {
        Json::tagged(tag, [("lease", Json::text(lease)), ("at", stamp(at))])
    };
    match event {
        Event::Granted { lease: granted } => Json::tagged("granted", [("lease", lease(granted))]),
        Event::Renewed { lease, ttl, at } => Json::tagged(
            "renewed",
            [("lease", Json::text(lease)), ("ttl_ms", millis(*ttl)), ("at", stamp(at))],
        ),
        Event::Beaten { lease, at: when } => at("beaten", lease, when),
        Event::Released { lease, at: when } => at("released", lease, when),
        Event::Transferred { from, lease: granted, why } => Json::tagged(
            "transferred",
            [("from", Json::text(from)), ("lease", lease(granted)), ("why", Json::text(why))],
        ),
        Event::Evicted { lease, at, cause: why } => {
            Json::tagged("evicted", [("lease", Json::text(lease)), ("at", stamp(at)), ("cause", cause(why))])
        }
    }
}

fn cause(cause: &Cause) -> Json {
    match cause {
        Cause::Expired => Json::tagged("expired", []),
        Cause::Dead => Json::tagged("dead", []),
        Cause::Forced { by, reason } => {
            Json::tagged("forced", [("by", holder(by)), ("reason", Json::text(reason))])
        }
    }
}

pub(crate) fn answer(answer: &Answer) -> Json {
    let one = |tag, about| Json::tagged(tag, [("lease", lease(about))]);
    match answer {
        Answer::Granted(lease) => one("granted", lease),
        Answer::AlreadyHeld(lease) => one("already_held", lease),
        Answer::Renewed(lease) => one("renewed", lease),
        Answer::Beaten(lease) => one("beaten", lease),
        Answer::Released(lease) => one("released", lease),
        Answer::Transferred(lease) => one("transferred", lease),
        Answer::Evicted(lease) => one("evicted", lease),
        Answer::Swept(leases) => Json::tagged("swept", [("leases", Json::list(leases, lease))]),
        Answer::Valid(lease) => one("valid", lease),
    }
}

pub(crate) fn refusal(refusal: &Refusal) -> Json {
    let with = |mut fields: Vec<(&str, Json)>| {
        fields.insert(0, ("code", Json::text(refusal.code())));
        Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    match refusal {
        Refusal::Held { blocker, others, retry_after } => with(vec![
            ("blocker", lease(blocker)),
            ("others", Json::Number(*others as u64)),
            ("retry_after_ms", Json::optional(*retry_after, millis)),
        ]),
        Refusal::ClockSkew { blocker, ahead } => {
            with(vec![("blocker", lease(blocker)), ("ahead_ms", millis(*ahead))])
        }
        Refusal::NotFound { lease } | Refusal::DuplicateId { lease } => {
            with(vec![("lease", Json::text(lease))])
        }
        Refusal::AlreadyHeld { lease: about }
        | Refusal::HeldShared { lease: about }
        | Refusal::NotHolder { lease: about }
        | Refusal::NotIndefinite { lease: about }
        | Refusal::NotFinite { lease: about }
        | Refusal::SameHolder { lease: about } => with(vec![("lease", lease(about))]),
        Refusal::Expired { lease: about, ago } => {
            with(vec![("lease", lease(about)), ("ago_ms", millis(*ago))])
        }
        Refusal::Stale { lease: about, silent } => {
            with(vec![("lease", lease(about)), ("silent_ms", millis(*silent))])
        }
        Refusal::FencedOut { resource, presented, current } => with(vec![
            ("resource", Json::text(resource)),
            ("presented", Json::Number(presented.get())),
            ("current", Json::list(current, lease)),
        ]),
        Refusal::TtlOutOfRange { asked, range: allowed } => {
            with(vec![("asked_ms", millis(*asked)), ("range", range(allowed))])
        }
        Refusal::DeadlineTooFar { ttl } => with(vec![("ttl_ms", millis(*ttl))]),
        Refusal::IndefiniteForbidden | Refusal::ReasonRequired | Refusal::FencesExhausted => with(vec![]),
        Refusal::LimitReached { kind, limit } => {
            with(vec![("kind", limit_kind(*kind)), ("limit", Json::Number((*limit).into()))])
        }
        Refusal::CounterBehind { next, lease: about } => {
            with(vec![("next", Json::Number(next.get())), ("lease", lease(about))])
        }
    }
}

fn limit_kind(kind: LimitKind) -> Json {
    Json::text(match kind {
        LimitKind::LeasesPerAgent => "leases_per_agent",
        LimitKind::LeasesPerTable => "leases_per_table",
        LimitKind::IndefinitePerAgent => "indefinite_per_agent",
        LimitKind::IndefinitePerTable => "indefinite_per_table",
    })
}

pub(crate) fn standing(standing: &Standing) -> Json {
    match standing {
        Standing::Live { left } => Json::tagged("live", [("left_ms", millis(*left))]),
        Standing::Beating => Json::tagged("beating", []),
        Standing::Stale { silent } => Json::tagged("stale", [("silent_ms", millis(*silent))]),
        Standing::Lapsed { ago, takeover_in } => {
            Json::tagged("lapsed", [("ago_ms", millis(*ago)), ("takeover_in_ms", millis(*takeover_in))])
        }
        Standing::Open { ago } => Json::tagged("open", [("ago_ms", millis(*ago))]),
    }
}

pub(crate) fn inconsistent(inconsistent: &Inconsistent) -> Json {
    Json::text(match inconsistent {
        Inconsistent::Unknown { .. } => "unknown",
        Inconsistent::Duplicate { .. } => "duplicate",
        Inconsistent::TwoHolders { .. } => "two_holders",
        Inconsistent::FenceNotRising { .. } => "fence_not_rising",
        Inconsistent::WrongTerm { .. } => "wrong_term",
        Inconsistent::WrongTransfer { .. } => "wrong_transfer",
        Inconsistent::Unlawful { .. } => "unlawful",
        Inconsistent::Over { .. } => "over",
        Inconsistent::NotOver { .. } => "not_over",
    })
}
