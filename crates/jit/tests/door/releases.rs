//! Repositories of other versions: what each release wrote is gone on with, and what a later one wrote is left alone.

use std::path::Path;

use holdfast_trial::{contents, last_release, releases, rewrite};
use serde_json::Value;

use crate::bench::Bench;

/// What whoever meets a later format is told.
fn too_old() -> String {
    format!("jit {} is too old for it: install the version that wrote it", env!("CARGO_PKG_VERSION"))
}

fn titled<'a>(listed: &'a Value, title: &str) -> &'a Value {
    let of = |issue: &&Value| issue["title"].as_str().is_some_and(|text| text.starts_with(title));
    listed["issues"].as_array().unwrap().iter().find(of).unwrap()
}

fn id(issue: &Value) -> String {
    issue["id"].as_str().unwrap().to_owned()
}

/// Issues with all that they can have, claims of every kind, events, an outbox that a crash left, a linked worktree.
#[test]
fn what_each_release_wrote_is_read_and_gone_on_with() {
    let bench = Bench::empty();
    for place in releases("jit", bench.root()) {
        let (repo, work) = (place.join("repository"), place.join("work"));
        bench.git(&["worktree", "repair", work.to_str().unwrap()], &repo);
        let run = |agent: &str, args: &[&str], at: &Path| bench.run_at(agent, args, at);
        let jit = |args: &[&str]| run("person:ann", args, &repo);
        // Claims that nobody gave back are stale by now, which is said too.
        let log_is_ok = || {
            let told = jit(&["validate", "leases"]);
            assert!(told.stdout.contains("log: ok"), "{told}");
        };
        let listed = jit(&["--json", "list"]).ok().json();
        let (first, second, third) = (
            id(titled(&listed, "First")),
            id(titled(&listed, "Second")),
            id(titled(&listed, "Third, cut off at")),
        );
        let shown = jit(&["--json", "show", &first]).ok().json();
        assert_eq!(shown["issue"]["description"], "What there is to do", "{shown}");
        assert_eq!(
            (&shown["issue"]["labels"][0], &shown["issue"]["state"]),
            (&"api".into(), &"in_progress".into())
        );
        assert!(
            shown.to_string().contains("seen on a Friday") && shown.to_string().contains("design.md"),
            "{shown}"
        );
        let gates = jit(&["gate", "status", &second]).ok().stdout;
        assert!(gates.contains("looks good"), "{gates}");
        assert_eq!(jit(&["config", "get", "coordination.default_ttl_secs"]).ok().stdout.trim(), "300");
        let leases = jit(&["--json", "claim", "list"]).ok().json();
        let holders: Vec<&str> = leases["leases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|lease| lease["agent_id"].as_str().unwrap())
            .collect();
        assert_eq!(holders, ["agent:bob", "person:ann"], "{leases}");
        let history = jit(&["--json", "claim", "history"]).ok().json();
        let reached =
            history["events"].as_array().unwrap().iter().filter_map(|event| event["sequence"].as_u64());
        let reached = reached.max().unwrap();

        // The crash was between the change and its event: whoever comes next writes the event, once.
        jit(&["recover"]).ok();
        assert_eq!(Bench::events(&repo).matches("\"to\":\"Third, cut off at").count(), 1);
        log_is_ok();

        // On with it: claims go on behind the last fence, in the linked worktree too.
        let evicted = ["claim", "force-evict", &third, "--reason", "it is another day"];
        run("person:eve", &evicted, &repo).ok();
        let lease = run("agent:new", &["--json", "claim", "acquire", &third], &repo).ok().json();
        assert!(lease["lease"]["fence"].as_u64().unwrap() > reached, "{lease}");
        run("agent:new", &["issue", "update", &third, "--state", "done"], &repo).ok();
        run("person:eve", &["claim", "force-evict", &first, "--reason", "it is another day"], &repo).ok();
        run("agent:bob", &["claim", "acquire", &first], &work).ok();
        run("agent:bob", &["issue", "update", &first, "--state", "done"], &work).ok();
        let after = jit(&["--json", "list", "--all"]).ok().json();
        for title in ["First", "Third"] {
            assert_eq!(titled(&after, title)["state"], "done", "{after}");
        }
        jit(&["issue", "create", "--title", "Fourth"]).ok();
        log_is_ok();
    }
}

/// Two clones whose claims are on a git server.
#[test]
fn clones_of_each_release_go_on_sharing_their_claims() {
    let bench = Bench::empty();
    for place in ["clones", "branches"].into_iter().flat_map(|name| releases(name, bench.root())) {
        let (one, two) = (place.join("one"), place.join("two"));
        let leases = |at: &Path| {
            let listed = bench.run_at("agent:new", &["--json", "claim", "list", "--fresh"], at).ok().json();
            listed["leases"].as_array().unwrap().clone()
        };
        assert_eq!((leases(&one).len(), leases(&two).len()), (2, 2));
        let issue = leases(&one)[0]["issue_id"].as_str().unwrap().to_owned();
        let fences = leases(&one).into_iter().map(|lease| lease["fence"].as_u64().unwrap()).max().unwrap();
        let evict = ["claim", "force-evict", &issue, "--reason", "it is another day"];
        bench.run_at("person:eve", &evict, &two).ok();
        assert_eq!(leases(&one).len(), 1, "the other clone sees it");
        let lease = bench.run_at("agent:new", &["--json", "claim", "acquire", &issue], &one).ok().json();
        assert!(lease["lease"]["fence"].as_u64().unwrap() > fences, "{lease}");
        assert_eq!(leases(&two).len(), 2);
    }
}

/// What every command of this version would do to a repository that a later one laid out: nothing.
#[test]
fn a_repository_of_a_later_format_is_refused_by_every_way_in() {
    let bench = Bench::empty();
    let repo = last_release("jit", bench.root()).join("repository");
    let config = repo.join(".jit/config.toml");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text.push_str("\n[repository]\nformat = 2\n\n[unheard]\nof = true\n");
    std::fs::write(&config, text).unwrap();
    let before = (contents(&repo.join(".jit")), contents(&repo.join(".git/jit")));
    let asked: [&[&str]; 12] = [
        &["list"],
        &["status"],
        &["ready"],
        &["claim", "list"],
        &["claim", "next"],
        &["start"],
        &["issue", "create", "--title", "more"],
        &["note", "first", "text"],
        &["recover"],
        &["validate", "all"],
        &["hook", "pre-commit"],
        &["config", "set", "coordination.default_ttl_secs", "5"],
    ];
    for args in asked {
        let answer = bench.run_at("person:ann", args, &repo);
        assert_ne!(answer.code, Some(0), "{args:?}: {answer}");
        assert!(
            answer.stderr.contains("has format 2") && answer.stderr.contains(&too_old()),
            "{args:?}: {answer}"
        );
        assert_eq!((contents(&repo.join(".jit")), contents(&repo.join(".git/jit"))), before, "{args:?}");
    }
    let error = bench.run_at("person:ann", &["--json", "list"], &repo).fails(10).json();
    assert_eq!(error["error"]["code"], "NEWER_FORMAT", "{error}");
    // The number alone is enough, and the one that is known changes nothing.
    rewrite(&config, "format = 2\n\n[unheard]\nof = true\n", "format = 1\n");
    bench.run_at("person:ann", &["list"], &repo).ok();
    bench.run_at("person:ann", &["config", "set", "repository.format", "2"], &repo).fails(6);
}

/// A later version has written the last line of the log, and the index or not.
#[test]
fn a_log_of_a_later_format_is_refused_and_left_alone() {
    let bench = Bench::empty();
    let repo = last_release("jit", bench.root()).join("repository");
    // What the first command does where a repository was moved to is not looked at here.
    bench.run_at("agent:new", &["issue", "create", "--title", "Fourth"], &repo).ok();
    bench.run_at("agent:new", &["claim", "next"], &repo).ok();
    let log = repo.join(".git/jit/claims.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let last = text.lines().last().unwrap();
    std::fs::write(
        &log,
        format!("{text}{}\n", last.replacen("\"schema_version\":1", "\"schema_version\":3", 1)),
    )
    .unwrap();
    for with_index in [false, true] {
        if with_index {
            rewrite(&repo.join(".git/jit/claims.index.json"), "\"schema_version\":", "\"schema_version\":1");
        }
        let before = contents(&repo.join(".git/jit"));
        for args in [&["claim", "list"][..], &["claim", "next"], &["reserve", "add", "docs/**"], &["recover"]]
        {
            let answer = bench.run_at("agent:new", args, &repo).fails(10);
            assert!(
                answer.stderr.contains("has format version 3") && answer.stderr.contains(&too_old()),
                "{answer}"
            );
            assert_eq!(contents(&repo.join(".git/jit")), before, "{args:?}");
        }
    }
}

/// Another clone with a later version has put a head on the server that this one cannot know.
#[test]
fn shared_claims_of_a_later_format_are_refused_and_left_alone() {
    let bench = Bench::empty();
    let place = last_release("clones", bench.root());
    let (one, server) = (place.join("one"), place.join("server.git"));
    let git = |script: &str| {
        let mut sh = bench.dressed(std::process::Command::new("sh"));
        let done = sh.args(["-euc", script]).current_dir(&server).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    let put = "head=$(git cat-file blob refs/jit/claims:head.json | sed 's/\"format\":[0-9]*/\"format\":4/' | git hash-object -w --stdin)\n\
               step=$(git rev-parse refs/jit/claims:step.json)\n\
               tree=$(printf '100644 blob %s\\thead.json\\n100644 blob %s\\tstep.json\\n' \"$head\" \"$step\" | git mktree)\n\
               git update-ref refs/jit/claims \"$(git commit-tree -p refs/jit/claims -m later \"$tree\")\"";
    git(put);
    let tip = git("git rev-parse refs/jit/claims");
    let answer = bench.run_at("agent:new", &["claim", "next"], &one);
    assert_ne!(answer.code, Some(0), "{answer}");
    assert!(answer.stderr.contains("has format version 4") && answer.stderr.contains(&too_old()), "{answer}");
    assert_eq!(git("git rev-parse refs/jit/claims"), tip);
}
