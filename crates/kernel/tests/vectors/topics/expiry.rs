//! The cases of `expiry.json`; its `about` says what they show.

use super::{A, B, T, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, boot, check, lasting, policy, range, release, renew, transfer, wall};
use holdfast_kernel::{KindRule, Policy};

/// The last millisecond of 9999.
const LAST: u64 = 253_402_300_799_999;

pub(super) fn topic() -> Topic {
    let any_length =
        || Policy { rule: KindRule { ttl: range(0, (1 << 53) - 1), indefinite: true }, ..policy() };
    Topic {
        name: "expiry",
        about: "A finite lease is over at its deadline, and over is over.",
        cases: vec![
            case("over_at_the_deadline_and_not_before", &[11], policy())
                .at(t(0), acquire(1, A), "granted")
                .look(t(9_999), 1, "live")
                .at(t(9_999), check(1, A, 1), "valid")
                .look(t(10_000), 1, "lapsed")
                .at(t(10_000), check(1, A, 1), "EXPIRED")
                .look(t(12_999), 1, "lapsed")
                .look(t(13_000), 1, "open"),
            case("what_is_over_is_not_renewed_though_nobody_took_it", &[12, 36], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(10_000), renew(1, A, None), "EXPIRED")
                .at(t(10_000), transfer(1, A, 2, B), "EXPIRED")
                .at(t(99_000), renew(1, A, Some(10_000)), "EXPIRED"),
            case("ones_own_expired_lease_is_taken_anew_at_once", &[12, 15, 7], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(10_000), acquire(2, A), "granted")
                .at(t(10_000), check(1, A, 1), "FENCED_OUT")
                .at(t(10_000), check(2, A, 3), "valid"),
            case("after_a_clean_release_nobody_waits", &[16], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(1), release(1, A), "released")
                .at(t(1), acquire(2, B), "granted"),
            case("a_release_after_the_deadline_spares_others_the_wait", &[17], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(10_500), acquire(2, B), "HELD")
                .at(t(10_500), release(1, A), "released")
                .at(t(10_500), acquire(2, B), "granted")
                .at(t(10_500), release(1, A), "NOT_FOUND"),
            case("a_deadline_without_a_date_is_refused", &[13], any_length())
                .at(wall(LAST - 10_000), acquire(1, A), "granted")
                .at(wall(LAST - 9_999), renew(1, A, None), "DEADLINE_TOO_FAR")
                .at(wall(LAST - 9_999), renew(1, A, Some(9_999)), "renewed")
                .at(wall(LAST), check(1, A, 1), "EXPIRED")
                .at(boot(T, 0xb001, (1 << 53) - 2), lasting(2, acquire(2, B)), "DEADLINE_TOO_FAR"),
            case("no_lease_is_born_dead_or_outlasts_a_hundred_years", &[32, 41], any_length())
                .at(t(0), lasting(0, acquire(1, A)), "TTL_OUT_OF_RANGE")
                .at(t(0), lasting(3_162_240_000_001, acquire(1, A)), "TTL_OUT_OF_RANGE")
                .at(t(0), lasting((1 << 53) - 1, acquire(1, A)), "TTL_OUT_OF_RANGE")
                .at(t(0), lasting(3_162_240_000_000, acquire(1, A)), "granted"),
        ],
    }
}
