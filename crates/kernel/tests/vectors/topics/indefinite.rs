//! The cases of `indefinite.json`; its `about` says what they show.

use super::{A, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, beat, check, evict, indefinite, ms, policy, range, release, renew};
use holdfast_kernel::{Acquire, Command, KindRule, Policy};

pub(super) fn topic() -> Topic {
    let humans_only = || {
        let rule = KindRule { indefinite: false, ..policy().rule };
        let human = KindRule { ttl: range(1, 1_000), indefinite: true };
        Policy { rule, kinds: [("human".to_owned(), human)].into(), ..policy() }
    };
    let unexplained = |number, who| Acquire { reason: None, ..indefinite(number, who) };
    let never_silent = || Policy { stale_after: ms(0), ..policy() };
    Topic {
        name: "indefinite",
        about: "Leases without a deadline: how they are granted, kept alive, go stale and end.",
        cases: vec![
            case("needs_a_reason", &[21, 36], policy()).at(t(0), unexplained(1, A), "REASON_REQUIRED").at(
                t(0),
                indefinite(1, A),
                "granted",
            ),
            case("needs_permission_which_a_kind_may_have", &[21, 32], humans_only())
                .at(t(0), indefinite(1, A), "INDEFINITE_FORBIDDEN")
                .at(t(0), unexplained(1, A), "INDEFINITE_FORBIDDEN")
                .at(t(0), indefinite(1, C), "granted"),
            case("never_expires_and_always_blocks", &[22, 30], policy())
                .at(t(0), indefinite(1, A), "granted")
                .at(t(3_000_000_000_000), acquire(2, B), "HELD")
                .at(t(3_000_000_000_000), Command::Sweep, "swept")
                .at(t(3_000_000_000_000), beat(1, A), "beaten"),
            case("goes_stale_at_the_threshold_and_not_before", &[23, 31], policy())
                .at(t(0), indefinite(1, A), "granted")
                .look(t(59_999), 1, "beating")
                .at(t(59_999), check(1, A, 1), "valid")
                .look(t(60_000), 1, "stale")
                .at(t(60_000), check(1, A, 1), "STALE"),
            case("a_beat_makes_it_guard_writes_again", &[23, 24], policy())
                .at(t(0), indefinite(1, A), "granted")
                .at(t(90_000), check(1, A, 1), "STALE")
                .at(t(90_000), beat(1, A), "beaten")
                .at(t(149_999), check(1, A, 1), "valid")
                .at(t(150_000), check(1, A, 1), "STALE"),
            case("stale_ends_by_release_or_force_only", &[22, 23, 29], policy())
                .at(t(0), indefinite(1, A), "granted")
                .at(t(90_000), acquire(2, B), "HELD")
                .at(t(90_000), evict(1, B), "evicted")
                .at(t(90_000), acquire(2, B), "granted")
                .at(t(90_000), release(2, B), "released")
                .at(t(90_000), indefinite(3, A), "granted")
                .at(t(990_000), release(3, A), "released"),
            case("renewed_without_a_length_it_is_a_beat", &[26], policy())
                .at(t(0), indefinite(1, A), "granted")
                .at(t(90_000), renew(1, A, None), "beaten")
                .at(t(90_000), check(1, A, 1), "valid")
                .at(t(90_000), renew(1, A, Some(10_000)), "NOT_FINITE"),
            case("a_finite_lease_is_not_beaten", &[24], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(1), beat(1, A), "NOT_INDEFINITE")
                .at(t(10_000), beat(1, A), "EXPIRED"),
            case("is_not_born_stale", &[21, 41], never_silent())
                .at(t(0), indefinite(1, A), "granted")
                .at(t(0), check(1, A, 1), "valid")
                .at(t(1), check(1, A, 1), "STALE"),
        ],
    }
}
