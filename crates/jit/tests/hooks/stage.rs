//! A bare origin, a repository with hooks, worktrees for agents, and short ways to work in them.

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::Answer;
use serde_json::{Value, json};

/// The program.
pub(crate) const JIT: &str = env!("CARGO_BIN_EXE_jit");

pub(crate) struct Stage {
    dir: tempfile::TempDir,
}

/// An agent in its worktree.
pub(crate) struct Agent<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) name: &'static str,
    pub(crate) dir: PathBuf,
    /// When it thinks it is, in seconds from now; for what it commits.
    pub(crate) later: i64,
}

/// A claim as a file carries it.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) issue: String,
    pub(crate) lease: String,
    pub(crate) fence: u64,
    pub(crate) log: String,
}

impl Stage {
    /// A directory that nothing is in.
    pub(crate) fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A repository on `main` with an origin, issues tracked in it, and hooks installed.
    pub(crate) fn new() -> Self {
        let stage = Self::bare();
        stage.main().jit(&["hooks", "install"]).ok();
        stage
    }

    /// The same without hooks.
    pub(crate) fn bare() -> Self {
        let stage = Self::empty();
        let root = stage.path("");
        let git = |args: &[&str]| stage.run("git", "agent:main", args, &root).ok();
        git(&["init", "-q", "--bare", "-b", "main", "origin.git"]);
        git(&["init", "-q", "-b", "main", "repo"]);
        let main = stage.main();
        main.git(&["remote", "add", "origin", "../origin.git"]).ok();
        main.jit(&["init"]).ok();
        main.git(&["add", "."]).ok();
        main.git(&["commit", "-q", "-m", "start"]).ok();
        main.git(&["push", "-q", "-u", "origin", "main"]).ok();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn main(&self) -> Agent<'_> {
        self.at("agent:main", "repo")
    }

    pub(crate) fn at(&self, name: &'static str, dir: &str) -> Agent<'_> {
        Agent { stage: self, name, dir: self.path(dir), later: 0 }
    }

    /// An agent in a worktree of its own, on a branch of that name from main.
    pub(crate) fn agent(&self, name: &'static str, dir: &str) -> Agent<'_> {
        let path = self.path(dir);
        self.main().git(&["worktree", "add", "-q", "-b", dir, path.to_str().unwrap(), "main"]).ok();
        self.at(name, dir)
    }

    /// An issue that everybody has, on main here and at the origin.
    pub(crate) fn issue(&self, title: &str) -> String {
        let main = self.main();
        let id = main.jit(&["-q", "issue", "create", "--title", title]).ok().line().to_owned();
        main.git(&["add", "."]).ok();
        main.git(&["commit", "-q", "-m", "an issue"]).ok();
        main.git(&["push", "-q", "origin", "main"]).ok();
        id
    }

    fn command(&self, program: &str, agent: &str, args: &[&str], at: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(at).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.dir.path()).env("JIT_CONFIG_HOME", self.path("config"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("JIT_AGENT_ID", agent).env("GIT_EDITOR", "true");
        for (name, value) in [("NAME", "t"), ("EMAIL", "t@example.org")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        command
    }

    pub(crate) fn run(&self, program: &str, agent: &str, args: &[&str], at: &Path) -> Answer {
        Answer::of_any(&self.command(program, agent, args, at).output().unwrap())
    }
}

impl Agent<'_> {
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.stage.command(program, self.name, args, &self.dir);
        if self.later != 0 {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            let date = format!("@{} +0000", i64::try_from(now.as_secs()).unwrap() + self.later);
            command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        }
        command
    }

    fn run(&self, program: &str, args: &[&str]) -> Answer {
        Answer::of_any(&self.command(program, args).output().unwrap())
    }

    pub(crate) fn git(&self, args: &[&str]) -> Answer {
        self.run("git", args)
    }

    pub(crate) fn jit(&self, args: &[&str]) -> Answer {
        self.run(JIT, args)
    }

    /// This agent, so much later by the clock that its commits carry.
    pub(crate) fn later(&self, seconds: i64) -> Agent<'_> {
        Agent { stage: self.stage, name: self.name, dir: self.dir.clone(), later: seconds }
    }

    pub(crate) fn claim(&self, issue: &str) -> Held {
        self.claim_with(issue, &["--ttl", "600"])
    }

    pub(crate) fn claim_with(&self, issue: &str, terms: &[&str]) -> Held {
        let answer = self.jit(&[&["--json", "claim", "acquire", issue], terms].concat()).ok().json();
        let lease = &answer["lease"];
        let text = |key: &str| lease[key].as_str().unwrap().to_owned();
        Held {
            issue: text("issue_id"),
            lease: text("lease_id"),
            fence: lease["fence"].as_u64().unwrap(),
            log: self.log(),
        }
    }

    /// The identity of the log that this repository's claims are kept in.
    fn log(&self) -> String {
        let control = self.jit(&["--json", "worktree", "info"]).ok().json();
        let control = PathBuf::from(control["worktree"]["control"].as_str().unwrap());
        let log = std::fs::read_to_string(control.join("claims.jsonl")).unwrap();
        let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        first["log_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, issue: &str) -> PathBuf {
        self.dir.join(format!(".jit/issues/{issue}/issue.json"))
    }

    /// Changes fields of an issue behind the program's back.
    pub(crate) fn edit(&self, issue: &str, fields: Value) {
        let path = self.file(issue);
        let mut all: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for (key, value) in fields.as_object().unwrap() {
            all[key] = value.clone();
        }
        std::fs::write(path, serde_json::to_vec_pretty(&all).unwrap()).unwrap();
    }

    /// Writes an issue as a guarded write does: with the fence of the lease.
    pub(crate) fn write(&self, held: &Held, title: &str) {
        self.edit(&held.issue, json!({"title": title, "fence": held.fence, "fence_log": held.log}));
    }

    /// Writes an issue under a lease and commits it.
    pub(crate) fn work(&self, held: &Held, title: &str) -> Answer {
        self.write(held, title);
        self.commit(title)
    }

    pub(crate) fn commit(&self, message: &str) -> Answer {
        self.git(&["add", "-A"]).ok();
        self.git(&["commit", "-q", "-m", message])
    }

    pub(crate) fn force(&self, message: &str) {
        self.git(&["add", "-A"]).ok();
        self.git(&["commit", "-q", "--no-verify", "-m", message]).ok();
    }

    pub(crate) fn message(&self) -> String {
        self.git(&["log", "-1", "--format=%B"]).ok().stdout
    }

    pub(crate) fn config(&self, text: &str) {
        std::fs::write(self.dir.join(".jit/config.toml"), text).unwrap();
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).ok().line().to_owned()
    }
}
