//! Who is still there: claims that are kept by working, and claims whose holders are gone before their deadlines.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use holdfast_trial::{Answer, until};
use serde_json::Value;

use crate::bench::Bench;

/// How many events of a kind the history has.
fn count(bench: &Bench, kind: &str) -> usize {
    let history = bench.jit(&["--json", "claim", "history"]).ok().json();
    history["events"].as_array().unwrap().iter().filter(|event| event["event_type"] == kind).count()
}

fn renewals(bench: &Bench) -> usize {
    count(bench, "claim.renewed")
}

/// An issue that agent:a has claimed for a few seconds, of which less than half is left.
fn half_over(bench: &Bench) -> String {
    half_of(bench, 6)
}

fn half_of(bench: &Bench, ttl: u64) -> String {
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", &ttl.to_string()]).ok();
    until("less than half of it is left", || left(bench, &issue).unwrap() < ttl / 2);
    issue
}

/// How many seconds are left of a claim; none if it is over.
fn left(bench: &Bench, issue: &str) -> Option<u64> {
    let lease = bench.leases().into_iter().find(|lease| lease["issue_id"] == issue)?;
    lease["remaining_secs"].as_u64()
}

#[test]
fn whoever_writes_keeps_what_it_holds_and_whoever_asks_does_not() {
    // A machine under load gets a claim that is long enough for it.
    assert!([6, 30, 150].into_iter().any(only_writing_keeps), "too slow for a claim of 150 seconds");
}

/// Says whether there was time for it before the claim was over.
fn only_writing_keeps(ttl: u64) -> bool {
    let bench = Bench::new();
    let issue = half_of(&bench, ttl);
    for question in [
        &["status"][..],
        &["issue", "list"],
        &["issue", "show", &issue],
        &["query", "available"],
        &["claim", "status"],
        &["claim", "history"],
        &["search", "work"],
        &["validate", "leases"],
    ] {
        let before = bench.snapshot();
        bench.jit(question).ok();
        assert_eq!(bench.snapshot(), before, "{question:?} is a question");
    }
    // What somebody else writes keeps nothing of it either.
    bench.run("agent:b", &["issue", "create", "--title", "other"]).ok();
    assert_eq!(renewals(&bench), 0);
    if left(&bench, &issue).is_none_or(|left| left < ttl / 6) {
        return false;
    }
    bench.jit(&["issue", "update", &issue, "--title", "changed"]).ok();
    assert_eq!(renewals(&bench), 1);
    bench.jit(&["issue", "update", &issue, "--title", "again"]).ok();
    let renewed = renewals(&bench);
    if left(&bench, &issue).is_none_or(|left| left < ttl / 2 + 1) {
        return false;
    }
    assert_eq!(renewed, 1, "more than half of it is left");
    true
}

#[test]
fn every_command_that_writes_keeps_what_its_caller_holds() {
    let bench = Bench::new();
    bench.jit(&["hooks", "install"]).ok();
    let other = bench.claimed("agent:a").0;
    let file = bench.repo().join("code.txt");
    std::fs::write(&file, "first").unwrap();
    bench.git(&["add", "code.txt", ".jit"], &bench.repo());
    let commands: [&[&str]; 6] = [
        &["issue", "create", "--title", "fresh"],
        &["label", "add", &other, "x"],
        &["claim", "renew", &other],
        &["claim", "acquire", &other],
        &["claim", "create", "--title", "one more"],
        &["commit", "-q", "-m", "work"],
    ];
    for command in commands {
        half_over(&bench);
        let before = renewals(&bench);
        bench.jit(command).ok();
        let own = usize::from(command == ["claim", "renew", &other]);
        // What an earlier round has left may have been due as well.
        assert!(renewals(&bench) > before + own, "{command:?}");
        let low = |lease: &Value| lease["remaining_secs"].as_u64().unwrap() < 3;
        assert!(!bench.leases().iter().any(low), "{command:?}: {:?}", bench.leases());
    }
}

#[test]
fn a_commit_that_touches_no_issue_keeps_the_claim_and_so_does_a_push() {
    let bench = Bench::new();
    bench.git(&["init", "-q", "--bare", "origin"], bench.root());
    bench.git(&["remote", "add", "origin", "../origin"], &bench.repo());
    bench.jit(&["hooks", "install"]).ok();
    let git = |args: &[&str]| {
        let mut git = bench.dressed(Command::new("git"));
        git.args(args).current_dir(bench.repo()).env("JIT_AGENT_ID", "agent:a");
        Answer::from(git.output().unwrap()).ok();
    };
    half_over(&bench);
    std::fs::write(bench.repo().join("code.txt"), "code").unwrap();
    git(&["add", "code.txt"]);
    git(&["commit", "-q", "-m", "code"]);
    assert_eq!(renewals(&bench), 1);
    half_over(&bench);
    let before = renewals(&bench);
    git(&["push", "-q", "origin", "main"]);
    assert!(renewals(&bench) > before);
}

#[test]
fn renewal_on_use_can_be_turned_off_and_keeps_nothing_of_others_and_nothing_that_is_over() {
    let bench = Bench::new();
    let there = bench.worktree("there");
    let issue = half_over(&bench);
    // The same agent in another worktree is another holder.
    bench.run_at("agent:a", &["issue", "create", "--title", "elsewhere"], &there).ok();
    assert_eq!(renewals(&bench), 0);
    bench.config("[coordination]\nrenew_on_use = false\n");
    bench.jit(&["issue", "update", &issue, "--title", "changed"]).ok();
    assert_eq!(renewals(&bench), 0);
    bench.config("");
    until("it is over", || bench.leases().is_empty());
    bench.jit(&["issue", "update", &issue, "--title", "too late"]).fails(5);
    bench.jit(&["issue", "create", "--title", "later"]).ok();
    assert_eq!(renewals(&bench), 0);
}

/// A process that stands for an agent.
struct Keeper(Child);

impl Keeper {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Ends it. Nobody waits for it yet: a zombie is as dead as it gets.
    fn kill(&mut self) {
        self.0.kill().unwrap();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn grace(bench: &Bench, secs: u32) {
    bench.config(&format!("[coordination]\nkeeper_grace_secs = {secs}\n"));
}

#[test]
fn every_way_to_claim_names_the_keeper() {
    let bench = Bench::new();
    let keeper = Keeper::new();
    for how in [
        &["claim", "acquire"][..],
        &["claim", "next"],
        &["start", "--here", "--another"],
        &["start", "--worktree"],
    ] {
        let issue = bench.issue("work");
        let which = if how.contains(&"next") { &[][..] } else { &[issue.as_str()] };
        bench.jit(&[how, which, &["--keeper", &keeper.pid()]].concat()).ok();
        let lease = bench.leases().into_iter().find(|lease| lease["issue_id"] == issue);
        assert_eq!(lease.unwrap()["keeper"]["pid"].to_string(), keeper.pid(), "{how:?}");
    }
}

#[test]
fn a_claim_whose_keeper_was_killed_is_taken_over_and_the_log_says_why() {
    let bench = Bench::new();
    grace(&bench, 0);
    let mut keeper = Keeper::new();
    let issue = bench.issue("work");
    let kept = bench.jit(&["--json", "claim", "acquire", &issue, "--keeper", &keeper.pid()]).ok().json();
    assert_eq!(kept["lease"]["keeper"]["pid"].to_string(), keeper.pid());
    assert_eq!(kept["lease"]["keeper"]["gone"], false);
    bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
    keeper.kill();
    until("it is seen that it is gone", || bench.leases()[0]["keeper"]["gone"] == true);
    for command in [&["claim", "list"][..], &["claim", "status"], &["status"]] {
        let shown = bench.jit(command).ok();
        assert!(shown.stdout.contains("keeper gone"), "{shown}");
    }
    let taken = bench.run("agent:b", &["--json", "claim", "acquire", &issue]).ok().json();
    assert!(taken["lease"]["fence"].as_u64() > kept["lease"]["fence"].as_u64());
    assert_eq!(taken["lease"].get("keeper"), None);
    let history = bench.jit(&["--json", "claim", "history"]).ok().json();
    let evicted = &history["events"][1];
    assert_eq!(
        (&evicted["event_type"], &evicted["payload"]["cause"]),
        (&"claim.evicted".into(), &"dead".into())
    );
    let reason = evicted["payload"]["reason"].as_str().unwrap();
    assert!(reason.contains(&format!("keeper, process {}", keeper.pid())), "{reason}");
    bench.jit(&["issue", "update", &issue, "--title", "displaced"]).fails(5);
    bench.jit(&["validate", "leases"]).ok();
}

#[test]
fn the_grace_counts_from_when_the_keeper_was_first_found_gone() {
    let bench = Bench::new();
    let mut keeper = Keeper::new();
    let issue = bench.issue("work");
    bench
        .jit(&["claim", "acquire", &issue, "--ttl", "0", "--reason", "long", "--keeper", &keeper.pid()])
        .ok();
    keeper.kill();
    until("it is seen that it is gone", || bench.leases()[0]["keeper"]["gone"] == true);
    let refused = bench.run("agent:b", &["--json", "claim", "acquire", &issue]).fails(4).json();
    let secs = refused["error"]["details"]["retry_after_secs"].as_u64().unwrap();
    assert!((1..=60).contains(&secs), "{refused}");
    bench.run("agent:b", &["claim", "next"]).fails(3);
    let note = std::fs::read_dir(bench.control("locks/keepers")).unwrap().next().unwrap().unwrap().path();
    let before = std::fs::read(&note).unwrap();
    bench.run("agent:c", &["claim", "acquire", &issue]).fails(4);
    assert_eq!(std::fs::read(&note).unwrap(), before, "the first one counts");
    grace(&bench, 2);
    bench.run("agent:b", &["claim", "acquire", &issue, "--wait", "60"]).ok();
    // What was noted of it goes with the next note.
    let mut keeper = Keeper::new();
    let other = bench.issue("other");
    bench.jit(&["claim", "acquire", &other, "--keeper", &keeper.pid()]).ok();
    keeper.kill();
    until("it is noted", || {
        bench.run("agent:c", &["claim", "acquire", &other]).fails(4);
        std::fs::read_dir(bench.control("locks/keepers")).unwrap().count() == 1 && !note.exists()
    });
}

#[test]
fn whoever_waits_notices_that_the_keeper_has_ended() {
    let bench = Bench::new();
    grace(&bench, 0);
    let mut keeper = Keeper::new();
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--keeper", &keeper.pid()]).ok();
    let waits = bench.spawn("agent:b", &["claim", "acquire", &issue, "--wait", "300"], &bench.repo());
    until("somebody waits", || bench.control(&format!("locks/wait/{issue}")).exists());
    keeper.kill();
    Answer::from(waits.wait_with_output().unwrap()).ok();
}

/// It dies in the one moment in which nobody looks: after it was found alive, and before anybody watches it.
#[test]
fn a_keeper_that_dies_before_it_is_watched_is_noticed() {
    let bench = Bench::new();
    grace(&bench, 0);
    let mut keeper = Keeper::new();
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--keeper", &keeper.pid()]).ok();
    // Whoever waits says for whom before it watches. This pipe is full, so it comes no further.
    let (mut said, mut says) = std::io::pipe().unwrap();
    says.write_all(&[b'.'; 1 << 16]).unwrap();
    let mut command = bench.command("agent:b", &["claim", "acquire", &issue, "--wait", "30"], &bench.repo());
    let mut waits = command.stdout(Stdio::null()).stderr(says).spawn().unwrap();
    drop(command);
    let place = format!("/proc/{}/wchan", waits.id());
    until("it says for whom it waits", || std::fs::read_to_string(&place).unwrap().contains("pipe_write"));
    keeper.kill();
    until("it is seen that it is gone", || bench.leases()[0]["keeper"]["gone"] == true);
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert!(waits.wait().unwrap().success(), "{}", text.trim_start_matches('.'));
}

#[test]
fn the_next_one_gets_what_was_left_behind() {
    let bench = Bench::new();
    grace(&bench, 0);
    let mut keeper = Keeper::new();
    let issue = bench.issue("work");
    let mut command = bench.command("agent:a", &["claim", "next"], &bench.repo());
    Answer::from(command.env("JIT_KEEPER_PID", keeper.pid()).output().unwrap()).ok();
    bench.jit(&["issue", "update", &issue, "--state", "in_progress"]).ok();
    bench.run("agent:b", &["claim", "next"]).fails(3);
    keeper.kill();
    until("it is seen that it is gone", || bench.leases()[0]["keeper"]["gone"] == true);
    bench.jit(&["claim", "next"]).fails(3);
    let taken = bench.run("agent:b", &["--json", "claim", "next"]).ok().json();
    assert_eq!(taken["lease"]["issue_id"], issue.as_str());
}

#[test]
fn the_same_holder_goes_on_and_may_name_another_keeper() {
    let bench = Bench::new();
    let mut keeper = Keeper::new();
    let issue = bench.issue("work");
    let acquire = |more: &[&str]| {
        let args = [&["--json", "claim", "acquire", issue.as_str()], more].concat();
        bench.jit(&args).ok().json()
    };
    let first = acquire(&["--keeper", &keeper.pid()]);
    keeper.kill();
    until("it is seen that it is gone", || bench.leases()[0]["keeper"]["gone"] == true);
    let again = acquire(&[]);
    assert_eq!((&again["already_held"], &again["lease"]["fence"]), (&true.into(), &first["lease"]["fence"]));
    bench.jit(&["issue", "update", &issue, "--title", "still mine"]).ok();
    let next = Keeper::new();
    let moved = acquire(&["--keeper", &next.pid()]);
    assert_eq!(moved["lease"]["keeper"]["pid"].to_string(), next.pid());
    assert!(moved["lease"]["fence"].as_u64() > first["lease"]["fence"].as_u64());
    bench.jit(&["issue", "update", &issue, "--title", "still mine after all"]).ok();
    bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
    assert_eq!(acquire(&["--keeper", &next.pid()])["already_held"], true);
}

#[test]
fn a_holder_that_works_on_without_its_keeper_is_not_displaced() {
    let bench = Bench::new();
    grace(&bench, 3);
    let mut keeper = Keeper::new();
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--keeper", &keeper.pid()]).ok();
    keeper.kill();
    until("it is noted", || {
        bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
        bench.control("locks/keepers").exists()
    });
    until("it has given signs of life", || {
        bench.jit(&["label", "add", &issue, &format!("l{}", renewals(&bench))]).ok();
        renewals(&bench) >= 2
    });
    bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
    bench.run("agent:b", &["claim", "acquire", &issue, "--wait", "60"]).ok();
}

#[test]
fn a_keeper_is_a_process_that_is_there() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    let mut ended = Command::new("true").spawn().unwrap();
    let gone = ended.id().to_string();
    ended.wait().unwrap();
    for wrong in [gone.as_str(), "0", "-1", "x", "", "4294967296"] {
        let refused = bench.jit(&["--json", "claim", "acquire", &issue, "--keeper", wrong]).fails(6);
        assert_eq!(refused.json()["error"]["code"], "BAD_VALUE", "{refused}");
        assert!(refused.stderr.contains("--keeper"), "{refused}");
    }
    let mut command = bench.command("agent:a", &["claim", "acquire", &issue], &bench.repo());
    let refused = Answer::from(command.env("JIT_KEEPER_PID", &gone).output().unwrap()).fails(6);
    assert!(refused.stderr.contains("JIT_KEEPER_PID"), "{refused}");
    assert!(bench.leases().is_empty());
}

#[test]
fn a_claim_in_a_worktree_that_is_gone_is_nobodys_and_the_way_to_end_it_is_told() {
    let bench = Bench::new();
    let there = bench.worktree("there");
    let issue = bench.issue("work");
    bench.run_at("agent:a", &["claim", "acquire", &issue], &there).ok();
    let shown = bench.jit(&["status"]).ok();
    assert!(shown.stdout.contains("(you)") && !shown.stdout.contains("(gone)"), "{shown}");
    // A path that is not there says nothing: it may come back.
    let away = bench.root().join("away");
    std::fs::rename(&there, &away).unwrap();
    let shown = bench.jit(&["status"]).ok();
    assert!(!shown.stdout.contains("(gone)"), "{shown}");
    bench.jit(&["claim", "acquire", &issue]).fails(4);
    std::fs::rename(&away, &there).unwrap();
    bench.git(&["worktree", "remove", "--force", there.to_str().unwrap()], &bench.repo());
    let shown = bench.jit(&["status"]).ok();
    assert!(shown.stdout.contains("(gone)") && !shown.stdout.contains("(you)"), "{shown}");
    assert_eq!(bench.leases()[0]["worktree_gone"], true);
    let refused = bench.jit(&["--json", "claim", "acquire", &issue]).fails(4);
    let error = &refused.json()["error"];
    assert_eq!((&error["code"], &error["details"]["worktree_gone"]), (&"HELD".into(), &true.into()));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.starts_with("jit claim force-evict"), "{hint}");
    let told = shown.stdout.lines().find_map(|line| line.split_once(": jit ")).unwrap().1;
    let told: Vec<&str> = told.split_once(" --reason").unwrap().0.split(' ').collect();
    bench.jit(&[&told[..], &["--reason", "gone"]].concat()).ok();
    bench.jit(&["claim", "acquire", &issue]).ok();
}

#[test]
fn whoever_holds_what_is_about_to_end_is_warned_by_every_command_that_writes() {
    let bench = Bench::new();
    bench.config("[coordination]\nrenew_on_use = false\nlease_renewal_threshold_pct = 100\n");
    let (issue, lease) = bench.claimed("agent:a");
    let other = bench.claimed("agent:a").0;
    std::fs::write(bench.repo().join("notes.md"), "notes").unwrap();
    let lines = bench.root().join("lines.jsonl");
    std::fs::write(&lines, bench.run("agent:b", &["export", &other]).ok().stdout.replace(&other, &lease))
        .unwrap();
    let commands: [&[&str]; 13] = [
        &["issue", "create", "--title", "fresh"],
        &["issue", "update", &other, "--title", "changed"],
        &["label", "add", &other, "x"],
        &["dep", "add", &other, &issue],
        &["gate", "define", "g", "--manual"],
        &["gate", "add", &other, "g"],
        &["doc", "add", &other, "notes.md"],
        &["import", lines.to_str().unwrap()],
        &["config", "set", "locks.max_age_secs", "60"],
        &["claim", "renew", &other],
        &["claim", "create", "--title", "more"],
        &["claim", "next"],
        &["issue", "delete", &other],
    ];
    let warning = format!("jit claim renew {}\n", bench.handle(&issue));
    for command in commands {
        let answer = bench.jit(command).ok();
        assert_eq!(answer.stderr.matches(&warning).count(), 1, "{command:?}: {answer}");
    }
    std::fs::write(bench.repo().join("code.txt"), "code").unwrap();
    bench.git(&["add", "code.txt"], &bench.repo());
    let answer = bench.jit(&["commit", "-q", "-m", "code"]).ok();
    assert!(answer.stderr.contains(&warning), "{answer}");
}

#[test]
fn a_claim_that_nobody_could_be_told_of_is_given_back() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let unheard = |args: &[&str], closed: bool| {
        let mut command = bench.command("agent:a", args, &bench.repo());
        if closed {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            command.stdout(writer);
        } else {
            command.stdout(full());
        }
        let answer = command.output().unwrap();
        assert_eq!(answer.status.code(), Some(10), "{args:?}");
        String::from_utf8(answer.stderr).unwrap()
    };
    let commands: [&[&str]; 5] = [
        &["claim", "acquire", &issue],
        &["claim", "next"],
        &["--json", "claim", "next"],
        &["-q", "claim", "acquire", &issue],
        &["claim", "create", "--title", "fresh"],
    ];
    for (round, command) in commands.into_iter().enumerate() {
        for closed in [false, true] {
            let said = unheard(command, closed);
            assert!(said.contains("released again"), "{command:?}: {said}");
            assert_eq!(bench.leases().len(), 0, "{command:?}");
        }
        assert_eq!(count(&bench, "claim.released"), 2 * (round + 1));
    }
    // What was held before was heard of before.
    bench.jit(&["claim", "acquire", &issue]).ok();
    let said = unheard(&["claim", "acquire", &issue], false);
    assert!(!said.contains("released"), "{said}");
    assert_eq!(bench.leases().len(), 1);
}
