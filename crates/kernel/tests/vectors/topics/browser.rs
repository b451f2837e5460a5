//! The cases of `browser.json`; its `about` says what they show.

use super::t;
use crate::case::{Topic, case};
use crate::support::make::{
    acquire, fence, holder, id, lasting, ms, named, on, policy, range, release, renew,
};
use holdfast_kernel::{Acquire, Again, Claim, Command, KindRule, Policy};

const TAB: &str = "tab:1@window";
const OTHER: &str = "tab:2@window";

/// What a browser package has: no boot-time clock, one record, one length, no patience.
fn browser() -> Policy {
    Policy {
        again: Again::Refuse,
        rule: KindRule { ttl: range(1, 3_600_000), indefinite: false },
        skew: ms(0),
        grace: ms(0),
        stale_after: ms(1),
        ..policy()
    }
}

fn take(number: u128, who: &str) -> Acquire {
    on("project", lasting(15_000, acquire(number, who)))
}

fn writes(lease: u128, who: &str, number: u64) -> Command {
    Command::Check(Claim {
        resource: named("project"),
        lease: id(lease),
        holder: holder(who),
        fence: fence(number),
    })
}

pub(super) fn topic() -> Topic {
    Topic {
        name: "browser",
        about: "One project, one policy, the wall clock only: what a browser tab can run.",
        cases: vec![
            case("one_tab_writes", &[1, 36], browser())
                .at(t(0), take(1, TAB), "granted")
                .at(t(0), take(2, OTHER), "HELD")
                .at(t(14_999), writes(1, TAB, 1), "valid"),
            case("re_entry_is_refused", &[5], browser()).at(t(0), take(1, TAB), "granted").at(
                t(14_999),
                take(2, TAB),
                "ALREADY_HELD",
            ),
            case("renewed_in_time", &[25], browser())
                .at(t(0), take(1, TAB), "granted")
                .at(t(14_999), renew(1, TAB, None), "renewed")
                .look(t(29_998), 1, "live")
                .look(t(29_999), 1, "open"),
            case("renewed_for_another_length", &[25, 32], browser())
                .at(t(0), take(1, TAB), "granted")
                .at(t(1), renew(1, TAB, Some(60_000)), "renewed")
                .at(t(1), renew(1, TAB, Some(0)), "TTL_OUT_OF_RANGE")
                .at(t(60_000), writes(1, TAB, 1), "valid"),
            case("over_is_over", &[11, 12], browser())
                .at(t(0), take(1, TAB), "granted")
                .at(t(15_000), writes(1, TAB, 1), "EXPIRED")
                .at(t(15_000), renew(1, TAB, None), "EXPIRED")
                .at(t(15_000), take(2, TAB), "granted"),
            case("a_frozen_tab_is_displaced_and_learns_it", &[14, 31, 20], browser())
                .at(t(0), take(1, TAB), "granted")
                .at(t(14_999), take(2, OTHER), "HELD")
                .at(t(15_000), take(2, OTHER), "granted")
                .at(t(15_000), writes(1, TAB, 1), "FENCED_OUT")
                .at(t(15_000), renew(1, TAB, None), "NOT_FOUND")
                .at(t(15_000), release(1, TAB), "NOT_FOUND"),
            case("released_and_free_at_once", &[16, 7], browser())
                .at(t(0), take(1, TAB), "granted")
                .at(t(5), release(1, TAB), "released")
                .at(t(5), take(2, OTHER), "granted")
                .at(t(5), writes(2, OTHER, 3), "valid"),
            case("released_after_its_end", &[17], browser()).at(t(0), take(1, TAB), "granted").at(
                t(20_000),
                release(1, TAB),
                "released",
            ),
            case("only_the_tab_itself", &[4], browser())
                .at(t(0), take(1, TAB), "granted")
                .at(t(0), renew(1, OTHER, None), "NOT_HOLDER")
                .at(t(0), release(1, OTHER), "NOT_HOLDER")
                .at(t(0), writes(1, OTHER, 1), "NOT_HOLDER"),
        ],
    }
}
