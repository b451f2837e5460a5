//! A recorded sequence, replayed on a copy of the vault, gives the same output byte for byte.

use crate::arm::{Op, words};
use crate::bench::{Answer, Bench, LEASE, NOW};

/// What is typed: leases that are taken, kept, given back, let run out and taken over on two documents, and
/// everything that is refused on the way. A token is named by the number of the answer that had it.
fn typed(step: i64, answers: &[Answer]) -> Op {
    let doc = ["doc-0", "doc-1"][usize::try_from(step / 3 % 2).unwrap()].to_owned();
    let owner = ["ann", "bob", "carl"][usize::try_from(step % 3).unwrap()].to_owned();
    let now = NOW + step * LEASE / 5;
    let mut tokens = answers.iter().rev().filter_map(|answer| {
        let said: serde_json::Value = serde_json::from_str(&answer.stdout).ok()?;
        said["lease"]["token"].as_str().map(ToOwned::to_owned)
    });
    let token = tokens.nth(usize::from(step % 7 == 0)).unwrap_or_default();
    match step % 11 {
        0 | 4 | 8 => Op::Acquire { doc, owner, now },
        1 | 2 | 5 => Op::Add { doc, from: format!("node-{step}"), evidence: "seen".into(), token, now },
        3 => Op::Status { doc: None, now },
        6 => Op::Status { doc: Some(doc), now },
        7 => Op::Release { doc, token },
        9 => Op::List { doc },
        _ => Op::Remove { overlay: "blake3:00".into(), token, now },
    }
}

#[test]
fn a_recorded_sequence_gives_the_same_bytes_on_a_copy_of_the_vault() {
    let bench = Bench::new(&["doc-0", "doc-1"]);
    let copy = bench.copy();
    let (mut recorded, mut answers) = (Vec::new(), Vec::new());
    for step in 0..66 {
        let line = words(&typed(step, &answers));
        answers.push(bench.run(&line.iter().map(String::as_str).collect::<Vec<_>>()));
        recorded.push(line);
    }
    let ended = |code| answers.iter().filter(|answer| answer.code == Some(code)).count();
    assert!(ended(0) > 20 && ended(1) > 10, "{} went well, {} did not", ended(0), ended(1));
    for (line, answer) in recorded.iter().zip(&answers) {
        let again = copy.run(&line.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(again, *answer, "{line:?}");
    }
    assert_eq!(copy.dump(), bench.dump());
    bench.run(&["vault", "check", "VAULT"]).ok();
}
