//! What happens reaches whoever follows: soon, once, and also if it was away.

use std::time::{Duration, Instant};

use holdfast_trial::until;
use serde_json::json;

use crate::bench::Bench;
use crate::client::{Event, Events};

/// The next event about something that happened.
fn happened(events: &mut Events) -> Event {
    loop {
        let event = events.next();
        if ["claim", "issue", "anew"].contains(&event.name.as_str()) {
            return event;
        }
    }
}

fn kind(event: &Event) -> String {
    event.data["event_type"].as_str().unwrap_or(&event.name).to_owned()
}

#[test]
fn what_is_done_in_a_shell_is_told_within_a_second() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let server = bench.serve();
    let mut events = Events::follow(&server.client, None);
    let mut took = Vec::new();
    for _ in 0..5 {
        for (words, wanted) in
            [("acquire", "claim.acquired"), ("renew", "claim.renewed"), ("release", "claim.released")]
        {
            bench.jit(&["claim", words, &issue]).ok();
            let done = Instant::now();
            let event = happened(&mut events);
            took.push(done.elapsed());
            assert_eq!(
                (kind(&event), &event.data["payload"]["issue_id"]),
                (wanted.to_owned(), &json!(issue))
            );
        }
    }
    took.sort();
    assert!(took[took.len() / 2] < Duration::from_secs(1), "{took:?}");
    bench.issue("two");
    assert_eq!(kind(&happened(&mut events)), "issue.created");
    bench.jit(&["note", &issue, "look"]).ok();
    until("a note is noticed", || events.next().name == "changed");
}

#[test]
fn whoever_comes_back_is_told_what_it_missed_also_by_another_server() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let server = bench.serve();
    let mut events = Events::follow(&server.client, None);
    bench.jit(&["claim", "acquire", &issue]).ok();
    let last = happened(&mut events);
    drop(events);
    bench.jit(&["claim", "renew", &issue]).ok();
    server.kill();
    bench.jit(&["issue", "update", &issue, "--title", "uno"]).ok();
    bench.jit(&["claim", "release", &issue]).ok();
    let server = bench.serve();
    let told = |cursor: Option<&str>, count: usize| {
        let mut events = Events::follow(&server.client, cursor);
        let mut all: Vec<Event> = (0..count).map(|_| happened(&mut events)).collect();
        all.sort_by_key(|event| event.data["timestamp"].to_string());
        all
    };
    let missed = told(last.id.as_deref(), 3);
    let kinds: Vec<String> = missed.iter().map(kind).collect();
    assert_eq!(kinds, ["claim.renewed", "issue.updated", "claim.released"]);
    assert_eq!(told(last.id.as_deref(), 3), missed, "asked again, the same again");
    // Behind each of them the rest follows.
    let mut events = Events::follow(&server.client, last.id.as_deref());
    let in_order: Vec<Event> = (0..3).map(|_| happened(&mut events)).collect();
    assert_eq!(told(in_order[0].id.as_deref(), 2).len(), 2);
    bench.jit(&["claim", "acquire", &issue]).ok();
    assert_eq!(kind(&happened(&mut events)), "claim.acquired");
}

#[test]
fn a_cursor_that_somebody_made_up_begins_anew() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let server = bench.serve();
    for forged in [
        "17",
        "x",
        "1~control.99999~",
        "1~nobody.5~",
        "1~../../etc/passwd.5~",
        "1~control.0~wt-00000000.A~",
        &"1~a.b~".repeat(3_000),
        "\u{e9}",
    ] {
        let mut events = Events::follow(&server.client, Some(forged));
        let event = events.next();
        assert_eq!(event.name, "anew", "{forged:.40}");
        let again = event.id.unwrap();
        let mut events = Events::follow(&server.client, Some(&again));
        bench.jit(&["claim", "renew", &issue]).ok();
        assert_eq!(kind(&happened(&mut events)), "claim.renewed");
    }
}

#[test]
fn trouble_is_told_and_passes() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let server = bench.serve();
    let mut events = Events::follow(&server.client, None);
    let (here, away) = (bench.repo(), bench.root().join("away"));
    std::fs::rename(&here, &away).unwrap();
    until("it is told that the repository is gone", || events.next().name == "trouble");
    assert_eq!(server.get("/healthz").status, 503);
    assert!(server.get("/api/board").status >= 400);
    std::fs::rename(&away, &here).unwrap();
    until("it is told that it is back", || events.next().name == "well");
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/api/board").status, 200);

    let log = here.join(".git/jit/claims.jsonl");
    let good = std::fs::read(&log).unwrap();
    let mut bad = good.clone();
    bad[10] ^= 0xff;
    std::fs::write(&log, &bad).unwrap();
    let _ = std::fs::remove_file(here.join(".git/jit/claims.index.json"));
    until("it is told that the log is damaged", || events.next().name == "trouble");
    let reply = server.get("/api/claims/status");
    assert_eq!(reply.refused(), (500, "DAMAGED".into()));
    std::fs::write(&log, &good).unwrap();
    until("it is told that it is mended", || events.next().name == "well");
    assert_eq!(server.get("/api/claims/status").ok()["count"], 1);
}
