//! The write path: check and write are one step, and nothing that the holder's own processes write is lost.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use holdfast_trial::{Answer, until};
use serde_json::Value;

use crate::bench::Bench;

fn issue_json(bench: &Bench, id: &str) -> PathBuf {
    bench.repo().join(".jit/issues").join(id).join("issue.json")
}

/// The lock of one issue.
fn lock(bench: &Bench, id: &str) -> std::fs::File {
    let path = bench.control(&format!("locks/issue-{}.lock", &id[24..]));
    std::fs::File::options().create(true).truncate(false).write(true).read(true).open(path).unwrap()
}

#[test]
fn sixteen_processes_of_one_holder_lose_no_label() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let labels: Vec<String> = (0..16).map(|n| format!("label-{n:02}")).collect();
    let add =
        |label: &String| bench.spawn("agent:a", &["issue", "update", &id, "--label", label], &bench.repo());
    let children: Vec<_> = labels.iter().map(add).collect();
    for child in children {
        Answer::from(child.wait_with_output().unwrap()).ok();
    }
    let exported = bench.jit(&["export", &id]).ok().json();
    assert_eq!(exported["labels"], serde_json::json!(labels));
    let events = Bench::events(&bench.repo());
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=17).collect::<Vec<_>>());
    assert!(events.iter().skip(1).all(|event| event["actor"]["lease_id"].is_string()));
}

#[test]
fn a_lease_that_ran_out_before_the_write_is_refused_and_the_file_is_as_it_was() {
    let bench = Bench::new();
    let id = bench.issue("work");
    bench.jit(&["claim", "acquire", &id, "--ttl", "1"]).ok();
    let before = std::fs::read(issue_json(&bench, &id)).unwrap();
    // The update can do everything but write for as long as somebody else has the issue's lock.
    let held = lock(&bench, &id);
    held.lock().unwrap();
    let child = bench.spawn("agent:a", &["--json", "issue", "update", &id, "--title", "late"], &bench.repo());
    until("the lease is over", || bench.leases().is_empty());
    held.unlock().unwrap();
    let refused = Answer::from(child.wait_with_output().unwrap()).fails(5);
    assert_eq!(refused.json()["error"]["code"], "EXPIRED");
    assert_eq!(std::fs::read(issue_json(&bench, &id)).unwrap(), before);
}

#[test]
fn whoever_was_displaced_is_told_by_whom_and_writes_nothing() {
    let bench = Bench::new();
    let (id, lease) = bench.claimed("agent:a");
    bench.run("agent:b", &["claim", "force-evict", &lease, "--reason", "gone"]).ok();
    bench.run("agent:b", &["claim", "acquire", &id]).ok();
    let before = std::fs::read(issue_json(&bench, &id)).unwrap();
    let refused = bench.jit(&["--json", "issue", "update", &id, "--title", "late"]).fails(5);
    assert_eq!(refused.json()["error"]["details"]["held_by"]["agent_id"], "agent:b");
    assert_eq!(std::fs::read(issue_json(&bench, &id)).unwrap(), before);
}

#[test]
fn a_guarded_write_leaves_its_fence_and_its_log() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    bench.jit(&["claim", "release", &id]).ok();
    let lease = bench.jit(&["--json", "claim", "acquire", &id]).ok().json();
    let updated = bench.jit(&["--json", "issue", "update", &id, "--title", "new"]).ok().json();
    assert_eq!(updated["issue"]["fence"], lease["lease"]["fence"]);
    let log = std::fs::read_to_string(bench.control("claims.jsonl")).unwrap();
    let log_id = updated["issue"]["fence_log"].as_str().unwrap();
    assert!(log.contains(log_id));
    let again = bench.jit(&["--json", "issue", "update", &id, "--title", "new"]).ok().json();
    assert_eq!(
        (&again["changed"], &again["issue"]["updated_at"]),
        (&false.into(), &updated["issue"]["updated_at"])
    );
}

#[test]
fn what_cannot_be_read_is_never_overwritten() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let path = issue_json(&bench, &id);
    let labels = path.with_file_name("labels.or-set.jsonl");
    let good = std::fs::read(&path).unwrap();
    let update = ["issue", "update", &id, "--label", "ui"];
    for bad in [&b"{"[..], b"", b"[]", b"\xff\xfe", br#"{"id":"x","title":"t","state":"ready"}"#] {
        std::fs::write(&path, bad).unwrap();
        bench.jit(&update).fails(10);
        assert_eq!(std::fs::read(&path).unwrap(), bad);
    }
    std::fs::write(&path, &good).unwrap();
    std::fs::write(&labels, "<<<<<<< ours\n").unwrap();
    let refused = bench.jit(&update).fails(10);
    assert!(refused.stderr.contains("line 1"), "{refused}");
    std::fs::remove_file(&labels).unwrap();

    let outside = bench.root().join("outside.json");
    std::fs::write(&outside, &good).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    bench.jit(&["issue", "update", &id, "--title", "through a link"]).fails(10);
    assert_eq!(std::fs::read(&outside).unwrap(), good);
    std::fs::remove_file(&path).unwrap();
    let big = std::fs::File::create(&path).unwrap();
    big.set_len(1 << 30).unwrap();
    bench.jit(&["issue", "update", &id, "--title", "large"]).fails(10);
    std::fs::write(&path, &good).unwrap();
    bench.jit(&update).ok();
}

#[test]
fn a_directory_that_leads_elsewhere_is_not_followed() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let home = bench.repo().join(".jit/issues").join(&id);
    let outside = bench.root().join("outside");
    std::fs::rename(&home, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &home).unwrap();
    let before = std::fs::read(outside.join("issue.json")).unwrap();
    bench.jit(&["issue", "update", &id, "--title", "through a link"]).fails(10);
    assert_eq!(std::fs::read(outside.join("issue.json")).unwrap(), before);
}

#[test]
fn a_claim_in_a_linked_worktree_brings_the_issue_along() {
    let bench = Bench::new();
    let there = bench.worktree("there");
    let create = ["-q", "issue", "create", "--title", "work", "--label", "ui"];
    let id = bench.jit(&create).ok().stdout.trim().to_owned();
    let copy = there.join(".jit/issues").join(&id);
    assert!(!copy.exists());
    bench.run_at("agent:b", &["claim", "acquire", &id], &there).ok();
    assert!(copy.join("issue.json").exists() && copy.join("labels.or-set.jsonl").exists());
    bench.run_at("agent:b", &["issue", "update", &id, "--label", "more", "--title", "better"], &there).ok();
    let exported = bench.run_at("agent:b", &["export", &id], &there).ok().json();
    assert_eq!(
        (&exported["title"], &exported["labels"]),
        (&"better".into(), &serde_json::json!(["more", "ui"]))
    );
    // The main worktree sees at once what was written in another one.
    let main = bench.jit(&["export", &id]).ok().json();
    assert_eq!(main["labels"], serde_json::json!(["more", "ui"]));
}

#[test]
fn a_disk_that_is_full_or_read_only_leaves_the_issue_as_it_was() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let home = bench.repo().join(".jit/issues").join(&id);
    let before = std::fs::read(home.join("issue.json")).unwrap();
    let mut strace = bench.dressed(std::process::Command::new("strace"));
    if !holdfast_trial::has("strace") {
        return;
    }
    strace.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "inject=rename,renameat,renameat2:error=ENOSPC:when=1+",
    ]);
    strace.arg(crate::bench::JIT).args(["issue", "update", &id, "--title", "x", "--label", "y"]);
    strace.current_dir(bench.repo()).env("JIT_AGENT_ID", "agent:a").stdin(Stdio::null());
    Answer::from(strace.output().unwrap()).fails(10);
    assert_eq!(std::fs::read(home.join("issue.json")).unwrap(), before);
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1, "litter");
    assert_eq!(std::fs::metadata(home.join("issue.json")).unwrap().permissions().mode() & 0o777, 0o644);
    bench.jit(&["issue", "update", &id, "--title", "x"]).ok();
}

#[test]
fn processes_killed_while_they_write_leave_a_valid_issue_and_lose_nothing_they_told_of() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let mut told = std::collections::BTreeSet::new();
    let (mut deaths, mut within) = (0, 8_000_u64);
    for round in 0..400_u64 {
        if deaths >= 60 {
            break;
        }
        let label = format!("l{round:03}");
        let args = ["issue", "update", &id, "--label", &label, "--title", &label];
        let mut child = bench.spawn("agent:a", &args, &bench.repo());
        std::thread::sleep(std::time::Duration::from_micros(round * 7_919 % within));
        child.kill().unwrap();
        let died = child.wait().unwrap().code().is_none();
        // It follows the pace of the machine, so that every moment of a command is hit.
        within = if died { within * 5 / 4 } else { within * 4 / 5 }.clamp(500, 60_000);
        deaths += usize::from(died);
        if !died {
            told.insert(label);
        }
    }
    assert!(deaths >= 20, "only {deaths} died");
    bench.jit(&["validate", "all"]).ok();
    let issue = bench.jit(&["export", &id]).ok().json();
    let labels: std::collections::BTreeSet<String> =
        issue["labels"].as_array().unwrap().iter().map(|label| label.as_str().unwrap().to_owned()).collect();
    assert!(told.is_subset(&labels), "{:?} were told of and are gone", told.difference(&labels));
}

/// How many exclusive sections a command enters.
fn exclusive_sections(bench: &Bench, args: &[&str], at: &std::path::Path) -> usize {
    let trace = bench.root().join("flock.trace");
    let mut strace = bench.dressed(std::process::Command::new("strace"));
    strace.args(["-f", "-qq", "-e", "trace=flock", "-o"]).arg(&trace).arg(crate::bench::JIT).args(args);
    strace.current_dir(at).env("JIT_AGENT_ID", "agent:a");
    Answer::from(strace.output().unwrap()).ok();
    let trace = std::fs::read_to_string(trace).unwrap();
    trace.lines().filter(|line| line.contains("LOCK_EX") && line.ends_with("= 0")).count()
}

#[test]
fn an_acquire_enters_two_exclusive_sections() {
    if !holdfast_trial::has("strace") {
        return;
    }
    let bench = Bench::new();
    let there = bench.worktree("there");
    bench.run_at("agent:a", &["worktree", "init"], &there).ok();
    let begun = bench.issue("begun elsewhere");
    bench.run_at("agent:a", &["claim", "acquire", &begun], &there).ok();
    bench.run_at("agent:a", &["issue", "update", &begun, "--title", "changed there"], &there).ok();
    for at in [bench.repo(), there] {
        let issue = bench.issue("work");
        bench.issue("more work");
        // The claims' own, and the issue's, which is brought here under it.
        assert_eq!(exclusive_sections(&bench, &["claim", "acquire", &issue], &at), 2, "{}", at.display());
        assert_eq!(exclusive_sections(&bench, &["claim", "next"], &at), 2, "{}", at.display());
    }
}

/// The most that a command does between taking the lock of the claims and giving it back: calls, and bytes that it writes.
fn most_under_the_claims_lock(bench: &Bench, args: &[&str]) -> (usize, usize) {
    let trace = bench.root().join("section.trace");
    let mut strace = bench.dressed(std::process::Command::new("strace"));
    strace.args(["-qq", "-y", "-s", "0", "-o"]).arg(&trace).arg(crate::bench::JIT).args(args);
    strace.current_dir(bench.repo()).env("JIT_AGENT_ID", "agent:a");
    Answer::from(strace.output().unwrap()).ok();
    let trace = std::fs::read_to_string(trace).unwrap();
    let (mut most, mut inside) = ((0, 0), None::<(usize, usize)>);
    for line in trace.lines() {
        let is_ours = line.contains("locks/claims.lock>");
        if line.starts_with("flock(") && is_ours && line.contains("LOCK_EX") {
            inside = Some((0, 0));
        } else if let Some((calls, bytes)) = &mut inside {
            *calls += 1;
            if line.starts_with("pwrite64(") || line.starts_with("write(") {
                *bytes += line.rsplit("= ").next().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
            }
            most = (most.0.max(*calls), most.1.max(*bytes));
            if is_ours && (line.starts_with("close(") || line.contains("LOCK_UN")) {
                inside = None;
            }
        }
    }
    assert!(most.0 > 0, "it never had the lock: {trace}");
    most
}

/// However much is written to one issue, a claim on another one waits for no more of it than for a single label.
#[test]
fn many_labels_hold_up_no_claim() {
    if !holdfast_trial::has("strace") {
        return;
    }
    let bench = Bench::new();
    let (few, many) = (bench.claimed("agent:a").0, bench.claimed("agent:a").0);
    let labels: Vec<String> = (0..5_000).map(|number| format!("label-{number}")).collect();
    let one = most_under_the_claims_lock(&bench, &["issue", "update", &few, "--label", "one"]);
    let all = most_under_the_claims_lock(&bench, &["issue", "update", &many, "--label", &labels.join(",")]);
    assert!(all.0 <= one.0 + 4, "{all:?} calls and bytes with 5,000 labels, {one:?} with one");
    assert!(all.1 <= one.1 + 4_096, "{all:?} calls and bytes with 5,000 labels, {one:?} with one");
    // The second time there are that many already.
    let more = most_under_the_claims_lock(&bench, &["issue", "update", &many, "--label", "more"]);
    assert!(more.0 <= one.0 + 4 && more.1 <= one.1 + 4_096, "{more:?} behind 5,000 labels, {one:?} with one");
}
