//! What an operation writes, and what it does not.

use holdfast_kernel::{Answer, Event, Fence, Refusal};
use holdfast_store::{Error, Medium};

use crate::support::{Bench, granted};

#[test]
fn an_operation_adds_lines_whose_number_is_the_fence() {
    let bench = Bench::new();
    let lease = bench.grant("one", "agent:a");
    assert_eq!(lease.fence, Fence::FIRST);
    bench.release(&lease).unwrap();
    assert_eq!(bench.grant("two", "agent:b").fence.get(), 3);
    let text = String::from_utf8(bench.bytes("claims.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "a first line and one a transition");
    assert!(lines[1].contains(r#""sequence":1,"op":"acquire""#), "{}", lines[1]);
    assert!(lines[1].contains(r#""issue_id":"one","agent_id":"agent:a","worktree_id":"wt:abc123ef""#));
    assert!(lines[2].contains(r#""sequence":2,"op":"release""#), "{}", lines[2]);
}

#[test]
fn what_is_refused_or_only_looked_at_changes_no_byte() {
    let bench = Bench::new();
    assert_eq!(bench.table().len(), 0);
    assert!(bench.names("").is_empty(), "a view of nothing made something");
    let lease = bench.grant("one", "agent:a");
    let before = (bench.bytes("claims.jsonl"), bench.bytes("claims.index.json"));
    bench.later(1);
    bench.log.view().unwrap();
    bench.log.history(&mut |_| {}).unwrap();
    let refused = bench.acquire("one", "agent:b", holdfast_kernel::Request::Finite(lease.skew));
    assert!(matches!(refused, Err(Error::Refused(_))));
    assert_eq!(before.0, bench.bytes("claims.jsonl"));
    bench.log.guarded(&lease.claim(), &mut |_| {}).unwrap();
    assert_eq!(before.0, bench.bytes("claims.jsonl"));
}

#[test]
fn two_handles_see_each_other_at_once() {
    let bench = Bench::new();
    let other = crate::support::open(&bench.sys, &bench.dir);
    for round in 0..10 {
        let lease = bench.grant("one", "agent:a");
        assert_eq!(other.view().unwrap().table.get(lease.id), Some(&lease), "round {round}");
        let command = bench.acquiring("one", "agent:b", holdfast_kernel::Request::Indefinite);
        let refused = other.transact(&bench.policy, &command);
        assert!(matches!(refused, Err(Error::Refused(Refusal::Held { .. }))), "{refused:?}");
        let release = holdfast_kernel::Command::Release { lease: lease.id, holder: lease.holder.clone() };
        other.transact(&bench.policy, &release).unwrap();
        assert!(bench.table().is_empty());
    }
}

#[test]
fn the_history_is_what_happened_and_gives_the_table() {
    let mut bench = Bench::new();
    bench.busy_history();
    let table = bench.table();
    assert_eq!(table.len(), 2);
    bench.reopen();
    assert_eq!(bench.table(), table);
    bench.remove("claims.index.json");
    bench.reopen();
    assert_eq!(bench.table(), table, "a rebuild gives the same leases");
    let mut numbers = Vec::new();
    let mut evictions = 0;
    let checked = bench.log.history(&mut |record| {
        numbers.push(record.sequence.get());
        evictions += usize::from(matches!(record.event, Event::Evicted { .. }));
    });
    assert_eq!(checked.unwrap().records, 11);
    assert_eq!(numbers, (1..=11).collect::<Vec<_>>());
    assert_eq!(evictions, 2, "one by takeover and one by force");
}

#[test]
fn many_threads_share_writes_and_get_their_own_answers() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let bench = &bench;
            scope.spawn(move || {
                for round in 0..25 {
                    let issue = format!("{thread}-{round}");
                    let lease = bench.grant(&issue, "agent:a");
                    assert_eq!(lease.resource.text(), issue);
                    if round % 2 == 0 {
                        bench.release(&lease).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(bench.table().len(), 8 * 12);
    assert_eq!(bench.log.history(&mut |_| {}).unwrap().records, 8 * (25 + 13));
}

#[test]
fn several_commands_share_one_write_and_build_on_each_other() {
    let bench = Bench::new();
    let minute = holdfast_kernel::Request::Finite(holdfast_kernel::Millis::from_secs(60));
    let commands: Vec<_> = ["a", "b"].map(|agent| bench.acquiring("one", agent, minute)).into();
    let mut answers = bench.log.transact_all(&bench.policy, &commands).into_iter();
    let first = granted(answers.next().unwrap().unwrap());
    assert!(
        matches!(answers.next(), Some(Err(Error::Refused(Refusal::Held { blocker, .. }))) if *blocker == first)
    );
    assert!(answers.next().is_none());
}

#[test]
fn a_guarded_write_runs_only_while_its_claim_is_in_force() {
    let bench = Bench::new();
    let lease = bench.grant("one", "agent:a");
    let claim = lease.claim();
    let medium: &dyn Medium = &bench.log;
    let held = medium.write(&claim, |held| (held.lease().clone(), held.counter())).unwrap();
    assert_eq!((Some(held.1), held.0), (bench.log.view().unwrap().counter, lease.clone()));
    bench.later(600);
    let late = medium.write(&claim, |_| panic!("it ran out"));
    assert!(matches!(late, Err(Error::Refused(Refusal::Expired { .. }))), "{late:?}");
    let next = bench.grant("one", "agent:b");
    let displaced = medium.write(&claim, |_| panic!("somebody else has it"));
    assert!(
        matches!(&displaced, Err(Error::Refused(Refusal::FencedOut { current, .. })) if *current == [next]),
        "{displaced:?}"
    );
}

#[test]
fn the_same_holder_gets_its_lease_back_after_it_lost_the_answer() {
    let mut bench = Bench::new();
    let lease = bench.grant("one", "agent:a");
    bench.reopen();
    let again = bench.acquire("one", "agent:a", holdfast_kernel::Request::Indefinite).unwrap();
    assert_eq!(again, Answer::AlreadyHeld(lease));
}
