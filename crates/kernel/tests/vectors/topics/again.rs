//! The cases of `again.json`; its `about` says what they show.

use holdfast_kernel::{Again, Policy};

use super::{A, A2, B, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, indefinite, lasting, policy, shared};

pub(super) fn topic() -> Topic {
    let refuse = || Policy { again: Again::Refuse, ..policy() };
    Topic {
        name: "again",
        about: "What a holder gets that asks for what it holds already.",
        cases: vec![
            case("asking_again_returns_the_live_lease_unchanged", &[5, 36], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(4_000), acquire(2, A), "already_held")
                .at(t(4_000), acquire(1, A), "already_held")
                .at(t(9_999), acquire(2, A), "already_held"),
            case("asking_again_for_a_forbidden_length_still_returns_it", &[5], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), lasting(0, acquire(2, A)), "already_held"),
            case("asking_again_is_refused_where_the_policy_says_so", &[5, 36], refuse())
                .at(t(0), acquire(1, A), "granted")
                .at(t(4_000), acquire(2, A), "ALREADY_HELD")
                .at(t(4_000), check(1, A, 1), "valid"),
            case("the_same_agent_in_another_place_is_somebody_else", &[4, 5], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), acquire(2, A2), "HELD"),
            case("exclusive_is_enough_for_shared", &[6], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), shared(2, A), "already_held")
                .under(refuse())
                .at(t(0), shared(2, A), "ALREADY_HELD"),
            case("shared_is_not_enough_for_exclusive_under_either_policy", &[6], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(0), acquire(2, A), "HELD_SHARED")
                .under(refuse())
                .at(t(0), acquire(2, A), "HELD_SHARED"),
            case("a_stale_lease_is_still_held", &[5, 23], policy())
                .at(t(0), indefinite(1, A), "granted")
                .at(t(60_000), indefinite(2, A), "already_held")
                .at(t(60_000), acquire(3, B), "HELD"),
        ],
    }
}
