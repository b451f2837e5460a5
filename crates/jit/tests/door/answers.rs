//! What programs get is what `jit schema` says: real output of every command is held to it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use holdfast_trial::etcd::Cluster;
use holdfast_trial::{Answer, until};
use serde_json::Value;

use crate::bench::Bench;
use crate::schema::fits;

/// Runs commands and holds what they answer to their schemas.
struct Reader {
    bench: Bench,
    schemas: Value,
    held: BTreeSet<String>,
}

impl Reader {
    fn new() -> Self {
        let bench = Bench::new();
        let schemas = bench.jit(&["schema"]).ok().json()["schemas"].clone();
        Self { bench, schemas, held: BTreeSet::new() }
    }

    fn hold(&mut self, name: &str, answer: &Answer) -> Value {
        let document = answer.json();
        fits(&document, &self.schemas[name], name);
        self.held.insert(name.to_owned());
        document
    }

    /// The answer to a command, whatever its exit code is.
    fn ask(&mut self, args: &[&str]) -> Value {
        let name = self.name(args);
        let answer = self.bench.jit(&[&["--json"], args].concat());
        self.hold(&name, &answer)
    }

    /// What is said of a command that fails.
    fn fails(&mut self, args: &[&str]) {
        let answer = self.bench.jit(&[&["--json"], args].concat());
        self.hold("error", &answer);
    }

    /// The command among what was typed.
    fn name(&self, args: &[&str]) -> String {
        let known = |words: &usize| self.schemas.get(args[..*words].join(" ")).is_some();
        let words = [2, 1].into_iter().filter(|words| args.len() >= *words).find(known);
        args[..words.unwrap_or_else(|| panic!("{args:?} has no schema"))].join(" ")
    }

    fn make(&self, args: &[&str]) -> String {
        self.bench.jit(&[&["-q", "issue", "create"], args].concat()).ok().stdout.trim().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.bench.repo().join(name), text).unwrap();
    }
}

#[test]
fn real_output_fits_the_schema() {
    let mut reader = Reader::new();
    asks_about_issues(&mut reader);
    changes_issues(&mut reader);
    changes_gates_and_documents(&mut reader);
    changes_claims(&mut reader);
    reserves_and_splits(&mut reader);
    begins_and_finishes(&mut reader);
    changes_settings(&mut reader);
    looks_for_problems(&mut reader);
    is_called_by_git(&mut reader);
    keeps_claims_alive(&mut reader);
    moves_issues(&mut reader);
    shares_claims(&mut reader);
    runs_commands(&mut reader);
    let mut known: BTreeSet<String> = reader.schemas.as_object().unwrap().keys().cloned().collect();
    // It takes seconds, and has a test of its own that does this as well.
    known.remove("demo");
    // Its answers are the protocol's.
    known.remove("mcp");
    // Each of its lines is a document of its own; its tests read them.
    known.remove("watch");
    // It is another program, whose own tests read what it says.
    known.remove("serve");
    known.remove("board");
    // It talks to `jit run` alone.
    known.remove("guardian");
    assert_eq!(reader.held, known, "every schema is held to real output");
}

fn reserves_and_splits(reader: &mut Reader) {
    let (one, two) = (reader.make(&["--title", "one"]), reader.make(&["--title", "two"]));
    reader.ask(&["claim", "acquire", &one, &two]);
    reader.ask(&["reserve", "add", "src/**", "--issue", &one, "--reason", "work"]);
    reader.ask(&["reserve", "add", "docs/*.md", "--alone", "--shared"]);
    reader.ask(&["reserve", "list"]);
    reader.ask(&["reserve", "check", "src/x.rs"]);
    reader.ask(&["claim", "list", "--kind", "all"]);
    reader.ask(&["claim", "history"]);
    reader.ask(&["status"]);
    reader.ask(&["split", &one, "--into", "a part", "another part"]);
    reader.ask(&["issue", "show", &one]);
    reader.ask(&["list", "--parent", &one]);
    reader.ask(&["reserve", "release", "docs/*.md"]);
    reader.ask(&["reserve", "release", "--all"]);
    reader.fails(&["reserve", "add", "/rooted"]);
    for issue in [&one, &two] {
        reader.bench.jit(&["claim", "release", issue]).ok();
    }
}

fn asks_about_issues(reader: &mut Reader) {
    reader.ask(&["init"]);
    let first = reader.make(&["--title", "t", "--description", "d", "--label", "l,m"]);
    let second = reader.make(&["--title", "u", "--depends-on", &first]);
    reader.make(&["--title", "v"]);
    reader.ask(&["claim", "acquire", &first, "--ttl", "0", "--reason", "long"]);
    reader.bench.jit(&["issue", "update", &first, "--assignee", "agent:z"]).ok();
    reader.ask(&["claim", "next"]);
    reader.ask(&["claim", "list"]);
    reader.ask(&["claim", "status", "--issue", &first]);
    reader.ask(&["claim", "history"]);
    reader.fails(&["claim", "next", "--label", "none"]);
    reader.fails(&["nonsense"]);
    reader.fails(&["issue", "show", "01K"]);
    reader.ask(&["graph", "downstream", &first]);
    reader.ask(&["graph", "show", &second, "--show-claims"]);
    reader.ask(&["graph", "roots"]);
    reader.ask(&["graph", "export"]);
    reader.ask(&["graph", "export", "--format", "dot"]);
    reader.ask(&["issue", "list"]);
    reader.ask(&["issue", "show", &first]);
    reader.ask(&["issue", "show", &second]);
    reader.ask(&["query", "all"]);
    reader.ask(&["query", "available"]);
    reader.ask(&["query", "blocked"]);
    reader.ask(&["search", "d"]);
    reader.ask(&["status"]);
    reader.ask(&["prime"]);
    reader.ask(&["setup", "claude", "--dry-run"]);
    reader.ask(&["schema"]);
    let one = reader.bench.jit(&["schema", "issue", "show"]).ok().json();
    assert_eq!(one, reader.schemas["issue show"]);
    reader.fails(&["schema", "nonsense"]);
    reader.ask(&["completions", "bash"]);
    reader.ask(&["man", "issue", "show"]);
}

fn changes_issues(reader: &mut Reader) {
    let (one, _) = reader.bench.claimed("agent:a");
    let (two, _) = reader.bench.claimed("agent:a");
    reader.ask(&["issue", "create", "--title", "w", "--type", "epic"]);
    reader.ask(&["issue", "create", "--title", "x", "--claim"]);
    reader.ask(&["claim", "create", "--title", "y"]);
    reader.ask(&["issue", "update", &one, "--title", "z", "--assignee", "b"]);
    reader.ask(&["issue", "update", &one, &two, "--priority", "low"]);
    reader.ask(&["label", "add", &one, "ui"]);
    reader.ask(&["label", "rm", &one, "ui"]);
    let added = reader.ask(&["dep", "add", &one, &two]);
    assert_eq!((&added["changed"], &added["added"][0]), (&true.into(), &two.as_str().into()));
    let removed = reader.ask(&["dep", "rm", &one, &two]);
    assert_eq!((&removed["changed"], &removed["removed"][0]), (&true.into(), &two.as_str().into()));
    let again = reader.ask(&["dep", "rm", &one, &two]);
    assert_eq!((&again["changed"], again["removed"].as_array().unwrap().len()), (&false.into(), 0));
    reader.bench.jit(&["dep", "add", &two, &one]).ok();
    reader.ask(&["issue", "delete", &one]);
}

fn changes_gates_and_documents(reader: &mut Reader) {
    let (id, _) = reader.bench.claimed("agent:a");
    reader.ask(&["gate", "define", "review", "--manual", "--title", "read"]);
    reader.ask(&["gate", "define", "tests", "--command", "echo bad; exit 3", "--timeout", "60"]);
    reader.ask(&["gate", "list"]);
    reader.ask(&["gate", "show", "tests"]);
    reader.ask(&["gate", "add", &id, "review", "tests"]);
    reader.ask(&["gate", "pass", &id, "review", "--note", "fine"]);
    reader.ask(&["gate", "fail", &id, "review"]);
    let checked = reader.ask(&["gate", "check", &id]);
    assert_eq!((&checked["passed"], &checked["gates"][1]["exit_code"]), (&false.into(), &3.into()));
    reader.ask(&["gate", "report", &id, "tests", "--status", "failed"]);
    reader.ask(&["gate", "status", &id]);
    reader.ask(&["gate", "remove", &id, "review"]);
    reader.write("note.md", "text\n");
    reader.ask(&["doc", "add", &id, "note.md", "--label", "design"]);
    reader.ask(&["doc", "list", &id]);
    reader.ask(&["doc", "show", &id, "note.md"]);
    reader.bench.git(&["add", "note.md"], &reader.bench.repo());
    reader.bench.git(&["commit", "-q", "-m", "note"], &reader.bench.repo());
    let history = reader.ask(&["doc", "history", &id, "note.md"]);
    assert_eq!(history["count"], 1);
    let exported = reader.ask(&["export"]);
    assert!(exported["issues"].as_array().unwrap().iter().any(|issue| issue["gate_results"].is_object()));
    reader.ask(&["doc", "remove", &id, "note.md"]);
}

fn changes_claims(reader: &mut Reader) {
    let other = reader.bench.worktree("other");
    let other = reader.bench.run_at("agent:b", &["-q", "worktree", "init"], &other).ok().stdout;
    let (_, lease) = reader.bench.claimed("agent:a");
    reader.ask(&["claim", "renew", &lease]);
    reader.ask(&["claim", "release", &lease]);
    let (_, lease) = reader.bench.claimed("agent:a");
    let args = ["--to-agent", "agent:b", "--to-worktree", other.trim(), "--reason", "end of shift"];
    reader.ask(&[&["claim", "transfer", &lease], &args[..]].concat());
    let (id, _) = reader.bench.claimed("agent:b");
    reader.ask(&["claim", "force-evict", &id, "--reason", "gone"]);
    reader.bench.config("[policy]\nforce_evict = \"approved\"\napprovers = [\"agent:*\"]\n");
    let (id, _) = reader.bench.claimed("agent:b");
    reader.bench.run("agent:c", &["claim", "force-evict", &id, "--reason", "gone"]).fails(4);
    reader.ask(&["claim", "requests"]);
    reader.ask(&["claim", "approve", &id]);
    reader.bench.config("");
    reader.ask(&["claim", "adopt", "HEAD", "--reason", "made on the web"]);
    let (_, lease) = reader.bench.claimed("agent:a");
    reader.bench.jit(&["claim", "release", &lease]).ok();
    let id = reader.make(&["--title", "long"]);
    reader.bench.jit(&["claim", "acquire", &id, "--ttl", "0", "--reason", "long"]).ok();
    reader.ask(&["claim", "heartbeat", &id]);
    reader.ask(&["claim", "history", "--issue", &id]);
    reader.ask(&["heartbeat", "status"]);
    reader.ask(&["worktree", "info"]);
    reader.ask(&["worktree", "init"]);
    reader.ask(&["worktree", "list"]);
    reader.ask(&["whoami"]);
    reader.ask(&["doctor"]);
    reader.ask(&["worktree", "add", "more", "--agent", "agent:more"]);
    reader.ask(&["worktree", "remove", "more"]);
    reader.ask(&["worktree", "prune"]);
}

fn begins_and_finishes(reader: &mut Reader) {
    reader.bench.git(&["commit", "-q", "--allow-empty", "-m", "begin"], &reader.bench.repo());
    let id = reader.ask(&["create", "--title", "short"])["issue"]["id"].as_str().unwrap().to_owned();
    reader.ask(&["list"]);
    reader.ask(&["ready"]);
    reader.ask(&["show", &id]);
    reader.ask(&["note", &id, "a note"]);
    reader.ask(&["next"]);
    reader.ask(&["start", &id]);
    let mut edit = reader.bench.command("agent:a", &["--json", "edit", &id], &reader.bench.repo());
    let answer = Answer::from(edit.env("EDITOR", "true").output().unwrap());
    reader.hold("edit", &answer);
    reader.ask(&["log", &id]);
    reader.ask(&["drop", &id]);
    reader.ask(&["start", &id]);
    reader.write("work", "done");
    reader.bench.git(&["add", "work"], &reader.bench.repo());
    reader.ask(&["finish", &id, "--leave", "-m", "Short"]);
    reader.ask(&["reopen", &id]);
    reader.ask(&["close", &id, "--as", "rejected"]);
    reader.ask(&["land", "--all"]);
    reader.ask(&["sync"]);
}

fn changes_settings(reader: &mut Reader) {
    reader.ask(&["config", "show"]);
    reader.ask(&["config", "set", "coordination.default_ttl_secs", "700"]);
    reader.ask(&["config", "get", "coordination.default_ttl_secs"]);
    reader.ask(&["config", "get", "types.hierarchy"]);
    reader.ask(&["config", "reset", "coordination.default_ttl_secs"]);
    reader.ask(&["config", "show-hierarchy"]);
    reader.ask(&["config", "validate"]);
    reader.bench.config("[coordination]\nnonsense = 1\n");
    let found = reader.ask(&["config", "validate"]);
    assert_eq!(found["problems"][0]["code"], "unknown_key");
    reader.ask(&["validate", "config"]);
    reader.fails(&["status"]);
    reader.bench.config("");
}

fn looks_for_problems(reader: &mut Reader) {
    reader.ask(&["validate", "all"]);
    reader.ask(&["validate", "leases"]);
    reader.ask(&["validate", "divergence"]);
    std::fs::write(reader.bench.control("claims.index.json"), "nonsense").unwrap();
    let log = reader.bench.control("claims.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{text}{{\"torn")).unwrap();
    let found = reader.ask(&["recover", "--dry-run"]);
    assert!(found["recovery"]["findings"].as_array().unwrap().len() > 1, "{found}");
    reader.ask(&["recover"]);
    reader.ask(&["recover"]);
}

fn is_called_by_git(reader: &mut Reader) {
    reader.ask(&["hooks", "install"]);
    reader.ask(&["hooks", "status"]);
    reader.ask(&["hooks", "uninstall"]);
    reader.write("message", "text\n");
    reader.ask(&["hook", "pre-commit"]);
    reader.ask(&["hook", "prepare-commit-msg", "message"]);
    reader.ask(&["hook", "commit-msg", "message"]);
    for args in [&["hook", "pre-push", "origin"][..], &["hook", "pre-receive"]] {
        let mut command = reader.bench.command("agent:a", &["--json"], &reader.bench.repo());
        let answer = Answer::from(command.args(args).stdin(Stdio::null()).output().unwrap());
        reader.hold(&args[..2].join(" "), &answer);
    }
    reader.ask(&["commit", "--allow-empty", "-m", "nothing"]);
    for name in ["base", "ours", "theirs"] {
        reader.write(name, &format!("{name}\n"));
    }
    let merged = reader.ask(&["merge-driver", "base", "ours", "theirs"]);
    assert_eq!(merged["merge"]["conflicts"], 1);
}

fn keeps_claims_alive(reader: &mut Reader) {
    let (_, lease) = reader.bench.claimed("agent:c");
    let args = ["--json", "heartbeat", "run", "--interval", "1"];
    let daemon = reader.bench.spawn("agent:c", &args, &reader.bench.repo());
    until("it has beaten", || reader.bench.jit(&["heartbeat", "status"]).ok().stdout.contains("agent:c"));
    reader.bench.run("agent:c", &["claim", "release", &lease]).ok();
    let answer = Answer::from(daemon.wait_with_output().unwrap()).ok();
    reader.hold("heartbeat run", &answer);
}

fn moves_issues(reader: &mut Reader) {
    let lines = reader.bench.jit(&["export"]).ok().stdout;
    reader.write("issues.jsonl", &lines);
    let elsewhere = reader.bench.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    reader.bench.run_at("agent:a", &["init"], &elsewhere).ok();
    let file = reader.bench.repo().join("issues.jsonl");
    let args = ["--json", "import", path(&file)];
    for changes in [true, false] {
        let answer = reader.bench.run_at("agent:a", &args, &elsewhere).ok();
        let document = reader.hold("import", &answer);
        assert_eq!(document["imported"]["created"].as_array().unwrap().is_empty(), !changes);
    }
}

fn shares_claims(reader: &mut Reader) {
    let at = reader.bench.root().join("shared");
    reader.bench.git(&["init", "-q", "--bare", "-b", "main", "server.git"], reader.bench.root());
    reader.bench.git(&["clone", "-q", "server.git", "shared"], reader.bench.root());
    reader.bench.git(&["switch", "-q", "-c", "main"], &at);
    reader.bench.run_at("agent:a", &["init"], &at).ok();
    reader.bench.git(&["add", "."], &at);
    reader.bench.git(&["commit", "-q", "-m", "begin"], &at);
    for name in [
        "push",
        "engine status",
        "engine check",
        "engine init git",
        "engine status",
        "engine check",
        "engine join",
    ] {
        let words: Vec<&str> = std::iter::once("--json").chain(name.split(' ')).collect();
        let answer = reader.bench.run_at("agent:a", &words, &at).ok();
        reader.hold(name, &answer);
    }
    for (name, rest) in [
        ("engine recover", &["--new-counter", "--reason", "tried"][..]),
        ("engine migrate", &["--to", "local"]),
    ] {
        let words: Vec<&str> =
            std::iter::once("--json").chain(name.split(' ')).chain(rest.iter().copied()).collect();
        let answer = reader.bench.run_at("agent:a", &words, &at).ok();
        reader.hold(name, &answer);
    }
    keeps_them_in_etcd(reader);
}

/// Where there is no etcd, the command that needs one is not held to anything.
fn keeps_them_in_etcd(reader: &mut Reader) {
    let name = "engine init etcd";
    let Some(cluster) = Cluster::start(reader.bench.root(), 1) else {
        reader.held.insert(name.to_owned());
        return;
    };
    let urls = cluster.urls();
    let init = ["--json", "engine", "init", "etcd", "--endpoints", &urls[0]];
    let answer = reader.bench.run_at("agent:a", &init, &reader.bench.root().join("shared")).ok();
    reader.hold(name, &answer);
}

fn runs_commands(reader: &mut Reader) {
    let id = reader.make(&["--title", "run"]);
    let run = ["--json", "run", &id, "--here", "--log", "--", "sh", "-c", "exit 3"];
    let ran = reader.bench.run("agent:runner", &run);
    assert_eq!(reader.hold("run", &ran)["run"]["exit_code"], 3);
    reader.ask(&["dispatch", "logs", &id]);
    let pool = ["dispatch", "--label", "nothing:at-all", "--", "true"];
    let (beside, repo) = ([&pool[..1], &["--name", "beside"], &pool[1..]].concat(), reader.bench.repo());
    let child = reader.bench.spawn("agent:a", &beside, &repo);
    until("it is at work", || reader.bench.jit(&["dispatch", "status"]).ok().stdout.contains("at work"));
    assert_eq!(reader.ask(&["dispatch", "status"])["count"], 1);
    reader.ask(&["dispatch", "stop", "--name", "beside"]);
    child.wait_with_output().unwrap();
    reader.ask(&[&pool[..1], &["--drain"], &pool[1..]].concat());
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
