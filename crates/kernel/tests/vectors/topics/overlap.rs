//! The cases of `overlap.json`; its `about` says what they show.

use super::{A, B, C, t};
use crate::case::{Case, Topic, case};
use crate::support::make::{
    acquire, check, fence, holder, id, named, on, policy, release, renew, shared, transfer,
};
use holdfast_kernel::{Acquire, Claim, Command};

/// A holds the first pattern; B asks for each of the others, and gives back what it gets.
fn against(name: &'static str, held: &str, others: &[(&str, &str)]) -> Case {
    let start = case(name, &[42, 43], policy()).at(t(0), on(&format!("~{held}"), acquire(1, A)), "granted");
    others.iter().zip(2..).fold(start, |case, ((pattern, meant), number)| {
        let case = case.at(t(0), on(&format!("~{pattern}"), acquire(number, B)), meant);
        if *meant == "granted" { case.at(t(0), release(number, B), "released") } else { case }
    })
}

pub(super) fn topic() -> Topic {
    let mut cases = shapes();
    cases.extend(several());
    Topic { name: "overlap", about: "Patterns of paths: held apart, or by one.", cases }
}

/// Which patterns have a path in common.
fn shapes() -> Vec<Case> {
    vec![
        against(
            "any_depth_is_everything_below",
            "src/**",
            &[
                ("src/a.rs", "HELD"),
                ("src/deep/er/a.rs", "HELD"),
                ("**/*.rs", "HELD"),
                ("*/a.rs", "HELD"),
                ("**", "HELD"),
                ("src", "granted"),
                ("srcs/a.rs", "granted"),
                ("docs/**", "granted"),
                ("*", "granted"),
            ],
        ),
        against(
            "any_depth_in_between_may_be_none",
            "a/**/b",
            &[("a/b", "HELD"), ("a/x/y/b", "HELD"), ("a/x/y", "granted"), ("**/b", "HELD"), ("b", "granted")],
        ),
        against(
            "a_star_stays_within_its_segment",
            "docs/*.md",
            &[
                ("docs/a.md", "HELD"),
                ("docs/.md", "HELD"),
                ("docs/a*", "HELD"),
                ("docs/?.md", "HELD"),
                ("docs/a/b.md", "granted"),
                ("docs/*.rs", "granted"),
                ("docs/a.md/x", "granted"),
            ],
        ),
        against(
            "two_that_each_leave_something_open",
            "a*c?e",
            &[("?bc*", "HELD"), ("*bcde", "HELD"), ("a*d", "granted"), ("b*", "granted"), ("????", "HELD")],
        ),
        against(
            "a_question_mark_is_one_character",
            "?",
            &[("é", "HELD"), ("a", "HELD"), ("ab", "granted"), ("a/b", "granted"), ("*", "HELD")],
        ),
        case("a_name_is_no_pattern", &[42, 43], policy())
            .at(t(0), on("a/b", acquire(1, A)), "granted")
            .at(t(0), on("~a/b", acquire(2, B)), "granted")
            .at(t(0), on("~**", acquire(3, C)), "HELD")
            .at(t(0), release(2, B), "released")
            .at(t(0), on("~**", acquire(3, C)), "granted"),
    ]
}

/// What several patterns mean for the rules of one.
fn several() -> Vec<Case> {
    let src = |acquire: Acquire| on("~src/**", acquire);
    vec![
        case("shared_patterns_exclude_only_exclusive_ones", &[2, 43], policy())
            .at(t(0), src(shared(1, A)), "granted")
            .at(t(0), on("~**/a.rs", shared(2, B)), "granted")
            .at(t(0), on("~src/a.rs", acquire(3, C)), "HELD")
            .at(t(0), on("~src/b.rs", acquire(4, B)), "HELD")
            .at(t(0), release(1, A), "released")
            .at(t(0), on("~src/b.rs", acquire(4, B)), "granted")
            .at(t(0), on("~src/a.rs", acquire(3, C)), "HELD"),
        case("what_one_holds_does_not_stand_in_its_own_way", &[44], policy())
            .at(t(0), src(acquire(1, A)), "granted")
            .at(t(0), on("~src/a.rs", acquire(2, A)), "granted")
            .at(t(0), src(acquire(3, A)), "already_held")
            .at(t(0), release(1, A), "released")
            .at(t(0), on("~src/b.rs", acquire(4, B)), "granted")
            .at(t(0), src(acquire(5, A)), "HELD"),
        case("all_that_is_over_and_in_the_way_ends_in_one_step", &[14, 40, 43], policy())
            .at(t(0), on("~src/b.rs", acquire(2, B)), "granted")
            .at(t(0), on("~src/a.rs", acquire(1, A)), "granted")
            .at(t(12_999), src(acquire(3, C)), "HELD")
            .at(t(13_000), src(acquire(3, C)), "granted"),
        case("the_dead_on_what_overlaps_are_not_waited_for", &[19, 43], policy())
            .at(t(0), on("~src/a.rs", acquire(1, A)), "granted")
            .at(t(0), on("~docs/**", acquire(2, A)), "granted")
            .at(t(0), Acquire { dead: vec![id(1), id(2)], ..src(acquire(3, B)) }, "granted")
            .look(t(0), 2, "live"),
        case("nothing_is_handed_over_beside_what_the_giver_keeps", &[28, 44], policy())
            .at(t(0), src(acquire(1, A)), "granted")
            .at(t(0), on("~src/a.rs", acquire(2, A)), "granted")
            .at(t(0), transfer(1, A, 3, B), "HELD")
            .at(t(0), release(2, A), "released")
            .at(t(0), transfer(1, A, 3, B), "transferred"),
        case("a_receiver_may_hold_what_overlaps", &[28, 44], policy())
            .at(t(0), on("~src/a.rs", acquire(1, A)), "granted")
            .at(t(0), on("~src/b.rs", acquire(2, B)), "granted")
            .at(t(0), transfer(1, A, 3, B), "transferred")
            .at(t(0), on("~src/*", acquire(4, B)), "granted"),
        case("a_write_that_lost_its_pattern_is_told_by_whom", &[31, 43], policy())
            .at(t(0), src(acquire(1, A)), "granted")
            .at(t(13_000), on("~src/a.rs", acquire(2, B)), "granted")
            .at(
                t(13_000),
                Command::Check(Claim {
                    resource: named("~src/**"),
                    lease: id(1),
                    holder: holder(A),
                    fence: fence(1),
                }),
                "FENCED_OUT",
            )
            .at(t(13_000), renew(1, A, None), "NOT_FOUND")
            .at(t(13_000), check(2, B, 3), "FENCED_OUT"),
    ]
}
