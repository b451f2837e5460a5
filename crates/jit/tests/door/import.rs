//! Issues that come from elsewhere and go there.

use std::process::Stdio;

use holdfast_trial::Answer;
use serde_json::{Value, json};

use crate::bench::Bench;

/// What beads writes, shortened to what differs.
const BEADS: &str = r#"
{"id":"bd-1","title":"Log in","status":"open","priority":0,"issue_type":"epic","created_at":"2025-01-01T00:00:00Z","updated_at":"2025-01-01T00:00:00Z"}
{"id":"bd-1.1","title":"Form","description":"A form","status":"in_progress","priority":2,"issue_type":"feature","labels":["ui"],"created_at":"2025-01-02T00:00:00Z","updated_at":"2025-01-03T00:00:00Z","dependencies":[{"issue_id":"bd-1.1","depends_on_id":"bd-1","type":"parent-child"},{"issue_id":"bd-1.1","depends_on_id":"bd-2","type":"blocks"}]}
{"id":"bd-2","title":"Choose a library","status":"closed","close_reason":"chosen","priority":3,"issue_type":"task","created_at":"2025-01-02T00:00:00Z","updated_at":"2025-01-02T00:00:00Z","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-9","type":"blocks"}]}
{"id":"bd-2","title":"Choose a library, later","status":"closed","priority":3,"issue_type":"task","created_at":"2025-01-02T00:00:00Z","updated_at":"2025-01-05T00:00:00Z"}
{"id":"bd-3","title":"Gone","status":"tombstone"}
"#;

fn file(bench: &Bench, text: &str) -> String {
    let path = bench.root().join("in.jsonl");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn by_title(bench: &Bench) -> std::collections::BTreeMap<String, Value> {
    let lines = bench.jit(&["export"]).ok().stdout;
    let issues = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    issues.map(|issue| (issue["title"].as_str().unwrap().to_owned(), issue)).collect()
}

#[test]
fn users_of_beads_can_move() {
    let bench = Bench::new();
    let import = ["--json", "import", &file(&bench, BEADS)];
    let done = bench.jit(&import).ok();
    assert_eq!(done.json()["imported"]["created"].as_array().unwrap().len(), 3, "{done}");
    assert!(done.stderr.contains("twice"), "{done}");
    let issues = by_title(&bench);
    let (epic, form, library) = (&issues["Log in"], &issues["Form"], &issues["Choose a library, later"]);
    assert_eq!(
        (&epic["type"], &epic["priority"], &epic["state"]),
        (&json!("epic"), &json!("critical"), &json!("ready"))
    );
    assert_eq!(epic["dependencies"], json!([form["id"]]), "an epic waits for its parts");
    assert_eq!(form["dependencies"], json!([library["id"]]));
    assert_eq!((&form["labels"], &form["state"]), (&json!(["feature", "ui"]), &json!("in_progress")));
    assert_eq!((&library["state"], &library["metadata"]["beads"]["id"]), (&json!("done"), &json!("bd-2")));
    bench.jit(&["validate", "all"]).ok();
    let again = bench.jit(&import).ok().json();
    assert_eq!(again["imported"]["unchanged"].as_array().unwrap().len(), 3, "{again}");
    assert_eq!(again["imported"]["created"], json!([]));
}

#[test]
fn what_is_exported_comes_back_the_same() {
    let bench = Bench::new();
    bench.jit(&["gate", "define", "g", "--manual"]).ok();
    let (first, _) = bench.claimed("agent:a");
    let create =
        ["-q", "issue", "create", "--title", "then", "--label", "ui", "--gate", "g", "--depends-on", &first];
    let then = bench.jit(&create).ok().stdout.trim().to_owned();
    bench.jit(&["claim", "acquire", &then]).ok();
    bench.jit(&["issue", "update", &first, "--state", "done", "--description", "two\nlines"]).ok();
    bench.jit(&["gate", "pass", &then, "g"]).ok();
    bench.jit(&["issue", "update", &then, "--state", "done"]).ok();
    let exported = bench.jit(&["export"]).ok().stdout;

    let other = Bench::new();
    other.jit(&["gate", "define", "g", "--manual"]).ok();
    let mut import = other.command("agent:a", &["import", "-"], &other.repo());
    let mut child =
        import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), exported.as_bytes()).unwrap();
    Answer::from(child.wait_with_output().unwrap()).ok();
    assert_eq!(other.jit(&["export"]).ok().stdout, exported);
    other.jit(&["validate", "all"]).ok();
}

#[test]
fn notes_that_cannot_be_looked_for_are_not_left_out() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    bench.jit(&["note", &id, "mind the gap"]).ok();
    let (notes, aside) = (bench.control("notes"), bench.control("aside"));
    std::fs::rename(&notes, &aside).unwrap();
    std::os::unix::fs::symlink(&notes, &notes).unwrap();
    let refused = bench.jit(&["export"]);
    assert!(refused.code != Some(0) && refused.stdout.is_empty(), "{refused}");
    std::fs::remove_file(&notes).unwrap();
    std::fs::rename(&aside, &notes).unwrap();
    assert!(bench.jit(&["export"]).ok().stdout.contains("mind the gap"));
}

#[test]
fn what_cannot_be_imported_is_named_and_nothing_is() {
    let bench = Bench::new();
    let good = r#"{"id":"bd-1","title":"t","status":"open"}"#;
    let circle = r#"{"id":"a","title":"t","status":"open","dependencies":[{"depends_on_id":"b","type":"blocks"}]}
{"id":"b","title":"t","status":"open","dependencies":[{"depends_on_id":"a","type":"blocks"}]}"#;
    let own = |rest: &str| {
        let id = "01K0000000000000000000000A";
        let moments = r#""created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z""#;
        format!(r#"{{"id":"{id}","title":"t","state":"ready",{moments},{rest}}}"#)
    };
    let foreign = |rest: &str| format!(r#"{{"id":"bd-2","title":"t","status":"open",{rest}}}"#);
    let cases = [
        (own(r#""labels":"ui""#), "labels are not a list"),
        (own(r#""labels":["ui",5]"#), "labels are not all text"),
        (own(r#""dependencies":{}"#), "dependencies are not a list"),
        (foreign(r#""labels":{"ui":true}"#), "labels are not a list"),
        (foreign(r#""dependencies":[{"type":"blocks"}]"#), "names no issue"),
        (foreign(r#""priority":"high""#), "priority is not a number"),
        (foreign(r#""description":["a"]"#), "description is not text"),
        (format!("{good}\nnot json"), "line 2"),
        (format!("{good}\n[1]"), "line 2"),
        (format!("{good}\n{{\"name\":1}}"), "no issue of jit"),
        (
            r#"{"id":"../../x","title":"t","state":"ready","created_at":"a","updated_at":"b"}"#.to_owned(),
            "not the id",
        ),
        (r#"{"id":"x","title":"a\u001b[31mb","status":"open"}"#.to_owned(), "line 1"),
        (circle.to_owned(), "cycle"),
    ];
    for (text, why) in cases {
        let refused = bench.jit(&["import", &file(&bench, &text)]).fails(6);
        assert!(refused.stderr.contains(why), "{text}: {refused}");
        assert!(!refused.stderr.contains('\x1b'));
    }
    assert_eq!(bench.jit(&["export"]).ok().stdout, "");
    bench.jit(&["import", "none.jsonl"]).fails(10);
}

#[test]
fn what_comes_finished_waits_for_nothing_that_is_not() {
    let bench = Bench::new();
    let line = |id: &str, state: &str, on: &str| {
        let dependencies = if on.is_empty() { json!([]) } else { json!([on]) };
        json!({
            "id": id, "title": format!("{state} {id}"), "state": state, "dependencies": dependencies,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        })
    };
    let ids = ["01K0000000000000000000000A", "01K0000000000000000000000B", "01K0000000000000000000000C"];
    let lines = [line(ids[0], "ready", ""), line(ids[1], "done", ids[0]), line(ids[2], "done", ids[1])];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let import = ["--json", "import", &file(&bench, &text)];
    let done = bench.jit(&import).ok();
    assert!(done.stderr.contains("is done, but") && done.stderr.contains("left out"), "{done}");
    let issues = by_title(&bench);
    let of = |title: &str| issues[title]["dependencies"].clone();
    assert_eq!(of(&format!("done {}", ids[1])), json!([]));
    assert_eq!(of(&format!("done {}", ids[2])), json!([ids[1]]));
    let again = bench.jit(&import).ok().json();
    assert_eq!(again["imported"]["unchanged"].as_array().unwrap().len(), 3, "{again}");
}

/// What `gh issue list --json` prints, shortened.
const FORGE: &str = r#"[
 {"number":7,"title":"Log in","body":"With a form","state":"OPEN","labels":[{"name":"good first issue"}],
  "assignees":[{"login":"ann"}],"createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-02T00:00:00Z",
  "url":"https://example.org/r/issues/7"},
 {"number":8,"title":"Log out","body":"","state":"CLOSED","labels":[],"assignees":[],
  "createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-02T00:00:00Z","url":"https://example.org/r/issues/8"}
]"#;

#[test]
fn the_issues_of_a_forge_can_move() {
    let bench = Bench::new();
    let import = ["--json", "import", &file(&bench, FORGE)];
    let done = bench.jit(&import).ok().json();
    assert_eq!(done["imported"]["created"].as_array().unwrap().len(), 2, "{done}");
    let issues = by_title(&bench);
    let (open, closed) = (&issues["Log in"], &issues["Log out"]);
    assert_eq!((&open["state"], &closed["state"]), (&json!("ready"), &json!("done")));
    assert_eq!((&open["labels"], &open["assignee"]), (&json!(["good-first-issue"]), &json!("ann")));
    assert_eq!(open["links"]["issue"], "https://example.org/r/issues/7");
    assert_eq!((&open["description"], &open["metadata"]["number"]), (&json!("With a form"), &json!(7)));
    let again = bench.jit(&import).ok().json();
    assert_eq!(again["imported"]["unchanged"].as_array().unwrap().len(), 2, "{again}");
    for bad in
        ["[{\"title\":\"\"}]", "[{\"body\":\"x\"}]", "[1]", "[{\"title\":\"x\",\"createdAt\":\"soon\"}]", "["]
    {
        bench.jit(&["import", &file(&bench, bad)]).fails(6);
    }
    assert_eq!(by_title(&bench).len(), 2, "nothing is half imported");
}

#[test]
fn titles_are_enough_and_come_once() {
    let bench = Bench::new();
    let lines = "{\"title\":\"one\"}\n{\"title\":\"two\",\"description\":\"more\"}\n{\"title\":\"one\"}\n";
    let import = ["--json", "import", &file(&bench, lines)];
    let done = bench.jit(&import).ok().json();
    assert_eq!(done["imported"]["created"].as_array().unwrap().len(), 3, "two of one title are two: {done}");
    assert_eq!(by_title(&bench)["two"]["description"], "more");
    let again = bench.jit(&import).ok().json();
    assert_eq!(again["imported"]["created"], json!([]), "{again}");
}

#[test]
fn what_else_a_line_without_an_id_says_has_its_place() {
    let bench = Bench::new();
    let line = r#"{"title":"one","state":"backlog","priority":"high","type":"epic","labels":["ui"]}"#;
    bench.jit(&["import", &file(&bench, line)]).ok();
    let one = &by_title(&bench)["one"];
    assert_eq!(
        (&one["state"], &one["priority"], &one["type"]),
        (&json!("backlog"), &json!("high"), &json!("epic"))
    );
    assert_eq!((&one["labels"], &one["metadata"]), (&json!(["ui"]), &Value::Null));
    for (bad, why) in [
        (r#""state":"doing""#, "its state 'doing'"),
        (r#""priority":"urgent""#, "its priority 'urgent'"),
        (r#""priority":1"#, "its priority is not a word"),
        (r#""type":"saga""#, "'saga' is not a type"),
    ] {
        let line = format!("{{\"title\":\"two\",{bad}}}");
        let told = bench.jit(&["import", &file(&bench, &line)]).fails(6);
        assert!(told.stderr.contains(why), "{told}");
    }
    assert_eq!(by_title(&bench).len(), 1, "nothing is half imported");
}

#[test]
fn notes_are_exported_and_come_back() {
    let (from, to) = (Bench::new(), Bench::new());
    let id = from.issue("work");
    from.jit(&["note", &id, "look here"]).ok();
    let lines = from.jit(&["export"]).ok().stdout;
    assert_eq!(lines, from.jit(&["export", &id]).ok().stdout);
    let import = ["import", &file(&to, &lines)];
    to.jit(&import).ok();
    to.jit(&import).ok();
    assert_eq!(to.jit(&["export"]).ok().stdout, lines);
    let shown = to.jit(&["--json", "show", &id]).ok().json();
    assert_eq!(shown["notes"].as_array().unwrap().len(), 1);
    assert_eq!(shown["notes"][0]["text"], "look here");
    let note = shown["notes"][0]["id"].as_str().unwrap();
    let hostile = lines.replace(note, "../../x");
    assert_ne!(hostile, lines);
    let other =
        lines.replace(&format!("\"issue_id\":\"{id}\""), "\"issue_id\":\"01K8ZZZZZZ0000000000000001\"");
    for bad in [hostile, other] {
        to.jit(&["import", &file(&to, &bad)]).fails(6);
    }
}

/// Runs a command; gives what it said, and how often it had to wait for the disk.
fn flushing(bench: &Bench, args: &[&str]) -> (Answer, usize) {
    let log = bench.root().join("calls");
    let mut strace = bench.dressed(std::process::Command::new("strace"));
    strace.args(["-f", "-qq", "-o", log.to_str().unwrap(), "-e", "trace=fsync,fdatasync,syncfs"]);
    strace.arg(crate::bench::JIT).args(args).env("JIT_AGENT_ID", "agent:a").current_dir(bench.repo());
    let done = Answer::from(strace.output().unwrap()).ok();
    let calls = std::fs::read_to_string(&log).unwrap();
    (done, calls.lines().filter(|line| line.contains("sync")).count())
}

/// Many issues take a few flushes, not some for each.
#[test]
fn many_issues_take_few_flushes() {
    if !holdfast_trial::has("strace") {
        return;
    }
    const MANY: usize = 600;
    let bench = Bench::new();
    bench.issue("so that everything is there that is made once");
    let lines: String = (0..MANY).map(|number| format!("{{\"title\":\"issue {number}\"}}\n")).collect();
    let path = file(&bench, &lines);
    let (done, flushes) = flushing(&bench, &["import", &path]);
    assert!(done.stdout.starts_with("600 created"), "{done}");
    assert!(flushes < 40, "{flushes} flushes");
    let again = bench.jit(&["import", &path]).ok();
    assert!(again.stdout.contains("0 created, 0 updated, 600 unchanged"), "{again}");
    // A change of many takes few, too.
    bench.jit(&["config", "set", "worktree.enforce_leases", "off"]).ok();
    let names = std::fs::read_dir(bench.repo().join(".jit/issues")).unwrap();
    let ids: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let ids = ids.iter().take(200).map(String::as_str);
    let update: Vec<&str> = ["issue", "update", "--priority", "high"].into_iter().chain(ids).collect();
    let (done, flushes) = flushing(&bench, &update);
    assert_eq!(done.stdout.lines().filter(|line| line.starts_with("updated")).count(), 200, "{done}");
    assert!(flushes < 60, "{flushes} flushes");
}

/// The file, the directory that all issues are in, the event.
#[test]
fn one_issue_takes_three_flushes() {
    if !holdfast_trial::has("strace") {
        return;
    }
    let bench = Bench::new();
    bench.issue("so that everything is there that is made once");
    let (done, flushes) = flushing(&bench, &["issue", "create", "--title", "one more"]);
    assert_eq!(flushes, 3, "{done}");
    let events = bench.jit(&["log", "--json"]).ok();
    assert_eq!(events.stdout.matches("one more").count(), 1, "{events}");
    let names = |at: &std::path::Path| -> Vec<_> {
        std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    for issue in names(&bench.repo().join(".jit/issues")) {
        assert_eq!(names(&issue), [issue.join("issue.json")], "nothing else is left");
    }
}
