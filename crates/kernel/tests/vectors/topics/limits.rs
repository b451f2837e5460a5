//! The cases of `limits.json`; its `about` says what they show.

use super::{A, A2, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, id, indefinite, lasting, on, policy, release};
use holdfast_kernel::{Acquire, Limits, Policy};

pub(super) fn topic() -> Topic {
    let limited = |limits| Policy { limits, ..policy() };
    Topic {
        name: "limits",
        about: "How much may be held at once.",
        cases: vec![
            case(
                "leases_of_one_agent_wherever_it_works",
                &[33, 36],
                limited(Limits { leases_per_agent: 2, ..Limits::NONE }),
            )
            .at(t(0), acquire(1, A), "granted")
            .at(t(0), on("second", acquire(2, A2)), "granted")
            .at(t(0), on("third", acquire(3, A)), "LIMIT_REACHED")
            .at(t(0), on("third", acquire(3, B)), "granted")
            .at(t(0), release(1, A), "released")
            .at(t(0), on("fourth", acquire(4, A)), "granted"),
            case("leases_in_all", &[33], limited(Limits { leases_per_table: 2, ..Limits::NONE }))
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), on("second", acquire(2, B)), "granted")
                .at(t(0), on("third", acquire(3, C)), "LIMIT_REACHED"),
            case(
                "indefinite_leases_of_one_agent",
                &[21, 33],
                limited(Limits { indefinite_per_agent: 1, ..Limits::NONE }),
            )
            .at(t(0), indefinite(1, A), "granted")
            .at(t(0), on("second", indefinite(2, A2)), "LIMIT_REACHED")
            .at(t(0), on("second", acquire(2, A2)), "granted")
            .at(t(0), on("third", indefinite(3, B)), "granted"),
            case(
                "indefinite_leases_in_all",
                &[21, 33],
                limited(Limits { indefinite_per_table: 1, ..Limits::NONE }),
            )
            .at(t(0), indefinite(1, A), "granted")
            .at(t(90_000), on("second", indefinite(2, B)), "LIMIT_REACHED"),
            case(
                "what_is_over_does_not_count",
                &[33],
                limited(Limits { leases_per_agent: 1, ..Limits::NONE }),
            )
            .at(t(0), acquire(1, A), "granted")
            .at(t(9_999), on("second", acquire(2, A)), "LIMIT_REACHED")
            .at(t(10_000), on("second", acquire(2, A)), "granted"),
            case(
                "what_the_grant_ends_does_not_count",
                &[33, 19],
                limited(Limits { leases_per_table: 1, ..Limits::NONE }),
            )
            .at(t(0), acquire(1, A), "granted")
            .at(t(1), Acquire { dead: vec![id(1)], ..acquire(2, B) }, "granted"),
            case("renewals_and_asking_again_are_not_limited", &[5, 33], policy())
                .at(t(0), acquire(1, A), "granted")
                .under(limited(Limits { leases_per_agent: 0, leases_per_table: 0, ..Limits::NONE }))
                .at(t(1), acquire(2, A), "already_held")
                .at(t(1), crate::support::make::renew(1, A, None), "renewed")
                .at(t(1), on("second", lasting(5_000, acquire(2, A))), "LIMIT_REACHED"),
            case(
                "held_is_said_before_the_limit",
                &[33],
                limited(Limits { leases_per_table: 1, ..Limits::NONE }),
            )
            .at(t(0), acquire(1, A), "granted")
            .at(t(0), acquire(2, B), "HELD"),
        ],
    }
}
