//! Issues merged by git itself, with the driver that the hooks bring.

use serde_json::{Value, json};

use crate::stage::{Agent, Stage};

fn read(agent: &Agent<'_>, issue: &str) -> Value {
    serde_json::from_slice(&std::fs::read(agent.file(issue)).unwrap()).unwrap()
}

/// Two branches that changed these fields of one issue.
fn branches(stage: &Stage, ours: Value, theirs: Value) -> String {
    let main = stage.main();
    main.config("[worktree]\nenforce_leases = \"off\"\n");
    main.commit("off").ok();
    let issue = stage.issue("work");
    for (branch, fields) in [("theirs", theirs), ("ours", ours)] {
        main.git(&["checkout", "-q", "-b", branch, "main"]).ok();
        main.edit(&issue, fields);
        main.commit(branch).ok();
    }
    issue
}

#[test]
fn both_sides_keep_what_they_changed() {
    let stage = Stage::new();
    let ours = json!({"title": "ours", "later": {"kept": true}});
    let theirs = json!({"priority": "high", "description": "theirs"});
    let issue = branches(&stage, ours, theirs);
    let main = stage.main();
    main.git(&["merge", "-q", "--no-edit", "theirs"]).ok();
    let merged = read(&main, &issue);
    assert_eq!((&merged["title"], &merged["priority"]), (&json!("ours"), &json!("high")));
    assert_eq!((&merged["later"]["kept"], &merged["description"]), (&json!(true), &json!("theirs")));
    main.jit(&["issue", "show", &issue]).ok();
}

#[test]
fn the_higher_fence_wins() {
    let stage = Stage::new();
    let at = |title: &str, fence: u64| json!({"title": title, "fence": fence, "fence_log": "L"});
    let issue = branches(&stage, at("ours", 5), at("theirs", 7));
    let main = stage.main();
    main.git(&["merge", "-q", "--no-edit", "theirs"]).ok();
    assert_eq!(read(&main, &issue)["title"], "theirs");
    assert_eq!(read(&main, &issue)["fence"], 7);
}

#[test]
fn what_fences_cannot_decide_is_marked_as_git_marks_it() {
    let stage = Stage::new();
    let issue = branches(&stage, json!({"title": "ours"}), json!({"title": "theirs"}));
    let main = stage.main();
    let merged = main.git(&["merge", "-q", "--no-edit", "theirs"]);
    assert!(merged.stdout.contains("CONFLICT"), "{merged}");
    let text = std::fs::read_to_string(main.file(&issue)).unwrap();
    let marked = "<<<<<<< ours\n  \"title\": \"ours\",\n=======\n  \"title\": \"theirs\",\n>>>>>>> theirs\n";
    assert!(text.contains(marked), "{text}");
    let unmerged = main.git(&["diff", "--name-only", "--diff-filter=U"]).ok();
    assert_eq!(unmerged.line(), format!(".jit/issues/{issue}/issue.json"));
}

#[test]
fn lines_of_sets_and_events_are_all_kept() {
    let stage = Stage::new();
    let main = stage.main();
    let issue = stage.issue("work");
    main.config("[worktree]\nenforce_leases = \"off\"\n");
    main.commit("off").ok();
    let paths = [format!(".jit/issues/{issue}/labels.or-set.jsonl"), ".jit/events/local.jsonl".to_owned()];
    for branch in ["theirs", "ours"] {
        main.git(&["checkout", "-q", "-b", branch, "main"]).ok();
        for path in &paths {
            std::fs::create_dir_all(main.dir.join(path).parent().unwrap()).unwrap();
            std::fs::write(main.dir.join(path), format!("{{\"id\":\"{branch}\"}}\n")).unwrap();
        }
        main.commit(branch).ok();
    }
    main.git(&["merge", "-q", "--no-edit", "theirs"]).ok();
    for path in &paths {
        let mut lines: Vec<String> =
            std::fs::read_to_string(main.dir.join(path)).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines, ["{\"id\":\"ours\"}", "{\"id\":\"theirs\"}"], "{path}");
    }
    let cache = main.git(&["check-attr", "binary", "merge", "--", ".jit/cache/x.db"]).ok();
    assert!(cache.stdout.contains("binary: set"), "{cache}");
}

#[test]
fn a_file_that_is_no_issue_is_merged_line_by_line() {
    let stage = Stage::new();
    let main = stage.main();
    let issue = branches(&stage, json!({}), json!({}));
    main.git(&["checkout", "-q", "main"]).ok();
    std::fs::write(main.file(&issue), "a\nb\nc\nd\ne\n").unwrap();
    main.commit("no issue").ok();
    for (branch, text) in [("x", "A\nb\nc\nd\ne\n"), ("y", "a\nb\nc\nd\nE\n")] {
        main.git(&["checkout", "-q", "-b", branch, "main"]).ok();
        std::fs::write(main.file(&issue), text).unwrap();
        main.commit(branch).ok();
    }
    main.git(&["merge", "-q", "--no-edit", "x"]).ok();
    assert_eq!(std::fs::read_to_string(main.file(&issue)).unwrap(), "A\nb\nc\nd\nE\n");
}

#[test]
fn attributes_that_are_there_stay() {
    let stage = Stage::empty();
    stage.run("git", "a", &["init", "-q", "repo"], &stage.path("")).ok();
    let main = stage.main();
    std::fs::create_dir(main.dir.join(".jit")).unwrap();
    std::fs::write(main.dir.join(".jit/.gitattributes"), "mine\n").unwrap();
    std::fs::write(main.dir.join(".gitattributes"), "*.jsonl binary\n").unwrap();
    main.jit(&["init"]).ok();
    assert_eq!(std::fs::read_to_string(main.dir.join(".jit/.gitattributes")).unwrap(), "mine\n");
    assert_eq!(std::fs::read_to_string(main.dir.join(".gitattributes")).unwrap(), "*.jsonl binary\n");
}

#[test]
fn lines_of_a_description_that_both_changed_are_kept_and_named_until_somebody_resolves_them() {
    let stage = Stage::new();
    let said = |text: &str, fence: u64| json!({"description": text, "fence": fence, "fence_log": "L"});
    let issue = branches(&stage, said("begin\nours\nend", 5), said("begin\ntheirs\nend", 7));
    let main = stage.main();
    main.git(&["merge", "-q", "--no-edit", "theirs"]).ok();
    let merged = read(&main, &issue);
    let text = merged["description"].as_str().unwrap();
    assert!(
        text.contains("ours") && text.contains("theirs") && text.contains("<<<<<<< one version"),
        "{text}"
    );
    assert_eq!((&merged["conflict"], &merged["fence"]), (&json!("description"), &json!(7)));
    let found = main.jit(&["validate", "all"]);
    assert!(found.code == Some(7) && found.stdout.contains("jit edit"), "{found}");
    assert!(main.jit(&["show", &issue]).ok().stdout.contains("two versions of the description"));
    main.jit(&["issue", "update", &issue, "--description", &format!("{text}\nand more")]).ok();
    assert_eq!(read(&main, &issue)["conflict"], "description", "the marks are still there");
    main.jit(&["issue", "update", &issue, "--description", "begin\nboth\nend"]).ok();
    assert_eq!(read(&main, &issue).get("conflict"), None);
    main.jit(&["validate", "all"]).ok();
}
