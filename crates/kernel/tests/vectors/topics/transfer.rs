//! The cases of `transfer.json`; its `about` says what they show.

use super::{A, A2, B, C, t};
use crate::case::{Topic, case};
use crate::support::make::{acquire, check, indefinite, ms, on, policy, range, shared, text, transfer};
use holdfast_kernel::{KindRule, Limits, Policy, Tags, Transfer};

pub(super) fn topic() -> Topic {
    let one_each = || Policy { limits: Limits { leases_per_agent: 1, ..Limits::NONE }, ..policy() };
    let careful = || {
        let human = KindRule { ttl: range(60_000, 120_000), indefinite: false };
        Policy { kinds: [("human".to_owned(), human)].into(), ..policy() }
    };
    let tagged =
        Transfer { tags: Tags::none().with("branch", text("review")).unwrap(), ..transfer(1, A, 2, B) };
    Topic {
        name: "transfer",
        about: "Handing a lease over: one end and one grant in a single step.",
        cases: vec![
            case("the_receiver_holds_the_same_thing_with_a_new_id_and_fence", &[27, 7], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(4_000), tagged, "transferred")
                .at(t(4_000), check(1, A, 1), "FENCED_OUT")
                .at(t(13_999), check(2, B, 2), "valid")
                .at(t(14_000), check(2, B, 2), "EXPIRED"),
            case("the_terms_of_the_hand_over_are_todays", &[27, 34], policy())
                .at(t(0), indefinite(1, A), "granted")
                .under(Policy { skew: ms(5), grace: ms(6), stale_after: ms(7), ..policy() })
                .at(t(90_000), transfer(1, A, 2, B), "transferred")
                .look(t(90_006), 2, "beating")
                .look(t(90_007), 2, "stale"),
            case("not_to_oneself", &[28, 36], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), transfer(1, A, 2, A), "SAME_HOLDER")
                .at(t(0), transfer(1, A, 2, A2), "transferred"),
            case("not_to_somebody_who_shares_it_already", &[28], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(0), shared(2, B), "granted")
                .at(t(0), transfer(1, A, 3, B), "SAME_HOLDER"),
            case("what_the_receiver_had_and_is_over_ends_with_it", &[28, 37], policy())
                .at(t(0), shared(1, A), "granted")
                .at(t(5_000), shared(2, B), "granted")
                .at(t(11_000), transfer(2, B, 3, A), "transferred"),
            case("not_under_an_id_that_is_taken", &[35], policy())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), on("other", acquire(2, C)), "granted")
                .at(t(0), transfer(1, A, 2, B), "DUPLICATE_ID")
                .at(t(0), transfer(1, A, 1, B), "DUPLICATE_ID"),
            case("the_receiver_must_be_allowed_to_hold_it", &[28, 32, 21], careful())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), transfer(1, A, 3, C), "TTL_OUT_OF_RANGE")
                .at(t(0), on("other", indefinite(2, A)), "granted")
                .at(t(0), transfer(2, A, 3, C), "INDEFINITE_FORBIDDEN"),
            case("the_receivers_limits_count_and_the_lease_itself_does_not", &[28, 33], one_each())
                .at(t(0), acquire(1, A), "granted")
                .at(t(0), on("other", acquire(2, B)), "granted")
                .at(t(0), transfer(1, A, 3, B), "LIMIT_REACHED")
                .at(t(0), transfer(1, A, 3, A2), "transferred"),
        ],
    }
}
