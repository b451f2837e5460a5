//! The cases of `apply.json`; its `about` says what they show.

use super::{A, A2, B, C, T, t};
use crate::case::{Case, Topic, case};
use crate::support::make::{
    acquire, beat, boot, fence, holder, id, indefinite, lasting, ms, named, policy, shared, text, wall,
};
use holdfast_kernel::{Cause, Event, Lease, Mode, Stamp, Tags, Term};

/// A grant as the kernel would make it.
fn lease(number: u128, who: &str, position: u64, at: Stamp) -> Lease {
    Lease {
        id: id(number),
        resource: named("doc"),
        holder: holder(who),
        mode: Mode::Exclusive,
        fence: fence(position),
        granted: at,
        term: Term::Finite { ttl: ms(10_000), from: at },
        skew: ms(2_000),
        grace: ms(1_000),
        reason: None,
        tags: Tags::none(),
    }
}

fn granted(lease: Lease) -> Event {
    Event::Granted { lease }
}

fn handed_over(from: u128, lease: Lease) -> Event {
    Event::Transferred { from: id(from), lease, why: text("hand-over") }
}

fn expired(number: u128, at: Stamp) -> Event {
    Event::Evicted { lease: id(number), at, cause: Cause::Expired }
}

fn renewed(number: u128, ttl: u64, at: Stamp) -> Event {
    Event::Renewed { lease: id(number), ttl: ms(ttl), at }
}

fn term(lease: Lease, term: Term) -> Lease {
    Lease { term, ..lease }
}

const CENTURY: u64 = 3_162_240_000_000;

fn silent(stale_after: u64) -> Term {
    Term::Indefinite { beat: t(0), stale_after: ms(stale_after) }
}

fn explained(lease: Lease) -> Lease {
    Lease { reason: Some(text("why")), ..lease }
}

pub(super) fn topic() -> Topic {
    let cases = grants().into_iter().chain(changes()).collect();
    Topic {
        name: "apply",
        about: "Events that are offered to a table: it takes what can have happened to it and nothing else.",
        cases,
    }
}

fn grants() -> Vec<Case> {
    vec![
        case("every_prefix_of_a_takeover_is_a_history", &[37, 39], policy())
            .at(t(0), acquire(1, A), "granted")
            .offer(expired(1, t(13_000)), "applied")
            .at(t(13_000), acquire(2, C), "granted"),
        case("what_is_not_there_has_no_history", &[38], policy())
            .offer(Event::Released { lease: id(1), at: t(0) }, "unknown")
            .offer(Event::Beaten { lease: id(1), at: t(0) }, "unknown")
            .offer(renewed(1, 10_000, t(0)), "unknown")
            .offer(expired(1, t(0)), "unknown")
            .offer(handed_over(1, lease(2, B, 2, t(0))), "unknown"),
        case("a_grant_of_what_is_held_did_not_happen", &[1, 38], policy())
            .at(t(0), acquire(1, A), "granted")
            .offer(granted(lease(2, B, 2, t(50_000))), "two_holders")
            .offer(granted(lease(2, A, 2, t(50_000))), "two_holders")
            .offer(granted(Lease { mode: Mode::Shared, ..lease(2, B, 2, t(0)) }), "two_holders")
            .offer(granted(Lease { resource: named("other"), ..lease(1, B, 2, t(0)) }), "duplicate"),
        case("nobody_shares_a_thing_with_himself", &[2, 38], policy())
            .at(t(0), shared(1, A), "granted")
            .offer(granted(Lease { mode: Mode::Shared, ..lease(2, A, 2, t(50_000)) }), "two_holders")
            .offer(granted(Lease { mode: Mode::Shared, ..lease(2, B, 2, t(0)) }), "applied"),
        case("fences_rise", &[7, 38], policy())
            .counting_from(5)
            .at(t(0), shared(1, A), "granted")
            .offer(granted(Lease { mode: Mode::Shared, ..lease(2, B, 5, t(0)) }), "fence_not_rising")
            .offer(granted(Lease { mode: Mode::Shared, ..lease(2, B, 4, t(0)) }), "fence_not_rising")
            .offer(handed_over(1, Lease { mode: Mode::Shared, ..lease(2, B, 5, t(0)) }), "fence_not_rising"),
        case("terms_that_nobody_grants", &[38, 41], policy())
            .offer(granted(term(lease(1, A, 1, t(0)), Term::Finite { ttl: ms(0), from: t(0) })), "unlawful")
            .offer(
                granted(term(lease(1, A, 1, t(0)), Term::Finite { ttl: ms(CENTURY + 1), from: t(0) })),
                "unlawful",
            )
            .offer(granted(term(lease(1, A, 1, t(1)), Term::Finite { ttl: ms(1), from: t(0) })), "unlawful")
            .offer(granted(lease(1, A, 1, wall(253_402_300_799_999))), "unlawful")
            .offer(granted(lease(1, A, 1, boot(T, 1, (1 << 53) - 1))), "unlawful")
            .offer(granted(lease(1, A, (1 << 53) - 1, t(0))), "unlawful")
            .offer(granted(Lease { skew: ms(CENTURY + 1), ..lease(1, A, 1, t(0)) }), "unlawful")
            .offer(granted(Lease { grace: ms(CENTURY + 1), ..lease(1, A, 1, t(0)) }), "unlawful")
            .offer(granted(explained(term(lease(1, A, 1, t(0)), silent(0)))), "unlawful")
            .offer(granted(explained(term(lease(1, A, 1, t(0)), silent(CENTURY + 1)))), "unlawful")
            .offer(granted(explained(term(lease(1, A, 1, t(1)), silent(1)))), "unlawful")
            .offer(granted(term(lease(1, A, 1, t(0)), silent(1))), "unlawful")
            .offer(granted(explained(term(lease(1, A, 1, t(0)), silent(1)))), "applied"),
    ]
}

fn changes() -> Vec<Case> {
    vec![
        case("what_is_over_does_not_go_on", &[12, 38], policy())
            .at(t(0), acquire(1, A), "granted")
            .offer(renewed(1, 10_000, t(10_000)), "over")
            .offer(handed_over(1, lease(2, B, 2, t(10_000))), "over")
            .offer(renewed(1, 0, t(9_999)), "unlawful")
            .offer(renewed(1, 10_000, t(9_999)), "applied"),
        case("what_is_not_over_has_not_expired", &[11, 38], policy())
            .at(t(0), acquire(1, A), "granted")
            .offer(expired(1, t(9_999)), "not_over")
            .offer(expired(1, t(10_000)), "applied"),
        case("the_indefinite_never_expired", &[22, 38], policy())
            .at(t(0), indefinite(1, A), "granted")
            .offer(expired(1, t(900_000)), "not_over")
            .offer(renewed(1, 10_000, t(1)), "wrong_term")
            .at(t(900_000), beat(1, A), "beaten"),
        case("the_finite_was_never_beaten", &[24, 38], policy())
            .at(t(0), acquire(1, A), "granted")
            .offer(Event::Beaten { lease: id(1), at: t(1) }, "wrong_term"),
        case("a_hand_over_is_of_the_same_thing_to_somebody_else", &[27, 38], policy())
            .at(t(0), lasting(10_000, acquire(1, A)), "granted")
            .offer(
                handed_over(1, Lease { resource: named("other"), ..lease(2, B, 2, t(1)) }),
                "wrong_transfer",
            )
            .offer(handed_over(1, Lease { mode: Mode::Shared, ..lease(2, B, 2, t(1)) }), "wrong_transfer")
            .offer(handed_over(1, explained(lease(2, B, 2, t(1)))), "wrong_transfer")
            .offer(
                handed_over(1, term(lease(2, B, 2, t(1)), Term::Finite { ttl: ms(9_999), from: t(1) })),
                "wrong_transfer",
            )
            .offer(handed_over(1, term(lease(2, B, 2, t(1)), silent(1))), "wrong_transfer")
            .offer(handed_over(1, lease(2, A, 2, t(1))), "wrong_transfer")
            .offer(
                handed_over(1, term(lease(2, B, 2, t(1)), Term::Finite { ttl: ms(10_000), from: t(0) })),
                "unlawful",
            )
            .offer(handed_over(1, lease(1, B, 2, t(1))), "duplicate")
            .offer(handed_over(1, lease(2, A2, 2, t(1))), "applied"),
    ]
}
