//! Leases on patterns in a log: what is on disk, and that they survive whatever names survive.

use holdfast_kernel::{Acquire, Command, Lease, Millis, Pattern, Refusal, Request};
use holdfast_store::{Error, Medium};

use crate::damage::reseal;
use crate::support::{Bench, granted};

fn acquiring(bench: &Bench, pattern: &str, agent: &str) -> Command {
    let Command::Acquire(wanted) = bench.acquiring("x", agent, Request::Finite(Millis::from_secs(600)))
    else {
        panic!("it is an acquisition");
    };
    Command::Acquire(Acquire { resource: Pattern::new(pattern).unwrap().into(), ..wanted })
}

fn grant(bench: &Bench, pattern: &str, agent: &str) -> Lease {
    granted(bench.log.transact(&bench.policy, &acquiring(bench, pattern, agent)).unwrap())
}

fn is_held(bench: &Bench, pattern: &str, agent: &str) -> bool {
    let asked = bench.log.transact(&bench.policy, &acquiring(bench, pattern, agent));
    matches!(asked, Err(Error::Refused(Refusal::Held { .. })))
}

fn versions(bytes: &[u8]) -> Vec<u8> {
    let version = |line: &[u8]| line.strip_prefix(b"{\"schema_version\":").unwrap().first().unwrap() - b'0';
    bytes.split_inclusive(|byte| *byte == b'\n').map(version).collect()
}

#[test]
fn only_what_speaks_of_a_pattern_is_of_the_second_version() {
    let bench = Bench::new();
    let name = bench.grant("issue", "agent:a");
    let pattern = grant(&bench, "src/**", "agent:a");
    let renew = Command::Renew { lease: pattern.id, holder: pattern.holder.clone(), ttl: None };
    bench.log.transact(&bench.policy, &renew).unwrap();
    assert_eq!(versions(&bench.bytes("claims.jsonl")), [1, 1, 2, 1]);
    assert_eq!(versions(&bench.bytes("claims.index.json")), [2]);
    let line = String::from_utf8(bench.bytes("claims.jsonl")).unwrap().lines().nth(2).unwrap().to_owned();
    assert!(line.contains(r#","pattern":"src/**","agent_id":"#) && !line.contains("issue_id"), "{line}");
    bench.release(&pattern).unwrap();
    assert_eq!(versions(&bench.bytes("claims.index.json")), [1]);
    bench.release(&name).unwrap();
}

#[test]
fn a_line_is_of_the_version_that_it_needs() {
    let bench = Bench::new();
    grant(&bench, "src/**", "agent:a");
    let log = String::from_utf8(bench.bytes("claims.jsonl")).unwrap();
    let forged = log.replacen("{\"schema_version\":2", "{\"schema_version\":1", 1);
    assert_ne!(forged, log);
    let bench = Bench::new();
    bench.put("claims.jsonl", reseal(&forged).as_bytes());
    let read = bench.log.view();
    assert!(matches!(read, Err(Error::Damaged { .. })), "{read:?}");
}

#[test]
fn patterns_survive_the_index_a_cut_and_a_repair() {
    let mut bench = Bench::new();
    bench.grant("issue", "agent:a");
    grant(&bench, "src/**", "agent:a");
    grant(&bench, "src/a.rs", "agent:a");
    grant(&bench, "docs/*.md", "agent:b");
    let table = bench.table();
    assert!(is_held(&bench, "**/a.md", "agent:c") && is_held(&bench, "src/?", "agent:c"));
    bench.remove("claims.index.json");
    bench.reopen();
    assert_eq!(bench.table(), table, "from the lines");
    bench.log.cut(&bench.policy).unwrap();
    assert_eq!(versions(&bench.bytes("claims.jsonl")), [2]);
    bench.reopen();
    assert_eq!(bench.table(), table, "from the first line");
    let later = grant(&bench, "later/**", "agent:d");
    let log = bench.bytes("claims.jsonl");
    bench.put("claims.jsonl", &[b"rubbish\n".to_vec(), log].concat());
    bench.reopen();
    assert!(bench.log.view().is_err());
    let found = bench.log.recover(&bench.policy, true).unwrap();
    assert!(found.repaired, "{found:?}");
    assert_eq!(bench.table().len(), table.len() + 1, "{found:?}");
    assert_eq!(bench.table().get(later.id), Some(&later));
    assert!(is_held(&bench, "**/a.md", "agent:c") && is_held(&bench, "later/x", "agent:c"));
}
