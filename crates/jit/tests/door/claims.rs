//! One agent after the other: what each command does, says and refuses.

use crate::bench::Bench;

#[test]
fn a_claim_is_taken_kept_and_given_back() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    let first = bench.jit(&["--json", "claim", "acquire", &issue, "--ttl", "60"]).ok().json();
    assert_eq!(first["already_held"], false);
    let lease = &first["lease"];
    assert_eq!((&lease["issue_id"], &lease["agent_id"]), (&issue.as_str().into(), &"agent:a".into()));
    assert_eq!(
        (&lease["ttl_secs"], &lease["branch"], &lease["stale"]),
        (&60.into(), &"main".into(), &false.into())
    );
    assert!(lease["worktree_id"].as_str().unwrap().starts_with("wt:"), "{lease}");
    let id = lease["lease_id"].as_str().unwrap();
    let renewed = bench.jit(&["--json", "claim", "renew", id, "--ttl", "120"]).ok().json();
    assert_eq!((&renewed["lease"]["ttl_secs"], &renewed["lease"]["fence"]), (&120.into(), &lease["fence"]));
    bench.jit(&["claim", "release", &issue]).ok();
    assert!(bench.leases().is_empty());
    bench.jit(&["claim", "release", id]).fails(5);
    bench.jit(&["claim", "renew", id]).fails(5);
}

#[test]
fn asking_again_returns_the_same_lease() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    let again = bench.jit(&["--json", "claim", "acquire", &issue]).ok();
    assert!(again.stdout.contains("\"already_held\":true"), "{again}");
    assert_eq!(again.json()["lease"]["lease_id"], lease.as_str());
    assert_eq!(bench.leases().len(), 1);
}

#[test]
fn a_refusal_says_who_until_when_and_what_to_type() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    let refused = bench.run("agent:b", &["--json", "claim", "acquire", &issue]).fails(4);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "HELD");
    assert_eq!(error["details"]["held_by"]["agent_id"], "agent:a");
    assert_eq!(error["details"]["held_by"]["lease_id"], lease.as_str());
    assert!(error["details"]["retry_after_secs"].as_u64().unwrap() > 500, "{error}");
    assert!(refused.stderr.contains("hint: jit claim acquire"), "{refused}");
    for args in [vec!["claim", "release", &lease], vec!["claim", "renew", &lease]] {
        let refused = bench.run("agent:b", &args).fails(4);
        assert!(refused.stderr.contains("agent:a"), "{refused}");
    }
}

#[test]
fn the_same_agent_in_another_worktree_is_another_holder() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    let other = bench.worktree("other");
    bench.run_at("agent:a", &["claim", "acquire", &issue], &other).fails(4);
    bench.run_at("agent:a", &["claim", "release", &lease], &other).fails(4);
    bench.run_at("agent:a", &["claim", "renew", &lease], &other).fails(4);
    bench.jit(&["claim", "release", &lease]).ok();
    let taken = bench.run_at("agent:a", &["--json", "claim", "acquire", &issue], &other).ok().json();
    assert_eq!((&taken["already_held"], &taken["lease"]["branch"]), (&false.into(), &"other".into()));
}

#[test]
fn what_is_released_or_over_is_available_at_once_everywhere() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    let other = bench.worktree("other");
    let lease = bench.jit(&["-q", "claim", "acquire", &issue]).ok().stdout;
    bench.run_at("agent:b", &["claim", "next"], &other).fails(3);
    bench.jit(&["claim", "release", lease.trim()]).ok();
    let next = bench.run_at("agent:b", &["--json", "claim", "next", "--ttl", "1"], &other).ok().json();
    assert_eq!(next["lease"]["issue_id"], issue.as_str());
    bench.run("agent:c", &["claim", "acquire", &issue, "--wait", "5"]).ok();
    let history = bench.jit(&["--json", "claim", "history", "--issue", &issue]).ok().json();
    let kinds: Vec<_> = history["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["event_type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["claim.acquired", "claim.released", "claim.acquired", "claim.evicted", "claim.acquired"]
    );
}

#[test]
fn the_best_issue_comes_first_and_is_never_offered_twice() {
    let bench = Bench::new();
    let low = bench.jit(&["-q", "issue", "create", "--title", "l", "--priority", "low"]).ok().stdout;
    let high = bench.jit(&["-q", "issue", "create", "--title", "h", "--priority", "high"]).ok().stdout;
    let next = |args: &[&str]| bench.jit(&[&["--json", "claim", "next"], args].concat());
    assert_eq!(next(&[]).ok().json()["lease"]["issue_id"], high.trim());
    assert_eq!(next(&[]).ok().json()["lease"]["issue_id"], low.trim());
    assert_eq!(next(&[]).fails(3).json()["error"]["code"], "NOTHING_AVAILABLE");
    let resumed = next(&["--resume"]).ok().json();
    assert_eq!(resumed["already_held"], true);
}

#[test]
fn create_claims_what_it_creates() {
    let bench = Bench::new();
    let made = bench.jit(&["--json", "claim", "create", "--title", "both"]).ok().json();
    assert_eq!((&made["issue"]["id"], &made["issue"]["title"]), (&made["lease"]["issue_id"], &"both".into()));
    assert_eq!(bench.leases().len(), 1);
}

#[test]
fn a_claim_is_handed_over_with_a_higher_fence() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    let other = bench.worktree("other");
    let place = bench.run_at("agent:b", &["-q", "worktree", "info"], &other).ok().stdout;
    let to = |place: &str| {
        bench.jit(&[
            "--json",
            "claim",
            "transfer",
            &lease,
            "--to-agent",
            "agent:b",
            "--to-worktree",
            place,
            "--reason",
            "review",
        ])
    };
    to("wt:00000000").fails(3);
    let before = bench.leases()[0]["fence"].as_u64().unwrap();
    let handed = to(place.trim()).ok().json();
    assert!(handed["lease"]["fence"].as_u64().unwrap() > before);
    assert_eq!(
        (&handed["lease"]["agent_id"], &handed["lease"]["branch"]),
        (&"agent:b".into(), &"other".into())
    );
    bench.jit(&["claim", "release", &issue]).fails(4);
    bench.run_at("agent:b", &["claim", "release", &issue], &other).ok();
}

#[test]
fn an_operator_takes_a_claim_away_and_the_log_says_so() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    bench.run("human:op", &["claim", "force-evict", &lease, "--reason", " "]).fails(6);
    bench.run("human:op", &["claim", "force-evict", &lease, "--reason", "it hangs"]).ok();
    bench.jit(&["claim", "renew", &lease]).fails(5);
    let history = bench.jit(&["--json", "claim", "history"]).ok().json();
    let last = history["events"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["actor"]["agent_id"], &last["payload"]["reason"]),
        (&"human:op".into(), &"it hangs".into())
    );
    bench.run("agent:b", &["claim", "acquire", &issue]).ok();
}

#[test]
fn leases_without_a_deadline_need_a_reason_and_have_limits() {
    let bench = Bench::new();
    bench.config("[coordination]\nmax_indefinite_leases_per_agent = 2\nmax_indefinite_leases_per_repo = 3\nstale_threshold_secs = 1\n");
    let issues: Vec<String> = (0..5).map(|n| bench.issue(&n.to_string())).collect();
    let take = |agent: &str, n: usize| {
        bench.run(agent, &["--json", "claim", "acquire", &issues[n], "--ttl", "0", "--reason", "long"])
    };
    assert_eq!(
        bench.jit(&["--json", "claim", "acquire", &issues[0], "--ttl", "0"]).fails(6).json()["error"]["code"],
        "REASON_REQUIRED"
    );
    let first = take("agent:a", 0).ok().json();
    assert_eq!(
        (&first["lease"]["reason"], &first["lease"]["expires_at"]),
        (&"long".into(), &serde_json::Value::Null)
    );
    take("agent:a", 1).ok();
    assert_eq!(take("agent:a", 2).fails(4).json()["error"]["code"], "LIMIT_REACHED");
    take("agent:b", 2).ok();
    assert_eq!(take("agent:c", 3).fails(4).json()["error"]["code"], "LIMIT_REACHED");
    holdfast_trial::until("they are stale", || bench.leases().iter().all(|lease| lease["stale"] == true));
    bench.jit(&["validate", "leases"]).fails(7);
    bench.jit(&["claim", "heartbeat", &issues[0]]).ok();
    let beaten = bench.jit(&["--json", "claim", "status", "--issue", &issues[0]]).ok().json();
    assert_eq!(beaten["leases"][0]["stale"], false);
}

#[test]
fn looking_changes_no_byte() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    bench.jit(&["claim", "acquire", &bench.issue("short"), "--ttl", "1"]).ok();
    std::fs::remove_file(bench.control("claims.index.json")).unwrap();
    let before = bench.snapshot();
    holdfast_trial::until("one is over", || bench.leases().len() == 1);
    for args in [
        &["claim", "status"][..],
        &["claim", "status", "--issue", &issue, "--agent", "agent:a"],
        &["claim", "list"],
        &["claim", "history"],
        &["issue", "show", &issue],
        &["issue", "list"],
        &["worktree", "list"],
        &["heartbeat", "status"],
        &["validate", "leases"],
    ] {
        bench.jit(args).ok();
        bench.jit(&[&["--json"], args].concat()).ok();
    }
    assert_eq!(bench.snapshot(), before);
}

#[test]
fn outside_of_git_claims_live_beside_the_issues() {
    let bench = Bench::empty();
    std::fs::create_dir(bench.repo()).unwrap();
    bench.jit(&["claim", "list"]).fails(3);
    bench.jit(&["init"]).ok();
    let (issue, _) = bench.claimed("agent:a");
    assert!(bench.repo().join(".jit/claims.jsonl").exists());
    std::fs::create_dir(bench.repo().join("deep")).unwrap();
    bench.run_at("agent:b", &["claim", "acquire", &issue], &bench.repo().join("deep")).fails(4);
}

#[test]
fn the_mode_of_worktrees_is_obeyed() {
    let bench = Bench::new();
    bench.config("[worktree]\nmode = \"off\"\n");
    bench.claimed("agent:a");
    assert!(bench.repo().join(".jit/claims.jsonl").exists());
    assert!(!bench.control("claims.jsonl").exists());
    let outside = Bench::empty();
    std::fs::create_dir_all(outside.repo().join(".jit")).unwrap();
    outside.config("[worktree]\nmode = \"on\"\n");
    outside.jit(&["claim", "list"]).fails(6);
}

#[test]
fn the_control_plane_is_private_or_the_groups() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let bench = Bench::new();
    bench.claimed("agent:a");
    let mode = |name: &str| std::fs::metadata(bench.control(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(""), mode("locks"), mode("claims.jsonl")), (0o700, 0o700, 0o600));
    assert_eq!((mode("claims.index.json"), mode("locks/claims.lock")), (0o600, 0o600));
    let gid = std::fs::metadata(bench.control("")).unwrap().gid();
    let groups = std::fs::read_to_string("/etc/group").unwrap();
    let group = groups.lines().find(|line| line.split(':').nth(2) == Some(&gid.to_string())).unwrap();
    let name = group.split(':').next().unwrap();
    bench.config(&format!("[coordination]\nshared_group = \"{name}\"\n"));
    bench.claimed("agent:a");
    assert_eq!((mode(""), mode("locks"), mode("events")), (0o2770, 0o2770, 0o2770));
    assert_eq!(
        (mode("claims.jsonl"), mode("claims.index.json"), mode("locks/claims.lock")),
        (0o660, 0o660, 0o660)
    );
    bench.config("[coordination]\nshared_group = \"no-such-group\"\n");
    bench.jit(&["claim", "release", "0000"]).fails(6);
}
