//! What happens reaches whoever follows: soon, once, and also if it was away.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use holdfast_trial::until;
use serde_json::{Value, json};

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

/// A board, and what has changed since, put together as a page does it.
fn put_together(board: &Value, delta: &Value) -> Value {
    let id = |card: &Value| card["id"].as_str().unwrap().to_owned();
    let cards = |board: &Value| board["issues"].as_array().unwrap().clone();
    let mut all: BTreeMap<String, Value> = cards(board).into_iter().map(|card| (id(&card), card)).collect();
    for gone in delta["gone"].as_array().unwrap() {
        assert!(all.remove(gone.as_str().unwrap()).is_some(), "{gone} was not there");
    }
    all.extend(cards(&delta["board"]).into_iter().map(|card| (id(&card), card)));
    let mut board = delta["board"].clone();
    board["issues"] = all.into_values().collect();
    board
}

#[test]
fn a_board_put_together_of_what_has_changed_is_the_one_that_is_asked_for() {
    let bench = Bench::new();
    let issues: Vec<String> = (0..30).map(|number| bench.issue(&format!("issue {number}"))).collect();
    let server = bench.serve();
    let mut events = Events::follow_at(&server.client, "/api/events?board=1", None);
    let first = server.get("/api/board");
    let (mut tag, mut board) = (first.headers["etag"].clone(), first.ok()["board"].clone());
    let folder = bench.repo().join(".jit/issues").join(&issues[9]);
    let acts: [&dyn Fn(); 6] = [
        &|| drop(bench.jit(&["claim", "acquire", &issues[3]]).ok()),
        &|| drop(bench.jit(&["issue", "update", &issues[3], "--title", "another one"]).ok()),
        &|| drop(bench.issue("one more")),
        &|| std::fs::remove_dir_all(&folder).unwrap(),
        &|| drop(bench.jit(&["claim", "release", &issues[3]]).ok()),
        &|| drop(bench.jit(&["note", &issues[4], "look"]).ok()),
    ];
    for act in acts {
        act();
        let mut changed = 0;
        until("the board that is asked for", || {
            let event = events.next();
            if event.name == "board" {
                assert_eq!(event.data["from"], tag.as_str(), "each fits the one before");
                board = put_together(&board, &event.data);
                tag = event.data["to"].as_str().unwrap().to_owned();
                changed += event.data["board"]["issues"].as_array().unwrap().len();
            }
            let asked = server.get("/api/board");
            let same = asked.headers["etag"] == tag;
            assert!(!same || asked.ok()["board"] == board);
            same
        });
        assert!(changed < 10, "those alone that have changed: {changed}");
    }
    assert_eq!((&board["count"], board["issues"].as_array().unwrap().len()), (&json!(30), 30));
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
