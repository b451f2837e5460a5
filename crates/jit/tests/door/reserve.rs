//! Reservations of paths: who gets them, who is kept out, and what they end with.

use std::io::{BufRead, BufReader};

use holdfast_trial::Answer;
use serde_json::Value;

use crate::bench::Bench;

fn patterns(bench: &Bench) -> Vec<(String, String)> {
    let listed = bench.jit(&["--json", "reserve", "list"]).ok().json();
    let all = listed["reservations"].as_array().unwrap();
    assert_eq!(listed["count"], all.len());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.iter().map(|one| (text(&one["pattern"]), text(&one["agent_id"]))).collect()
}

fn pair(pattern: &str, agent: &str) -> (String, String) {
    (pattern.to_owned(), agent.to_owned())
}

#[test]
fn what_overlaps_is_refused_and_says_who_has_it() {
    let bench = Bench::new();
    let added = bench.jit(&["--json", "reserve", "add", "src/auth/**", "docs/*.md"]).ok().json();
    let first = &added["reservations"][0];
    assert_eq!((&first["pattern"], &added["already_held"]), (&"src/auth/**".into(), &false.into()));
    assert_eq!(first["resource"], format!("paths:{}", first["lease_id"].as_str().unwrap()));
    assert!(first.get("issue_id").is_none() && first.get("claim_lease_id").is_none(), "{first}");
    let refused = bench.run("agent:b", &["--json", "reserve", "add", "lib/x.rs", "src/*/login.rs"]).fails(4);
    let error = &refused.json()["error"];
    assert_eq!(
        (&error["code"], &error["details"]["held_by"]["pattern"]),
        (&"HELD".into(), &"src/auth/**".into())
    );
    assert!(
        refused.stderr.contains("agent:a") && refused.stderr.contains("hint: jit reserve list"),
        "{refused}"
    );
    // All or none: what was free is not taken either.
    assert_eq!(patterns(&bench), [pair("docs/*.md", "agent:a"), pair("src/auth/**", "agent:a")]);
    bench.run("agent:b", &["reserve", "add", "src/other/**", "docs/deep/x.md"]).ok();
    let again = bench.jit(&["--json", "reserve", "add", "src/auth/**"]).ok().json();
    assert_eq!(
        (&again["already_held"], &again["reservations"][0]["lease_id"]),
        (&true.into(), &first["lease_id"])
    );
    bench.run("agent:b", &["reserve", "release", "src/auth/**"]).fails(5);
    bench.jit(&["reserve", "release", "src/auth/**"]).ok();
    bench.run("agent:b", &["reserve", "add", "src/*/login.rs"]).ok();
    bench.run("agent:b", &["reserve", "release", "--all"]).ok();
    assert_eq!(patterns(&bench), [pair("docs/*.md", "agent:a")]);
}

#[test]
fn shared_ones_are_kept_together_and_exclude_one_alone() {
    let bench = Bench::new();
    bench.jit(&["reserve", "add", "docs/**", "--shared", "--reason", "reading"]).ok();
    bench.run("agent:b", &["reserve", "add", "docs/a.md", "--shared"]).ok();
    bench.run("agent:c", &["reserve", "add", "docs/a.md"]).fails(4);
    bench.run("agent:c", &["reserve", "check", "docs/a.md"]).ok();
    let refused = bench.jit(&["--json", "reserve", "add", "docs/**"]).fails(4);
    assert_eq!(refused.json()["error"]["code"], "HELD_SHARED", "{refused}");
}

#[test]
fn claims_limits_and_commands_know_nothing_of_them() {
    let bench = Bench::new();
    bench.config("[coordination]\nmax_indefinite_leases_per_agent = 1\n");
    let issue = bench.issue("work");
    bench.jit(&["reserve", "add", "**"]).ok();
    assert!(bench.leases().is_empty());
    assert_eq!(bench.jit(&["--json", "claim", "status"]).ok().json()["count"], 0);
    for (kind, count) in [("issue", 0), ("branch", 0), ("paths", 1), ("all", 1)] {
        let listed = bench.jit(&["--json", "claim", "list", "--kind", kind]).ok().json();
        assert_eq!(listed["count"], count, "{kind}");
    }
    bench.jit(&["claim", "acquire", &issue, "--ttl", "0", "--reason", "long"]).ok();
    bench.jit(&["reserve", "add", "other/**"]).ok();
    assert_eq!(bench.jit(&["--json", "validate", "leases"]).ok().json()["checks"][1]["ok"], true);
    bench.jit(&["reserve", "add", "x", "--ttl", "0", "--reason", "for ever", "--alone"]).fails(6);
}

#[test]
fn what_is_no_pattern_is_refused_with_what_to_write() {
    let bench = Bench::new();
    for (bad, words) in [
        ("src/", "write 'src/**'"),
        ("/etc/passwd", "relative to the root"),
        ("a/../b", "`..`"),
        ("app/[id]/page.tsx", "write `?`"),
        ("a**", "segment of its own"),
        ("", "invalid value"),
        ("a//b", "between two slashes"),
        ("a\u{1b}b", "invalid value"),
    ] {
        let refused = bench.jit(&["reserve", "add", "good", bad]).fails(6);
        assert!(refused.stderr.contains(words), "{bad:?}: {refused}");
        assert!(!refused.stderr.contains('\u{1b}'), "{refused}");
    }
    let many: Vec<String> = (0..300).map(|n| format!("f{n}")).collect();
    let args: Vec<&str> = ["reserve", "add"].into_iter().chain(many.iter().map(String::as_str)).collect();
    bench.jit(&args).fails(6);
    assert!(patterns(&bench).is_empty());
    assert!(!bench.control("claims.jsonl").exists(), "nothing was written");
}

#[test]
fn they_end_with_their_claim_however_that_ends() {
    let bench = Bench::new();
    for end in ["release", "force-evict", "drop"] {
        let issue = bench.issue(end);
        bench.jit(&["start", &issue, "--reserve", "src/**", "--reserve", "*.toml"]).ok();
        let listed = bench.jit(&["--json", "reserve", "list"]).ok().json();
        assert_eq!((&listed["count"], &listed["reservations"][0]["title"]), (&2.into(), &end.into()));
        bench.run("agent:b", &["reserve", "check", "src/x.rs"]).fails(4);
        match end {
            "release" => bench.jit(&["claim", "release", &issue]).ok(),
            "drop" => bench.jit(&["drop", &issue, "--reason", "later"]).ok(),
            _ => bench.run("agent:b", &["claim", "force-evict", &issue, "--reason", "gone"]).ok(),
        };
        assert!(patterns(&bench).is_empty(), "{end}");
        bench.run("agent:b", &["reserve", "check", "src/x.rs"]).ok();
    }
    // A claim that runs out takes them with it, also before their own time is over.
    let issue = bench.issue("short");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "1"]).ok();
    bench.jit(&["reserve", "add", "src/**", "--ttl", "3600"]).ok();
    holdfast_trial::until("the claim is over", || patterns(&bench).is_empty());
    bench.run("agent:b", &["reserve", "add", "src/main.rs"]).ok();
    assert_eq!(patterns(&bench), [pair("src/main.rs", "agent:b")]);
    bench.jit(&["reserve", "add", "src/**"]).fails(4);
}

#[test]
fn they_move_with_a_transfer_and_are_renewed_with_their_claim() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    bench.jit(&["reserve", "add", "src/**", "--issue", &issue]).ok();
    bench.jit(&["reserve", "add", "alone/**", "--alone"]).ok();
    let other = bench.worktree("other");
    let place = bench.run_at("agent:b", &["-q", "worktree", "info"], &other).ok().line().to_owned();
    bench.jit(&["claim", "renew", &issue, "--ttl", "5000"]).ok();
    let listed = bench.jit(&["--json", "reserve", "list"]).ok().json();
    assert_eq!(listed["reservations"][0]["pattern"], "alone/**");
    assert_eq!(listed["reservations"][1]["ttl_secs"], 5000);
    let args =
        ["claim", "transfer", &issue, "--to-agent", "agent:b", "--to-worktree", &place, "--reason", "shift"];
    bench.jit(&args).ok();
    assert_eq!(patterns(&bench), [pair("alone/**", "agent:a"), pair("src/**", "agent:b")]);
    let moved = bench.jit(&["--json", "reserve", "list"]).ok().json();
    let claim = bench.jit(&["--json", "claim", "list"]).ok().json();
    assert_eq!(moved["reservations"][1]["claim_lease_id"], claim["leases"][0]["lease_id"]);
    bench.run_at("agent:b", &["claim", "release", &issue], &other).ok();
    assert_eq!(patterns(&bench), [pair("alone/**", "agent:a")]);
    let history = bench.history();
    let last = history.last().unwrap();
    assert_eq!(
        (&last["payload"]["pattern"], &last["event_type"]),
        (&"src/**".into(), &"claim.released".into())
    );
}

#[test]
fn start_takes_claim_and_paths_or_neither() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    bench.run("agent:b", &["reserve", "add", "src/**"]).ok();
    let refused =
        bench.jit(&["--json", "start", "--reserve", "docs/**", "--reserve", "src/main.rs"]).fails(4);
    assert_eq!(refused.json()["error"]["code"], "HELD");
    assert!(bench.leases().is_empty(), "the issue stays free");
    assert_eq!(patterns(&bench), [pair("src/**", "agent:b")]);
    assert_eq!(bench.jit(&["--json", "show", &issue]).ok().json()["issue"]["state"], "ready");
    bench.run("agent:b", &["reserve", "release", "--all"]).ok();
    let begun =
        bench.jit(&["--json", "start", "--reserve", "docs/**", "--reserve", "src/main.rs"]).ok().json();
    assert_eq!(begun["reserved"], serde_json::json!(["docs/**", "src/main.rs"]));
    // Typed again it is the same; more paths are added to what is held.
    let again = bench.jit(&["--json", "start", "--reserve", "docs/**", "--reserve", "lib/**"]).ok().json();
    assert_eq!((&again["already_held"], again["reserved"].as_array().unwrap().len()), (&true.into(), 3));
    let status = bench.run("agent:b", &["--json", "status"]).ok().json();
    assert_eq!(status["status"]["reservations"].as_array().unwrap().len(), 3);
    assert!(bench.run("agent:b", &["prime"]).ok().stdout.contains("jit reserve check"));
    assert!(bench.jit(&["prime"]).ok().stdout.contains("You have reserved the paths docs/**"));
}

#[test]
fn check_looks_at_paths_from_where_it_is_asked() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.repo().join("src/deep")).unwrap();
    bench.jit(&["reserve", "add", "src/deep/*.rs"]).ok();
    let at = bench.repo().join("src/deep");
    let absolute = bench.repo().join("src/deep/x.rs");
    for path in ["x.rs", "../deep/x.rs", "./x.rs", absolute.to_str().unwrap(), "..", "../../src/"] {
        let held = bench.run_at("agent:b", &["--json", "reserve", "check", path], &at).fails(4).json();
        assert_eq!(
            (&held["free"], &held["paths"][0]["reserved_by"][0]["agent_id"]),
            (&false.into(), &"agent:a".into()),
            "{path}"
        );
        bench.run_at("agent:a", &["reserve", "check", path], &at).ok();
    }
    for path in ["x.md", "/etc/passwd", "../../../elsewhere", "new/x.rs", "[id].rs.txt"] {
        bench.run_at("agent:b", &["reserve", "check", path], &at).ok();
    }
    let mixed = bench.run_at("agent:b", &["--json", "reserve", "check", "a.md", "b.rs"], &at).fails(4).json();
    assert_eq!((&mixed["count"], &mixed["paths"][0]["free"]), (&2.into(), &true.into()));
    let before = bench.snapshot();
    bench.run_at("agent:b", &["reserve", "check", "x.rs"], &at).fails(4);
    bench.run("agent:b", &["reserve", "list"]).ok();
    assert_eq!(bench.snapshot(), before, "questions write nothing");
}

#[test]
fn whoever_waits_gets_it_when_it_is_given_back() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    bench.jit(&["start", &issue, "--reserve", "src/**"]).ok();
    let waits = bench.spawn("agent:b", &["reserve", "add", "src/x.rs", "--wait", "120"], &bench.repo());
    bench.run("agent:c", &["reserve", "add", "src/y.rs", "--wait", "0"]).fails(4);
    std::fs::write(bench.repo().join("work.txt"), "done\n").unwrap();
    bench.jit(&["finish", "-a", "-m", "worked"]).ok();
    Answer::from(waits.wait_with_output().unwrap()).ok();
    assert_eq!(patterns(&bench), [pair("src/x.rs", "agent:b")]);
}

#[test]
fn start_waits_for_paths_too_and_takes_whatever_is_free_then() {
    let bench = Bench::new();
    let issues = [bench.issue("one"), bench.issue("two")];
    bench.jit(&["start", &issues[0], "--reserve", "src/**"]).ok();
    bench.run("agent:b", &["start", "--reserve", "src/x.rs", "--wait", "0"]).fails(4);
    assert_eq!(bench.leases().len(), 1, "neither the issue nor the paths");
    let waits = bench.spawn("agent:b", &["start", "--reserve", "src/x.rs", "--wait", "300"], &bench.repo());
    bench.jit(&["drop", "--reason", "later"]).ok();
    Answer::from(waits.wait_with_output().unwrap()).ok();
    assert_eq!(patterns(&bench), [pair("src/x.rs", "agent:b")]);
}

/// Whoever waits for paths waits for what others make of them.
#[test]
fn whoever_waited_for_paths_begins_on_what_has_landed_meanwhile() {
    let bench = Bench::new();
    let issues = [bench.issue("one"), bench.issue("two")];
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-q", "-m", "issues"], &bench.repo());
    let (one, other) = (bench.worktree("one"), bench.worktree("other"));
    bench.run_at("agent:a", &["start", &issues[0], "--reserve", "src/**"], &one).ok();
    let mut waits =
        bench.spawn("agent:b", &["start", &issues[1], "--reserve", "src/x.rs", "--wait", "300"], &other);
    let (mut said, mut told) = (String::new(), BufReader::new(waits.stderr.take().unwrap()));
    told.read_line(&mut said).unwrap();
    assert!(said.contains("waiting"), "{said}");
    std::fs::create_dir(one.join("src")).unwrap();
    std::fs::write(one.join("src/x.rs"), "made by a\n").unwrap();
    bench.run_at("agent:a", &["finish", "-a", "-m", "made it"], &one).ok();
    Answer::from(waits.wait_with_output().unwrap()).ok();
    assert_eq!(std::fs::read_to_string(other.join("src/x.rs")).unwrap(), "made by a\n");
}

#[test]
fn several_issues_are_claimed_all_or_none() {
    let bench = Bench::new();
    let issues: Vec<String> = (0..3).map(|n| bench.issue(&n.to_string())).collect();
    bench.run("agent:b", &["claim", "acquire", &issues[1]]).ok();
    bench.jit(&["claim", "acquire", &issues[0], &issues[1], &issues[2]]).fails(4);
    assert_eq!(bench.leases().len(), 1);
    bench.run("agent:b", &["claim", "release", &issues[1]]).ok();
    let all = bench
        .jit(&["--json", "claim", "acquire", &issues[2], &issues[0], &issues[1], &issues[0]])
        .ok()
        .json();
    assert_eq!((&all["count"], &all["already_held"]), (&3.into(), &serde_json::json!([])));
    let again = bench.jit(&["--json", "claim", "acquire", &issues[0], &issues[1]]).ok().json();
    assert_eq!(again["already_held"].as_array().unwrap().len(), 2);
    bench.run("agent:b", &["claim", "acquire", &issues[0], "zzzzzz"]).fails(3);
}

#[test]
fn an_issue_that_waits_is_claimed_with_a_warning_or_when_it_is_ready() {
    let bench = Bench::new();
    let (first, second) = (bench.issue("the ground"), bench.issue("the house"));
    bench.run("agent:x", &["claim", "acquire", &second]).ok();
    bench.run("agent:x", &["dep", "add", &second, &first]).ok();
    bench.run("agent:x", &["claim", "release", &second]).ok();
    let refused = bench.jit(&["--json", "claim", "acquire", &second, "--when-ready"]).fails(4);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "NOT_READY");
    assert!(error["message"].as_str().unwrap().contains("the ground"), "{error}");
    assert!(bench.leases().is_empty());
    bench.jit(&["claim", "acquire", &second]).ok().says(&["waits for", "the ground"]);
    bench.jit(&["claim", "release", &second]).ok();
    let waits = bench.spawn(
        "agent:b",
        &["claim", "acquire", &second, "--when-ready", "--wait", "300"],
        &bench.repo(),
    );
    bench.run("agent:c", &["start", &first]).ok();
    std::fs::write(bench.repo().join("ground.txt"), "flat\n").unwrap();
    bench.run("agent:c", &["finish", "-a", "-m", "flattened"]).ok();
    Answer::from(waits.wait_with_output().unwrap()).ok();
    assert_eq!(bench.leases()[0]["agent_id"], "agent:b");
}

#[test]
fn finish_commits_nothing_that_another_has_reserved() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    bench.jit(&["start", &issue]).ok();
    bench.run("agent:b", &["reserve", "add", "taken/**"]).ok();
    std::fs::create_dir(bench.repo().join("taken")).unwrap();
    std::fs::write(bench.repo().join("taken/x"), "x\n").unwrap();
    let refused = bench.jit(&["--json", "finish", "-a", "-m", "worked"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert_eq!(refused.json()["error"]["details"]["problems"][0]["code"], "RESERVED", "{refused}");
    bench.run("agent:b", &["reserve", "release", "--all"]).ok();
    bench.jit(&["finish", "-a", "-m", "worked"]).ok();
}

#[test]
fn a_worktree_that_is_gone_takes_its_reservations_with_it() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    let other = bench.worktree("other");
    bench.run_at("agent:b", &["claim", "acquire", &issue], &other).ok();
    bench.run_at("agent:b", &["reserve", "add", "src/**", "docs/**"], &other).ok();
    bench.run_at("agent:b", &["reserve", "add", "alone", "--alone"], &other).ok();
    bench.git(&["worktree", "remove", "--force", other.to_str().unwrap()], &bench.repo());
    assert_eq!(patterns(&bench).len(), 3);
    let pruned = bench.jit(&["--json", "worktree", "prune"]).ok();
    assert!(patterns(&bench).is_empty() && bench.leases().is_empty(), "{pruned}");
    bench.jit(&["reserve", "add", "src/**"]).ok();
}

#[test]
fn a_log_that_is_put_together_from_its_events_still_has_them() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    bench.jit(&["reserve", "add", "src/**"]).ok();
    bench.run("agent:b", &["reserve", "add", "docs/**", "--shared"]).ok();
    std::fs::remove_file(bench.control("claims.jsonl")).unwrap();
    std::fs::remove_file(bench.control("claims.index.json")).unwrap();
    bench.jit(&["recover"]).ok();
    assert_eq!(patterns(&bench), [pair("docs/**", "agent:b"), pair("src/**", "agent:a")]);
    bench.run("agent:c", &["reserve", "add", "docs/x.md", "--shared"]).ok();
    bench.run("agent:c", &["reserve", "add", "src/x.rs"]).fails(4);
    bench.jit(&["claim", "release", &issue]).ok();
    assert_eq!(patterns(&bench).len(), 2, "what belonged to the claim ended with it");
}
