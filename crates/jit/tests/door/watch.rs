//! Following what happens, with real processes.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::bench::Bench;

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
