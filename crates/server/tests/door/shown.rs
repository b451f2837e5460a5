//! The page and the numbers: who gets them, and that others can read them.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use holdfast_trial::has;
use serde_json::{Value, json};

use crate::bench::{Bench, Server};

#[test]
fn the_page_needs_no_token_and_has_no_data() {
    let bench = Bench::new();
    bench.issue("a secret title");
    let server = bench.serve();
    for path in ["/", "/style.css", "/icon.svg", "/js/app.js", "/js/dom.js"] {
        let reply = server.client.request("GET", path, &[], None);
        assert_eq!(reply.status, 200, "{path}");
        assert!(!reply.body.contains("a secret title"));
        let policy = &reply.headers["content-security-policy"];
        for rule in ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'"] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        let tag = [("If-None-Match", reply.headers["etag"].as_str())];
        let same = server.client.request("GET", path, &tag, None);
        assert_eq!((same.status, same.body.as_str()), (304, ""), "{path}");
    }
    for (method, path, status) in [
        ("POST", "/", 405),
        ("GET", "/js/", 401),
        ("GET", "/js/../index.html", 401),
        ("GET", "/index.html", 401),
        ("GET", "/metrics", 401),
    ] {
        assert_eq!(server.client.request(method, path, &[], None).status, status, "{method} {path}");
    }
    let elsewhere = server.client.request("GET", "/", &[("Host", "evil.example")], None);
    assert_ne!(elsewhere.status, 200, "whoever comes by another name gets no page either");
}

/// The value of a line of the metrics.
fn value(server: &Server, line: &str) -> Option<f64> {
    let text = server.get("/metrics").body;
    text.lines().find_map(|one| one.strip_prefix(line)?.strip_prefix(' ')?.parse().ok())
}

fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_200 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("it did not come to this: {what}");
}

#[test]
fn the_numbers_are_those_of_what_happened_also_after_a_death() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "review", "--title", "Review", "--manual"]).ok();
    let issue = bench.jit(&["-q", "issue", "create", "--title", "one", "--gate", "review"]).ok();
    let issue = issue.stdout.trim();
    bench.jit(&["claim", "acquire", issue]).ok();
    bench.jit(&["claim", "renew", issue]).ok();
    let server = bench.serve();
    assert_eq!(value(&server, "jit_claims_acquired_total"), Some(1.0));
    assert_eq!(value(&server, "jit_claims_held"), Some(1.0));
    bench.jit(&["gate", "pass", issue, "review"]).ok();
    bench.jit(&["claim", "release", issue]).ok();
    bench.jit(&["claim", "acquire", issue]).ok();
    let refused = server.post("/api/claims", &json!({ "issue": issue }));
    let code = refused.refused().1;
    server.post(&format!("/api/claims/{issue}/force-evict"), &json!({ "reason": "enough" })).ok();
    until("everything is counted", || {
        value(&server, "jit_claims_ended_total{how=\"forced\"}") == Some(1.0)
            && value(&server, "jit_gate_results_total{status=\"passed\"}") == Some(1.0)
    });
    assert_eq!(value(&server, &format!("jit_refused_total{{code=\"{code}\"}}")), Some(1.0));
    let of_log = |server: &Server| {
        let names = [
            "jit_claims_acquired_total",
            "jit_claims_renewed_total",
            "jit_claims_ended_total{how=\"released\"}",
            "jit_claims_ended_total{how=\"forced\"}",
            "jit_claim_held_seconds_count",
            "jit_claim_held_seconds_sum",
        ];
        names.map(|name| value(server, name).unwrap())
    };
    let before = of_log(&server);
    assert_eq!(before[..5], [2.0, 1.0, 1.0, 1.0, 2.0]);
    server.kill();
    let server = bench.serve();
    assert_eq!(of_log(&server), before, "the log has them, whoever counts");
}

#[test]
fn prometheus_reads_the_numbers_and_the_rules() {
    if !has("promtool") {
        return;
    }
    let bench = Bench::new();
    let issue = bench.issue("one");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let server = bench.serve();
    server.post("/api/claims", &json!({ "issue": issue }));
    let text = server.get("/metrics").body;
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/prometheus");
    for words in [["check", "rules", "rules.yml"], ["test", "rules", "rules_test.yml"]] {
        let output = Command::new("promtool").args(words).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

/// The names of metrics in a text.
fn names(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    parts.filter(|word| word.starts_with("jit_")).map(ToOwned::to_owned).collect()
}

#[test]
fn rules_board_and_page_name_metrics_that_there_are() {
    let bench = Bench::new();
    let server = bench.serve();
    // One that is only there once something was refused.
    server.get("/api/nothing");
    let text = server.get("/metrics").body;
    let there = names(&text);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["contrib/prometheus/rules.yml", "contrib/grafana/jit.json", "docs/metrics.md"] {
        let page = std::fs::read_to_string(root.join(file)).unwrap();
        let named = names(&page);
        assert!(named.len() > 5, "{file}");
        for name in named {
            assert!(there.contains(&name), "{file} names {name}, which is not there");
        }
    }
    let board: Value =
        serde_json::from_str(&std::fs::read_to_string(root.join("contrib/grafana/jit.json")).unwrap())
            .unwrap();
    assert_eq!(board["panels"].as_array().unwrap().len(), 12);
    let page = std::fs::read_to_string(root.join("docs/metrics.md")).unwrap();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        assert!(page.contains(name), "docs/metrics.md does not name {name}");
    }
}
