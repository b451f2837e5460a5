//! What a person reads when something is refused: what, on what, until when, and what to do.

use holdfast_kernel::{
    Acquire, Answer, Command, Holder, Limits, Policy, Refusal, Request, Stamp, Table, apply, decide,
};

use crate::support::make::{
    acquire, beat, check, fence, indefinite, lasting, ms, on, policy, range, renew, shared, transfer, wall,
};

const A: &str = "agent:a@wt-1";
const B: &str = "agent:b@wt-2";
const C: &str = "agent:c@wt-3";

/// A table after these grants, at positions from 1 on.
fn after(grants: &[(u64, Acquire)]) -> Table {
    let mut table = Table::new();
    for ((at, wanted), position) in grants.iter().zip(1..) {
        let command = Command::Acquire(wanted.clone());
        let decision = decide(&table, &policy(), &command, &wall(*at), fence(position)).unwrap();
        decision.events.iter().for_each(|event| apply(&mut table, event).unwrap());
    }
    table
}

fn refusal(table: &Table, policy: &Policy, command: Command, now: u64) -> Refusal {
    decide(table, policy, &command, &wall(now), fence(50)).unwrap_err()
}

fn says(table: &Table, command: Command, now: u64, text: &str) {
    assert_eq!(refusal(table, &policy(), command, now).to_string(), text);
}

#[test]
fn held_says_by_whom_and_when_to_try_again() {
    let one = after(&[(0, acquire(1, A))]);
    let want = || Command::Acquire(acquire(9, C));
    says(
        &one,
        want(),
        1_000,
        "doc is held by agent:a in wt-1: try again in 12 s, or sooner if it is released",
    );
    let two = after(&[(0, shared(1, A)), (0, shared(2, B))]);
    let more = "doc is held by agent:b in wt-2 and 1 more: try again in 13 s, or sooner if it is released";
    says(&two, want(), 0, more);
    let endless = after(&[(0, indefinite(1, A))]);
    let never =
        "doc is held by agent:a in wt-1 without a deadline: it is free once it is released or evicted";
    says(&endless, want(), 0, never);
    let future = after(&[(9_000, acquire(1, A))]);
    let skew = "doc is held by agent:a in wt-1, stamped 9 s in the future where clocks may be 2 s apart: \
                set the clock that is wrong, or evict the lease 00000000000000000000000001";
    says(&future, want(), 0, skew);
}

#[test]
fn what_a_lease_cannot_do_says_which_lease_and_on_what() {
    let finite = after(&[(0, acquire(1, A))]);
    let endless = after(&[(0, indefinite(1, A))]);
    let lease = "the lease 00000000000000000000000001 on doc";
    let gone = "there is no lease 00000000000000000000000009: it was released, taken away or never granted";
    says(&finite, renew(9, A, None), 0, gone);
    let other = format!("{lease} is held by agent:a in wt-1, and only its holder may do this");
    says(&finite, renew(1, B, None), 0, &other);
    says(&finite, renew(1, A, None), 11_000, &format!("{lease} ended 1 s ago: acquire doc anew"));
    says(&finite, beat(1, A), 0, &format!("{lease} has a deadline: renew it instead"));
    says(&endless, renew(1, A, Some(9)), 0, &format!("{lease} has no deadline to move: beat it instead"));
    says(&endless, check(1, A, 1), 90_000, &format!("{lease} is stale, no beat for 90 s: beat it first"));
    says(
        &finite,
        check(7, B, 3),
        0,
        "fence 3 on doc is not in force: it is held by agent:a in wt-1 with fence 1",
    );
    says(&finite, check(7, B, 3), 10_000, "fence 3 on doc is not in force: nobody holds it");
    let two = after(&[(0, shared(1, A)), (0, shared(2, B))]);
    let current = "fence 3 on doc is not in force: it is held by agent:a in wt-1 with fence 1 and 1 more";
    says(&two, check(7, B, 3), 0, current);
    let shared = "doc is held shared, by the lease 00000000000000000000000001: \
                  release it and acquire it exclusively";
    says(&two, check(1, A, 1), 0, shared);
    let theirs = "doc is already held by agent:b in wt-2, by the lease 00000000000000000000000002";
    says(&two, Command::Transfer(transfer(1, A, 3, B)), 0, theirs);
}

#[test]
fn what_is_not_granted_says_what_would_be() {
    let empty = Table::new();
    let ask = |wanted: Acquire| Command::Acquire(wanted);
    let range_text = "a lease of 5 ms is not allowed: it may last from 1 s to 3600 s";
    says(&empty, ask(lasting(5, acquire(1, A))), 0, range_text);
    let nothing =
        Policy { rule: holdfast_kernel::KindRule { ttl: range(9, 3), indefinite: false }, ..policy() };
    let none = refusal(&empty, &nothing, ask(lasting(5, acquire(1, A))), 0);
    assert_eq!(none.to_string(), "a lease of 5 ms is not allowed: it may last no time at all");
    let forbidden = refusal(&empty, &nothing, ask(indefinite(1, A)), 0);
    assert_eq!(forbidden.to_string(), "a lease without a deadline is not allowed for this kind of holder");
    let unexplained = Acquire { request: Request::Indefinite, ..acquire(1, A) };
    says(&empty, ask(unexplained), 0, "a lease without a deadline needs a reason");
    let late = "a lease of 10 s would end after the last date that can be written: is the clock right?";
    says(&empty, ask(acquire(1, A)), 253_402_300_799_999, late);
    let held = after(&[(0, acquire(1, A))]);
    let taken = "there is already a lease 00000000000000000000000001: try again with another id";
    says(&held, ask(on("other", acquire(1, B))), 0, taken);
    let one = Policy { limits: Limits { leases_per_agent: 1, ..Limits::NONE }, ..policy() };
    let limit = refusal(&held, &one, ask(on("other", acquire(2, A))), 0);
    assert_eq!(limit.to_string(), "the limit of 1 leases of one agent is reached: release one first");
    let again = Policy { again: holdfast_kernel::Again::Refuse, ..policy() };
    let twice = refusal(&held, &again, ask(acquire(2, A)), 0);
    let mine = "doc is already held by the same holder, by the lease 00000000000000000000000001";
    assert_eq!(twice.to_string(), mine);
}

#[test]
fn a_counter_that_cannot_go_on_says_why() {
    let held = after(&[(0, acquire(1, A))]);
    let want = Command::Acquire(acquire(2, B));
    let at = |now: Stamp, next| decide(&held, &policy(), &want, &now, next).unwrap_err().to_string();
    let behind = "the counter stands at 1, but doc was granted with fence 1 already";
    assert_eq!(at(wall(13_000), fence(1)), behind);
    assert_eq!(at(wall(13_000), holdfast_kernel::Fence::LAST), "the counter of fences is used up");
}

#[test]
fn limits_say_what_they_count() {
    use holdfast_kernel::LimitKind::{
        IndefinitePerAgent, IndefinitePerTable, LeasesPerAgent, LeasesPerTable,
    };
    let kinds = [LeasesPerAgent, LeasesPerTable, IndefinitePerAgent, IndefinitePerTable];
    let texts = kinds.map(|kind| Refusal::LimitReached { kind, limit: 2 }.to_string());
    let counted = [
        "leases of one agent",
        "leases in all",
        "indefinite leases of one agent",
        "indefinite leases in all",
    ];
    for (text, counted) in texts.iter().zip(counted) {
        assert_eq!(*text, format!("the limit of 2 {counted} is reached: release one first"));
    }
}

/// A door that keeps its holders secret has everything it needs in the fields.
#[test]
fn a_refusal_carries_what_its_text_says() {
    let held = after(&[(0, acquire(1, A))]);
    let Refusal::Held { blocker, others, retry_after } =
        refusal(&held, &policy(), Command::Acquire(acquire(2, B)), 1_000)
    else {
        panic!("it is held");
    };
    let Holder { agent, place } = &blocker.holder;
    assert_eq!((agent.as_str(), place.as_str(), others), ("agent:a", "wt-1", 0));
    assert_eq!((blocker.deadline(), retry_after), (Some(wall(10_000)), Some(ms(12_000))));
}

/// To wait means to wait for somebody else's lease: only a refusal that names one is worth it.
#[test]
fn only_what_stands_in_the_way_is_waited_for() {
    let blocker = |table: &Table, command, now| {
        refusal(table, &policy(), command, now).blocker().map(|lease| lease.holder.to_string())
    };
    let (held, ahead) = (after(&[(0, acquire(1, A))]), after(&[(9_000, acquire(1, A))]));
    for table in [&held, &ahead] {
        assert_eq!(blocker(table, Command::Acquire(acquire(2, B)), 0).as_deref(), Some("agent:a in wt-1"));
    }
    assert_eq!(blocker(&held, renew(1, B, None), 0), None, "what is not theirs does not become theirs");
    assert_eq!(blocker(&held, renew(1, A, None), 10_000), None, "what is over stays over");
}

/// Registers keep these words: a version that calls an answer otherwise cannot read what another wrote.
#[test]
fn every_answer_has_its_name() {
    let table = after(&[(0, acquire(1, A))]);
    let lease = || table.iter().next().unwrap().clone();
    let named = [
        (Answer::Granted(lease()), "granted"),
        (Answer::AlreadyHeld(lease()), "already held"),
        (Answer::Renewed(lease()), "renewed"),
        (Answer::Beaten(lease()), "beaten"),
        (Answer::Released(lease()), "released"),
        (Answer::Transferred(lease()), "transferred"),
        (Answer::Evicted(lease()), "evicted"),
        (Answer::Swept(vec![lease()]), "swept"),
        (Answer::Valid(lease()), "valid"),
    ];
    for (answer, name) in named {
        assert_eq!((answer.name(), answer.leases()), (name, &[lease()][..]));
    }
}
