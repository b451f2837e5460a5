//! The cases of `takeover.json`; its `about` says what they show.

use super::{A, B, T, t, up};
use crate::case::{Topic, case};
use crate::support::make::{acquire, boot, check, indefinite, lasting, ms, policy, renew};
use holdfast_kernel::Policy;

pub(super) fn topic() -> Topic {
    let no_wait = || Policy { skew: ms(0), grace: ms(0), ..policy() };
    Topic {
        name: "takeover",
        about: "Another's expired lease is taken over after its deadline, the skew and the grace; never before, and \
                not on the word of a wrong clock.",
        cases: vec![
            case("only_after_deadline_skew_and_grace_and_in_one_step", &[14, 20, 37], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), acquire(2, B), "HELD")
                .at(t(9_999), acquire(2, B), "HELD")
                .at(t(10_000), acquire(2, B), "HELD")
                .at(t(12_999), acquire(2, B), "HELD")
                .at(t(13_000), acquire(2, B), "granted"),
            case("the_displaced_holder_is_fenced_out_and_told_by_whom", &[14, 31], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(13_000), acquire(2, B), "granted")
                .at(t(13_000), check(1, A, 1), "FENCED_OUT")
                .at(t(13_000), renew(1, A, None), "NOT_FOUND"),
            case("a_renewal_moves_the_takeover", &[14, 25], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(9_000), renew(1, A, None), "renewed")
                .at(t(21_999), acquire(2, B), "HELD")
                .at(t(22_000), acquire(2, B), "granted"),
            case("without_skew_and_grace_at_the_deadline_itself", &[11, 14, 20], no_wait())
                .at(t(0), acquire(1, A), "granted")
                .at(t(9_999), acquire(2, B), "HELD")
                .at(t(10_000), acquire(2, B), "granted"),
            case("within_one_boot_the_wait_is_by_the_boot_time_clock", &[9, 14, 20], policy())
                .at(up(0), acquire(1, A), "granted")
                .at(boot(T + 999_000, 0xb001, 1_012_999), acquire(2, B), "HELD")
                .at(boot(T, 0xb001, 1_013_000), acquire(2, B), "granted"),
            case("a_lease_stamped_in_the_future_within_the_bound_is_waited_for", &[18, 20], policy())
                .at(t(2_000), acquire(1, A), "granted")
                .at(t(0), acquire(2, B), "HELD")
                .at(t(14_999), acquire(2, B), "HELD")
                .at(t(15_000), acquire(2, B), "granted"),
            case(
                "a_lease_stamped_in_the_future_beyond_the_bound_is_evidence_of_a_bad_clock",
                &[18],
                policy(),
            )
            .at(t(2_001), acquire(1, A), "granted")
            .at(t(0), acquire(2, B), "CLOCK_SKEW")
            .at(t(1), acquire(2, B), "HELD"),
            case("a_renewal_in_the_future_is_evidence_too", &[18], policy())
                .at(t(0), lasting(600_000, acquire(1, A)), "granted")
                .at(t(500_000), renew(1, A, Some(1_000)), "renewed")
                .at(t(400_000), acquire(2, B), "CLOCK_SKEW"),
            case("the_holder_itself_is_not_hindered_by_its_clock", &[18, 31], policy())
                .at(t(500_000), acquire(1, A), "granted")
                .at(t(0), check(1, A, 1), "valid")
                .at(t(0), acquire(2, A), "already_held")
                .at(t(0), renew(1, A, None), "renewed")
                .at(t(13_000), acquire(2, B), "granted"),
            case("an_indefinite_lease_from_the_future_just_blocks", &[18, 22], policy())
                .at(t(500_000), indefinite(1, A), "granted")
                .at(t(0), acquire(2, B), "HELD"),
        ],
    }
}
