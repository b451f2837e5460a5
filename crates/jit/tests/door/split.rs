//! Issues in parts: who can do what while an issue waits for its parts, and what becomes of them.

use serde_json::Value;

use crate::bench::Bench;

fn parts(split: &Value) -> Vec<String> {
    split["parts"].as_array().unwrap().iter().map(|part| part["id"].as_str().unwrap().to_owned()).collect()
}

fn shows(bench: &Bench, args: &[&str], words: &[&str]) {
    let shown = bench.jit(args).ok().stdout;
    words.iter().for_each(|word| assert!(shown.contains(word), "{word} is not in {shown}"));
}

fn work(bench: &Bench, agent: &str, issue: &str, file: &str) {
    bench.run(agent, &["start", issue]).ok();
    std::fs::write(bench.repo().join(file), "done\n").unwrap();
    bench.run(agent, &["finish", issue, "-a", "-m", file]).ok();
}

#[test]
fn parts_are_offered_to_anyone_and_the_whole_waits_for_them() {
    let bench = Bench::new();
    let whole = bench.jit(&["-q", "create", "the house", "--label", "area:town", "--priority", "high"]).ok();
    let whole = whole.line().to_owned();
    bench.jit(&["start", &whole]).ok();
    let split = bench.jit(&["--json", "split", &whole, "--into", "the ground", "the walls"]).ok().json();
    assert_eq!((&split["count"], &split["parent"]["id"]), (&2.into(), &whole.as_str().into()));
    let ids = parts(&split);
    let shown = bench.run("agent:b", &["--json", "show", &ids[0]]).ok().json();
    let issue = &shown["issue"];
    assert_eq!((&issue["parent"], &issue["state"]), (&whole.as_str().into(), &"ready".into()));
    assert_eq!((&issue["priority"], &issue["labels"][0]), (&"high".into(), &"area:town".into()));
    let listed = bench.jit(&["--json", "list", "--parent", &whole]).ok().json();
    assert_eq!(listed["count"], 2);
    let shown = bench.jit(&["--json", "show", &whole]).ok().json();
    assert_eq!(shown["parts"].as_array().unwrap().len(), 2);
    shows(&bench, &["show", &whole], &["PARTS", "the ground", "the walls"]);
    shows(&bench, &["show", &ids[1]], &["part of:", "the house"]);
    shows(&bench, &["graph", "show", &whole], &["the ground", "the walls"]);
    // It cannot be finished before them, whoever tries.
    std::fs::write(bench.repo().join("early.txt"), "x\n").unwrap();
    bench.jit(&["finish", "-a", "-m", "early"]).fails(1);
    std::fs::remove_file(bench.repo().join("early.txt")).unwrap();
    // Its holder gives it back, and nobody is offered it: only its parts.
    bench.jit(&["drop", &whole, "--reason", "it waits"]).ok();
    let ready = bench.run("agent:b", &["--json", "ready"]).ok().json();
    let ready: Vec<&str> =
        ready["issues"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ready, ids.iter().map(String::as_str).collect::<Vec<_>>());
    work(&bench, "agent:b", &ids[0], "ground.txt");
    bench.run("agent:c", &["--json", "claim", "acquire", &whole, "--when-ready"]).fails(4);
    work(&bench, "agent:c", &ids[1], "walls.txt");
    work(&bench, "agent:d", &whole, "house.txt");
    assert_eq!(bench.jit(&["--json", "show", &whole]).ok().json()["issue"]["state"], "done");
    bench.jit(&["validate", "all"]).ok();
}

#[test]
fn only_the_holder_splits_and_typed_again_nothing_is_made_twice() {
    let bench = Bench::new();
    let whole = bench.issue("the house");
    bench.jit(&["split", &whole, "--into", "a"]).fails(5);
    bench.run("agent:b", &["claim", "acquire", &whole]).ok();
    bench.jit(&["split", &whole, "--into", "a"]).fails(5);
    bench.run("agent:b", &["split", &whole, "--into", "good", "two\nlines"]).fails(6);
    assert_eq!(
        bench.jit(&["--json", "list", "--parent", &whole]).ok().json()["count"],
        0,
        "nothing is half made"
    );
    let first = bench.run("agent:b", &["--json", "split", &whole, "--into", "a", "b"]).ok().json();
    // Somebody was cut off between making the parts and having the whole wait for them.
    let ids = parts(&first);
    bench.run("agent:b", &["dep", "rm", &whole, &ids[0]]).ok();
    let again = bench.run("agent:b", &["--json", "split", &whole, "--into", "a", "c"]).ok().json();
    assert_eq!(parts(&again)[0], ids[0]);
    assert_eq!(bench.jit(&["--json", "list", "--parent", &whole]).ok().json()["count"], 3);
}

#[test]
fn a_dead_holder_a_deleted_part_and_a_circle_leave_a_graph_that_is_right() {
    let bench = Bench::new();
    let whole = bench.issue("the house");
    bench.jit(&["claim", "acquire", &whole, "--ttl", "1"]).ok();
    let split = bench.jit(&["--json", "split", &whole, "--into", "a", "b", "c"]).ok().json();
    let ids = parts(&split);
    // The holder is gone: the parts need nothing of its lease.
    holdfast_trial::until("its claim is over", || bench.leases().is_empty());
    work(&bench, "agent:b", &ids[0], "a.txt");
    bench.run("agent:c", &["claim", "acquire", &ids[1]]).ok();
    bench.run("agent:c", &["issue", "delete", &ids[1]]).ok();
    let shown = bench.jit(&["--json", "show", &whole]).ok().json();
    assert_eq!(shown["parts"].as_array().unwrap().len(), 2, "{shown}");
    bench.run("agent:c", &["claim", "acquire", &ids[2]]).ok();
    bench.run("agent:c", &["dep", "add", &ids[2], &whole]).fails(6);
    bench.run("agent:c", &["claim", "release", &ids[2]]).ok();
    work(&bench, "agent:d", &ids[2], "c.txt");
    work(&bench, "agent:e", &whole, "house.txt");
    bench.jit(&["validate", "all"]).ok();
}
