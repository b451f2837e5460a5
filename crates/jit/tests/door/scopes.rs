//! What is seen from which worktree: its own issues, those of its commit and those of the main worktree, and
//! claims whatever the worktree.

use std::path::{Path, PathBuf};

use crate::bench::Bench;

/// Four issues: one in every worktree's commit, and one that only the main, only the linked and only the
/// commit of the linked worktree has.
struct Places {
    bench: Bench,
    linked: PathBuf,
    both: String,
    main: String,
    local: String,
    head: String,
}

impl Places {
    fn new() -> Self {
        let bench = Bench::new();
        let both = bench.issue("in both");
        bench.git(&["add", "-A"], &bench.repo());
        bench.git(&["commit", "-qm", "both"], &bench.repo());
        let linked = bench.worktree("linked");
        let at = |title: &str, at: &Path| {
            bench
                .run_at("agent:b", &["-q", "issue", "create", "--title", title], at)
                .ok()
                .stdout
                .trim()
                .to_owned()
        };
        let head = at("in the commit", &linked);
        bench.git(&["add", "-A"], &linked);
        bench.git(&["commit", "-qm", "head"], &linked);
        std::fs::remove_dir_all(linked.join(".jit/issues").join(&head)).unwrap();
        let local = at("only here", &linked);
        let main = bench.issue("only in main");
        Self { linked, both, main, local, head, bench }
    }

    fn ids(&self, args: &[&str], at: &Path) -> Vec<String> {
        let answer = self.bench.run_at("agent:b", &[&["-q"], args].concat(), at).ok();
        assert_eq!(answer.stderr, "", "{answer}");
        let mut ids: Vec<String> = answer.stdout.lines().map(ToOwned::to_owned).collect();
        ids.sort();
        ids
    }
}

fn sorted<const N: usize>(ids: [&String; N]) -> Vec<String> {
    let mut ids = ids.map(Clone::clone).to_vec();
    ids.sort();
    ids
}

#[test]
fn each_question_has_the_scope_of_the_table() {
    let places = Places::new();
    let Places { bench, linked, both, main, local, head } = &places;
    let repo = bench.repo();
    // Only what this worktree has.
    assert_eq!(places.ids(&["query", "all"], linked), sorted([both, local]));
    assert_eq!(places.ids(&["query", "all"], &repo), sorted([both, main]));
    // Everything that can be seen.
    let all = sorted([both, main, local, head]);
    for args in [
        &["query", "all", "--state", "ready"][..],
        &["query", "all", "--priority", "normal"],
        &["query", "available"],
        &["issue", "list"],
        &["graph", "roots"],
        &["search", "in only"],
    ] {
        let expected = if args[0] == "search" { sorted([main]) } else { all.clone() };
        assert_eq!(places.ids(args, linked), expected, "{args:?}");
    }
    // What a linked worktree has made is everybody's; what only its commit has is not.
    assert_eq!(places.ids(&["issue", "list"], &repo), all);
    for (id, layer) in [(both, "local"), (local, "local"), (head, "head"), (main, "main")] {
        let shown = bench.run_at("agent:b", &["--json", "issue", "show", &id[..20]], linked).ok().json();
        assert_eq!((&shown["issue"]["id"], &shown["layer"]), (&id.as_str().into(), &layer.into()));
    }
    bench.jit(&["issue", "show", local]).ok();
    bench.jit(&["issue", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]).fails(3);
}

/// Whatever the worktree: what is claimed is offered nowhere, what is given back everywhere at once.
#[test]
fn what_is_claimed_is_offered_nowhere_and_what_is_released_everywhere() {
    let places = Places::new();
    let Places { bench, linked, both, .. } = &places;
    let repo = bench.repo();
    for (agent, at) in [("agent:a", &repo), ("agent:b", linked)] {
        for from in [&repo, linked] {
            assert!(places.ids(&["query", "available"], from).contains(both));
        }
        bench.run_at(agent, &["claim", "acquire", both], at).ok();
        for from in [&repo, linked] {
            assert!(!places.ids(&["query", "available"], from).contains(both));
            let listed = bench.run_at("agent:c", &["issue", "list"], from).ok();
            assert!(listed.stdout.contains(agent), "{listed}");
        }
        bench.run_at(agent, &["claim", "release", both], at).ok();
    }
    bench.run_at("agent:b", &["claim", "acquire", both, "--ttl", "1"], linked).ok();
    holdfast_trial::until("it is over", || places.ids(&["query", "available"], &repo).contains(both));
    assert!(places.ids(&["query", "available"], linked).contains(both));
}

/// A copy with a higher fence of this repository's log counts, wherever it is and however old it says it is; a
/// fence of another log counts nothing.
#[test]
fn the_copy_with_the_highest_fence_of_this_log_counts() {
    let places = Places::new();
    let Places { bench, linked, both, .. } = &places;
    bench.jit(&["claim", "acquire", both]).ok();
    bench.jit(&["issue", "update", both, "--title", "written under a claim"]).ok();
    let title = || {
        let shown = bench.run_at("agent:b", &["--json", "issue", "show", both], linked).ok().json();
        (shown["issue"]["title"].as_str().unwrap().to_owned(), shown["layer"].as_str().unwrap().to_owned())
    };
    assert_eq!(title(), ("written under a claim".into(), "main".into()));
    let file = linked.join(".jit/issues").join(both).join("issue.json");
    let mut issue: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    issue["title"] = "of another log".into();
    issue["updated_at"] = "2999-01-01T00:00:00.000Z".into();
    issue["fence"] = 999_999.into();
    issue["fence_log"] = "01ARZ3NDEKTSV4RRFFQ69G5FAV".into();
    std::fs::write(&file, issue.to_string()).unwrap();
    assert_eq!(title(), ("written under a claim".into(), "main".into()));
    let main = bench.repo().join(".jit/issues").join(both).join("issue.json");
    let theirs: serde_json::Value = serde_json::from_slice(&std::fs::read(main).unwrap()).unwrap();
    issue["fence_log"] = theirs["fence_log"].clone();
    std::fs::write(&file, issue.to_string()).unwrap();
    assert_eq!(title(), ("of another log".into(), "local".into()));
}

#[test]
fn labels_and_dependencies_of_all_layers_count() {
    let places = Places::new();
    let Places { bench, linked, both, main, .. } = &places;
    bench.jit(&["claim", "acquire", both]).ok();
    bench.jit(&["issue", "update", both, "--label", "there"]).ok();
    bench.jit(&["dep", "add", both, main]).ok();
    let home = linked.join(".jit/issues").join(both);
    let line = r#"{"id":"x","op":"add","value":"here","at":"2026-01-01T00:00:00.000Z"}"#;
    std::fs::write(home.join("labels.or-set.jsonl"), format!("{line}\n{line}\n")).unwrap();
    let shown = bench.run_at("agent:b", &["--json", "issue", "show", both], linked).ok().json();
    assert_eq!(shown["issue"]["labels"], serde_json::json!(["here", "there"]));
    assert_eq!(shown["blocked_by"][0]["id"], main.as_str());
    assert_eq!(places.ids(&["query", "blocked"], linked), sorted([both]));
    assert_eq!(places.ids(&["query", "all", "--label", "here,there"], linked), sorted([both]));
}

#[test]
fn a_bare_repository_and_a_place_without_git_have_issues_too() {
    let places = Places::new();
    let bare = places.bench.root().join("bare.git");
    places.bench.git(&["clone", "-q", "--bare", "repo", "bare.git"], places.bench.root());
    std::fs::create_dir(bare.join("jit")).unwrap();
    assert_eq!(places.ids(&["issue", "list"], &bare), sorted([&places.both]));
    assert_eq!(places.ids(&["query", "all"], &bare), Vec::<String>::new());
    let plain = Bench::empty();
    plain.run_at("agent:a", &["init"], plain.root()).ok();
    plain.run_at("agent:a", &["issue", "create", "--title", "x"], plain.root()).ok();
    let listed = plain.run_at("agent:a", &["--json", "issue", "list"], plain.root()).ok().json();
    assert_eq!(listed["count"], 1);
}
