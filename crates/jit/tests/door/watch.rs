//! Following what happens, with real processes.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::bench::{Bench, JIT};

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"))
}

#[test]
fn what_happens_is_told_as_it_happens_and_gone_on_with() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let all = bench.jit(&["watch", "--since", "start", "--for", "0", "--json"]).ok().stdout;
    let last = parsed(all.lines().last().unwrap());
    assert_eq!(last["event"]["event_type"], "issue.created");
    let cursor = last["cursor"].as_str().unwrap();
    // From a cursor on nothing is missed, however late the watcher comes.
    let words = ["watch", "--json", "--since", cursor, "--count", "2"];
    let mut command = bench.command("agent:b", &words, &bench.repo());
    let mut watcher = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let mut next = || parsed(&lines.next().unwrap().unwrap());
    bench.jit(&["claim", "acquire", &issue]).ok();
    let taken = next();
    assert_eq!(taken["event"]["event_type"], "claim.acquired");
    assert_eq!((&taken["kind"], &taken["handle"]), (&"claim".into(), &bench.handle(&issue).into()));
    bench.jit(&["issue", "update", &issue, "--state", "in_progress"]).ok();
    assert_eq!(next()["event"]["payload"]["changes"]["state"]["to"], "in_progress");
    assert!(watcher.wait().unwrap().success(), "as many as were wanted");
    let words = ["watch", "--since", taken["cursor"].as_str().unwrap(), "--for", "0"];
    let rest = bench.jit(&words).ok().stdout;
    assert_eq!(rest.lines().count(), 1, "{rest}");
    assert!(rest.contains("issue.updated") && rest.contains("ready -> in_progress"), "{rest}");
}

#[test]
fn only_one_issue_is_followed_if_one_is_named() {
    let bench = Bench::new();
    let (one, two) = (bench.issue("one"), bench.issue("two"));
    bench.jit(&["claim", "acquire", &two]).ok();
    let said = bench.jit(&["watch", &one, "--since", "start", "--for", "0", "--json"]).ok().stdout;
    let about: Vec<Value> =
        said.lines().map(|line| parsed(line)["event"]["payload"]["issue_id"].clone()).collect();
    assert_eq!(about, [Value::from(one)]);
}

/// Somebody who watches, and its first line.
fn watching(bench: &Bench, words: &[&str]) -> (std::process::Child, BufReader<std::process::ChildStdout>) {
    // Whoever starts the tests in the background has them ignore Ctrl-C, and all that they start.
    let mut command = bench.dressed(std::process::Command::new("env"));
    command.args(["--default-signal=INT,PIPE", JIT, "watch"]).args(words).current_dir(bench.repo());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line
}

#[test]
fn whoever_watches_ends_quietly_when_nobody_listens_any_more() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let (mut watcher, mut output) = watching(&bench, &["--json", "--since", "start"]);
    assert!(line(&mut output).contains("issue.created"));
    drop(output);
    bench.jit(&["claim", "acquire", &issue]).ok();
    assert!(watcher.wait().unwrap().success(), "nobody listens");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut watcher.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn ctrl_c_ends_a_watch_between_two_lines() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    let (mut watcher, mut output) = watching(&bench, &["--json", "--since", "start"]);
    assert!(line(&mut output).contains("issue.created"));
    bench.jit(&["claim", "acquire", &issue]).ok();
    assert!(line(&mut output).contains("claim.acquired"));
    let pid = watcher.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let status = watcher.wait().unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert!(signal == Some(2) || status.code() == Some(130), "{status}");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut output, &mut rest).unwrap();
    assert!(rest.is_empty() || rest.ends_with('\n'), "{rest:?}");
    // Nothing is held or left by it.
    bench.jit(&["claim", "release", &issue]).ok();
}

#[test]
fn a_damaged_log_ends_a_watch_and_says_so() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let (watcher, mut output) = watching(&bench, &["--json", "--since", "start"]);
    while !line(&mut output).contains("claim.acquired") {}
    let log = bench.repo().join(".git/jit/claims.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    // In its last line: what is known of those before is not read again.
    let at = bytes.len() - 30;
    bytes[at..at + 8].copy_from_slice(b"\0\0\0\0\0\0\0\0");
    std::fs::write(&log, bytes).unwrap();
    let ended = watcher.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success(), "{said}");
    assert!(said.contains("error:") && said.contains("jit recover"), "{said}");
}

#[test]
fn whoever_watches_ends_when_nobody_listens_also_if_nothing_happens() {
    let bench = Bench::new();
    bench.issue("one");
    let (mut watcher, mut output) = watching(&bench, &["--json", "--since", "start"]);
    assert!(line(&mut output).contains("issue.created"));
    drop(output);
    holdfast_trial::until("the end of the watch", || watcher.try_wait().unwrap().is_some());
    assert!(watcher.wait().unwrap().success());
}

#[test]
fn paths_that_are_reserved_are_named_by_their_pattern() {
    let bench = Bench::new();
    bench.jit(&["reserve", "add", "barn/**"]).ok();
    let said = bench.jit(&["watch", "--since", "start", "--for", "0"]).ok().stdout;
    let told = said.lines().find(|line| line.contains("claim.acquired")).unwrap_or_else(|| panic!("{said}"));
    let words: Vec<&str> = told.split("  ").collect();
    assert_eq!(words.get(1), Some(&"barn/**"), "{told}");
    let said = bench.jit(&["watch", "--since", "start", "--for", "0", "--json"]).ok().stdout;
    let told = said.lines().map(parsed).find(|one| one["kind"] == "claim").unwrap();
    assert_eq!((&told["handle"], &told["event"]["payload"]["pattern"]), (&Value::Null, &"barn/**".into()));
}
