//! Torn tails are set aside and the log goes on; damage in the middle stops with an error until somebody
//! asks for a repair.

use holdfast_kernel::{Command, Request};
use holdfast_store::{Error, Finding, Lost, Medium, Projected};

use crate::support::Bench;

fn lines(log: &[u8]) -> Vec<&[u8]> {
    log.split_inclusive(|byte| *byte == b'\n').collect()
}

#[test]
fn a_torn_tail_is_kept_beside_and_the_log_goes_on() {
    let mut bench = Bench::new();
    bench.busy_history();
    let (table, log) = (bench.table(), bench.bytes("claims.jsonl"));
    let half = lines(&log).pop().unwrap()[..40].to_vec();
    let tails = [&b"{"[..], &half, b"\0\0\0\0\0\0", b"garbage\n", b"\xff\xff\n\n\n", b"{\"sequence\":3}\n"];
    for (round, tail) in tails.iter().enumerate() {
        let before = bench.bytes("claims.jsonl");
        bench.put("claims.jsonl", &[&before[..], tail].concat());
        bench.reopen();
        assert_eq!(bench.table(), table, "tail {round}");
        assert_eq!(bench.names("claims.jsonl.torn").len(), round, "a view sets nothing aside");
        let lease = bench.grant("extra", "agent:z");
        bench.release(&lease).unwrap();
        let torn = bench.names("claims.jsonl.torn");
        assert_eq!(torn.len(), round + 1);
        assert!(torn.iter().any(|name| bench.bytes(name) == *tail), "tail {round} is kept");
        assert_eq!(bench.log.history(&mut |_| {}).unwrap().torn_bytes, 0);
    }
}

#[test]
fn a_whole_record_without_index_counts_and_is_made_durable_again() {
    let mut bench = Bench::new();
    bench.grant("one", "agent:a");
    let old = bench.bytes("claims.index.json");
    let lease = bench.grant("two", "agent:b");
    bench.put("claims.index.json", &old);
    bench.reopen();
    let medium: &dyn Medium = &bench.log;
    assert_eq!(medium.write(&lease.claim(), |held| held.lease().fence).unwrap(), lease.fence);
}

#[test]
fn a_line_that_is_changed_dropped_doubled_or_moved_stops_the_log() {
    let mut bench = Bench::new();
    bench.busy_history();
    let log = bench.bytes("claims.jsonl");
    let lines = lines(&log);
    let without = |at: usize| [lines[..at].concat(), lines[at + 1..].concat()].concat();
    let doubled = |at: usize| [lines[..=at].concat(), lines[at..].concat()].concat();
    let swapped = [lines[..3].concat(), lines[4].to_vec(), lines[3].to_vec(), lines[5..].concat()].concat();
    let mut changed = log.clone();
    changed[lines[..4].concat().len() + 60] ^= 4;
    for (round, damaged) in [without(3), without(0), doubled(3), swapped, changed].iter().enumerate() {
        for with_index in [true, false] {
            bench.put("claims.jsonl", damaged);
            if !with_index {
                bench.put("claims.index.json", b"");
            }
            bench.reopen();
            let history = bench.log.history(&mut |_| {});
            assert!(matches!(history, Err(Error::Damaged { .. })), "{round}, {with_index}: {history:?}");
        }
        let failed = bench.acquire("new", "agent:z", Request::Indefinite);
        assert!(matches!(failed, Err(Error::Damaged { .. })), "{round}: {failed:?}");
        assert_eq!(&bench.bytes("claims.jsonl"), damaged, "nothing was touched");
    }
}

#[test]
fn every_bit_of_an_acknowledged_log_that_flips_is_noticed_or_harmless() {
    let mut bench = Bench::new();
    bench.busy_history();
    let (table, log) = (bench.table(), bench.bytes("claims.jsonl"));
    let index = bench.bytes("claims.index.json");
    for at in 0..log.len() {
        let mut flipped = log.clone();
        flipped[at] ^= 1 << (at % 8);
        bench.put("claims.jsonl", &flipped);
        bench.put("claims.index.json", &index);
        bench.reopen();
        // The index vouches for everything, so nothing acknowledged may be taken for a torn tail.
        match bench.log.view() {
            Ok(view) => assert_eq!(view.table, table, "byte {at}"),
            Err(Error::Damaged { .. }) => {}
            Err(other) => panic!("byte {at}: {other}"),
        }
        assert!(bench.log.history(&mut |_| {}).is_err(), "byte {at} of the history");
        assert!(bench.names("claims.jsonl.torn").is_empty());
    }
}

#[test]
fn lines_with_hostile_values_are_named() {
    let mut bench = Bench::new();
    bench.grant("one", "agent:a");
    let log = String::from_utf8(bench.bytes("claims.jsonl")).unwrap();
    for (from, to) in [
        ("\"sequence\":1,", "\"sequence\":18446744073709551615,"),
        ("\"sequence\":1,", "\"sequence\":-1,"),
        ("\"sequence\":1,", "\"sequence\":1e300,"),
        ("\"ttl_secs\":600", "\"ttl_secs\":1e18"),
        ("\"ttl_secs\":600", "\"ttl_secs\":null"),
        ("\"ttl_secs\":600", "\"ttl_secs\":0"),
        ("\"op\":\"acquire\"", "\"op\":\"explode\""),
        ("\"agent:a\"", "7"),
        ("\"agent:a\"", "\"\""),
        ("\"agent:a\"", "\"\\u0000\""),
        ("\"op\":\"acquire\"", "\"op\":\"acquire\",\"op\":\"acquire\""),
        ("\"op\":\"acquire\"", "\"op\":\"acquire\",\"surprise\":{}"),
        ("\"boot_ms\":1000", "\"boot_ms\":99999999999999999"),
        ("2026-01-03T12", "2026-01-03T25"),
    ] {
        let mut log = log.replacen(from, to, 2);
        assert!(log.contains(to), "{to}");
        log = reseal(&log);
        bench.put("claims.jsonl", log.as_bytes());
        bench.put("claims.index.json", b"");
        bench.reopen();
        let failed = bench.log.view();
        assert!(matches!(failed, Err(Error::Damaged { .. })), "{to}: {failed:?}");
    }
}

/// Gives every line the hash that it needs, as an attacker would.
pub(crate) fn reseal(log: &str) -> String {
    let mut before = [0_u8; 16];
    let mut out = String::new();
    for line in log.lines() {
        let body = &line[..line.rfind(",\"hash\":").unwrap()];
        let hash = blake3::hash(&[&before[..], body.as_bytes()].concat());
        before.copy_from_slice(&hash.as_bytes()[..16]);
        let digits: String = before.iter().map(|byte| format!("{byte:02x}")).collect();
        out += &format!("{body},\"hash\":\"{digits}\"}}\n");
    }
    out
}

#[test]
fn a_later_format_is_named_and_left_alone() {
    let mut bench = Bench::new();
    bench.grant("one", "agent:a");
    let log = String::from_utf8(bench.bytes("claims.jsonl")).unwrap();
    for newer in [
        log.replacen("\"schema_version\":1,\"sequence\":1", "\"schema_version\":3,\"sequence\":1", 1),
        log.replacen("\"schema_version\":1,\"sequence\":0", "\"schema_version\":4,\"sequence\":0,\"x\":1", 1),
    ] {
        bench.put("claims.jsonl", reseal(&newer).as_bytes());
        bench.put("claims.index.json", b"");
        bench.reopen();
        let failed = bench.log.view();
        assert!(matches!(failed, Err(Error::Newer { version: 3 | 4, .. })), "{failed:?}");
    }
}

#[test]
fn a_repair_keeps_the_damaged_log_the_leases_and_the_order_of_fences() {
    let mut bench = Bench::new();
    bench.busy_history();
    let (table, log, counter) =
        (bench.table(), bench.bytes("claims.jsonl"), bench.log.view().unwrap().counter);
    for with_index in [true, false] {
        let lines = lines(&log);
        bench
            .put("claims.jsonl", &[lines[..2].concat(), b"rubbish\n".to_vec(), lines[3..].concat()].concat());
        if !with_index {
            bench.put("claims.index.json", b"");
        }
        bench.reopen();
        let found = bench.log.recover(&bench.policy, false).unwrap();
        match &found.findings[..] {
            [Finding::Damage { leases: 2, .. }] => assert!(with_index, "{found:?}"),
            [Finding::Damage { leases: 2, .. }, Finding::Missing { records: 1 }] => {
                assert!(!with_index, "{found:?}");
            }
            _ => panic!("{found:?}"),
        }
        assert!(bench.log.view().is_err() || with_index, "looking repairs nothing");
        let repaired = bench.log.recover(&bench.policy, true).unwrap();
        assert!(repaired.repaired);
        let kept = std::fs::read(repaired.kept.unwrap()).unwrap();
        assert_eq!(kept.len(), log.len() - lines[2].len() + 8);
        assert_eq!(bench.table(), table);
        assert_eq!(bench.log.view().unwrap().counter, counter);
        let next = bench.grant("new", "agent:n");
        assert!(next.fence.get() > 1 << 32, "nobody can tell which numbers are lost: {}", next.fence);
        bench.log.history(&mut |_| {}).unwrap();
        let clean = bench.log.recover(&bench.policy, true).unwrap();
        assert!(clean.findings.is_empty(), "{clean:?}");
        bench.release(&next).unwrap();
    }
}

#[test]
fn recover_sets_a_torn_tail_aside_and_makes_the_index_anew() {
    let mut bench = Bench::new();
    bench.busy_history();
    let (table, log) = (bench.table(), bench.bytes("claims.jsonl"));
    bench.put("claims.jsonl", &[&log[..], b"half a li"].concat());
    bench.put("claims.index.json", b"nonsense");
    bench.put("claims.jsonl.new-00", b"left behind");
    bench.reopen();
    let found = bench.log.recover(&bench.policy, true).unwrap();
    assert_eq!(found.findings.len(), 3, "{found:?}");
    assert!(found.findings.contains(&Finding::TornTail { bytes: 9 }), "{found:?}");
    assert_eq!(bench.names("claims.jsonl.torn").len(), 1);
    assert!(bench.names("claims.jsonl.new").is_empty());
    assert_eq!((bench.table(), bench.bytes("claims.jsonl")), (table, log));
    assert!(bench.log.recover(&bench.policy, false).unwrap().findings.is_empty());
}

#[test]
fn what_is_no_file_is_named_and_a_repair_gets_it_out_of_the_way() {
    for (name, aside) in [("claims.jsonl", ".damaged-"), ("claims.index.json", ".aside-")] {
        let mut bench = Bench::new();
        bench.busy_history();
        let table = bench.table();
        bench.remove(name);
        std::fs::create_dir(bench.path(name)).unwrap();
        bench.reopen();
        let Err(Error::Damaged { path, damage }) = bench.log.view() else { panic!("{name} is a directory") };
        assert_eq!(path, bench.path(name));
        assert!(damage.to_string().contains("it is a directory, not a file"), "{damage}");
        let found = bench.log.recover(&bench.policy, false).unwrap();
        assert!(!found.findings.is_empty() && bench.path(name).is_dir(), "{found:?}");
        bench.log.recover(&bench.policy, true).unwrap();
        assert_eq!(bench.names(&format!("{name}{aside}")).len(), 1);
        bench.reopen();
        assert_eq!(bench.table(), table);
        assert!(bench.log.recover(&bench.policy, false).unwrap().findings.is_empty());
    }
}

#[test]
fn where_nobody_has_written_there_is_nothing_to_repair() {
    let bench = Bench::new();
    let found = bench.log.recover(&bench.policy, true).unwrap();
    assert_eq!((found.findings, found.kept), (Vec::new(), None));
    assert!(bench.names("claims.jsonl").is_empty());
}

#[test]
fn a_repair_finds_what_the_history_finds_also_where_the_index_makes_nobody_read_it() {
    let mut bench = Bench::new();
    bench.busy_history();
    let (table, mut log) = (bench.table(), bench.bytes("claims.jsonl"));
    let middle = log.len() / 2;
    log[middle] ^= 1;
    bench.put("claims.jsonl", &log);
    bench.reopen();
    assert_eq!(bench.table(), table, "the index covers it");
    assert!(bench.log.history(&mut |_| {}).is_err());
    let found = bench.log.recover(&bench.policy, true).unwrap();
    assert!(matches!(&found.findings[..], [Finding::Damage { leases: 2, .. }]), "{found:?}");
    assert_eq!(bench.table(), table);
    bench.log.history(&mut |_| {}).unwrap();
}

#[test]
fn an_archived_segment_that_does_not_belong_to_the_log_is_set_aside() {
    let mut bench = Bench::new();
    bench.busy_history();
    bench.log.cut(&bench.policy).unwrap();
    bench.grant("more", "agent:m");
    bench.log.cut(&bench.policy).unwrap();
    bench.grant("new", "agent:n");
    let table = bench.table();
    let (first, second) = (bench.bytes("claims.jsonl.1"), bench.bytes("claims.jsonl.2"));
    let log = bench.bytes("claims.jsonl");
    let mut flipped = first.clone();
    flipped[first.len() / 2] ^= 1;
    let whole = &lines(&first)[..3].concat();
    for (one, two) in
        [(&flipped, &second), (whole, &second), (&second, &first), (&second, &second), (&first, &log)]
    {
        bench.put("claims.jsonl.1", one);
        bench.put("claims.jsonl.2", two);
        bench.reopen();
        assert!(bench.log.history(&mut |_| {}).is_err());
        let found = bench.log.recover(&bench.policy, true).unwrap();
        assert!(found.findings.iter().all(|it| matches!(it, Finding::Segment { .. })), "{found:?}");
        assert!(!bench.names("claims.jsonl.aside").is_empty(), "nothing is thrown away");
        bench.log.history(&mut |_| {}).unwrap();
        assert_eq!((bench.table(), bench.bytes("claims.jsonl")), (table.clone(), log.clone()));
    }
}

#[test]
fn an_older_segment_in_the_place_of_the_log_grants_nothing_again() {
    for with_index in [true, false] {
        let mut bench = Bench::new();
        bench.busy_history();
        bench.log.cut(&bench.policy).unwrap();
        let last = bench.grant("new", "agent:n");
        let (table, counter) = (bench.table(), bench.log.view().unwrap().counter);
        let (first, second) = (bench.bytes("claims.jsonl.1"), bench.bytes("claims.jsonl"));
        bench.put("claims.jsonl", &first);
        bench.put("claims.jsonl.1", &second);
        if !with_index {
            bench.remove("claims.index.json");
        }
        bench.reopen();
        assert!(bench.log.view().is_err() || !with_index);
        let found = bench.log.recover(&bench.policy, true).unwrap();
        assert!(found.findings.iter().any(|it| matches!(it, Finding::Damage { leases: 3, .. })), "{found:?}");
        bench.log.history(&mut |_| {}).unwrap();
        assert_eq!((bench.table(), bench.log.view().unwrap().counter), (table, counter));
        assert!(bench.grant("more", "agent:m").fence > last.fence);
    }
}

#[test]
fn what_somebody_else_kept_saves_what_the_log_has_lost() {
    let mut bench = Bench::new();
    bench.busy_history();
    let (table, view) = (bench.table(), bench.log.view().unwrap());
    let mut elsewhere = Projected { counter: view.counter, events: Vec::new() };
    bench.log.history(&mut |record| elsewhere.events.push((record.sequence, record.event.clone()))).unwrap();
    let log = bench.bytes("claims.jsonl");
    for len in [0, lines(&log)[0].len(), log.len() / 2, log.len()] {
        for removed in [true, false] {
            bench.put("claims.jsonl", &log[..len]);
            bench.put("claims.index.json", b"");
            if removed {
                bench.remove("claims.jsonl");
                bench.remove("claims.index.json");
            }
            bench.reopen();
            let found = bench.log.recover_with(&bench.policy, &elsewhere, true).unwrap();
            assert!(!found.findings.is_empty(), "{len}");
            assert_eq!(
                (bench.table(), bench.log.view().unwrap().counter),
                (table.clone(), view.counter),
                "{len}"
            );
            let next = bench.grant("next", "agent:n");
            assert!(next.fence >= view.next, "{len}: {}", next.fence);
        }
    }
}

#[test]
fn a_lease_that_cannot_be_saved_is_named() {
    let mut bench = Bench::new();
    let kept = bench.grant("kept", "agent:a");
    let lost = bench.grant("lost", "agent:b");
    let renew = Command::Renew { lease: lost.id, holder: lost.holder.clone(), ttl: None };
    bench.log.transact(&bench.policy, &renew).unwrap();
    let log = bench.bytes("claims.jsonl");
    let lines = lines(&log);
    bench.put("claims.jsonl", &[lines[..2].concat(), b"rubbish\n".to_vec(), lines[3..].concat()].concat());
    bench.put("claims.index.json", b"");
    bench.reopen();
    let found = bench.log.recover(&bench.policy, true).unwrap();
    let expected = Lost { lease: lost.id, resource: None };
    assert!(found.findings.contains(&Finding::Lost(expected)), "{found:?}");
    assert_eq!(bench.table().iter().collect::<Vec<_>>(), [&kept]);
}
