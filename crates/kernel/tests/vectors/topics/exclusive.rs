//! The cases of `exclusive.json`; its `about` says what they show.

use super::{A, A2, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, beat, check, on, policy, release, renew, transfer};

pub(super) fn topic() -> Topic {
    Topic {
        name: "exclusive",
        about: "One writer, and who that is.",
        cases: vec![
            case("one_of_two_gets_it", &[1, 36], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), acquire(2, B), "HELD")
                .at(t(0), check(1, A, 1), "valid"),
            case("resources_do_not_touch_each_other", &[1], policy()).at(t(0), acquire(1, A), "granted").at(
                t(0),
                on("other", acquire(2, B)),
                "granted",
            ),
            case("only_the_exact_holder_acts_on_a_lease", &[4], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(1), renew(1, A2, None), "NOT_HOLDER")
                .at(t(1), release(1, A2), "NOT_HOLDER")
                .at(t(1), beat(1, B), "NOT_HOLDER")
                .at(t(1), transfer(1, A2, 2, C), "NOT_HOLDER")
                .at(t(1), check(1, A2, 1), "NOT_HOLDER")
                .at(t(1), renew(1, A, None), "renewed"),
            case("others_are_refused_after_the_deadline_too", &[4], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(20_000), release(1, B), "NOT_HOLDER")
                .at(t(20_000), renew(1, B, None), "NOT_HOLDER"),
            case("a_lease_that_is_not_there_is_not_found", &[4, 35], policy())
                .at(t(0), renew(9, A, None), "NOT_FOUND")
                .at(t(0), beat(9, A), "NOT_FOUND")
                .at(t(0), release(9, A), "NOT_FOUND")
                .at(t(0), transfer(9, A, 2, B), "NOT_FOUND"),
            case("an_id_that_is_taken_is_refused", &[35], policy()).at(t(0), acquire(1, A), "granted").at(
                t(0),
                on("other", acquire(1, B)),
                "DUPLICATE_ID",
            ),
        ],
    }
}
