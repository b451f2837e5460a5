//! Evictions that need approval: who asks, who says yes, and that nothing else takes a claim away; and how many claims a
//! kind of agents may have.

use std::path::Path;
use std::process::{Command, Stdio};

use holdfast_trial::etcd::Cluster;
use holdfast_trial::{Answer, Screen, has};
use serde_json::Value;

use crate::bench::{Bench, JIT};

const APPROVED: &str = "[policy]\nforce_evict = \"approved\"\n";

/// A repository whose main branch says that evictions need approval, and a worktree whose branch is older than that.
fn ruled(rule: &str) -> (Bench, std::path::PathBuf) {
    let bench = Bench::new();
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-q", "-m", "begin"], &bench.repo());
    let other = bench.worktree("other");
    bench.config(rule);
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-q", "-m", "rule"], &bench.repo());
    (bench, other)
}

/// Somebody at a terminal.
fn in_person(bench: &Bench, who: &str, args: &[&str]) -> Answer {
    let screen = Screen::new(200);
    let mut command = bench.command(who, args, &bench.repo());
    command.stdin(screen.line()).stderr(screen.line()).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    let mut answer = Answer::from(child.wait_with_output().unwrap());
    answer.stderr = screen.read();
    answer
}

fn evict(bench: &Bench, who: &str, lease: &str, at: &Path) -> Answer {
    bench.run_at(who, &["--json", "claim", "force-evict", lease, "--reason", "it is gone"], at)
}

fn code(answer: &Answer) -> String {
    answer.json()["error"]["code"].as_str().unwrap().to_owned()
}

fn requests(bench: &Bench) -> Vec<Value> {
    bench.jit(&["--json", "claim", "requests", "--fresh"]).ok().json()["requests"].as_array().unwrap().clone()
}

fn all_leases(bench: &Bench) -> usize {
    let told = bench.jit(&["--json", "claim", "list", "--kind", "all"]).ok().json();
    usize::try_from(told["count"].as_u64().unwrap()).unwrap()
}

#[test]
fn an_eviction_happens_with_the_approval_of_a_person_and_the_log_says_whose() {
    let (bench, _) = ruled(APPROVED);
    let (issue, lease) = bench.claimed("agent:a");
    let asked = evict(&bench, "agent:b", &lease, &bench.repo()).fails(4);
    assert_eq!(code(&asked), "APPROVAL_NEEDED");
    let details = &asked.json()["error"]["details"];
    assert_eq!((&details["given"], &details["needed"]), (&0.into(), &1.into()), "{details}");
    assert!(asked.stderr.contains("jit claim approve"), "{asked}");
    assert_eq!(bench.leases().len(), 1);
    let waiting = requests(&bench);
    assert_eq!(waiting.len(), 1);
    assert_eq!((&waiting[0]["asked_by"], &waiting[0]["missing"]), (&"agent:b".into(), &1.into()));
    // Asking again asks once.
    evict(&bench, "agent:c", &issue, &bench.repo()).fails(4);
    let again = requests(&bench);
    assert_eq!((again.len(), &again[0]["asked_at"]), (1, &waiting[0]["asked_at"]));

    for who in ["agent:b", "agent:c", "ci:x"] {
        let refused = bench.run(who, &["--json", "claim", "approve", &issue]).fails(4);
        assert_eq!(code(&refused), "NOT_APPROVER", "{who}");
    }
    let unseen = bench.run("person:ann", &["--json", "claim", "approve", &issue]).fails(4);
    assert_eq!(code(&unseen), "NOT_APPROVER");
    assert!(unseen.stderr.contains("nobody is at a terminal"), "{unseen}");
    assert_eq!(bench.leases().len(), 1);

    let said = in_person(&bench, "person:ann", &["--json", "claim", "approve", &issue]).ok().json();
    assert_eq!((&said["evicted"], &said["request"]["approved_by"][0]), (&true.into(), &"person:ann".into()));
    assert_eq!((bench.leases().len(), all_leases(&bench)), (0, 0));
    assert!(requests(&bench).is_empty());

    let told = bench.jit(&["--json", "claim", "history", "--issue", &issue]).ok().json();
    let events: Vec<&Value> = told["events"].as_array().unwrap().iter().collect();
    let of = |kind: &str| events.iter().find(|event| event["event_type"] == kind).copied().unwrap();
    assert_eq!(of("eviction.requested")["actor"]["agent_id"], "agent:b");
    assert_eq!(of("eviction.approved")["actor"]["agent_id"], "person:ann");
    let why = of("claim.evicted")["payload"]["reason"].as_str().unwrap();
    assert_eq!(why, "it is gone (asked for by agent:b, approved by person:ann)");
    bench.run("agent:a", &["claim", "renew", &lease]).fails(5);
    bench.jit(&["validate", "leases"]).ok();
}

#[test]
fn a_person_who_asked_does_not_approve_and_two_approvals_are_of_two() {
    let rule = "[policy]\nforce_evict = \"approved\"\napprovers = [\"lead:*\", \"ops:x\"]\napprovals = 2\n";
    let (bench, _) = ruled(rule);
    let (issue, lease) = bench.claimed("agent:a");
    assert_eq!(code(&bench.run("lead:l", &["--json", "claim", "approve", &issue]).fails(3)), "NO_REQUEST");
    evict(&bench, "lead:ann", &lease, &bench.repo()).fails(4);
    let own = bench.run("lead:ann", &["--json", "claim", "approve", &issue]).fails(4);
    assert_eq!(code(&own), "NOT_APPROVER");
    let approve = |who: &str| bench.run(who, &["--json", "claim", "approve", &issue]).ok().json();
    let first = approve("lead:bob");
    assert_eq!((&first["evicted"], &first["request"]["missing"]), (&false.into(), &1.into()));
    // The same again is one approval, and whoever asks again gets nothing by it.
    assert_eq!(approve("lead:bob")["evicted"], false);
    evict(&bench, "lead:ann", &lease, &bench.repo()).fails(4);
    bench.run("ops:y", &["claim", "approve", &issue]).fails(4);
    assert_eq!(bench.leases().len(), 1);
    assert_eq!(approve("ops:x")["evicted"], true);
    assert_eq!((bench.leases().len(), all_leases(&bench)), (0, 0));
    let last = bench.history().into_iter().rfind(|event| event["event_type"] == "claim.evicted").unwrap();
    let why = last["payload"]["reason"].as_str().unwrap();
    assert!(why.ends_with("(asked for by lead:ann, approved by lead:bob, ops:x)"), "{why}");
}

#[test]
fn what_was_approved_can_be_gone_on_with_by_whoever_asked() {
    let rule = |approvals: u32| {
        format!("[policy]\nforce_evict = \"approved\"\napprovers = [\"lead:*\"]\napprovals = {approvals}\n")
    };
    // Whoever gives the last approval and dies before the claim is ended leaves this behind.
    let bench = Bench::new();
    bench.config(&rule(2));
    let (issue, lease) = bench.claimed("agent:a");
    evict(&bench, "agent:b", &lease, &bench.repo()).fails(4);
    bench.run("lead:ann", &["claim", "approve", &issue]).ok();
    bench.config(&rule(1));
    assert_eq!(evict(&bench, "agent:b", &lease, &bench.repo()).ok().json()["evicted"], true);
    assert_eq!(all_leases(&bench), 0);
}

#[test]
fn whoever_dies_while_approving_is_gone_on_with() {
    if !has("strace") {
        return println!("strace is not there");
    }
    let bench = Bench::new();
    bench.config("[policy]\nforce_evict = \"approved\"\napprovers = [\"lead:*\"]\n");
    for death in 1.. {
        let (issue, lease) = bench.claimed("agent:a");
        evict(&bench, "agent:b", &lease, &bench.repo()).fails(4);
        let mut command = bench.dressed(Command::new("strace"));
        let inject = format!("inject=fdatasync:signal=KILL:when={death}");
        command.args(["-qq", "-f", "-o", "/dev/null", "-e", &inject, JIT, "claim", "approve", &issue]);
        let died = command.env("JIT_AGENT_ID", "lead:ann").current_dir(bench.repo()).output().unwrap();
        let survived = died.status.success();
        let is_held = bench.leases().iter().any(|found| found["lease_id"] == lease.as_str());
        assert!(!(survived && is_held), "{died:?}");
        if is_held {
            bench.run("lead:ann", &["claim", "approve", &issue]).ok();
        }
        assert!(bench.leases().is_empty());
        let told = bench.jit(&["--json", "claim", "history", "--issue", &issue]).ok().json();
        let count = |kind: &str| {
            told["events"].as_array().unwrap().iter().filter(|event| event["event_type"] == kind).count()
        };
        assert_eq!((count("eviction.approved"), count("claim.evicted")), (1, 1), "{told}");
        if survived {
            assert!(death > 2, "nobody died");
            break;
        }
    }
}

#[test]
fn two_who_approve_at_once_end_one_claim() {
    let bench = Bench::new();
    bench.config("[policy]\nforce_evict = \"approved\"\napprovers = [\"lead:*\"]\n");
    let (issue, lease) = bench.claimed("agent:a");
    evict(&bench, "agent:b", &lease, &bench.repo()).fails(4);
    let leads = ["lead:a", "lead:b", "lead:c", "lead:d"];
    let racers = leads.map(|lead| bench.spawn(lead, &["claim", "approve", &issue], &bench.repo()));
    let done = racers.map(|racer| racer.wait_with_output().unwrap().status.success());
    assert!(done.contains(&true));
    let ends = bench.history().into_iter().filter(|event| event["event_type"] == "claim.evicted");
    assert_eq!(ends.count(), 1);
    // Whoever came too late for that leaves at most what the next one closes.
    let (_, lease) = bench.claimed("agent:a");
    evict(&bench, "agent:b", &lease, &bench.repo()).fails(4);
    assert_eq!(all_leases(&bench), 2, "the claim and the request");
}

#[test]
fn no_command_takes_a_claim_away_past_its_approval() {
    let (bench, other) = ruled(APPROVED);
    let third = bench.worktree("third");
    let issue = bench.issue("held");
    let lease = bench.run_at("agent:a", &["-q", "claim", "acquire", &issue], &third).ok().stdout;
    let lease = lease.trim();
    let place = bench.run_at("agent:b", &["-q", "worktree", "init"], &other).ok().stdout;
    let stays = |what: &str| {
        let leases = bench.leases();
        assert!(leases.len() == 1 && leases[0]["lease_id"] == lease, "{what}: {leases:?}");
    };
    // Its branch is older than the rule, and says what it likes.
    assert_eq!(code(&evict(&bench, "agent:b", lease, &other).fails(4)), "APPROVAL_NEEDED");
    let mine =
        "[policy]\nforce_evict = \"anyone\"\napprovers = [\"agent:*\"]\n[landing]\nbranch = \"other\"\n";
    let set = ["--json", "config", "set", "policy.force_evict", "anyone"];
    assert_eq!(code(&bench.run_at("agent:b", &set, &other).fails(4)), "CONFIG_WRONG_BRANCH");
    std::fs::create_dir_all(other.join(".jit")).unwrap();
    std::fs::write(other.join(".jit/config.toml"), mine).unwrap();
    bench.run_at("agent:b", &["config", "set", "--global", "policy.approvers", "agent:*"], &other).ok();
    bench.run_at("agent:b", &["config", "set", "--global", "policy.force_evict", "anyone"], &other).ok();
    assert_eq!(code(&evict(&bench, "agent:b", lease, &other).fails(4)), "APPROVAL_NEEDED");
    bench.run_at("agent:c", &["claim", "approve", lease], &other).fails(4);
    stays("another configuration");
    let to = ["--to-agent", "agent:b", "--to-worktree", place.trim(), "--reason", "r"];
    for args in [
        &["claim", "acquire", &issue][..],
        &[&["claim", "transfer", lease], &to[..]].concat(),
        &["claim", "release", lease],
        &["start", &issue],
        &["drop", &issue],
        &["worktree", "remove", "third"],
        &["worktree", "remove", "third", "--force"],
        &["issue", "delete", &issue],
    ] {
        let answer = bench.run_at("agent:b", args, &other);
        assert_ne!(answer.code, Some(0), "{args:?}: {answer}");
        stays(&args.join(" "));
    }
    bench.run_at("agent:b", &["recover"], &other).ok();
    stays("recover");
    bench.git(&["worktree", "remove", "--force", third.to_str().unwrap()], &bench.repo());
    let pruned = bench.run_at("agent:b", &["--json", "worktree", "prune"], &other).ok();
    assert_eq!(pruned.json()["count"], 0);
    assert!(pruned.stderr.contains("needs approval"), "{pruned}");
    stays("worktree prune");
    // What is over needs nobody's approval, nor does what is one's own.
    let (_, own) = bench.claimed("agent:b");
    evict(&bench, "agent:b", &own, &other).ok();
    in_person(&bench, "person:ann", &["claim", "approve", &issue]).ok();
    assert!(bench.leases().is_empty());
}

#[test]
fn claims_of_all_cannot_be_ended_at_once_past_their_approval() {
    let (bench, _) = ruled(APPROVED);
    bench.git(&["init", "-q", "--bare", "-b", "main", "server.git"], bench.root());
    bench.git(&["remote", "add", "origin", "../server.git"], &bench.repo());
    bench.git(&["push", "-q", "origin", "main"], &bench.repo());
    bench.jit(&["engine", "init", "git"]).ok();
    let (issue, lease) = bench.claimed("agent:a");
    let recover = ["--json", "engine", "recover", "--new-counter", "--reason", "restored"];
    let refused = bench.run("agent:b", &recover).fails(4);
    assert_eq!(code(&refused), "APPROVAL_NEEDED");
    assert_eq!(refused.json()["error"]["details"]["holders"][0], "agent:a");
    evict(&bench, "agent:b", &lease, &bench.repo()).fails(4);
    in_person(&bench, "person:ann", &["claim", "approve", &issue]).ok();
    assert_eq!(all_leases(&bench), 0);
    bench.run("agent:b", &recover).ok();
}

#[test]
fn a_kind_of_agents_has_so_many_claims_and_no_more() {
    let (bench, other) =
        ruled("[policy]\nforce_evict = \"approved\"\n[coordination.kinds.ci]\nmax_claims = 1\n");
    let issues: Vec<String> = (0..6).map(|number| bench.issue(&format!("work {number}"))).collect();
    let racers: Vec<_> =
        issues.iter().map(|issue| bench.spawn("ci:x", &["claim", "acquire", issue], &bench.repo())).collect();
    let won = racers.into_iter().map(|racer| racer.wait_with_output().unwrap());
    assert_eq!(won.filter(|output| output.status.success()).count(), 1);
    let refused = bench.run("ci:x", &["--json", "claim", "next"]).fails(4);
    assert_eq!(code(&refused), "LIMIT_REACHED");
    // In whichever worktree, and whoever hands it over.
    let held = bench.leases().into_iter().find(|lease| lease["agent_id"] == "ci:x").unwrap();
    let other_issue = issues.iter().find(|issue| held["issue_id"] != issue.as_str()).unwrap();
    bench.run_at("ci:x", &["claim", "acquire", other_issue], &bench.repo()).fails(4);
    let place = bench.run_at("ci:x", &["-q", "worktree", "init"], &other).ok().stdout;
    let (_, lease) = bench.claimed("agent:a");
    let to = ["--to-agent", "ci:x", "--to-worktree", place.trim(), "--reason", "r"];
    let refused = bench.jit(&[&["--json", "claim", "transfer", &lease], &to[..]].concat()).fails(4);
    assert_eq!(code(&refused), "LIMIT_REACHED");
    // A request is no claim.
    bench.run("ci:x", &["claim", "release", held["lease_id"].as_str().unwrap()]).ok();
    evict(&bench, "ci:x", &lease, &bench.repo()).fails(4);
    bench.run("ci:x", &["claim", "next"]).ok();
    bench.run("ci:x", &["claim", "next"]).fails(4);
    bench.run("ci:y", &["claim", "next"]).ok();
}

/// How many wait for a lock on a file.
fn waiting_for(path: &Path) -> usize {
    let inode = format!(":{} ", std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap()));
    let all = std::fs::read_to_string("/proc/locks").unwrap();
    all.lines().filter(|line| line.contains("->") && line.contains(&inode)).count()
}

#[test]
fn a_limit_is_counted_inside_the_grant_whatever_else_the_agent_has() {
    let (bench, _) = ruled("[coordination.kinds.ci]\nmax_claims = 2\n");
    let issues: Vec<String> = (0..6).map(|number| bench.issue(&format!("work {number}"))).collect();
    // Paths do not count, and may be over once it is decided.
    bench.run("ci:x", &["reserve", "add", "barn/**", "--ttl", "2"]).ok();
    let lock = bench.control("locks/claims.lock");
    let guard = std::fs::File::open(&lock).unwrap();
    // Everybody can look, and nobody can write.
    guard.lock_shared().unwrap();
    let words = |number: usize| match number % 2 {
        0 => vec!["claim", "acquire", issues[number].as_str()],
        _ => vec!["claim", "next"],
    };
    let racers: Vec<_> = (0..6).map(|number| bench.spawn("ci:x", &words(number), &bench.repo())).collect();
    holdfast_trial::until("six who wait for the same lock", || waiting_for(&lock) == 6);
    let reserved = || bench.jit(&["--json", "reserve", "list"]).ok().json()["count"].as_u64();
    holdfast_trial::until("the end of the reservation", || reserved() == Some(0));
    guard.unlock().unwrap();
    racers.into_iter().for_each(|racer| drop(racer.wait_with_output().unwrap()));
    // Whoever asks for what another one of them got is told that it is held already.
    assert_eq!(bench.leases().len(), 2);
    let refused = bench.run("ci:x", &["--json", "claim", "acquire", &issues[0], &issues[1], &issues[2]]);
    assert_eq!(code(&refused), "LIMIT_REACHED");
    assert_eq!(refused.json()["error"]["details"]["limit"], 2);
    // What is held already is no claim more, and one's own claim in another place is not either.
    let held = bench.leases().into_iter().find(|lease| lease["agent_id"] == "ci:x").unwrap();
    bench.run("ci:x", &["claim", "acquire", held["issue_id"].as_str().unwrap()]).ok();
}

/// A repository and a clone of its origin that share their claims, in the engine that these words start.
fn clones(engine: &[&str]) -> (Bench, std::path::PathBuf) {
    let rule = "[policy]\nforce_evict = \"approved\"\napprovers = [\"lead:*\"]\n";
    let (bench, _) = ruled(rule);
    bench.git(&["init", "-q", "--bare", "-b", "main", "server.git"], bench.root());
    bench.git(&["remote", "add", "origin", "../server.git"], &bench.repo());
    bench.jit(&[&["engine", "init"], engine].concat()).ok();
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-q", "-m", "one engine for all"], &bench.repo());
    bench.git(&["push", "-q", "origin", "main"], &bench.repo());
    bench.git(&["clone", "-q", "server.git", "clone"], bench.root());
    let clone = bench.root().join("clone");
    (bench, clone)
}

fn holds_between_clones(bench: &Bench, clone: &Path) {
    let (_, lease) = bench.claimed("agent:a");
    // Another clone that says otherwise is held to the main branch, and to what everybody shares.
    let path = clone.join(".jit/config.toml");
    let text = std::fs::read_to_string(&path).unwrap().replace("\"approved\"", "\"anyone\"");
    std::fs::write(&path, text).unwrap();
    assert_eq!(code(&evict(bench, "agent:b", &lease, clone).fails(4)), "APPROVAL_NEEDED");
    let recover = ["--json", "engine", "recover", "--new-counter", "--reason", "mine"];
    assert_eq!(code(&bench.run_at("agent:b", &recover, clone).fails(4)), "APPROVAL_NEEDED");
    assert_ne!(bench.run_at("agent:b", &["engine", "migrate", "--to", "local"], clone).code, Some(0));
    assert_eq!(bench.leases().len(), 1);
    // Asked for in one clone, approved in the other, and both tell of it.
    assert_eq!(requests(bench)[0]["asked_by"], "agent:b");
    let said = bench.run("lead:ann", &["--json", "claim", "approve", &lease]).ok().json();
    assert_eq!(said["evicted"], true);
    assert!(bench.leases().is_empty());
    bench.run_at("agent:b", &["claim", "list", "--fresh"], clone).ok();
    let told = bench.run_at("agent:b", &["--json", "claim", "history"], clone).ok().json();
    let kinds: Vec<&str> =
        told["events"].as_array().unwrap().iter().filter_map(|event| event["event_type"].as_str()).collect();
    for kind in ["eviction.requested", "eviction.approved", "claim.evicted"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn clones_that_share_claims_on_a_git_server_need_the_same_approval() {
    let (bench, clone) = clones(&["git"]);
    holds_between_clones(&bench, &clone);
}

#[test]
fn clones_that_share_claims_in_etcd_need_the_same_approval() {
    let place = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start(place.path(), 1) else { return println!("etcd is not there") };
    let urls = cluster.urls();
    let (bench, clone) = clones(&["etcd", "--endpoints", &urls[0]]);
    holds_between_clones(&bench, &clone);
}
