//! Many processes at once.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;

use holdfast_trial::Answer;

use crate::bench::Bench;

fn finish(children: Vec<Child>) -> Vec<Answer> {
    children.into_iter().map(|child| Answer::from(child.wait_with_output().unwrap())).collect()
}

#[test]
fn sixty_four_processes_on_one_issue_have_one_winner() {
    let bench = Bench::new();
    let issue = bench.issue("wanted");
    let other = bench.worktree("other");
    let children = (0..64)
        .map(|n| {
            let typed = if n % 2 == 0 { issue.clone() } else { issue[..10 + n % 16].to_lowercase() };
            let at = if n % 3 == 0 { other.clone() } else { bench.repo() };
            bench.spawn(&format!("agent:{n}"), &["--json", "claim", "acquire", &typed], &at)
        })
        .collect();
    let answers = finish(children);
    let won: Vec<_> = answers.iter().filter(|answer| answer.code == Some(0)).collect();
    assert_eq!(won.len(), 1);
    let holder = &won[0].json()["lease"]["agent_id"];
    for lost in answers.iter().filter(|answer| answer.code != Some(0)) {
        assert_eq!(lost.code, Some(4), "{lost}");
        assert_eq!(lost.json()["error"]["details"]["held_by"]["agent_id"], *holder);
    }
    assert_eq!(bench.leases().len(), 1);
}

#[test]
fn sixteen_agents_that_ask_for_the_next_issue_get_different_ones() {
    let bench = Bench::new();
    let issues: BTreeSet<String> = (0..12).map(|n| bench.issue(&n.to_string())).collect();
    let children = (0..16)
        .map(|n| bench.spawn(&format!("agent:{n}"), &["--json", "claim", "next"], &bench.repo()))
        .collect();
    let answers = finish(children);
    let taken: Vec<String> = answers
        .iter()
        .filter(|answer| answer.code == Some(0))
        .map(|answer| answer.json()["lease"]["issue_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(taken.iter().cloned().collect::<BTreeSet<_>>(), issues, "every issue, each once");
    assert_eq!(taken.len(), issues.len());
    let empty: Vec<_> = answers.iter().filter(|answer| answer.code != Some(0)).collect();
    assert!(empty.iter().all(|answer| answer.code == Some(3)), "{}", empty[0]);
}

#[test]
fn one_worktree_has_one_identity_however_many_ask_first() {
    let bench = Bench::new();
    let other = bench.worktree("other");
    let children =
        (0..16).map(|n| bench.spawn(&format!("agent:{n}"), &["-q", "worktree", "info"], &other)).collect();
    let ids: BTreeSet<String> = finish(children).into_iter().map(|answer| answer.ok().stdout).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[test]
fn every_number_is_given_once_and_every_event_is_projected_once() {
    let bench = Bench::new();
    let issues: Vec<String> = (0..4).map(|n| bench.issue(&n.to_string())).collect();
    let churn = |n: usize| {
        let agent = format!("agent:{n}");
        for round in 0..6 {
            let issue = &issues[(n + round) % issues.len()];
            if bench.run(&agent, &["claim", "acquire", issue]).code == Some(0) {
                bench.run(&agent, &["claim", "release", issue]).ok();
            }
        }
    };
    std::thread::scope(|scope| (0..8).for_each(|n| drop(scope.spawn(move || churn(n)))));
    let history = bench.jit(&["--json", "claim", "history"]).ok().json();
    let numbers: Vec<u64> = history["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["sequence"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let projected = std::fs::read_to_string(bench.control("events/control.jsonl")).unwrap();
    let projected: Vec<serde_json::Value> =
        projected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(projected, bench.history());
    let mut held: BTreeMap<String, String> = BTreeMap::new();
    for event in &projected {
        let (issue, lease) =
            (event["payload"]["issue_id"].to_string(), event["payload"]["lease_id"].to_string());
        match event["event_type"].as_str().unwrap() {
            "claim.acquired" => assert_eq!(held.insert(issue, lease), None, "two holders"),
            "claim.released" => assert_eq!(held.remove(&issue), Some(lease)),
            other => panic!("{other}"),
        }
    }
}
