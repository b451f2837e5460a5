//! The cases of `fence.json`; its `about` says what they show.

use super::{A, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, evict, fence, on, policy, release, renew, shared, transfer};
use holdfast_kernel::Command;

pub(super) fn topic() -> Topic {
    let last = (1 << 53) - 1;
    assert_eq!(fence(last), holdfast_kernel::Fence::LAST);
    Topic {
        name: "fence",
        about: "A grant's fence is the position of its event, and larger than every one before it.",
        cases: vec![
            case("every_event_takes_a_position_and_a_grant_is_fenced_by_its_own", &[7], policy())
                .counting_from(41)
                .at(t(0), acquire(1, A), "granted")
                .at(t(1), renew(1, A, None), "renewed")
                .at(t(2), release(1, A), "released")
                .at(t(3), acquire(2, B), "granted")
                .at(t(13_003), acquire(3, A), "granted"),
            case("fences_rise_across_release_eviction_and_transfer", &[7], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), evict(1, C), "evicted")
                .at(t(0), acquire(2, B), "granted")
                .at(t(0), transfer(2, B, 3, A), "transferred")
                .at(t(0), release(3, A), "released")
                .at(t(0), acquire(4, B), "granted"),
            case("a_counter_that_was_set_back_grants_nothing", &[8, 36], policy())
                .counting_from(7)
                .at(t(0), acquire(1, A), "granted")
                .counting_from(7)
                .at(t(13_000), acquire(2, B), "COUNTER_BEHIND")
                .at(t(13_000), on("other", acquire(3, B)), "granted")
                .counting_from(6)
                .at(t(5_000), transfer(1, A, 2, B), "COUNTER_BEHIND")
                .at(t(5_000), renew(1, A, None), "renewed")
                .at(t(5_000), check(1, A, 7), "valid"),
            case("the_counter_keeps_a_position_for_the_next_event", &[8, 36], policy())
                .counting_from(last - 2)
                .at(t(0), shared(1, A), "granted")
                .at(t(0), on("other", acquire(2, A)), "granted")
                .at(t(0), check(2, A, last - 1), "FENCED_OUT")
                .at(t(0), release(1, A), "FENCES_EXHAUSTED")
                .at(t(0), shared(3, B), "FENCES_EXHAUSTED")
                .at(t(13_000), Command::Sweep, "FENCES_EXHAUSTED")
                .at(t(0), shared(3, A), "already_held"),
            case("a_takeover_needs_two_positions_and_one_to_spare", &[8], policy())
                .counting_from(last - 3)
                .at(t(0), acquire(1, A), "granted")
                .at(t(13_000), acquire(2, B), "granted"),
            case("a_takeover_that_would_use_the_counter_up_is_refused", &[8], policy())
                .counting_from(last - 2)
                .at(t(0), acquire(1, A), "granted")
                .at(t(13_000), acquire(2, B), "FENCES_EXHAUSTED"),
        ],
    }
}
