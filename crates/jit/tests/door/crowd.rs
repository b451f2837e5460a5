//! Many processes that want the same at once: paths that overlap and paths that do not, and sets of issues.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use holdfast_kernel::Pattern;
use holdfast_trial::Answer;
use serde_json::Value;

use crate::bench::Bench;

fn is_long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Goes through everything that happened: at no time do two agents have paths that overlap. Says how often any were
/// reserved.
fn nobody_ever_overlaps(bench: &Bench) -> usize {
    let mut held: BTreeMap<String, (Pattern, String)> = BTreeMap::new();
    let mut granted = 0;
    for event in bench.history() {
        let payload = &event["payload"];
        let Some(pattern) = payload["pattern"].as_str() else { continue };
        let (pattern, agent) = (Pattern::new(pattern).unwrap(), text(&payload["agent_id"]));
        match event["event_type"].as_str().unwrap() {
            "claim.acquired" => {
                let other = held.values().find(|(other, by)| *by != agent && other.overlaps(&pattern));
                assert!(other.is_none(), "{event} beside {other:?}");
                held.insert(text(&payload["lease_id"]), (pattern, agent));
                granted += 1;
            }
            "claim.renewed" => {}
            _ => drop(held.remove(payload["lease_id"].as_str().unwrap())),
        }
    }
    granted
}

const WANTED: [&str; 4] = ["shared/*.rs", "shared/**", "sh?red/x.rs", "*/x.rs"];

/// Everybody asks for a place of its own or for one that all want: the former is never refused, and of the latter one
/// wins. Some of those with places of their own are killed on the way.
#[test]
fn sixty_four_processes_never_overlap_and_disjoint_ones_never_wait() {
    let bench = Bench::new();
    let others: Vec<_> = (0..2).map(|n| bench.worktree(&format!("w{n}"))).collect();
    let at = |n: usize| others.get(n % 3).cloned().unwrap_or_else(|| bench.repo());
    let many = 64;
    let is_killed = |n: usize| n % 16 == 4;
    let children: Vec<_> = (0..many)
        .map(|n| {
            let own = format!("own/{n}/**");
            let pattern = if n % 2 == 0 { &own } else { WANTED[n / 2 % 4] };
            bench.spawn(&format!("agent:{n}"), &["--json", "reserve", "add", pattern], &at(n))
        })
        .collect();
    let answer = |(n, mut child): (usize, std::process::Child)| {
        if is_killed(n) {
            // It may be done already.
            let _ = child.kill();
        }
        Answer::from(child.wait_with_output().unwrap())
    };
    let answers: Vec<Answer> = children.into_iter().enumerate().map(answer).collect();
    let (own, shared): (Vec<_>, Vec<_>) = answers.iter().enumerate().partition(|(n, _)| n % 2 == 0);
    for (n, answer) in own.iter().filter(|(n, _)| !is_killed(*n)) {
        assert_eq!(answer.code, Some(0), "{n} is in nobody's way: {answer}");
    }
    let won = shared.iter().filter(|(_, answer)| answer.code == Some(0)).count();
    assert_eq!(won, 1, "all of them match shared/x.rs");
    assert!(shared.iter().all(|(_, answer)| matches!(answer.code, Some(0 | 4))));
    let granted = nobody_ever_overlaps(&bench);
    let told = answers.iter().filter(|answer| answer.code == Some(0)).count();
    assert!((told..=told + 4).contains(&granted), "{told} were told of {granted} grants");
    bench.jit(&["validate", "leases"]).ok();
}

/// The same with patience: everybody waits for what all want, gives it back, and comes to its end; whoever wants a place of
/// its own gets it each time without waiting.
#[test]
fn whoever_waits_for_paths_gets_them_in_the_end_and_alone() {
    let bench = Bench::new();
    let (many, rounds) = if is_long() { (64, 8) } else { (12, 1) };
    std::thread::scope(|scope| {
        for n in 0..many {
            let bench = &bench;
            scope.spawn(move || {
                let agent = format!("agent:{n}");
                for _ in 0..rounds {
                    let own = format!("own/{n}/**");
                    if n % 2 == 0 {
                        bench.run(&agent, &["reserve", "add", &own]).ok();
                        bench.run(&agent, &["reserve", "release", &own]).ok();
                    } else {
                        let wanted = WANTED[n / 2 % 4];
                        bench.run(&agent, &["reserve", "add", wanted, "--wait", "1200"]).ok();
                        bench.run(&agent, &["reserve", "release", wanted]).ok();
                    }
                }
            });
        }
    });
    assert_eq!(nobody_ever_overlaps(&bench), many * rounds);
    bench.jit(&["validate", "leases"]).ok();
}

/// Numbers by chance, the same for the same beginning.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Claims random sets, holds them for a moment and gives them back, until the time is over. Says how often.
fn claims_sets(bench: &Bench, issues: &[String], n: usize, until: Instant) -> usize {
    let (agent, mut dice, mut rounds) = (format!("agent:{n}"), Dice(n as u64 + 1), 0);
    while rounds == 0 || Instant::now() < until {
        let size = 2 + dice.below(3);
        let wanted: BTreeSet<&str> = (0..size).map(|_| issues[dice.below(issues.len())].as_str()).collect();
        let mut args = vec!["--json", "claim", "acquire"];
        args.extend(&wanted);
        args.extend(["--wait", "600"]);
        let got = bench.run(&agent, &args).ok().json();
        let one = std::slice::from_ref(&got["lease"]);
        let held: BTreeSet<&str> = got["leases"]
            .as_array()
            .map_or(one, Vec::as_slice)
            .iter()
            .map(|lease| lease["issue_id"].as_str().unwrap())
            .collect();
        assert_eq!(held, wanted, "{got}");
        for issue in wanted {
            bench.run(&agent, &["claim", "release", issue]).ok();
        }
        rounds += 1;
    }
    rounds
}

/// Sixteen processes at a time, for a minute in a long run: all of them come to their end, nobody ever has a part of what
/// it asked for, nobody starves, and no issue has two holders.
#[test]
fn random_sets_are_claimed_whole_and_nobody_starves() {
    let bench = Bench::new();
    let issues: Vec<String> = (0..6).map(|n| bench.issue(&n.to_string())).collect();
    let until = Instant::now() + Duration::from_secs(if is_long() { 60 } else { 3 });
    let rounds: Vec<usize> = std::thread::scope(|scope| {
        let (bench, issues) = (&bench, &issues);
        let start = |n| scope.spawn(move || claims_sets(bench, issues, n, until));
        let all: Vec<_> = (0..16).map(start).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    println!("rounds of each: {rounds:?}");
    let (least, most) = (rounds.iter().min().unwrap(), rounds.iter().max().unwrap());
    assert!(least * 4 >= *most || *most < 8, "somebody starves: {rounds:?}");
    assert!(bench.leases().is_empty());
    // No issue was granted twice at once: between two grants of one there is its end.
    let mut held = BTreeSet::new();
    for event in bench.history() {
        let issue = text(&event["payload"]["issue_id"]);
        match event["event_type"].as_str().unwrap() {
            "claim.acquired" => assert!(held.insert(issue), "{event}"),
            "claim.released" => assert!(held.remove(&issue), "{event}"),
            _ => {}
        }
    }
}
