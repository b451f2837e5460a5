//! The cases of `evict.json`; its `about` says what they show.

use super::{A, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, evict, id, indefinite, on, policy, shared};
use holdfast_kernel::{Acquire, Command};

pub(super) fn topic() -> Topic {
    let knowing =
        |dead: &[u128], acquire: Acquire| Acquire { dead: dead.iter().copied().map(id).collect(), ..acquire };
    Topic {
        name: "evict",
        about: "Leases that end without their holders: by force, by death, by a sweep.",
        cases: vec![
            case("by_force_whatever_its_standing", &[29], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(1), evict(1, C), "evicted")
                .at(t(1), evict(1, C), "NOT_FOUND")
                .at(t(1), check(1, A, 1), "FENCED_OUT")
                .at(t(1), acquire(2, B), "granted")
                .at(t(99_000), evict(2, C), "evicted"),
            case("the_dead_are_not_waited_for", &[19], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(1), acquire(2, B), "HELD")
                .at(t(1), knowing(&[1], acquire(2, B)), "granted"),
            case("not_even_without_a_deadline_or_with_a_wrong_clock", &[19, 18, 22], policy())
                .at(t(0), indefinite(1, A), "granted")
                .at(t(1), knowing(&[1], acquire(2, B)), "granted")
                .at(t(9_000), on("other", acquire(3, A)), "granted")
                .at(t(0), on("other", acquire(4, B)), "CLOCK_SKEW")
                .at(t(0), on("other", knowing(&[3], acquire(4, B))), "granted"),
            case("a_holder_found_dead_does_not_hold_it_already", &[5, 19], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(1), knowing(&[1], acquire(2, A)), "granted"),
            case("death_counts_only_for_what_is_asked_for", &[19], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), on("other", acquire(2, A)), "granted")
                .at(t(1), knowing(&[2, 9], acquire(3, B)), "HELD")
                .at(t(1), on("other", knowing(&[1, 9], acquire(3, B))), "HELD"),
            case("dead_readers_go_and_living_ones_stay", &[2, 19, 37], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(0), shared(2, B), "granted")
                .at(t(1), knowing(&[1], acquire(3, C)), "HELD")
                .at(t(1), knowing(&[1, 2], acquire(3, C)), "granted"),
            case("a_sweep_ends_what_anybody_might_take_over", &[30], policy())
                .at(t(0), acquire(2, A), "granted")
                .at(t(0), on("other", acquire(1, A)), "granted")
                .at(t(1_000), on("third", acquire(3, A)), "granted")
                .at(t(0), on("fourth", indefinite(4, A)), "granted")
                .at(t(12_999), Command::Sweep, "swept")
                .at(t(13_000), Command::Sweep, "swept")
                .at(t(13_000), Command::Sweep, "swept")
                .at(t(13_000), acquire(5, B), "granted"),
        ],
    }
}
