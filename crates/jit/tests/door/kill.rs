//! `kill -9` at random moments, hundreds of times, while a checker compares what every agent was told with
//! what the log says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use holdfast_trial::Dice;
use serde_json::Value;

use crate::bench::Bench;

const AGENTS: u64 = 4;
/// How often each agent dies, and how many rounds that may take at the most.
const DEATHS: usize = 50;
const ROUNDS: u64 = 2_000;

/// Runs the program and kills it after a random while. Gives the answer if it got that far.
fn killed(bench: &Bench, dice: &mut Dice, agent: &str, args: &[&str]) -> (Option<Value>, bool) {
    let (output, died) = dice.kill(bench.spawn(agent, args, &bench.repo()));
    let told = (output.status.code() == Some(0) || died).then(|| serde_json::from_slice(&output.stdout).ok());
    (told.flatten(), died)
}

/// One agent that is killed all the time. Gives the leases that it was told of, and how often it died.
fn agent(bench: &Bench, name: &str, issues: &[String], seed: u64) -> (BTreeSet<String>, usize) {
    let mut dice = Dice::new(seed, Duration::from_millis(12));
    let (mut told, mut deaths) = (BTreeSet::new(), 0);
    let id = |document: &Value| document["lease"]["lease_id"].as_str().map(ToOwned::to_owned);
    for _ in 0..ROUNDS {
        if deaths >= DEATHS {
            break;
        }
        let issue = dice.pick(issues);
        let acquire = ["--json", "claim", "acquire", issue.as_str()];
        let (first, died) = killed(bench, &mut dice, name, &acquire);
        deaths += usize::from(died);
        let first = first.as_ref().and_then(id);
        let again = bench.run(name, &acquire);
        match again.code {
            Some(0) => {
                let document = again.json();
                let lease = id(&document).unwrap();
                if let Some(first) = first {
                    assert_eq!(first, lease, "a lease that {name} was told of is gone");
                    assert_eq!(document["already_held"], true);
                }
                told.insert(lease);
            }
            Some(4) => assert_eq!(first, None, "{name} was told of a lease and is refused: {again}"),
            _ => panic!("{again}"),
        }
        if again.code == Some(0) {
            let (_, died) = killed(bench, &mut dice, name, &["claim", "release", issue]);
            deaths += usize::from(died);
            let release = bench.run(name, &["claim", "release", issue]);
            // It was released before, and somebody else may have it by now.
            assert!(matches!(release.code, Some(0 | 4 | 5)), "{release}");
        }
    }
    (told, deaths)
}

/// What the log says: the leases of each agent. No issue is ever held twice.
fn by_agent(history: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut held: BTreeMap<String, String> = BTreeMap::new();
    let mut leases: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for event in history["events"].as_array().unwrap() {
        let text = |key: &str| event["payload"][key].as_str().unwrap().to_owned();
        match event["event_type"].as_str().unwrap() {
            "claim.acquired" => {
                assert_eq!(held.insert(text("issue_id"), text("lease_id")), None, "two holders: {event}");
                leases.entry(text("agent_id")).or_default().insert(text("lease_id"));
            }
            "claim.released" => assert_eq!(held.remove(&text("issue_id")), Some(text("lease_id"))),
            other => panic!("{other}"),
        }
    }
    leases
}

#[test]
fn nothing_that_an_agent_was_told_of_is_lost_and_nothing_is_granted_behind_its_back() {
    let seed = Dice::seed();
    let bench = Bench::new();
    let issues: Vec<String> = (0..3).map(|n| bench.issue(&n.to_string())).collect();
    let (bench, issues) = (&bench, &issues);
    let told: BTreeMap<String, (BTreeSet<String>, usize)> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS)
            .map(|n| {
                let name = format!("agent:{n}");
                scope.spawn(move || (name.clone(), agent(bench, &name, issues, seed + n)))
            })
            .collect();
        agents.into_iter().map(|agent| agent.join().unwrap()).collect()
    });
    let history = bench.jit(&["--json", "claim", "history"]).ok().json();
    let logged = by_agent(&history);
    for (name, (told, _)) in &told {
        assert_eq!(
            logged.get(name),
            Some(told),
            "seed {seed}: what {name} was told is not what the log says"
        );
    }
    let deaths: usize = told.values().map(|(_, deaths)| deaths).sum();
    println!("{deaths} deaths, {} records", history["count"]);
    assert!(deaths >= 200, "seed {seed}: only {deaths} processes died in {ROUNDS} rounds");
    bench.jit(&["validate", "leases"]).ok();
    // The last word in the event log is had by whoever writes next.
    let (_, _) = bench.claimed("agent:last");
    let events = std::fs::read_to_string(bench.control("events/control.jsonl")).unwrap();
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events, bench.history());
}
