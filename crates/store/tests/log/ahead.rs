//! What is read of the log while somebody else is in the section.

use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use holdfast_kernel::{Answer, Request};
use holdfast_store::{Medium, Result};

use crate::support::{Bench, granted, open};

/// Lets another handle ask for something while the section is taken, has `meanwhile` happen once it has read ahead, and
/// gives its answer.
fn while_it_waits(bench: &Bench, issue: &str, meanwhile: impl FnOnce()) -> Result<Answer> {
    let other = open(&bench.sys, &bench.dir);
    let command = bench.acquiring(issue, "agent:other", Request::Indefinite);
    let guard = File::open(bench.path("claims.lock")).unwrap();
    guard.lock().unwrap();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| other.transact(&bench.policy, &command));
        let log = File::open(bench.path("claims.jsonl")).unwrap();
        // Whoever is to come next has the lock of the log.
        while log.try_lock().is_ok() {
            log.unlock().unwrap();
            std::thread::yield_now();
        }
        // Long enough to read a few lines. Should it not be, less is tested, and nothing fails.
        std::thread::sleep(Duration::from_millis(100));
        meanwhile();
        guard.unlock().unwrap();
        let answer = asks.join().unwrap();
        log.try_lock().unwrap();
        answer
    })
}

#[test]
fn what_is_added_while_somebody_waits_is_seen_by_them() {
    let bench = Bench::new();
    bench.grant("one", "agent:a");
    let (log, index) = (bench.bytes("claims.jsonl"), bench.bytes("claims.index.json"));
    let two = bench.grant("two", "agent:b");
    let later = [bench.bytes("claims.jsonl"), bench.bytes("claims.index.json")];
    File::options().write(true).open(bench.path("claims.jsonl")).unwrap().set_len(log.len() as u64).unwrap();
    bench.put("claims.index.json", &index);
    let three = while_it_waits(&bench, "three", || {
        append(&bench, &later[0][log.len()..]);
        bench.put("claims.index.json", &later[1]);
    });
    let three = granted(three.unwrap());
    assert_eq!(three.fence.get(), 3);
    assert_eq!(bench.table().get(two.id), Some(&two));
    assert_eq!(bench.log.history(&mut |_| {}).unwrap().records, 3);
}

/// A writer whose flush fails cuts off what it wrote, and the next one writes something else in that place.
#[test]
fn what_was_read_ahead_and_is_gone_again_is_not_believed() {
    let mut bench = Bench::new();
    bench.grant("one", "agent:a");
    let (log, index) = (bench.bytes("claims.jsonl"), bench.bytes("claims.index.json"));
    let back = |bench: &Bench| {
        let file = File::options().write(true).open(bench.path("claims.jsonl")).unwrap();
        file.set_len(log.len() as u64).unwrap();
        bench.put("claims.index.json", &index);
    };
    let instead = bench.grant("two-of-a-longer-name", "agent:b");
    let line = bench.bytes("claims.jsonl")[log.len()..].to_vec();
    back(&bench);
    bench.reopen();
    let gone = bench.grant("two", "agent:b");
    bench.put("claims.index.json", &index);
    let three = while_it_waits(&bench, "three", || {
        back(&bench);
        append(&bench, &line);
    });
    assert_eq!(granted(three.unwrap()).fence.get(), 3);
    bench.reopen();
    let table = bench.table();
    assert_eq!((table.get(instead.id), table.get(gone.id)), (Some(&instead), None));
    assert_eq!(bench.log.history(&mut |_| {}).unwrap().records, 3);
    assert!(bench.names("claims.jsonl.torn").is_empty());
}

fn append(bench: &Bench, bytes: &[u8]) {
    let mut file = File::options().append(true).open(bench.path("claims.jsonl")).unwrap();
    file.write_all(bytes).unwrap();
}
