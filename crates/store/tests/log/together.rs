//! Lines that count only together: what is on disk, what is left of a part of them, and what is refused.

use holdfast_kernel::{Answer, Command, Millis, Refusal, Request};
use holdfast_store::{Error, JournaledMedium, Medium, Result, View};

use crate::damage::reseal;
use crate::support::{Bench, granted};

fn acquiring(bench: &Bench, issue: &str, agent: &str) -> Command {
    bench.acquiring(issue, agent, Request::Finite(Millis::from_secs(600)))
}

fn together(bench: &Bench, commands: &[Command]) -> Result<Vec<Answer>> {
    bench.log.transact_together(&bench.policy, &|_: &View| Ok(commands.to_vec()))
}

fn three(bench: &Bench) -> Vec<Command> {
    ["one", "two", "three"].iter().map(|issue| acquiring(bench, issue, "agent:a")).collect()
}

#[test]
fn several_grants_are_one_write_that_counts_as_a_whole() {
    let mut bench = Bench::new();
    let answers = together(&bench, &three(&bench)).unwrap();
    let fences: Vec<u64> = answers.into_iter().map(|answer| granted(answer).fence.get()).collect();
    assert_eq!(fences, [1, 2, 3]);
    let log = String::from_utf8(bench.bytes("claims.jsonl")).unwrap();
    let heads: Vec<String> = log.lines().skip(1).map(|line| line.chars().take(60).collect()).collect();
    assert!(heads[0].starts_with(r#"{"schema_version":2,"sequence":1,"together":3,"op":"#), "{heads:?}");
    assert!(heads[1].starts_with(r#"{"schema_version":1,"sequence":2,"batch":1,"op":"#), "{heads:?}");
    bench.reopen();
    assert_eq!(bench.table().len(), 3);
    bench.remove("claims.index.json");
    bench.reopen();
    assert_eq!(bench.table().len(), 3);
    assert_eq!(bench.log.history(&mut |_| ()).unwrap().records, 3);
}

#[test]
fn one_alone_is_written_as_ever() {
    let bench = Bench::new();
    together(&bench, &[acquiring(&bench, "one", "agent:a")]).unwrap();
    let log = String::from_utf8(bench.bytes("claims.jsonl")).unwrap();
    assert!(!log.contains("together"), "{log}");
    assert!(together(&bench, &[]).unwrap().is_empty());
}

#[test]
fn a_part_of_them_has_not_happened() {
    let bench = Bench::new();
    bench.grant("zero", "agent:z");
    let before = bench.bytes("claims.jsonl");
    together(&bench, &three(&bench)).unwrap();
    let whole = bench.bytes("claims.jsonl");
    // Every so many bytes, and right before and behind the end of each line.
    let near_an_end = |end: &usize| whole[end - 1] == b'\n' || whole[*end] == b'\n';
    for end in (before.len()..whole.len()).filter(|end| end % 97 == 0 || near_an_end(end)) {
        let cut = Bench::new();
        cut.put("claims.jsonl", &whole[..end]);
        assert_eq!(cut.table().len(), 1, "cut at byte {end} of {}", whole.len());
        let lease = cut.grant("two", "agent:b");
        assert_eq!(lease.fence.get(), 2, "cut at byte {end}");
        let torn = cut.names("claims.jsonl.torn-");
        assert_eq!(torn.len(), usize::from(end > before.len()), "cut at byte {end}: {torn:?}");
        assert_eq!(cut.table().len(), 2);
    }
}

#[test]
fn a_part_that_somebody_built_on_is_damage() {
    let bench = Bench::new();
    together(&bench, &three(&bench)).unwrap();
    bench.grant("four", "agent:b");
    let log = String::from_utf8(bench.bytes("claims.jsonl")).unwrap();
    // Without the third line of those that count together; the numbers and hashes are made to fit.
    let mut lines: Vec<String> = log.lines().map(ToOwned::to_owned).collect();
    lines.remove(3);
    lines[3] = lines[3].replacen(r#""sequence":4"#, r#""sequence":3"#, 1);
    let forged = reseal(&(lines.join("\n") + "\n"));
    let other = Bench::new();
    other.put("claims.jsonl", forged.as_bytes());
    let read = other.log.view();
    assert!(matches!(&read, Err(Error::Damaged { .. })), "{read:?}");
    // A number that stands elsewhere is no number of lines either.
    let moved = log.replacen(r#""together":3,"op":"acquire","#, r#""op":"acquire","together":3,"#, 1);
    assert_ne!(moved, log);
    let other = Bench::new();
    other.put("claims.jsonl", reseal(&moved).as_bytes());
    let read = other.log.view();
    assert!(matches!(&read, Err(Error::Damaged { .. })), "{read:?}");
}

#[test]
fn one_refusal_refuses_all_and_writes_nothing() {
    let bench = Bench::new();
    let twice = [acquiring(&bench, "one", "agent:a"), acquiring(&bench, "one", "agent:b")];
    let refused = together(&bench, &twice);
    assert!(matches!(refused, Err(Error::Refused(Refusal::Held { .. }))), "{refused:?}");
    assert!(bench.names("claims.jsonl").is_empty(), "nobody was granted anything, so there is no log");
    bench.grant("two", "agent:b");
    let before = bench.bytes("claims.jsonl");
    let refused = together(&bench, &three(&bench));
    assert!(matches!(refused, Err(Error::Refused(Refusal::Held { .. }))), "{refused:?}");
    assert_eq!(bench.bytes("claims.jsonl"), before);
    assert_eq!(bench.table().len(), 1);
    // The plan sees the leases as they are.
    let seen = bench.log.transact_together(&bench.policy, &|view: &View| {
        assert_eq!(view.table.len(), 1);
        Ok(vec![acquiring(&bench, "one", "agent:c"), acquiring(&bench, "three", "agent:c")])
    });
    assert_eq!(seen.unwrap().len(), 2);
    assert_eq!(bench.table().len(), 3);
}

#[test]
fn more_than_can_count_together_is_refused_as_that_and_not_as_damage() {
    let bench = Bench::new();
    bench.grant("one", "agent:a");
    let before = bench.bytes("claims.jsonl");
    let many: Vec<Command> =
        (0..=1 << 16).map(|n| acquiring(&bench, &format!("many-{n}"), "agent:b")).collect();
    let refused = together(&bench, &many);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{:?}", refused.err());
    assert_eq!((bench.bytes("claims.jsonl"), bench.table().len()), (before, 1));
    // Nothing asked for is nothing done.
    assert_eq!(together(&bench, &[]).unwrap(), []);
}
