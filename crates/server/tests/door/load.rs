//! Many at once: memory stays bounded, and whoever knows the token is answered.

use std::io::Write as _;
use std::net::TcpStream;

use holdfast_trial::until;
use serde_json::json;

use crate::bench::Bench;
use crate::client::Events;

/// More than a server of this size may have, in kilobytes.
const MOST_KB: u64 = 100 << 10;

fn is_long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}

#[test]
fn whoever_only_connects_keeps_nobody_out() {
    let bench = Bench::new();
    bench.issue("one");
    let server = bench.serve();
    let mut follower = Events::follow(&server.client, None);
    let most = if is_long() { 10_000 } else { 2_000 };
    let mut crowd = Vec::new();
    let mut tried = 0;
    while tried < most {
        tried += 1;
        let Ok(mut stream) = TcpStream::connect(&server.client.address) else {
            // This process has no descriptors left.
            crowd.drain(..crowd.len() / 2);
            continue;
        };
        let _ = stream.write_all(b"GET /api/board HTTP/1.1\r\nHost:");
        crowd.push(stream);
        if tried % 500 == 0 {
            assert_eq!(server.get("/api/claims/status").status, 200, "after {tried}");
        }
    }
    assert!(server.memory_kb() < MOST_KB, "{} kB", server.memory_kb());
    bench.issue("two");
    until("who follows is still told", || follower.next().name == "issue");
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count();
    assert!(files < 700, "{files} files are open");
}

#[test]
fn followers_that_never_read_cost_little() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let server = bench.serve();
    let mut reader = Events::follow(&server.client, None);
    let deaf: Vec<Events> = (0..100).map(|_| Events::follow(&server.client, None)).collect();
    let before = server.memory_kb();
    let many = if is_long() { 3_000 } else { 300 };
    for number in 0..many {
        let path = format!("/api/issues/{issue}");
        if number == 0 {
            server.post("/api/claims", &json!({ "issue": issue })).ok();
        }
        server.post(&path, &json!({ "description": format!("{number} {}", "x".repeat(4_000)) })).ok();
    }
    let mut seen = 0;
    while seen < many {
        seen += usize::from(reader.next().name == "issue");
    }
    let after = server.memory_kb();
    assert!(after < before.max(30 << 10) + (60 << 10), "{before} kB before, {after} kB after");
    drop(deaf);
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn there_is_an_end_to_how_many_follow() {
    let bench = Bench::new();
    let server = bench.serve();
    let _following: Vec<Events> = (0..256).map(|_| Events::follow(&server.client, None)).collect();
    assert_eq!(server.get("/api/events").refused(), (503, "BUSY".into()));
    assert_eq!(server.get("/api/board").status, 200);
}
