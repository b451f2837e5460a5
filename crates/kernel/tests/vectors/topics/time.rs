//! The cases of `time.json`; its `about` says what they show.

use super::{A, B, T, t, up};
use crate::case::{Topic, case};
use crate::support::make::{acquire, boot, check, indefinite, policy, renew};

const HOUR: u64 = 3_600_000;

pub(super) fn topic() -> Topic {
    Topic {
        name: "time",
        about: "Within one boot only the boot-time clock counts; across boots and hosts the wall clock does.",
        cases: vec![
            case("a_jump_of_the_wall_clock_ends_no_lease", &[9], policy())
                .at(up(0), acquire(1, A), "granted")
                .at(boot(T + HOUR, 0xb001, 1_009_999), check(1, A, 1), "valid")
                .at(boot(T + HOUR, 0xb001, 1_009_999), acquire(2, B), "HELD"),
            case("a_jump_of_the_wall_clock_prolongs_no_lease", &[9], policy())
                .at(up(0), acquire(1, A), "granted")
                .at(boot(T - HOUR, 0xb001, 1_010_000), check(1, A, 1), "EXPIRED")
                .at(boot(T - HOUR, 0xb001, 1_013_000), acquire(2, B), "granted"),
            case("after_a_reboot_the_wall_clock_counts", &[10], policy())
                .at(up(0), acquire(1, A), "granted")
                .at(boot(T + 9_999, 0xb002, 5), check(1, A, 1), "valid")
                .at(boot(T + 10_000, 0xb002, 6), check(1, A, 1), "EXPIRED")
                .at(boot(T + 12_999, 0xb002, 3_005), acquire(2, B), "HELD")
                .at(boot(T + 13_000, 0xb002, 3_006), acquire(2, B), "granted"),
            case("a_renewal_after_a_reboot_counts_by_the_clock_of_that_boot", &[9, 10, 25], policy())
                .at(up(0), acquire(1, A), "granted")
                .at(boot(T + 5_000, 0xb002, 100), renew(1, A, None), "renewed")
                .at(boot(T + HOUR, 0xb002, 10_099), check(1, A, 1), "valid")
                .at(boot(T, 0xb002, 10_100), check(1, A, 1), "EXPIRED"),
            case("where_one_side_has_no_boot_time_clock_the_wall_clock_counts", &[10], policy())
                .at(up(0), acquire(1, A), "granted")
                .at(t(9_999), check(1, A, 1), "valid")
                .at(t(10_000), check(1, A, 1), "EXPIRED")
                .at(t(13_000), acquire(2, B), "granted")
                .at(boot(T + 23_000, 0xb001, 7), check(2, B, 3), "EXPIRED"),
            case("a_machine_without_a_clock_battery_takes_nothing_over", &[10, 18], policy())
                .at(up(0), acquire(1, A), "granted")
                .at(boot(0, 0xb002, 5_000), acquire(2, B), "CLOCK_SKEW"),
            case("silence_is_measured_the_same_way", &[9, 10, 23], policy())
                .at(up(0), indefinite(1, A), "granted")
                .look(boot(T + HOUR, 0xb001, 1_059_999), 1, "beating")
                .look(boot(T, 0xb001, 1_060_000), 1, "stale")
                .look(boot(T + 59_999, 0xb002, 0), 1, "beating")
                .look(boot(T + 60_000, 0xb002, 0), 1, "stale"),
        ],
    }
}
