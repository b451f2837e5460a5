//! Evictions that need approval, over HTTP: a tool gets no further than a command, and a person approves in a browser.

use serde_json::{Value, json};

use crate::bench::{Bench, Server};
use crate::client::Reply;

/// A repository where evictions need approval, a server, and a claim that somebody else has, with its issue.
fn ruled() -> (Bench, Server, String, String) {
    let bench = Bench::new();
    bench.jit(&["config", "set", "policy.force_evict", "approved"]).ok();
    let issue = bench.issue("held");
    let lease = bench.json(&["claim", "acquire", &issue])["lease"]["lease_id"].as_str().unwrap().to_owned();
    let server = bench.serve();
    (bench, server, issue, lease)
}

fn held(bench: &Bench) -> u64 {
    bench.json(&["claim", "list"])["count"].as_u64().unwrap()
}

/// Approves as a page does.
fn by_page(server: &Server, lease: &str, body: &Value) -> Reply {
    let (cookie, origin) = (server.client.cookie(), server.client.origin());
    let headers = [("Cookie", cookie.as_str()), ("Origin", origin.as_str())];
    server.client.request("POST", &format!("/api/approvals/{lease}"), &headers, Some(&body.to_string()))
}

#[test]
fn a_person_approves_in_a_browser_and_no_tool_does() {
    let (bench, server, issue, lease) = ruled();
    assert_eq!(by_page(&server, &lease, &json!({})).refused(), (404, "NO_REQUEST".into()));
    let asked = bench.run_at(
        "agent:b",
        &["--json", "claim", "force-evict", &issue, "--reason", "it is gone"],
        &bench.repo(),
    );
    assert_eq!(asked.json()["error"]["code"], "APPROVAL_NEEDED");

    let waiting = server.get("/api/approvals").ok();
    assert_eq!((&waiting["count"], &waiting["requests"][0]["asked_by"]), (&1.into(), &"agent:b".into()));
    let board = server.get("/api/board").ok();
    let needs = &board["board"]["attention"][0];
    assert_eq!((&needs["kind"], &needs["lease_id"]), (&"approval".into(), &lease.as_str().into()), "{needs}");
    assert!(needs["text"].as_str().unwrap().contains("agent:b asks to evict agent:a: it is gone"), "{needs}");

    let by_tool = server.post(&format!("/api/approvals/{lease}"), &json!({}));
    assert_eq!(by_tool.refused(), (403, "NOT_APPROVER".into()));
    for bad in [json!({ "reason": "" }), json!({ "reason": 3 }), json!({ "who": "person:bob" }), json!([])] {
        assert!((400..500).contains(&by_page(&server, &lease, &bad).status), "{bad}");
    }
    assert_eq!(held(&bench), 1);

    let done = by_page(&server, &lease, &json!({ "reason": "I saw it go" })).ok();
    assert_eq!((&done["evicted"], &done["request"]["approved_by"][0]), (&true.into(), &"person:ann".into()));
    assert_eq!(held(&bench), 0);
    assert_eq!(server.get("/api/approvals").ok()["count"], 0);
    let told = bench.json(&["claim", "history", "--issue", &issue]);
    let kinds: Vec<&str> = told["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["event_type"].as_str().unwrap())
        .collect();
    for kind in ["eviction.requested", "eviction.approved", "claim.evicted"] {
        assert_eq!(kinds.iter().filter(|found| **found == kind).count(), 1, "{kind}: {kinds:?}");
    }
}

#[test]
fn an_eviction_over_http_needs_the_same_approval_and_nobody_approves_its_own() {
    let (bench, server, _, lease) = ruled();
    let path = format!("/api/claims/{lease}/force-evict");
    assert_eq!(
        server.post(&path, &json!({ "reason": "I want it" })).refused(),
        (409, "APPROVAL_NEEDED".into())
    );
    // The server asked, so it is the server's own.
    assert_eq!(by_page(&server, &lease, &json!({})).refused(), (403, "NOT_APPROVER".into()));
    assert_eq!(server.post(&path, &json!({ "reason": "again" })).refused(), (409, "APPROVAL_NEEDED".into()));
    assert_eq!(held(&bench), 1);
    let transfer = json!({ "to_agent": "person:ann", "to_worktree": "wt:00000000", "reason": "mine" });
    assert!(server.post(&format!("/api/claims/{lease}/transfer"), &transfer).status >= 400);
    assert!(server.post(&format!("/api/claims/{lease}/release"), &json!({})).status >= 400);
    assert_eq!(held(&bench), 1);
}
