//! Claims that are kept alive by themselves, and a loop that ends by itself.

use std::process::Command;

use holdfast_trial::{Answer, until};

use crate::bench::Bench;

fn renewals(bench: &Bench) -> usize {
    let history = bench.jit(&["--json", "claim", "history"]).ok().json();
    let events = history["events"].as_array().unwrap();
    events.iter().filter(|event| event["event_type"] == "claim.renewed").count()
}

#[test]
fn a_short_lease_is_renewed_until_it_is_released() {
    let bench = Bench::new();
    bench.config("[coordination]\nauto_renew_leases = true\n");
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "2"]).ok();
    let daemon = bench.spawn("agent:a", &["--json", "heartbeat", "run", "--interval", "1"], &bench.repo());
    until("it was renewed twice", || renewals(&bench) >= 2);
    bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
    let heard = bench.jit(&["--json", "heartbeat", "status"]).ok().json();
    assert_eq!(heard["heartbeats"][0]["agent_id"], "agent:a");
    bench.jit(&["heartbeat", "run"]).fails(4);
    bench.jit(&["claim", "release", &issue]).ok();
    let ended = Answer::from(daemon.wait_with_output().unwrap()).ok();
    assert_eq!(ended.json()["heartbeat"]["ended"], "no claim is left");
}

#[test]
fn without_renewal_the_loop_ends_with_the_lease_and_says_so() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "1"]).ok();
    let ended = bench.jit(&["heartbeat", "run"]).fails(5);
    assert!(ended.stdout.contains("ran out"), "{ended}");
    assert!(ended.stderr.contains("jit claim renew"), "it warns before: {ended}");
}

#[test]
fn a_lease_without_a_deadline_is_kept_from_going_stale() {
    let bench = Bench::new();
    bench.config("[coordination]\nstale_threshold_secs = 2\n");
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "0", "--reason", "long"]).ok();
    let daemon = bench.spawn("agent:a", &["heartbeat", "run", "--interval", "1"], &bench.repo());
    let beats = || {
        let history = bench.jit(&["--json", "claim", "history"]).ok().json();
        history["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["event_type"] == "claim.heartbeat")
            .count()
    };
    until("it has beaten four times", || beats() >= 4);
    assert_eq!(bench.leases()[0]["stale"], false);
    bench.run("human:op", &["claim", "force-evict", &issue, "--reason", "enough"]).ok();
    Answer::from(daemon.wait_with_output().unwrap()).ok();
}

#[test]
fn the_loop_ends_with_the_process_that_it_works_for() {
    let bench = Bench::new();
    bench.claimed("agent:a");
    let mut parent = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = parent.id().to_string();
    let daemon = bench.spawn("agent:a", &["heartbeat", "run", "--parent", &pid], &bench.repo());
    until("it has beaten", || bench.control("heartbeat/agent:a.json").exists());
    parent.kill().unwrap();
    parent.wait().unwrap();
    let ended = Answer::from(daemon.wait_with_output().unwrap()).ok();
    assert!(ended.stdout.contains("is gone"), "{ended}");
}

/// Starts the loop from a shell that has ended before the program begins, and gives what it says.
fn left_alone(bench: &Bench, wrapper: &[&str]) -> String {
    let (said, started) = (bench.root().join("said"), bench.root().join("started"));
    // The outer shell ends at once. The inner one waits for that, and then becomes the program.
    let inner = format!(
        "while [ -d /proc/$1 ]; do :; done; exec '{}' heartbeat run --interval 1 --auto-renew >'{}' 2>&1",
        crate::bench::JIT,
        said.display()
    );
    let outer = format!("sh -c \"$0\" sh $$ & echo $! >'{}'", started.display());
    let mut words = wrapper.iter().copied().chain(["sh", "-c", &outer, &inner]);
    let mut shell = bench.dressed(Command::new(words.next().unwrap()));
    shell.args(words).env("JIT_AGENT_ID", "agent:a").current_dir(bench.repo());
    let mut shell = shell.spawn().unwrap();
    assert!(shell.wait().unwrap().success());
    let pid = std::fs::read_to_string(started).unwrap().trim().to_owned();
    until("the heartbeat has ended", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
    std::fs::read_to_string(said).unwrap()
}

#[test]
fn a_loop_whose_starter_has_ended_is_refused() {
    let bench = Bench::new();
    bench.claimed("agent:a");
    let said = left_alone(&bench, &[]);
    assert!(said.contains("hint: jit heartbeat run --parent PID"), "{said}");
    if holdfast_trial::has("setsid") {
        // Whoever takes it in need not be the first process of the machine.
        holdfast_sys::os::adopt_orphans().unwrap();
        let said = left_alone(&bench, &["setsid"]);
        assert!(said.contains("hint: jit heartbeat run --parent PID"), "{said}");
    }
    assert_eq!(renewals(&bench), 0);
    assert!(!bench.control("heartbeat/agent:a.json").exists());
}

/// In a container the session and the group may be those of somebody outside, whose numbers are not known inside.
#[test]
fn a_loop_runs_where_its_session_was_made_outside() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let enter = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let is_possible = || {
        Command::new("unshare").args(enter).arg("true").output().is_ok_and(|answer| answer.status.success())
    };
    if !holdfast_trial::has("unshare") || !is_possible() {
        println!("skipped: no namespace of processes can be made here");
        return;
    }
    // The first shell is the first process inside, which is nobody's parent.
    let inner = format!("'{}' heartbeat run --interval 1; true", crate::bench::JIT);
    let mut inside = bench.dressed(Command::new("unshare"));
    inside.args(enter).args(["sh", "-c", "sh -c \"$0\"; true", &inner]).env("JIT_AGENT_ID", "agent:a");
    let mut inside = inside.current_dir(bench.repo()).spawn().unwrap();
    until("it has beaten", || bench.control("heartbeat/agent:a.json").exists());
    bench.jit(&["claim", "release", &issue]).ok();
    assert!(inside.wait().unwrap().success());
}

#[test]
fn a_loop_ends_with_the_shell_that_put_it_into_the_background() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "2"]).ok();
    for _ in 0..6 {
        let script = format!("'{}' heartbeat run --interval 1 --auto-renew & echo $!", crate::bench::JIT);
        let mut shell = bench.dressed(Command::new("sh"));
        shell.args(["-c", &script]).env("JIT_AGENT_ID", "agent:a").current_dir(bench.repo());
        // The output ends with the last process that has it.
        let told = shell.output().unwrap();
        assert!(told.status.success());
    }
    until("nobody keeps it alive", || bench.leases().is_empty());
}

#[test]
fn a_signal_ends_the_loop_at_once() {
    let bench = Bench::new();
    bench.claimed("agent:a");
    let daemon = bench.spawn("agent:a", &["heartbeat", "run"], &bench.repo());
    until("it has beaten", || bench.control("heartbeat/agent:a.json").exists());
    let sent = Command::new("kill").args(["-TERM", &daemon.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(daemon.wait_with_output().unwrap().status.code(), Some(143));
}

#[test]
fn an_agent_that_asks_for_it_has_its_claims_kept_alive() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.root().join("config")).unwrap();
    let file = bench.root().join("config/agent.toml");
    std::fs::write(
        &file,
        "[agent]\nid = \"agent:auto\"\n[behavior]\nauto_heartbeat = true\nheartbeat_interval = 1\n",
    )
    .unwrap();
    let issue = bench.issue("work");
    let mut shell = bench.dressed(Command::new("sh"));
    shell.args(["-c", &format!("'{}' claim acquire {issue} --ttl 2 && read wait", crate::bench::JIT)]);
    let mut shell = shell.current_dir(bench.repo()).stdin(std::process::Stdio::piped()).spawn().unwrap();
    until("it was renewed", || renewals(&bench) >= 2);
    drop(shell.stdin.take());
    shell.wait().unwrap();
    until("nobody keeps it alive any more", || bench.leases().is_empty());
}

/// Where every command has a shell of its own, that shell is gone at once. Whoever names its keeper has the heartbeat
/// outlive the shell, and end with the keeper.
#[test]
fn the_heartbeat_of_an_agent_with_a_shell_for_each_command_ends_with_its_keeper() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.root().join("config")).unwrap();
    std::fs::write(
        bench.root().join("config/agent.toml"),
        "[agent]\nid = \"agent:auto\"\n[behavior]\nauto_heartbeat = true\nheartbeat_interval = 1\n",
    )
    .unwrap();
    for verb in ["claim acquire", "start", "start --worktree"] {
        let issue = bench.issue("work");
        let mut keeper = Command::new("sleep").arg("600").spawn().unwrap();
        let before = renewals(&bench);
        let mut shell = bench.dressed(Command::new("setsid"));
        let script = format!("'{}' {verb} {issue} --ttl 2; exit $?", crate::bench::JIT);
        shell.args(["-w", "sh", "-c", &script]).env("JIT_KEEPER_PID", keeper.id().to_string());
        assert!(shell.current_dir(bench.repo()).output().unwrap().status.success());
        until("it was renewed after its shell had gone", || renewals(&bench) >= before + 2);
        keeper.kill().unwrap();
        keeper.wait().unwrap();
        until("nobody keeps it alive any more", || bench.leases().is_empty());
    }
}

#[test]
fn whoever_has_little_time_left_is_warned() {
    let bench = Bench::new();
    bench.config("[coordination]\nlease_renewal_threshold_pct = 100\n");
    let (issue, _) = bench.claimed("agent:a");
    let warned = bench.jit(&["claim", "list"]).ok();
    assert!(warned.stderr.contains(&format!("jit claim renew {}", bench.handle(&issue))), "{warned}");
    assert!(bench.run("agent:b", &["claim", "list"]).ok().stderr.is_empty());
    bench.config("[coordination]\nlease_renewal_threshold_pct = 0\n");
    assert!(bench.jit(&["claim", "list"]).ok().stderr.is_empty());
}
