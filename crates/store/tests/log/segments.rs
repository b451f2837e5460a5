//! A log can be cut: older segments may be archived or taken away, and no lease and no fence is lost.

use holdfast_kernel::Event;
use holdfast_store::{Error, Medium};

use crate::support::Bench;

#[test]
fn a_cut_carries_leases_and_counter_over_and_archives_the_rest() {
    let mut bench = Bench::new();
    bench.busy_history();
    let before = bench.log.view().unwrap();
    let log = bench.bytes("claims.jsonl");
    let cut = bench.log.cut(&bench.policy).unwrap();
    assert_eq!((cut.segment, cut.leases), (2, 2));
    assert_eq!(std::fs::read(&cut.archived).unwrap(), log);
    let after = bench.log.view().unwrap();
    assert_eq!((&after.table, after.counter, after.next), (&before.table, before.counter, before.next));
    let lease = bench.grant("new", "agent:n");
    assert_eq!(lease.fence, before.next);
    for index in [true, false] {
        if !index {
            bench.remove("claims.index.json");
        }
        bench.reopen();
        assert_eq!(bench.table().len(), 3, "with index: {index}");
    }
    let mut grants = 0;
    let checked = bench
        .log
        .history(&mut |record| grants += usize::from(matches!(record.event, Event::Granted { .. })))
        .unwrap();
    assert_eq!((checked.segments, checked.records, grants), (2, 12, 6));
}

#[test]
fn a_second_handle_follows_a_cut() {
    let bench = Bench::new();
    let lease = bench.grant("one", "agent:a");
    let other = crate::support::open(&bench.sys, &bench.dir);
    assert_eq!(other.view().unwrap().table.len(), 1);
    bench.log.cut(&bench.policy).unwrap();
    let command = holdfast_kernel::Command::Release { lease: lease.id, holder: lease.holder.clone() };
    other.transact(&bench.policy, &command).unwrap();
    assert!(bench.table().is_empty());
}

#[test]
fn an_archived_segment_may_be_taken_away_but_not_changed() {
    let bench = Bench::new();
    bench.busy_history();
    bench.log.cut(&bench.policy).unwrap();
    bench.grant("new", "agent:n");
    bench.log.cut(&bench.policy).unwrap();
    let archived = bench.bytes("claims.jsonl.1");
    assert_eq!(bench.log.history(&mut |_| {}).unwrap().segments, 3);
    let lines: Vec<&[u8]> = archived.split_inclusive(|byte| *byte == b'\n').collect();
    bench.put("claims.jsonl.1", &lines[..lines.len() - 1].concat());
    let failed = bench.log.history(&mut |_| {});
    assert!(matches!(failed, Err(Error::Damaged { .. })), "{failed:?}");
    bench.put("claims.jsonl.1", &bench.bytes("claims.jsonl.2"));
    let failed = bench.log.history(&mut |_| {});
    assert!(matches!(failed, Err(Error::Damaged { .. })), "nothing is told twice: {failed:?}");
    bench.remove("claims.jsonl.1");
    assert_eq!(bench.log.history(&mut |_| {}).unwrap().segments, 2);
}

#[test]
fn a_cut_that_was_interrupted_after_its_first_step_is_done_again() {
    let mut bench = Bench::new();
    bench.busy_history();
    let table = bench.table();
    std::fs::hard_link(bench.path("claims.jsonl"), bench.path("claims.jsonl.1")).unwrap();
    bench.reopen();
    bench.log.cut(&bench.policy).unwrap();
    assert_eq!(bench.table(), table);
    bench.put("claims.jsonl.2", b"somebody else's");
    let failed = bench.log.cut(&bench.policy);
    assert!(matches!(failed, Err(Error::Damaged { .. })), "{failed:?}");
    assert_eq!(bench.bytes("claims.jsonl.2"), b"somebody else's");
    assert!(bench.names("claims.jsonl.new").is_empty());
    assert_eq!(bench.table(), table);
}
