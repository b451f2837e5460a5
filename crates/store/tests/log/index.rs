//! The index can be missing, behind, torn or hostile: the log decides.

use holdfast_store::{Error, Finding, Medium};

use crate::support::Bench;

#[test]
fn a_missing_truncated_or_garbled_index_never_means_no_leases() {
    let mut bench = Bench::new();
    bench.busy_history();
    let table = bench.table();
    let good = bench.bytes("claims.index.json");
    let hostile: Vec<Vec<u8>> = vec![
        Vec::new(),
        good[..good.len() / 2].to_vec(),
        b"{}".to_vec(),
        b"[[[[[[[[".repeat(100_000),
        b"\xff\xfe\x00".to_vec(),
        br#"{"schema_version":1,"active":[],"sequence":99999999999999999999}"#.to_vec(),
        String::from_utf8(good.clone()).unwrap().replace("agent:c", "agent:x").into_bytes(),
        String::from_utf8(good.clone()).unwrap().replace("\"sequence\":11", "\"sequence\":12").into_bytes(),
        vec![b'{'; 3 << 20],
    ];
    for (round, index) in hostile.iter().enumerate() {
        bench.put("claims.index.json", index);
        bench.reopen();
        assert_eq!(bench.table(), table, "hostile index {round}");
        let lease = bench.grant("extra", "agent:z");
        bench.release(&lease).unwrap();
        bench.reopen();
        assert_eq!(bench.table(), table, "after writing over hostile index {round}");
    }
}

#[test]
fn every_bit_of_the_index_that_flips_is_noticed() {
    let mut bench = Bench::new();
    bench.busy_history();
    let table = bench.table();
    let good = bench.bytes("claims.index.json");
    let end = good.iter().rposition(|byte| *byte == b'}').unwrap();
    for at in 0..=end {
        let mut flipped = good.clone();
        flipped[at] ^= 1 << (at % 8);
        bench.put("claims.index.json", &flipped);
        bench.reopen();
        assert_eq!(bench.table(), table, "byte {at}");
    }
}

/// The line is whole, and it is of a later log: it would be believed.
#[test]
fn an_index_is_worth_nothing_if_anything_but_spaces_fills_it_up() {
    let mut bench = Bench::new();
    bench.grant("one", "agent:a");
    let log = bench.bytes("claims.jsonl");
    bench.grant("two", "agent:b");
    let later = bench.bytes("claims.index.json");
    let end = later.iter().rposition(|byte| *byte == b'}').unwrap();
    bench.put("claims.jsonl", &log);
    bench.reopen();
    assert!(matches!(bench.log.view(), Err(Error::Damaged { .. })), "what was acknowledged is gone");
    for at in [end + 1, end + 9, later.len() - 2] {
        let mut spoiled = later.clone();
        spoiled[at] = b'x';
        bench.put("claims.index.json", &spoiled);
        bench.reopen();
        assert_eq!(bench.table().len(), 1, "byte {at}");
    }
}

#[test]
fn an_index_that_is_behind_is_caught_up_from_the_log() {
    let mut bench = Bench::new();
    let first = bench.grant("one", "agent:a");
    let old = bench.bytes("claims.index.json");
    bench.release(&first).unwrap();
    let second = bench.grant("two", "agent:b");
    bench.put("claims.index.json", &old);
    bench.reopen();
    assert_eq!(bench.table().iter().collect::<Vec<_>>(), [&second]);
}

/// Two handles on one log, of which one was away while the other did a lot, and wrote before that or never: what the index
/// was before, and what is held now.
fn away(has_written: bool) -> (Bench, holdfast_store::log::Log, Vec<u8>) {
    let mut bench = Bench::new();
    bench.grant("one", "agent:a");
    let old = bench.bytes("claims.index.json");
    bench.reopen();
    assert_eq!(bench.table().len(), 1);
    if has_written {
        let lease = bench.grant("two", "agent:c");
        bench.release(&lease).unwrap();
    }
    let other = std::mem::replace(&mut bench.log, crate::support::open(&bench.sys, &bench.dir));
    for _ in 0..20 {
        let lease = bench.grant("two", "agent:b");
        bench.release(&lease).unwrap();
    }
    bench.grant("two", "agent:b");
    (bench, other, old)
}

#[test]
fn whoever_was_away_for_long_knows_all_whatever_the_index_is() {
    for (round, has_written) in (0..4).flat_map(|round| [(round, false), (round, true)]) {
        let (bench, other, old) = away(has_written);
        let good = bench.bytes("claims.index.json");
        match round {
            0 => {}
            1 => bench.put("claims.index.json", &good[..good.len() / 2]),
            2 => bench.put("claims.index.json", &old),
            _ => bench.remove("claims.index.json"),
        }
        assert_eq!(other.view().unwrap().table, bench.table());
        assert_eq!(other.view().unwrap().table.len(), 2);
        let lease = bench.grant("three", "agent:c");
        let next = other.view().unwrap().next;
        assert!(lease.fence < next, "{lease:?} {next}");
        // What it writes is there for everybody, too.
        let fourth = bench.acquiring("four", "agent:d", holdfast_kernel::Request::Indefinite);
        other.transact(&bench.policy, &fourth).unwrap();
        assert_eq!(crate::support::open(&bench.sys, &bench.dir).view().unwrap().table.len(), 4);
    }
}

#[test]
fn whoever_was_away_for_long_reads_no_more_than_whoever_opens_the_log() {
    for has_written in [false, true] {
        let (mut bench, other, _) = away(has_written);
        let mut lines = bench.bytes("claims.jsonl");
        let middle = lines.len() / 2;
        lines[middle] ^= 1;
        bench.put("claims.jsonl", &lines);
        assert_eq!(other.view().unwrap().table.len(), 2);
        bench.reopen();
        assert_eq!(bench.table(), other.view().unwrap().table);
        // It is still found by whoever looks for it, and by whoever has no index to go by.
        assert!(matches!(other.history(&mut |_| {}), Err(Error::Damaged { .. })));
    }
    let (bench, other, _) = away(true);
    let lines = bench.bytes("claims.jsonl");
    bench.put("claims.jsonl", &lines[..0]);
    assert!(other.view().is_err(), "a log that lost what was acknowledged");
}

#[test]
fn a_log_beside_the_index_of_another_one_is_damaged_and_goes_on_under_a_name_of_its_own() {
    let (mut bench, other) = (Bench::new(), Bench::new());
    let lease = bench.grant("one", "agent:a");
    let own = bench.log.view().unwrap().counter;
    other.busy_history();
    bench.put("claims.index.json", &other.bytes("claims.index.json"));
    bench.reopen();
    // Either may be the one that is not where it belongs, and its numbers those of somebody else.
    let failed = bench.log.view();
    assert!(matches!(failed, Err(Error::Damaged { .. })), "{failed:?}");
    let found = bench.log.recover(&bench.policy, true).unwrap();
    let lost = found.findings.iter().filter(|it| matches!(it, Finding::Lost(_))).count();
    let view = bench.log.view().unwrap();
    assert_eq!(view.table.get(lease.id), Some(&lease));
    assert_eq!((view.table.len(), lost), (2, 1), "both are on the same thing: {found:?}");
    assert!(view.counter != own && view.counter != other.log.view().unwrap().counter);
    bench.log.history(&mut |_| {}).unwrap();
}

#[test]
fn a_log_that_ends_before_what_was_acknowledged_is_damaged() {
    let mut bench = Bench::new();
    bench.busy_history();
    let log = bench.bytes("claims.jsonl");
    let last = log[..log.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    for len in [last + 1, last + 20, log.len() - 1, 300, 10, 0] {
        bench.put("claims.jsonl", &log[..len]);
        bench.reopen();
        let failed = bench.acquire("new", "agent:z", holdfast_kernel::Request::Indefinite);
        assert!(matches!(failed, Err(Error::Damaged { .. })), "cut to {len}: {failed:?}");
        assert_eq!(bench.bytes("claims.jsonl"), &log[..len], "nothing was touched");
    }
    bench.remove("claims.jsonl");
    bench.reopen();
    assert!(matches!(
        bench.acquire("new", "agent:z", holdfast_kernel::Request::Indefinite),
        Err(Error::Damaged { .. })
    ));
}

#[test]
fn many_leases_keep_an_index_that_is_caught_up() {
    let mut bench = Bench::new();
    let commands: Vec<_> = (0..500)
        .map(|n| bench.acquiring(&format!("issue {n}"), "agent:a", holdfast_kernel::Request::Indefinite))
        .collect();
    for answer in bench.log.transact_all(&bench.policy, &commands) {
        answer.unwrap();
    }
    let size = bench.bytes("claims.index.json").len();
    assert!(size > 1 << 16, "large enough to be written seldom: {size}");
    for round in 0..5 {
        let lease = bench.grant(&format!("late {round}"), "agent:b");
        bench.reopen();
        assert_eq!(bench.table().get(lease.id), Some(&lease));
    }
    assert_eq!(bench.table().len(), 505);
}
