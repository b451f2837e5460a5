//! The cases of `terms.json`; its `about` says what they show.

use super::{A, B, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, indefinite, lasting, ms, policy, text};
use holdfast_kernel::{Acquire, Policy, Tags};

pub(super) fn topic() -> Topic {
    let patient = || Policy { skew: ms(20_000), grace: ms(10_000), stale_after: ms(600_000), ..policy() };
    let hasty = || Policy { skew: ms(0), grace: ms(0), stale_after: ms(1_000), ..policy() };
    let endless = (1 << 53) - 1;
    let boundless = || Policy { skew: ms(endless), grace: ms(endless), stale_after: ms(endless), ..policy() };
    let tags = Tags::none().with("branch", text("main")).unwrap().with("pid", text("4711")).unwrap();
    Topic {
        name: "terms",
        about: "A lease is judged by the terms that it was granted with, whatever the policy says by then.",
        cases: vec![
            case("a_hastier_policy_takes_nothing_over_earlier", &[34], policy())
                .at(t(0), acquire(1, A), "granted")
                .under(hasty())
                .at(t(12_999), acquire(2, B), "HELD")
                .at(t(13_000), acquire(2, B), "granted")
                .at(t(22_999), acquire(3, A), "HELD")
                .at(t(23_000), acquire(3, A), "granted"),
            case("a_more_patient_policy_waits_no_longer", &[34], policy())
                .at(t(0), acquire(1, A), "granted")
                .under(patient())
                .at(t(13_000), acquire(2, B), "granted")
                .at(t(52_999), acquire(3, A), "HELD")
                .at(t(53_000), acquire(3, A), "granted"),
            case("staleness_is_the_leases_own", &[34, 23], policy())
                .at(t(0), indefinite(1, A), "granted")
                .under(hasty())
                .at(t(59_999), check(1, A, 1), "valid")
                .at(t(60_000), check(1, A, 1), "STALE"),
            case("evidence_of_skew_is_judged_by_the_leases_bound", &[18, 34], policy())
                .at(t(2_000), acquire(1, A), "granted")
                .under(hasty())
                .at(t(0), acquire(2, B), "HELD"),
            case("reason_and_tags_are_kept_and_never_read", &[34], policy())
                .at(
                    t(0),
                    Acquire { reason: Some(text("the parser")), tags, ..lasting(60_000, acquire(1, A)) },
                    "granted",
                )
                .at(t(1), acquire(2, B), "HELD"),
            case("no_span_of_a_lease_is_longer_than_a_hundred_years", &[41, 20], boundless())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), acquire(2, B), "HELD")
                .at(t(6_324_480_009_999), acquire(2, B), "HELD")
                .at(t(6_324_480_010_000), acquire(2, B), "granted")
                .at(t(6_324_480_010_000), crate::support::make::on("other", indefinite(3, A)), "granted")
                .look(t(9_486_720_009_999), 3, "beating")
                .look(t(9_486_720_010_000), 3, "stale"),
        ],
    }
}
