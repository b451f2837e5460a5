//! A repository with some code, agents in worktrees beside it, and a remote if one is wanted.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::Answer;
use serde_json::Value;

use crate::bench::{Bench, JIT};

/// What a script says that kills the command which started it, with all that it has started.
pub(crate) const KILL: &str = "kill -KILL \"-$TRIAL\"\nkill -KILL 0\n";

pub(crate) struct Ground {
    pub(crate) bench: Bench,
}

/// An agent in a worktree of its own.
pub(crate) struct Agent<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) name: String,
    pub(crate) at: PathBuf,
}

impl Ground {
    /// A repository whose target has code and issues.
    pub(crate) fn new() -> Self {
        let bench = Bench::new();
        std::fs::write(bench.repo().join("code"), "one\ntwo\nthree\n").unwrap();
        let ground = Self { bench };
        ground.commit("code");
        ground
    }

    /// The same with a remote that has it all.
    pub(crate) fn with_origin() -> Self {
        let ground = Self::new();
        let origin = ground.origin();
        ground
            .bench
            .git(&["init", "-q", "--bare", "-b", "main", origin.to_str().unwrap()], ground.bench.root());
        ground.main(&["remote", "add", "origin", origin.to_str().unwrap()]);
        ground.main(&["push", "-q", "-u", "origin", "main"]);
        ground
    }

    /// The same, where git does what could be done without it.
    pub(crate) fn by_git(self) -> Self {
        self.bench.leave_it_to_git();
        self
    }

    pub(crate) fn origin(&self) -> PathBuf {
        self.bench.root().join("origin.git")
    }

    /// What git says, which has to succeed.
    pub(crate) fn git(&self, args: &[&str], at: &Path) -> String {
        let done = self.try_git(args, at).ok();
        done.stdout.trim_end().to_owned()
    }

    pub(crate) fn try_git(&self, args: &[&str], at: &Path) -> Answer {
        let mut git = self.bench.dressed(Command::new("git"));
        git.args(args).env("JIT_AGENT_ID", "person:main").current_dir(at);
        Answer::of_any(&git.output().unwrap())
    }

    /// What git says in the main worktree.
    pub(crate) fn main(&self, args: &[&str]) -> String {
        self.git(args, &self.bench.repo())
    }

    /// Commits everything that is in the main worktree.
    pub(crate) fn commit(&self, message: &str) {
        self.main(&["add", "-A"]);
        self.main(&["commit", "-q", "-m", message]);
    }

    /// Makes an issue that the target has.
    pub(crate) fn issue(&self, title: &str, flags: &[&str]) -> String {
        let args = [&["-q", "create", "--title", title], flags].concat();
        let id = self.bench.jit(&args).ok().stdout.trim().to_owned();
        self.commit("an issue");
        id
    }

    pub(crate) fn agent(&self, name: &str) -> Agent<'_> {
        let at = self.bench.root().join(name);
        self.main(&["worktree", "add", "-q", "--detach", at.to_str().unwrap(), "main"]);
        Agent { ground: self, name: format!("agent:{name}"), at }
    }

    pub(crate) fn shown(&self, id: &str) -> Value {
        self.bench.jit(&["--json", "show", id]).ok().json()
    }

    /// What everybody is told of an issue: its state and how its work stands.
    pub(crate) fn told(&self, id: &str) -> (String, String) {
        let shown = self.shown(id);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&shown["issue"]["state"]), text(&shown["standing"]["kind"]))
    }

    pub(crate) fn is_held(&self, id: &str) -> bool {
        !self.shown(id)["lease"].is_null()
    }

    /// The subjects of the commits that the target has, the oldest first.
    pub(crate) fn landed(&self) -> Vec<String> {
        self.main(&["log", "--reverse", "--format=%s", "main"]).lines().map(ToOwned::to_owned).collect()
    }

    /// Whether the main worktree has nothing that its last commit does not.
    pub(crate) fn is_clean(&self) -> bool {
        self.main(&["status", "--porcelain", "--", ":!.jit"]).is_empty()
    }
}

impl Agent<'_> {
    pub(crate) fn run(&self, args: &[&str]) -> Answer {
        self.ground.bench.run_at(&self.name, args, &self.at)
    }

    /// Runs a command in which something says [`KILL`].
    pub(crate) fn is_killed(&self, args: &[&str]) {
        let mut shell = self.ground.bench.dressed(Command::new("sh"));
        shell
            .args(["-c", "export TRIAL=$$; exec \"$@\"", "sh", JIT])
            .args(args)
            .env("JIT_AGENT_ID", &self.name);
        let ended = shell.current_dir(&self.at).process_group(0).output().unwrap();
        assert_eq!(ended.status.code(), None, "it was killed: {ended:?}");
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.ground.git(args, &self.at)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.at.join(name), text).unwrap();
    }

    /// Begins an issue, and has the work for it done but not committed.
    pub(crate) fn begin(&self, id: &str, file: &str) {
        self.run(&["start", id]).ok();
        self.write(file, &format!("by {}\n", self.name));
    }
}

pub(crate) fn pair(state: &str, kind: &str) -> (String, String) {
    (state.to_owned(), kind.to_owned())
}

/// Whether what takes long is wanted.
pub(crate) fn is_long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}
