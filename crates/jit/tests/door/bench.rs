//! A repository in a temporary directory, and short ways to run the program in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdfast_trial::Answer;
use serde_json::Value;

/// The program.
pub(crate) const JIT: &str = env!("CARGO_BIN_EXE_jit");

/// A repository that issues are tracked in.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    /// A git repository with one commit and one worktree.
    pub(crate) fn new() -> Self {
        let bench = Self::empty();
        bench.git(&["init", "-q", "-b", "main", "repo"], bench.dir.path());
        bench.git(&["commit", "-q", "--allow-empty", "-m", "first"], &bench.repo());
        bench.jit(&["init"]).ok();
        bench
    }

    /// Has git do what could be done without it: somebody wants to know of every ref that moves, and says how commits are
    /// written. For tests that strike at each step of git's.
    pub(crate) fn leave_it_to_git(&self) {
        let hook = self.repo().join(".git/hooks/reference-transaction");
        std::fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        self.git(&["config", "i18n.commitEncoding", "UTF-8"], &self.repo());
    }

    /// A directory that nothing is in.
    pub(crate) fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// A file of the control plane.
    /// The event logs of all worktrees of a repository.
    pub(crate) fn event_logs(root: &Path) -> Vec<PathBuf> {
        let names = std::fs::read_dir(root.join(".git/jit/events")).unwrap();
        let paths = names.map(|entry| entry.unwrap().path());
        let mut logs: Vec<PathBuf> = paths
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("wt-")))
            .collect();
        logs.sort();
        logs
    }

    /// What all of them hold.
    pub(crate) fn events(root: &Path) -> String {
        Self::event_logs(root).iter().map(|log| std::fs::read_to_string(log).unwrap()).collect()
    }

    pub(crate) fn control(&self, name: &str) -> PathBuf {
        self.repo().join(".git/jit").join(name)
    }

    pub(crate) fn git(&self, args: &[&str], at: &Path) {
        let done = self.dressed(Command::new("git")).args(args).current_dir(at).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Adds a worktree.
    pub(crate) fn worktree(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        self.git(&["worktree", "add", "-q", path.to_str().unwrap()], &self.repo());
        path
    }

    /// A command with an environment that nobody else has a say in.
    pub(crate) fn dressed(&self, command: Command) -> Command {
        holdfast_trial::dressed(command, self.dir.path())
    }

    /// The program, to be run at `at` by `agent`.
    pub(crate) fn command(&self, agent: &str, args: &[&str], at: &Path) -> Command {
        let mut command = self.dressed(Command::new(JIT));
        command.args(args).current_dir(at).env("JIT_AGENT_ID", agent);
        command.env("EDITOR", "printf 'edited\\n' >");
        command
    }

    pub(crate) fn run_at(&self, agent: &str, args: &[&str], at: &Path) -> Answer {
        Answer::from(self.command(agent, args, at).output().unwrap())
    }

    pub(crate) fn run(&self, agent: &str, args: &[&str]) -> Answer {
        self.run_at(agent, args, &self.repo())
    }

    pub(crate) fn jit(&self, args: &[&str]) -> Answer {
        self.run("agent:a", args)
    }

    pub(crate) fn spawn(&self, agent: &str, args: &[&str], at: &Path) -> Child {
        let mut command = self.command(agent, args, at);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Creates an issue and gives its id.
    pub(crate) fn issue(&self, title: &str) -> String {
        self.jit(&["-q", "issue", "create", "--title", title]).ok().stdout.trim().to_owned()
    }

    /// Creates an issue, has `agent` claim it and gives the ids of both.
    pub(crate) fn claimed(&self, agent: &str) -> (String, String) {
        let issue = self.issue("claimed");
        let lease = self.run(agent, &["-q", "claim", "acquire", &issue]).ok().stdout.trim().to_owned();
        (issue, lease)
    }

    pub(crate) fn config(&self, text: &str) {
        std::fs::write(self.repo().join(".jit/config.toml"), text).unwrap();
    }

    /// Everything in the repository that the program keeps, with its content.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
        let mut files = Vec::new();
        for directory in [self.repo().join(".jit"), self.repo().join(".git/jit")] {
            collect(&directory, &mut files);
        }
        files.sort();
        files
    }

    /// What an issue is called where people read and type.
    pub(crate) fn handle(&self, id: &str) -> String {
        self.jit(&["--json", "show", id]).ok().json()["issue"]["handle"].as_str().unwrap().to_owned()
    }

    /// What happened to claims, as the log of events has it: without what issues are called.
    pub(crate) fn history(&self) -> Vec<Value> {
        let mut told = self.jit(&["--json", "claim", "history"]).ok().json();
        let events = told["events"].as_array_mut().unwrap();
        for event in events.iter_mut() {
            let event = event.as_object_mut().unwrap();
            assert!(event.remove("handle").is_some() && event.remove("title").is_some(), "{event:?}");
        }
        events.clone()
    }

    /// The claims as the program lists them.
    pub(crate) fn leases(&self) -> Vec<Value> {
        self.jit(&["--json", "claim", "list"]).ok().json()["leases"].as_array().unwrap().clone()
    }
}

fn collect(directory: &Path, files: &mut Vec<(PathBuf, Vec<u8>, std::time::SystemTime)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let modified = std::fs::symlink_metadata(&path).unwrap().modified().unwrap();
        if path.is_dir() {
            collect(&path, files);
            files.push((path, Vec::new(), modified));
        } else {
            let content = std::fs::read(&path).unwrap();
            files.push((path, content, modified));
        }
    }
}
