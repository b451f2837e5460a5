//! What waits for what, and what is left when an issue goes.

use holdfast_trial::Answer;

use crate::bench::Bench;

#[test]
fn a_cycle_is_refused_and_shown() {
    let bench = Bench::new();
    let ids: Vec<String> = (0..3).map(|n| bench.issue(&n.to_string())).collect();
    let [a, b, c] = ids.as_slice() else { panic!() };
    for id in &ids {
        bench.jit(&["claim", "acquire", id]).ok();
    }
    bench.jit(&["dep", "add", a, b]).ok();
    bench.jit(&["dep", "add", b, c]).ok();
    let refused = bench.jit(&["--json", "dep", "add", c, a]).fails(6);
    assert_eq!(refused.json()["error"]["details"]["cycle"], serde_json::json!([c, a, b, c]));
    let [x, y, z] = [a, b, c].map(|id| bench.handle(id));
    assert!(refused.stderr.contains(&format!("{z} -> {x} -> {y} -> {z}")), "{refused}");
    bench.jit(&["dep", "add", a, a]).fails(6);
    bench.jit(&["dep", "rm", a, b]).ok();
    bench.jit(&["dep", "add", c, a]).ok();
    bench.jit(&["validate", "all"]).ok();
}

#[test]
fn edges_that_would_close_a_cycle_together_are_not_added_at_once() {
    for _ in 0..4 {
        let bench = Bench::new();
        let (a, b) = (bench.claimed("agent:a").0, bench.claimed("agent:a").0);
        let children = [[&a, &b], [&b, &a]]
            .map(|[from, to]| bench.spawn("agent:a", &["dep", "add", from, to], &bench.repo()));
        let codes = children.map(|child| Answer::from(child.wait_with_output().unwrap()).code.unwrap());
        assert!(codes == [0, 6] || codes == [6, 0], "{codes:?}");
        bench.jit(&["validate", "all"]).ok();
    }
}

#[test]
fn what_waits_cannot_be_finished_and_is_free_once_the_last_is() {
    let bench = Bench::new();
    let (first, _) = bench.claimed("agent:a");
    let create = ["-q", "issue", "create", "--title", "then", "--depends-on", &first, "--claim"];
    bench.jit(&create).ok();
    let then = bench
        .leases()
        .iter()
        .map(|lease| lease["issue_id"].as_str().unwrap().to_owned())
        .find(|id| *id != first);
    let then = then.unwrap();
    let refused = bench.jit(&["--json", "issue", "update", &then, "--state", "done"]).fails(1);
    assert_eq!(refused.json()["error"]["details"]["blocked_by"], serde_json::json!([first]));
    let warned = bench.jit(&["issue", "update", &then, "--state", "in-progress"]).ok();
    assert!(warned.stderr.contains("is blocked by"), "{warned}");
    bench.jit(&["issue", "update", &then, "--state", "ready"]).ok();
    bench.jit(&["issue", "update", &then, "--state", "in_progress", "--strict"]).fails(1);
    bench.jit(&["issue", "update", &first, "--state", "done"]).ok();
    bench.jit(&["issue", "update", &then, "--state", "done", "--strict"]).ok();
}

#[test]
fn a_deleted_issue_leaves_no_dangling_dependency_and_no_claim() {
    let bench = Bench::new();
    let (gone, _) = bench.claimed("agent:a");
    let create = |title: &str| {
        let args = ["-q", "issue", "create", "--title", title, "--depends-on", &gone];
        bench.jit(&args).ok().stdout.trim().to_owned()
    };
    let (one, two) = (create("one"), create("two"));
    bench.run("agent:b", &["claim", "acquire", &two]).ok();
    let before = bench.jit(&["export"]).ok().stdout;
    let refused = bench.jit(&["--json", "issue", "delete", &gone]).fails(4);
    assert_eq!(refused.json()["error"]["details"]["held_by"]["agent_id"], "agent:b");
    assert_eq!(bench.jit(&["export"]).ok().stdout, before, "a refused deletion changes nothing");
    let held: Vec<_> = bench.leases().iter().map(|lease| lease["issue_id"].clone()).collect();
    assert!(!held.contains(&one.as_str().into()), "leases for the moment are given back: {held:?}");

    bench.run("agent:b", &["claim", "release", &two]).ok();
    let deleted = bench.jit(&["--json", "issue", "delete", &gone]).ok().json();
    assert_eq!(deleted["deleted"]["dependents"], serde_json::json!([one, two]));
    bench.jit(&["issue", "show", &gone]).fails(3);
    assert_eq!(bench.leases().len(), 0);
    assert!(!bench.jit(&["export"]).ok().stdout.contains(&gone));
    bench.jit(&["validate", "all"]).ok();
}

#[test]
fn a_deleted_issue_is_gone_everywhere_and_does_not_come_back() {
    let bench = Bench::new();
    let (gone, _) = bench.claimed("agent:a");
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "issues"], &bench.repo());
    let there = bench.worktree("there");
    bench.jit(&["claim", "release", &gone]).ok();
    bench.run_at("agent:a", &["claim", "acquire", &gone], &there).ok();
    bench.run_at("agent:a", &["issue", "delete", &gone], &there).ok();
    bench.run_at("agent:a", &["issue", "show", &gone], &there).fails(3);
    bench.jit(&["issue", "show", &gone]).fails(3);
    bench.jit(&["claim", "acquire", &gone]).fails(3);
    bench.git(&["checkout", "-q", "--", ".jit/issues"], &there);
    bench.run_at("agent:a", &["issue", "show", &gone], &there).fails(3);
    bench.git(&["clean", "-qfdx", ".jit"], &there);
    bench.jit(&["issue", "show", &gone]).fails(3);
}

/// What is made in a linked worktree is seen and can be worked on everywhere, also after a `git clean` there.
#[test]
fn an_issue_that_is_made_in_a_linked_worktree_is_everybodys() {
    let bench = Bench::new();
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "issues"], &bench.repo());
    let there = bench.worktree("there");
    let create = ["-q", "issue", "create", "--title", "found on the way", "--label", "ui"];
    let id = bench.run_at("agent:a", &create, &there).ok().stdout.trim().to_owned();
    bench.git(&["clean", "-qfdx", ".jit"], &there);
    assert_eq!(bench.jit(&["--json", "claim", "next"]).ok().json()["lease"]["issue_id"], id.as_str());
    let shown = bench.jit(&["--json", "issue", "show", &id]).ok().json();
    assert_eq!(
        (&shown["issue"]["title"], &shown["issue"]["labels"][0]),
        (&"found on the way".into(), &"ui".into())
    );
}

#[test]
fn a_long_cycle_is_shown_by_its_ends() {
    let bench = Bench::new();
    let lines: String = (0..300)
        .map(|n| {
            let id = |n: u32| format!("01K{n:023}");
            let on = if n > 0 { serde_json::json!([id(n - 1)]) } else { serde_json::json!([]) };
            let at = "2026-01-01T00:00:00Z";
            serde_json::json!({
                "id": id(n), "title": "t", "state": "ready", "dependencies": on, "created_at": at, "updated_at": at,
            })
            .to_string()
                + "\n"
        })
        .collect();
    let file = bench.root().join("chain.jsonl");
    std::fs::write(&file, lines).unwrap();
    bench.jit(&["import", file.to_str().unwrap()]).ok();
    let (first, last) = (format!("01K{:023}", 0), format!("01K{:023}", 299));
    bench.jit(&["claim", "acquire", &first]).ok();
    let refused = bench.jit(&["--json", "dep", "add", &first, &last]).fails(6);
    let error = refused.json()["error"].clone();
    assert_eq!((&error["code"], &error["details"]["length"]), (&"CYCLE".into(), &301.into()));
    assert_eq!(error["details"]["cycle"].as_array().unwrap().len(), 100);
    assert!(refused.stderr.len() < 1_000 && refused.stderr.contains("300 issues"), "{refused}");
}

/// A chain of ten thousand is shown in a time and a size that a person can bear, and so is what is wrong with it.
#[test]
fn a_long_chain_is_shown_at_once_and_in_few_lines() {
    const LENGTH: u32 = 10_000;
    let bench = Bench::new();
    let id = |number: u32| format!("01K8AAAAAA{number:016}");
    let at = "2026-01-01T00:00:00.000Z";
    for number in 0..LENGTH {
        let home = bench.repo().join(".jit/issues").join(id(number));
        std::fs::create_dir_all(&home).unwrap();
        let issue = serde_json::json!({
            "id": id(number), "title": format!("step {number}"), "state": "ready", "created_at": at, "updated_at": at
        });
        std::fs::write(home.join("issue.json"), issue.to_string()).unwrap();
        if number > 0 {
            let line = serde_json::json!({
                "id": format!("01K8BBBBBB{number:016}"), "op": "add", "value": id(number - 1), "at": at
            });
            std::fs::write(home.join("deps.or-set.jsonl"), format!("{line}\n")).unwrap();
        }
    }
    let begun = std::time::Instant::now();
    for (verb, from) in [("show", LENGTH - 1), ("downstream", 0)] {
        let shown = bench.jit(&["graph", verb, &id(from)]).ok().stdout;
        assert!(shown.lines().count() < 100 && shown.len() < 20_000, "{verb}: {} bytes", shown.len());
        assert!(shown.contains("(and more below)"), "{shown}");
    }
    // A circle through all of it is named by its ends, not by its members.
    bench.jit(&["claim", "acquire", &id(0)]).ok();
    let refused = bench.jit(&["dep", "add", &id(0), &id(LENGTH - 1)]).fails(6);
    assert!(refused.stderr.len() < 4_000, "{} bytes", refused.stderr.len());
    let took = begun.elapsed().as_secs_f64();
    println!("a chain of {LENGTH}: shown both ways and refused to be closed in {took:.1} s");
    assert!(took < 60.0, "{took}");
}
