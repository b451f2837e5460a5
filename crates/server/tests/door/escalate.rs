//! What takes too long is escalated once, whoever watches and whoever dies: a server, a pool, or both.

use std::process::{Child, Command, Stdio};

use holdfast_trial::{has, until};
use serde_json::Value;

use crate::bench::{Bench, SERVER};

const NOTE: &str =
    "[[policy.escalate]]\nwhen = \"held_longer\"\nafter_secs = 1\nnote = \"ask whether it is stuck\"\n";

fn configure(bench: &Bench, text: &str) {
    let path = bench.repo().join(".jit/config.toml");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::write(path, format!("{before}\n{text}")).unwrap();
}

/// What the user's own file says: a command that counts how often it is run.
fn counts_runs(bench: &Bench) -> std::path::PathBuf {
    let (folder, file) = (bench.root().join("config"), bench.root().join("runs"));
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "[[policy.escalate]]\nwhen = \"held_longer\"\nafter_secs = 0\nrun = \"cat >> {}\"\n",
        file.display()
    );
    std::fs::write(folder.join("config.toml"), text).unwrap();
    file
}

fn claimed(bench: &Bench, title: &str) -> String {
    let issue = bench.issue(title);
    bench.jit(&["claim", "acquire", &issue]).ok();
    issue
}

fn events(bench: &Bench, issue: &str, kind: &str) -> usize {
    let told = bench.json(&["claim", "history", "--issue", issue]);
    told["events"].as_array().unwrap().iter().filter(|event| event["event_type"] == kind).count()
}

fn notes(bench: &Bench, issue: &str) -> Vec<Value> {
    bench.json(&["issue", "show", issue])["notes"].as_array().cloned().unwrap_or_default()
}

fn pool(bench: &Bench) -> Child {
    let mut command = bench.dressed(Command::new(Bench::program()));
    command.args(["dispatch", "-n", "1", "--", "true"]).current_dir(bench.repo());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_server_and_a_pool_watch_one_is_killed_and_each_fires_once() {
    let bench = Bench::new();
    configure(&bench, NOTE);
    let runs = counts_runs(&bench);
    bench.git(&["add", "."], &bench.repo());
    bench.git(&["commit", "-q", "-m", "rule"], &bench.repo());
    let mut issues = vec![claimed(&bench, "first")];
    let (server, other) = (bench.serve(), pool(&bench));
    until("the first", || events(&bench, &issues[0], "escalation.done") == 2);
    issues.extend((0..4).map(|number| claimed(&bench, &format!("issue {number}"))));
    // In the middle of it.
    until("another one", || events(&bench, &issues[1], "escalation.fired") > 0);
    server.kill();
    until("the rest, by the pool", || issues.iter().all(|issue| notes(&bench, issue).len() == 1));
    let last = claimed(&bench, "last");
    let again = bench.serve();
    kill(other);
    until("the last, by another server", || notes(&bench, &last).len() == 1);
    issues.push(last);
    again.kill();
    // A third one finds nothing left to do.
    let third = bench.serve();
    third.get("/api/board").ok();
    let marker = claimed(&bench, "marker");
    until("what comes after", || notes(&bench, &marker).len() == 1);

    let text = std::fs::read_to_string(runs).unwrap();
    for issue in &issues {
        let found = notes(&bench, issue);
        assert_eq!(found.len(), 1, "{issue}: {found:?}");
        let said = found[0]["text"].as_str().unwrap();
        assert!(said.starts_with("ask whether it is stuck (agent:a has held it for "), "{said}");
        assert_eq!(events(&bench, issue, "escalation.fired"), 2, "a note and a command: {issue}");
        let ran = text.lines().filter(|line| line.contains(issue.as_str())).count();
        // A command is never run twice. One that was cut off behind its record is not run at all.
        let done = events(&bench, issue, "escalation.done");
        assert!(ran <= 1 && (1..=2).contains(&done) && (done == 1 || ran == 1), "{issue}: {ran} {done}");
    }
    let told: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&told["when"], &told["agent_id"]), (&"held_longer".into(), &"agent:a".into()), "{told}");
    bench.jit(&["validate", "leases"]).ok();
}

/// Ends the server that is there, as a signal does.
fn end_server(bench: &Bench) {
    let folders =
        std::fs::read_dir(bench.repo().join(".git/jit")).unwrap().map(|entry| entry.unwrap().path());
    let file = folders.map(|folder| folder.join("server.json")).find(|file| file.is_file()).unwrap();
    let noted: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    holdfast_sys::os::ask_to_end(u32::try_from(noted["pid"].as_u64().unwrap()).unwrap());
}

/// Somebody who watches and is killed when it is about to make something durable for the so-many-th time.
fn dying(bench: &Bench, death: usize, words: &[&str]) -> Child {
    let mut command = bench.dressed(Command::new("strace"));
    let inject = format!("inject=fdatasync:signal=KILL:when={death}");
    command.args(["-qq", "-f", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", &inject]).args(words);
    command.current_dir(bench.repo()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn one_of_two_watchers_is_killed_inside_an_escalation_and_each_fires_once() {
    if !has("strace") {
        return println!("strace is not there");
    }
    let long = std::env::var_os("HOLDFAST_LONG").is_some();
    let program = Bench::program();
    let pool_words = [program.to_str().unwrap(), "dispatch", "-n", "1", "--", "true"];
    for victim in [&[SERVER, "--json", "--agent-id", "person:ann"][..], &pool_words] {
        let bench = Bench::new();
        configure(&bench, &NOTE.replace("after_secs = 1", "after_secs = 0"));
        let runs = counts_runs(&bench);
        bench.git(&["add", "."], &bench.repo());
        bench.git(&["commit", "-q", "-m", "rule"], &bench.repo());
        let is_server = victim[0] == SERVER;
        let (mut server, mut other) = (None, None);
        if is_server {
            other = Some(pool(&bench));
        } else {
            server = Some(bench.serve());
        }
        let mut deaths = 0;
        for death in 1..=if long { 24 } else { 4 } {
            let mut first = dying(&bench, death, victim);
            let mut issues = Vec::new();
            until("a death inside", || {
                issues.push(claimed(&bench, &format!("death {death}, {}", issues.len())));
                issues.len() >= 40 || first.try_wait().unwrap().is_some()
            });
            deaths += usize::from(first.try_wait().unwrap().is_some());
            for issue in &issues {
                until("the note", || notes(&bench, issue).len() == 1);
                until("both on record", || events(&bench, issue, "escalation.fired") == 2);
            }
            let text = std::fs::read_to_string(&runs).unwrap_or_default();
            for issue in &issues {
                assert_eq!((notes(&bench, issue).len(), events(&bench, issue, "escalation.fired")), (1, 2));
                let ran = text.lines().filter(|line| line.contains(issue.as_str())).count();
                assert!(ran <= 1, "{death}: {text}");
                bench.jit(&["claim", "release", issue]).ok();
            }
            if first.try_wait().unwrap().is_none() {
                if is_server {
                    end_server(&bench);
                } else {
                    holdfast_sys::os::ask_to_end(first.id());
                }
                first.wait().unwrap();
            }
        }
        assert!(deaths > 2, "{deaths} deaths");
        server.take().into_iter().for_each(crate::bench::Server::kill);
        other.take().into_iter().for_each(kill);
    }
}

#[test]
fn wherever_a_watcher_dies_a_note_is_there_once_and_a_command_ran_at_most_once() {
    if !has("strace") {
        return println!("strace is not there");
    }
    let bench = Bench::new();
    configure(&bench, &NOTE.replace("after_secs = 1", "after_secs = 0"));
    let runs = counts_runs(&bench);
    for (deaths, death) in (1..100).enumerate() {
        let issue = claimed(&bench, &format!("death {death}"));
        let mut first = dying(&bench, death, &[SERVER, "--json", "--agent-id", "person:ann"]);
        let is_done = || events(&bench, &issue, "escalation.done") == 2;
        let mut died = false;
        until("death or success", || {
            died = first.try_wait().unwrap().is_some();
            died || is_done()
        });
        if !died {
            // It goes on without whoever traced it.
            end_server(&bench);
            first.wait().unwrap();
        }
        let second = bench.serve();
        until("the note", || notes(&bench, &issue).len() == 1);
        until("both on record", || events(&bench, &issue, "escalation.fired") == 2);
        second.kill();
        assert_eq!(notes(&bench, &issue).len(), 1);
        let text = std::fs::read_to_string(&runs).unwrap_or_default();
        assert!(text.lines().filter(|line| line.contains(&issue)).count() <= 1, "{death}: {text}");
        bench.jit(&["claim", "release", &issue]).ok();
        if !died {
            assert!(deaths >= 3, "nobody died: {deaths}");
            return;
        }
    }
    panic!("it never came to an end");
}

/// Two change one line, and the second does not land.
fn conflict(bench: &Bench, issue: &str) {
    let (repo, place) = (bench.repo(), bench.worktree("place"));
    bench.run_at("agent:b", &["start", issue], &place).ok();
    std::fs::write(place.join("file"), "theirs\n").unwrap();
    bench.git(&["commit", "-q", "-a", "-m", "theirs"], &place);
    std::fs::write(repo.join("file"), "ours\n").unwrap();
    bench.git(&["commit", "-q", "-m", "ours", "file"], &repo);
    let finish = bench.run_at("agent:b", &["--json", "finish"], &place);
    assert_eq!(finish.json()["error"]["code"], "LAND_CONFLICT", "{finish}");
}

/// A gate of the issue is judged.
fn fail_gate(bench: &Bench, issue: &str) {
    bench.jit(&["claim", "acquire", issue]).ok();
    bench.jit(&["gate", "add", issue, "tests"]).ok();
    bench.jit(&["gate", "fail", issue, "tests"]).ok();
}

#[test]
fn whatever_can_go_wrong_is_noticed_and_noted_once() {
    let bench = Bench::new();
    let repo = bench.repo();
    let kinds = ["waiting_longer", "conflicts", "gate_failed", "not_landed_longer"];
    for when in kinds {
        let entry = format!("[[policy.escalate]]\nwhen = \"{when}\"\nafter_secs = 0\nnote = \"{when}!\"\n");
        configure(&bench, &entry);
    }
    bench.jit(&["gate", "define", "tests", "--title", "Tests", "--manual"]).ok();
    let issues = kinds.map(|when| bench.issue(when));
    std::fs::write(repo.join("file"), "one\n").unwrap();
    bench.git(&["add", "."], &repo);
    bench.git(&["commit", "-q", "-m", "begin"], &repo);
    let server = bench.serve();
    bench.jit(&["claim", "acquire", &issues[0]]).ok();
    let mut waiter = bench.dressed(Command::new(Bench::program()));
    waiter.args(["--agent-id", "agent:w", "claim", "acquire", &issues[0], "--wait", "60"]).current_dir(&repo);
    let waiter = waiter.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    conflict(&bench, &issues[1]);
    fail_gate(&bench, &issues[2]);
    // Something is finished that nobody lands.
    let other = bench.worktree("other");
    bench.run_at("agent:c", &["claim", "acquire", &issues[3]], &other).ok();
    bench.run_at("agent:c", &["issue", "update", &issues[3], "--state", "done"], &other).ok();
    let noted = |issue: &str, when: &str| {
        let begins = |note: &Value| note["text"].as_str().unwrap().starts_with(&format!("{when}! ("));
        notes(&bench, issue).iter().filter(|note| begins(note)).count()
    };
    for (issue, when) in issues.iter().zip(kinds) {
        until(when, || noted(issue, when) == 1);
    }
    server.kill();
    // Another one finds all of that, and leaves it.
    let _again = bench.serve();
    let marker = bench.issue("marker");
    fail_gate(&bench, &marker);
    until("what comes after", || noted(&marker, "gate_failed") == 1);
    for (issue, when) in issues.iter().zip(kinds) {
        assert_eq!(noted(issue, when), 1, "{when}");
    }
    kill(waiter);
}
