//! The event log says what the log of claims says, whatever happened to it.

use serde_json::Value;

use crate::bench::Bench;

fn projected(bench: &Bench) -> Vec<Value> {
    let text = std::fs::read_to_string(bench.control("events/control.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn history(bench: &Bench) -> Vec<Value> {
    bench.history()
}

#[test]
fn what_was_lost_doubled_or_cut_is_made_good_by_the_next_command() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let (log, place) = (bench.control("events/control.jsonl"), bench.control("events/control.place"));
    let old_place = std::fs::read(&place).unwrap();
    bench.claimed("agent:b");
    let full = std::fs::read(&log).unwrap();
    let doubled = [&full[..], &full[..]].concat();
    let states: [(&[u8], Option<&[u8]>); 6] = [
        (&full, None),
        (&full, Some(&old_place)),
        (&full[..full.len() / 2], Some(&old_place)),
        (b"", None),
        (&doubled, Some(b"nonsense")),
        (&doubled, Some(&old_place)),
    ];
    for (content, noted) in states {
        std::fs::write(&log, content).unwrap();
        match noted {
            Some(noted) => std::fs::write(&place, noted).unwrap(),
            None => std::fs::remove_file(&place).unwrap(),
        }
        bench.jit(&["claim", "acquire", &issue]).ok();
        assert_eq!(projected(&bench), history(&bench));
    }
}

#[test]
fn another_boot_trusts_only_what_was_flushed() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let place = bench.control("events/control.place");
    let noted = std::fs::read_to_string(&place).unwrap();
    let (body, _) = noted.trim_end().rsplit_once(' ').unwrap();
    let mut other: Value = serde_json::from_str(body).unwrap();
    other["boot_id"] = "00000000000000000000000000000000".into();
    let body = other.to_string();
    let hash: String = blake3::hash(body.as_bytes()).to_hex().chars().take(32).collect();
    std::fs::write(&place, format!("{body} {hash}\n")).unwrap();
    let log = bench.control("events/control.jsonl");
    let zeros = vec![0; std::fs::read(&log).unwrap().len()];
    std::fs::write(&log, zeros).unwrap();
    bench.jit(&["claim", "acquire", &issue]).ok();
    assert_eq!(projected(&bench), history(&bench));
}

#[test]
fn numbers_and_envelope_are_as_configured() {
    let bench = Bench::new();
    let (_, lease) = bench.claimed("agent:a");
    assert_eq!(projected(&bench)[0]["sequence"], 1);
    bench.config("[events]\nenable_sequences = false\n");
    bench.jit(&["claim", "renew", &lease]).ok();
    let events = projected(&bench);
    assert_eq!(events.len(), 2);
    assert!(
        events.iter().all(|event| event.get("sequence").is_none() && event["actor"]["agent_id"] == "agent:a")
    );
    bench.config("[events]\nuse_unified_envelope = false\n");
    bench.jit(&["claim", "release", &lease]).ok();
    let ops: Vec<_> =
        projected(&bench).iter().map(|event| event["op"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ops, ["acquire", "renew", "release"]);
}

#[test]
fn the_lock_says_who_took_it_last_unless_configured_otherwise() {
    let bench = Bench::new();
    bench.claimed("agent:a");
    let note = bench.control("locks/claims.lock.meta");
    let said: Value = serde_json::from_slice(&std::fs::read(&note).unwrap()).unwrap();
    assert_eq!(said["agent_id"], "agent:a");
    std::fs::remove_file(&note).unwrap();
    bench.config("[locks]\nenable_metadata = false\n");
    bench.claimed("agent:a");
    assert!(!note.exists());
}

#[test]
fn a_lock_that_is_held_too_long_is_reported_by_whoever_waits() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    bench.config("[locks]\nmax_age_secs = 1\n");
    let note = bench.control("locks/claims.lock.meta");
    std::fs::write(&note, r#"{"pid":4711,"agent_id":"agent:stuck","created_at":"2020-01-01T00:00:00Z"}"#)
        .unwrap();
    let lock = std::fs::File::open(bench.control("locks/claims.lock")).unwrap();
    lock.lock().unwrap();
    let mut waiting = bench.spawn("agent:b", &["claim", "acquire", &issue], &bench.repo());
    let mut stderr = std::io::BufReader::new(waiting.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    assert!(line.contains("4711") && line.contains("agent:stuck"), "{line}");
    lock.unlock().unwrap();
    assert_eq!(waiting.wait().unwrap().code(), Some(4));
}
