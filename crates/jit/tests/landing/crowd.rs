//! Many who finish at once.

use std::time::Instant;

use holdfast_trial::Answer;

use crate::ground::{Ground, is_long, pair};

/// A gate holds up nobody but those whose work has to be judged together with what landed before it: five that finish at
/// once take as long as five judgements one after the other, and little more.
#[test]
fn those_who_finish_at_once_land_one_after_the_other() {
    let (agents, seconds) = if is_long() { (5, 2.0) } else { (3, 0.5) };
    let ground = Ground::new();
    let command = format!("sleep {seconds}");
    ground.bench.jit(&["gate", "define", "slow", "--command", &command]).ok();
    ground.commit("a gate");
    let names: Vec<String> = (0..agents).map(|number| format!("a{number}")).collect();
    let ids: Vec<String> = names.iter().map(|name| ground.issue(name, &["--gate", "slow"])).collect();
    let all: Vec<_> = names.iter().map(|name| ground.agent(name)).collect();
    for (agent, id) in all.iter().zip(&ids) {
        agent.begin(id, &agent.name.replace(':', "-"));
    }
    // The checkouts are there afterwards; making them is not what is measured.
    let begun = Instant::now();
    let finish = ["finish", "-a", "-m", "work"];
    let children: Vec<_> =
        all.iter().map(|agent| ground.bench.spawn(&agent.name, &finish, &agent.at)).collect();
    for child in children {
        Answer::from(child.wait_with_output().unwrap()).ok();
    }
    let took = begun.elapsed().as_secs_f64();
    let chain = seconds * f64::from(agents);
    println!("{agents} landed in {took:.1} s; the longest chain of judgements takes {chain:.1} s");
    for id in &ids {
        assert_eq!(ground.told(id), pair("done", "landed"));
    }
    assert_eq!(ground.landed().iter().filter(|subject| *subject == "work").count(), ids.len());
    assert_eq!(ground.main(&["log", "--merges", "--format=%h", "main"]), "");
    assert!(ground.is_clean());
    // Nobody keeps the branch.
    let kept = ground.bench.jit(&["--json", "claim", "list", "--kind", "branch"]).ok().json();
    assert_eq!(kept["count"], 0);
}
