//! Questions about issues: what is answered, what is said about files that nobody should have written, and
//! that asking changes nothing.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use holdfast_trial::Answer;

use crate::bench::Bench;

/// Makes one issue wait for others.
fn depend(bench: &Bench, from: &str, on: &[&str]) {
    let line =
        |on: &&str| format!("{{\"id\":\"{from}{on}\",\"op\":\"add\",\"value\":\"{on}\",\"at\":\"t\"}}\n");
    let file = home(bench, from).join("deps.or-set.jsonl");
    std::fs::write(file, on.iter().map(line).collect::<String>()).unwrap();
}

fn home(bench: &Bench, id: &str) -> PathBuf {
    bench.repo().join(".jit/issues").join(id)
}

fn set_state(bench: &Bench, id: &str, state: &str) {
    let file = home(bench, id).join("issue.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"ready\"", &format!("\"{state}\""))).unwrap();
}

fn ids(answer: &Answer) -> Vec<&str> {
    answer.stdout.lines().collect()
}

#[test]
fn what_is_blocked_is_not_offered_and_says_why() {
    let bench = Bench::new();
    let [done, open, free, waits] = ["done", "open", "free", "waits"].map(|title| bench.issue(title));
    set_state(&bench, &done, "done");
    depend(&bench, &free, &[&done]);
    depend(&bench, &waits, &[&done, &open]);
    assert_eq!(ids(&bench.jit(&["-q", "query", "available"]).ok()), [&open, &free]);
    let blocked = bench.jit(&["--json", "query", "blocked"]).ok().json();
    assert_eq!((&blocked["count"], &blocked["issues"][0]["id"]), (&1.into(), &waits.as_str().into()));
    let reasons = &blocked["issues"][0]["blocked_by"];
    assert_eq!(reasons.as_array().unwrap().len(), 1);
    assert_eq!((&reasons[0]["kind"], &reasons[0]["id"]), (&"dependency".into(), &open.as_str().into()));
    // The one that waits is not handed out either, and is as soon as what it waits for is over.
    for expected in [&open, &free] {
        let next = bench.jit(&["--json", "claim", "next"]).ok().json();
        assert_eq!(next["lease"]["issue_id"], expected.as_str());
    }
    bench.jit(&["claim", "next"]).fails(3);
    set_state(&bench, &open, "rejected");
    assert_eq!(bench.jit(&["--json", "claim", "next"]).ok().json()["lease"]["issue_id"], waits.as_str());
}

#[test]
fn filters_hold_for_every_question_and_for_claims() {
    let bench = Bench::new();
    let plain = bench.issue("plain");
    let args = ["-q", "issue", "create", "--title", "ui", "--label", "ui,web", "--priority", "high"];
    let ui = bench.jit(&args).ok().stdout.trim().to_owned();
    for (filter, expected) in [
        (&["--label", "ui"][..], vec![&ui]),
        (&["--label", "ui,web"], vec![&ui]),
        (&["--label", "ui", "--label", "other"], vec![]),
        (&["--priority", "normal"], vec![&plain]),
        (&["--priority", "high,normal"], vec![&ui, &plain]),
        (&["--state", "in-progress"], vec![]),
        (&["--assignee", "agent:z"], vec![]),
    ] {
        for question in [&["query", "available"][..], &["query", "all"], &["issue", "list"]] {
            let answer = bench.jit(&[&["-q"], question, filter].concat()).ok();
            let (mut found, mut expected) = (ids(&answer), expected.clone());
            found.sort_unstable();
            expected.sort();
            assert_eq!(found, expected, "{question:?} {filter:?}");
        }
    }
    bench.jit(&["claim", "next", "--label", "none"]).fails(3);
    bench.jit(&["query", "all", "--state", "doing"]).fails(6);
    assert_eq!(
        bench.jit(&["--json", "claim", "next", "--label", "web"]).ok().json()["lease"]["issue_id"],
        ui
    );
}

/// Circles and long chains, which only a hand can have written: every picture ends.
#[test]
fn graphs_of_hostile_data_end() {
    let bench = Bench::new();
    let [a, b, c] = ["a", "b", "c"].map(|title| bench.issue(title));
    depend(&bench, &a, &[&b, &c, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "no id"]);
    depend(&bench, &b, &[&a, &c]);
    depend(&bench, &c, &[&c]);
    let shown = bench.jit(&["graph", "show", &a]).ok().stdout;
    let lines: Vec<&str> = shown.lines().collect();
    let begins = ["", "├─ ", "├─ ", "│  ├─ ", "│  └─ ", "│     └─ ", "└─ "];
    let ends = [
        " a [ready]",
        " (is not there)",
        " b [ready]",
        " (see above)",
        " c [ready]",
        " (see above)",
        " (see above)",
    ];
    assert_eq!(lines.len(), begins.len(), "{shown}");
    for (line, (begin, end)) in lines.iter().zip(begins.into_iter().zip(ends)) {
        assert!(line.starts_with(begin) && line.ends_with(end), "{line}: {shown}");
    }
    let claims = bench.jit(&["graph", "show", &a, "--show-claims"]).ok().stdout;
    assert!(claims.contains("(unclaimed)"), "{claims}");
    let graph = bench.jit(&["--json", "graph", "downstream", &c]).ok().json();
    assert_eq!(graph["graph"]["nodes"].as_array().unwrap().len(), 3);
    assert_eq!(graph["graph"]["edges"].as_array().unwrap().len(), 5);
    assert_eq!(bench.jit(&["-q", "graph", "roots"]).ok().stdout, "");
    assert_eq!(bench.jit(&["-q", "query", "blocked"]).ok().stdout.lines().count(), 3);
    let dot = bench.jit(&["graph", "export", "--format", "dot"]).ok().stdout;
    assert!(dot.starts_with("digraph issues {") && dot.contains(&format!("\"{a}\" -> \"{b}\"")), "{dot}");
    let mermaid = bench.jit(&["graph", "export", "--format", "mermaid"]).ok().stdout;
    assert!(mermaid.starts_with("graph LR\n") && mermaid.contains(&format!("{a} --> {b}")), "{mermaid}");
    let json = bench.jit(&["graph", "export"]).ok().json();
    assert_eq!(json["graph"]["nodes"].as_array().unwrap().len(), 4);
}

#[test]
fn a_chain_of_any_length_is_drawn() {
    let bench = Bench::new();
    let chain: Vec<String> = (0..60).map(|n| bench.issue(&format!("link {n}"))).collect();
    for pair in chain.windows(2) {
        depend(&bench, &pair[0], &[&pair[1]]);
    }
    let shown = bench.jit(&["graph", "show", &chain[0]]).ok().stdout;
    assert_eq!(shown.lines().count(), 41, "{shown}");
    assert!(shown.trim_end().ends_with("(and more below)"), "{shown}");
}

#[test]
fn the_best_find_comes_first() {
    let bench = Bench::new();
    let make = |title: &str, more: &[&str]| {
        let args = [&["-q", "issue", "create", "--title", title], more].concat();
        bench.jit(&args).ok().stdout.trim().to_owned()
    };
    let described = make("other", &["--description", "somewhere the LOGIN fails for a while"]);
    let part = make("relogin twice", &[]);
    let labelled = make("labelled", &["--label", "login"]);
    let title = make("The login fails", &[]);
    make("nothing", &[]);
    let found = bench.jit(&["--json", "search", "login"]).ok().json();
    let order: Vec<&str> =
        found["results"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!(order, [&title, &labelled, &part, &described]);
    assert_eq!(found["results"][3]["snippet"], "somewhere the LOGIN fails for a while");
    assert_eq!(ids(&bench.jit(&["-q", "search", "login FAILS"]).ok()), [&title, &described]);
    assert_eq!(ids(&bench.jit(&["-q", "search", "--limit", "1", "login"]).ok()), [&title]);
    assert_eq!(ids(&bench.jit(&["-q", "search", &title[..20]]).ok()).len(), 1);
    bench.jit(&["search", " "]).fails(6);
    assert!(bench.jit(&["search", "absent"]).ok().stdout.contains("nothing was found"));
}

#[test]
fn the_state_of_things_on_one_screen() {
    let bench = Bench::new();
    assert!(bench.jit(&["status"]).ok().stdout.contains("jit issue create"));
    let (claimed, _) = bench.claimed("agent:a");
    let [free, idle] = ["free", "idle"].map(|title| bench.issue(title));
    set_state(&bench, &idle, "in_progress");
    let status = &bench.jit(&["--json", "status"]).ok().json()["status"];
    assert_eq!((&status["issues"], &status["states"]["ready"]), (&3.into(), &2.into()));
    assert_eq!(status["available"], serde_json::json!([free]));
    assert_eq!(status["abandoned"], serde_json::json!([idle]));
    assert_eq!(status["leases"][0]["issue_id"], claimed.as_str());
    let text = bench.jit(&["status"]).ok().stdout;
    for part in
        ["3 issues: 2 ready, 1 in_progress", "1 available, 0 waiting", "agent:a (you)", "held by nobody"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\x1b'), "{text}");
}

/// Whatever lies in the place of an issue: it is named, it is not followed, and the rest is shown.
#[test]
fn what_is_no_issue_is_named_and_the_rest_is_shown() {
    let bench = Bench::new();
    let good = bench.issue("good");
    let bad: Vec<String> = (0..7).map(|n| bench.issue(&format!("bad {n}"))).collect();
    bench.git(&["add", "-A"], &bench.repo());
    let file = |n: usize| home(&bench, &bad[n]).join("issue.json");
    std::fs::write(file(0), "{\"title\":").unwrap();
    std::fs::copy(home(&bench, &good).join("issue.json"), file(1)).unwrap();
    std::fs::File::create(file(2)).unwrap().set_len(1 << 30).unwrap();
    let outside = bench.root().join("secret");
    std::fs::write(&outside, "the secret").unwrap();
    std::fs::remove_file(file(3)).unwrap();
    std::os::unix::fs::symlink(&outside, file(3)).unwrap();
    std::fs::remove_dir_all(home(&bench, &bad[4])).unwrap();
    std::os::unix::fs::symlink(home(&bench, &good), home(&bench, &bad[4])).unwrap();
    std::fs::remove_file(file(5)).unwrap();
    std::fs::create_dir(file(5)).unwrap();
    std::fs::write(home(&bench, &bad[6]).join("deps.or-set.jsonl"), "<<<<<<< ours\n").unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"01K8\xff\xfe");
    std::fs::create_dir(bench.repo().join(".jit/issues").join(odd)).unwrap();

    let listed = bench.jit(&["-q", "issue", "list"]).ok();
    assert_eq!(ids(&listed), [&good, &bad[6]]);
    for id in &bad {
        assert_eq!(listed.stderr.matches(&**id).count(), 1, "{id} {listed}");
    }
    for part in
        ["it is no issue", "says that its id is", "far too large", "symbolic link", "name is no id", "line 1"]
    {
        assert!(listed.stderr.contains(part), "{part}: {listed}");
    }
    assert!(!listed.stderr.contains("secret"), "{listed}");
    for id in &bad[..6] {
        let refused = bench.jit(&["--json", "issue", "show", id]).fails(10);
        assert_eq!(refused.json()["error"]["code"], "BAD_FILE");
        assert!(refused.stderr.contains(&**id), "{refused}");
    }
    // Nobody knows what it waits for, so it is not offered.
    assert_eq!(ids(&bench.jit(&["-q", "query", "available"]).ok()), [&good]);

    // What was committed is shown in the place of what cannot be read.
    bench.git(&["commit", "-qm", "all of them, as they were"], &bench.repo());
    let listed = bench.jit(&["-q", "issue", "list"]).ok();
    assert_eq!(ids(&listed).len(), 8, "{listed}");
    let shown = bench.jit(&["--json", "issue", "show", &bad[3]]).ok();
    assert_eq!((&shown.json()["layer"], &shown.json()["issue"]["title"]), (&"head".into(), &"bad 3".into()));
    assert!(shown.stderr.contains("symbolic link"), "{shown}");
}

#[test]
fn what_was_deleted_here_does_not_come_back_from_the_commit() {
    let bench = Bench::new();
    let id = bench.issue("going");
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "x"], &bench.repo());
    bench.jit(&["claim", "acquire", &id]).ok();
    bench.jit(&["issue", "delete", &id]).ok();
    assert_eq!(bench.jit(&["-q", "issue", "list"]).ok().stdout, "");
    bench.jit(&["issue", "show", &id]).fails(3);
}

/// Everything below a directory: names, contents, links and times.
fn everything(directory: &Path, into: &mut Vec<(PathBuf, Vec<u8>, SystemTime)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stat = std::fs::symlink_metadata(&path).unwrap();
        let content = if stat.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        if stat.is_dir() {
            everything(&path, into);
        }
        into.push((path, content, stat.modified().unwrap()));
    }
}

#[test]
fn asking_changes_no_byte_anywhere() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let other = bench.issue("other");
    depend(&bench, &other, &[&id]);
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "x"], &bench.repo());
    std::fs::write(home(&bench, &other).join("issue.json"), "broken").unwrap();
    let linked = bench.worktree("linked");
    let look = || {
        let mut files = Vec::new();
        everything(bench.root(), &mut files);
        files.sort();
        files
    };
    let before = look();
    for at in [&bench.repo(), &linked] {
        for args in [
            &["status"][..],
            &["query", "all"],
            &["query", "available", "--label", "x"],
            &["query", "blocked"],
            &["issue", "list"],
            &["issue", "show", &id],
            &["issue", "show", &id[..24]],
            &["graph", "show", &id, "--show-claims"],
            &["graph", "downstream", &id],
            &["graph", "roots"],
            &["graph", "export"],
            &["search", "claimed"],
            &["schema"],
            &["completions", "bash"],
            &["man"],
        ] {
            bench.run_at("agent:a", args, at).ok();
            bench.run_at("agent:a", &[&["--json"], args].concat(), at).ok();
            bench.run_at("agent:a", &[&["-q"], args].concat(), at).ok();
        }
    }
    let after = look();
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert!(before == after, "{} changed", before.0.display());
    }
}

#[test]
fn every_shell_and_every_command_has_its_text() {
    let bench = Bench::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.run_at("agent:a", &["completions", shell], bench.root()).ok().stdout;
        assert!(script.contains("available") && script.contains("force-evict"), "{shell}");
    }
    let page = bench.run_at("agent:a", &["man", "claim", "acquire"], bench.root()).ok().stdout;
    assert!(page.contains(".TH jit-claim-acquire 1") && page.contains("SECONDS"), "{page}");
    bench.run_at("agent:a", &["man", "no", "such"], bench.root()).fails(2);
}

/// Whoever names one issue among thousands does not look at all of them, and the name still leads there.
#[test]
fn a_handle_among_many_is_longer_and_leads_to_its_issue() {
    let bench = Bench::new();
    let folder = bench.repo().join(".jit/issues");
    // What is no issue makes a directory large as well, and costs less.
    for number in 0..1_500 {
        std::fs::write(folder.join(format!(".{number}-{}", "x".repeat(200))), "").unwrap();
    }
    if folder.metadata().unwrap().len() <= 128 << 10 {
        println!("not shown: the size of a directory does not tell here how much is in it");
        return;
    }
    let created = bench.jit(&["--json", "issue", "create", "--title", "one of many"]).ok().json();
    let handle = created["issue"]["handle"].as_str().unwrap().to_owned();
    assert_eq!(handle.len(), 8, "{created}");
    let shown = bench.jit(&["--json", "show", &handle]).ok().json();
    assert_eq!(shown["issue"]["id"], created["issue"]["id"]);
}
