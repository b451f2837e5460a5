//! The cases of `keep.json`; its `about` says what they show.

use super::{A, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, lasting, policy, range, release, renew};
use holdfast_kernel::{KindRule, Policy};

pub(super) fn topic() -> Topic {
    let shorter = || Policy { rule: KindRule { ttl: range(1_000, 5_000), indefinite: true }, ..policy() };
    let by_kind = || {
        let human = KindRule { ttl: range(60_000, 120_000), indefinite: false };
        Policy { kinds: [("human".to_owned(), human)].into(), ..policy() }
    };
    Topic {
        name: "keep",
        about: "Renewing and giving back, and how long a lease may be.",
        cases: vec![
            case("a_renewal_counts_from_now", &[25], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(3_000), renew(1, A, None), "renewed")
                .look(t(12_999), 1, "live")
                .look(t(13_000), 1, "lapsed"),
            case("a_renewal_may_change_the_length_and_shorten_it_too", &[25], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(1_000), renew(1, A, Some(60_000)), "renewed")
                .at(t(2_000), renew(1, A, Some(1_000)), "renewed")
                .at(t(3_000), check(1, A, 1), "EXPIRED"),
            case("a_renewal_keeps_id_and_fence", &[7, 25], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(5_000), renew(1, A, None), "renewed")
                .at(t(14_999), check(1, A, 1), "valid"),
            case("lengths_outside_the_range_are_refused", &[32, 36], policy())
                .at(t(0), lasting(999, acquire(1, A)), "TTL_OUT_OF_RANGE")
                .at(t(0), lasting(3_600_001, acquire(1, A)), "TTL_OUT_OF_RANGE")
                .at(t(0), lasting(1_000, acquire(1, A)), "granted")
                .at(t(500), renew(1, A, Some(0)), "TTL_OUT_OF_RANGE")
                .at(t(500), renew(1, A, Some(3_600_000)), "renewed"),
            case("a_kind_may_have_a_range_of_its_own", &[32], by_kind())
                .at(t(0), lasting(10_000, acquire(1, C)), "TTL_OUT_OF_RANGE")
                .at(t(0), lasting(60_000, acquire(1, C)), "granted")
                .at(t(1), renew(1, C, Some(120_001)), "TTL_OUT_OF_RANGE")
                .at(t(1), release(1, C), "released")
                .at(t(1), lasting(10_000, acquire(2, B)), "granted"),
            case("a_renewal_grants_time_so_todays_range_decides", &[25, 34], policy())
                .at(t(0), acquire(1, A), "granted")
                .under(shorter())
                .at(t(9_999), check(1, A, 1), "valid")
                .at(t(9_999), renew(1, A, None), "TTL_OUT_OF_RANGE")
                .at(t(9_999), renew(1, A, Some(5_000)), "renewed"),
        ],
    }
}
