//! The cases of `shared.json`; its `about` says what they show.

use super::{A, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, indefinite, lasting, policy, release, shared};
use holdfast_kernel::{Acquire, Mode};

pub(super) fn topic() -> Topic {
    let shared_for_good = |number, who| Acquire { mode: Mode::Shared, ..indefinite(number, who) };
    Topic {
        name: "shared",
        about: "Many readers, or one writer.",
        cases: vec![
            case("many_share_it", &[2], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(0), shared(2, B), "granted")
                .at(t(0), shared(3, C), "granted"),
            case("shared_and_exclusive_exclude_each_other", &[1, 2], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(0), acquire(2, B), "HELD")
                .at(t(0), release(1, A), "released")
                .at(t(0), acquire(2, B), "granted")
                .at(t(0), shared(3, C), "HELD"),
            case("a_shared_lease_guards_no_write", &[3], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(0), shared(2, B), "granted")
                .at(t(0), check(1, A, 1), "HELD_SHARED")
                .at(t(0), check(2, B, 2), "HELD_SHARED"),
            case("the_refusal_names_the_one_that_stands_in_the_way_longest", &[2, 20], policy())
                .at(t(0), lasting(30_000, shared(1, A)), "granted")
                .at(t(0), lasting(10_000, shared(2, B)), "granted")
                .at(t(5_000), acquire(3, C), "HELD")
                .at(t(32_999), acquire(3, C), "HELD")
                .at(t(33_000), acquire(3, C), "granted"),
            case("of_equally_long_ones_the_refusal_names_the_largest_id", &[2, 20, 40], policy())
                .at(t(0), shared(2, A), "granted")
                .at(t(0), shared(1, B), "granted")
                .at(t(0), acquire(3, C), "HELD"),
            case("one_without_a_deadline_stands_in_the_way_longest", &[20, 22], policy())
                .at(t(0), shared_for_good(1, A), "granted")
                .at(t(0), shared(2, B), "granted")
                .at(t(0), acquire(3, C), "HELD"),
            case("expired_readers_do_not_hinder_another_reader", &[2, 14], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(11_000), shared(2, B), "granted")
                .look(t(11_000), 1, "lapsed"),
        ],
    }
}
