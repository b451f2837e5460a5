//! Enforcement covers every way to write. The commands are taken from what can be typed, so that one that is
//! added has to be put into a list here before these tests pass.

use clap::CommandFactory as _;
use holdfast_jit::cli::Cli;
use holdfast_trial::Answer;

use crate::bench::Bench;

/// What changes no issue: it looks, or keeps claims, settings, identities and hooks.
const HARMLESS: [&str; 58] = [
    "init",
    "list",
    "show",
    "ready",
    "sync",
    "status",
    "demo",
    "issue show",
    "issue list",
    "query",
    "graph",
    "search",
    "gate list",
    "gate show",
    "gate status",
    "doc list",
    "doc show",
    "doc history",
    "export",
    "claim acquire",
    "claim next",
    "claim renew",
    "claim heartbeat",
    "claim release",
    "claim transfer",
    "claim force-evict",
    "claim adopt",
    "claim approve",
    "claim requests",
    "claim status",
    "claim list",
    "claim history",
    "whoami",
    "doctor",
    "reserve",
    "next",
    "log",
    "note",
    "worktree",
    "heartbeat",
    "config",
    "validate",
    "recover",
    "engine",
    "push",
    "hooks",
    "hook",
    "merge-driver",
    "commit",
    "completions",
    "man",
    "schema",
    "prime",
    "setup",
    // Its tools are the commands of this file, with the same checks.
    "mcp",
    // A program of its own, which asks the same library.
    "serve",
    "board",
    "watch",
];

/// What makes something that nobody can hold yet, claims what it writes to, or concerns no single issue.
const CREATING: [&str; 11] = [
    "issue create",
    "create",
    "claim create",
    "gate define",
    "start",
    "land",
    "reopen",
    "close",
    "run",
    "dispatch",
    "guardian",
];

/// How each way to write to an issue is typed. `{id}` is the issue, `{on}` another one, `{was}` what it depends
/// on already.
const WRITES: [(&str, &[&str]); 16] = [
    ("issue update", &["issue", "update", "{id}", "--title", "other"]),
    ("issue delete", &["issue", "delete", "{id}"]),
    ("dep add", &["dep", "add", "{id}", "{on}"]),
    ("dep rm", &["dep", "rm", "{id}", "{was}"]),
    ("label add", &["label", "add", "{id}", "ui"]),
    ("label rm", &["label", "rm", "{id}", "old"]),
    ("gate add", &["gate", "add", "{id}", "spare"]),
    ("gate remove", &["gate", "remove", "{id}", "g"]),
    ("gate pass", &["gate", "pass", "{id}", "g"]),
    ("gate fail", &["gate", "fail", "{id}", "g"]),
    ("gate check", &["gate", "check", "{id}", "g"]),
    ("gate report", &["gate", "report", "{id}", "g", "--status", "passed"]),
    ("edit", &["edit", "{id}"]),
    ("split", &["split", "{id}", "--into", "part"]),
    ("doc add", &["doc", "add", "{id}", "new.md"]),
    ("doc remove", &["doc", "remove", "{id}", "old.md"]),
];

/// Those that end work, and what they do to an issue depends on what was done.
const ENDS: [(&str, &[&str]); 2] =
    [("finish", &["finish", "{id}", "-a", "-m", "other"]), ("drop", &["drop", "{id}"])];

/// The names of all commands, each with those before it.
fn leaves(command: &clap::Command, before: &str, found: &mut Vec<String>) {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("{before} {}", sub.get_name()).trim().to_owned();
        if sub.has_subcommands() { leaves(sub, &name, found) } else { found.push(name) }
    }
}

#[test]
fn every_command_is_known_to_write_or_not_to() {
    let (mut root, mut found) = (Cli::command(), Vec::new());
    root.build();
    leaves(&root, "", &mut found);
    assert!(found.len() > 40, "{found:?}");
    for name in &found {
        let listed =
            |list: &[&str]| list.iter().any(|known| name == known || name.starts_with(&format!("{known} ")));
        let places = usize::from(listed(&HARMLESS))
            + usize::from(listed(&CREATING))
            + usize::from(WRITES.iter().chain(&ENDS).any(|(known, _)| known == name))
            + usize::from(name == "import");
        assert_eq!(places, 1, "does `jit {name}` write to issues? It belongs into one list of this file");
    }
    for (name, _) in WRITES.iter().chain(&ENDS) {
        assert!(found.iter().any(|known| known == *name), "there is no `jit {name}`");
    }
}

/// A repository with an issue that everything can be done to.
struct Stage {
    bench: Bench,
    id: String,
    on: String,
    was: String,
}

impl Stage {
    fn new() -> Self {
        let bench = Bench::new();
        for name in ["old.md", "new.md"] {
            std::fs::write(bench.repo().join(name), "text").unwrap();
        }
        bench.jit(&["gate", "define", "g", "--command", "touch ran"]).ok();
        bench.jit(&["gate", "define", "spare", "--manual"]).ok();
        let (was, on) = (bench.issue("was"), bench.issue("on"));
        let create =
            ["-q", "issue", "create", "--title", "t", "--label", "old", "--gate", "g", "--depends-on", &was];
        let id = bench.jit(&create).ok().stdout.trim().to_owned();
        bench.run("agent:setup", &["claim", "acquire", &id]).ok();
        bench.run("agent:setup", &["doc", "add", &id, "old.md"]).ok();
        bench.run("agent:setup", &["claim", "release", &id]).ok();
        Self { bench, id, on, was }
    }

    fn typed(&self, words: &[&str]) -> Vec<String> {
        let fill = |word: &&str| match *word {
            "{id}" => self.id.clone(),
            "{on}" => self.on.clone(),
            "{was}" => self.was.clone(),
            word => word.to_owned(),
        };
        words.iter().map(fill).collect()
    }

    fn run(&self, agent: &str, words: &[&str]) -> Answer {
        let typed = self.typed(words);
        self.bench.run(agent, &typed.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Everything that git would see.
    fn data(&self) -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let jit = self.bench.repo().join(".jit");
        let all = self.bench.snapshot().into_iter().filter(|(path, ..)| path.starts_with(&jit));
        all.map(|(path, content, _)| (path, content)).collect()
    }
}

#[test]
fn nothing_is_written_without_a_claim_and_all_of_it_with_one() {
    let stage = Stage::new();
    stage.bench.run("agent:other", &["claim", "acquire", &stage.id]).ok();
    let before = stage.data();
    for (name, words) in WRITES.iter().chain(&ENDS) {
        let refused = stage.run("agent:a", words).fails(5);
        assert!(refused.stderr.contains("agent:other"), "{name} does not say who has it: {refused}");
    }
    assert_eq!(stage.data(), before);
    assert!(
        !stage.bench.repo().join("ran").exists(),
        "a gate's command ran for somebody who may not keep it"
    );

    for (name, words) in WRITES {
        let stage = Stage::new();
        stage.bench.jit(&["claim", "acquire", &stage.id]).ok();
        let before = stage.data();
        stage.run("agent:a", words).ok();
        assert_ne!(stage.data(), before, "{name}");
    }
}

#[test]
fn nobody_writes_without_a_name() {
    let stage = Stage::new();
    let before = stage.data();
    let create = ["issue", "create", "--title", "t"];
    let define = ["gate", "define", "late", "--manual"];
    for words in WRITES.iter().map(|(_, words)| *words).chain([create.as_slice(), define.as_slice()]) {
        let typed = stage.typed(words);
        let mut command = stage.bench.command(
            "x",
            &typed.iter().map(String::as_str).collect::<Vec<_>>(),
            &stage.bench.repo(),
        );
        let refused = Answer::from(command.env_remove("JIT_AGENT_ID").output().unwrap()).fails(6);
        assert!(refused.stderr.contains("hint: export JIT_AGENT_ID="), "{words:?}: {refused}");
    }
    assert_eq!(stage.data(), before);
}

#[test]
fn a_lease_elsewhere_over_or_stale_is_none() {
    let stage = Stage::new();
    let there = stage.bench.worktree("there");
    let args = ["claim", "acquire", &stage.id];
    stage.bench.run_at("agent:a", &args, &there).ok();
    let update = ["issue", "update", "{id}", "--title", "other"];
    stage.run("agent:a", &update).fails(5);
    stage.bench.run_at("agent:a", &["claim", "release", &stage.id], &there).ok();

    stage.bench.config("[coordination]\nstale_threshold_secs = 1\n");
    stage.bench.jit(&["claim", "acquire", &stage.id, "--ttl", "0", "--reason", "long"]).ok();
    holdfast_trial::until("it is stale", || {
        stage.bench.leases().first().is_some_and(|lease| lease["stale"] == true)
    });
    let refused = stage.run("agent:a", &update).fails(5);
    assert!(refused.stderr.contains("hint: jit claim heartbeat"), "{refused}");
}

#[test]
fn warn_warns_and_off_is_silent() {
    let stage = Stage::new();
    stage.bench.config("[worktree]\nenforce_leases = \"warn\"\n");
    let warned = stage.run("agent:a", &["label", "add", "{id}", "one"]).ok();
    assert!(warned.stderr.contains("without holding its claim"), "{warned}");
    stage.bench.config("[worktree]\nenforce_leases = \"off\"\n");
    let mut command = stage.bench.command("x", &["label", "add", &stage.id, "two"], &stage.bench.repo());
    let quiet = Answer::from(command.env_remove("JIT_AGENT_ID").output().unwrap()).ok();
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("old, one, two"), "{quiet}");
}

#[test]
fn importing_over_an_issue_needs_a_claim_on_it() {
    let stage = Stage::new();
    let exported = stage.bench.jit(&["export", &stage.id]).ok().stdout;
    let file = stage.bench.root().join("in.jsonl");
    std::fs::write(&file, exported.replace("\"title\":\"t\"", "\"title\":\"changed\"")).unwrap();
    let import = ["import", file.to_str().unwrap()];
    let before = stage.data();
    stage.bench.jit(&import).fails(5);
    assert_eq!(stage.data(), before);
    stage.bench.jit(&["claim", "acquire", &stage.id]).ok();
    stage.bench.jit(&import).ok();
    assert!(stage.bench.jit(&["issue", "show", &stage.id]).ok().stdout.contains("changed"));
}

#[test]
fn of_many_issues_none_is_changed_unless_all_may_be() {
    let stage = Stage::new();
    stage.bench.jit(&["claim", "acquire", &stage.id]).ok();
    let before = stage.data();
    stage.run("agent:a", &["issue", "update", "{id}", "{on}", "--priority", "low"]).fails(5);
    assert_eq!(stage.data(), before);
    stage.bench.jit(&["claim", "acquire", &stage.on]).ok();
    let both =
        stage.run("agent:a", &["--json", "issue", "update", "{id}", "{on}", "--priority", "low"]).ok().json();
    assert_eq!((&both["count"], &both["issues"][1]["priority"]), (&2.into(), &"low".into()));
}

#[test]
fn strict_insists_on_a_claim_whatever_is_configured() {
    for mode in ["warn", "off"] {
        let bench = Bench::new();
        let issue = bench.issue("work");
        bench.config(&format!("[worktree]\nenforce_leases = \"{mode}\"\n"));
        let update = ["--json", "issue", "update", &issue, "--title", "changed"];
        let refused = bench.jit(&[&update[..], &["--strict"]].concat()).fails(5);
        assert_eq!(refused.json()["error"]["code"], "LEASE_REQUIRED");
        bench.jit(&update).ok();
        bench.jit(&["claim", "acquire", &issue]).ok();
        bench.jit(&[&update[..], &["--strict"]].concat()).ok();
    }
}
