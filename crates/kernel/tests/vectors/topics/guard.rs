//! The cases of `guard.json`; its `about` says what they show.

use super::{A, B, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, fence, holder, id, named, on, policy, release, renew};
use holdfast_kernel::{Claim, Command};

pub(super) fn topic() -> Topic {
    let of = |resource: &str, lease, who, number| {
        let claim =
            Claim { resource: named(resource), lease: id(lease), holder: holder(who), fence: fence(number) };
        Command::Check(claim)
    };
    Topic {
        name: "guard",
        about: "A guarded write shows lease, holder and fence, and all of them must be in force.",
        cases: vec![
            case("the_holder_writes_until_the_deadline", &[31], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), check(1, A, 1), "valid")
                .at(t(9_000), renew(1, A, None), "renewed")
                .at(t(18_999), check(1, A, 1), "valid")
                .at(t(19_000), check(1, A, 1), "EXPIRED"),
            case("a_wrong_fence_lease_or_resource_is_fenced_out", &[31, 36], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), check(1, A, 2), "FENCED_OUT")
                .at(t(0), check(2, A, 1), "FENCED_OUT")
                .at(t(0), of("other", 1, A, 1), "FENCED_OUT")
                .at(t(0), check(1, B, 1), "NOT_HOLDER"),
            case("what_was_given_back_guards_nothing", &[31], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), release(1, A), "released")
                .at(t(0), check(1, A, 1), "FENCED_OUT")
                .at(t(0), acquire(2, A), "granted")
                .at(t(0), check(1, A, 1), "FENCED_OUT"),
            case("only_those_who_still_hold_it_are_named", &[31], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(10_000), check(2, B, 9), "FENCED_OUT"),
            case("a_check_takes_no_position", &[7, 31], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), check(1, A, 1), "valid")
                .at(t(0), on("other", acquire(2, A)), "granted"),
        ],
    }
}
