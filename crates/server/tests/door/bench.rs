//! A repository in a temporary directory, the commands in it, and a server on it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdfast_trial::Answer;
use serde_json::Value;

use crate::client::{Client, Reply};

/// The server.
pub(crate) const SERVER: &str = env!("CARGO_BIN_EXE_jit-server");

/// A repository that issues are tracked in.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

/// A server on it. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    pub(crate) client: Client,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        bench.git(&["init", "-q", "-b", "main", "repo"], bench.dir.path());
        bench.git(&["commit", "-q", "--allow-empty", "-m", "first"], &bench.repo());
        bench.jit(&["init"]).ok();
        bench
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// The program `jit`, which is built with this one.
    pub(crate) fn program() -> PathBuf {
        let jit = Path::new(SERVER).with_file_name("jit");
        assert!(jit.is_file(), "cargo build -p holdfast-jit first");
        jit
    }

    pub(crate) fn git(&self, args: &[&str], at: &Path) {
        let done = self.dressed(Command::new("git")).args(args).current_dir(at).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A command with an environment that nobody else has a say in.
    pub(crate) fn dressed(&self, command: Command) -> Command {
        holdfast_trial::dressed(command, self.dir.path())
    }

    pub(crate) fn run_at(&self, agent: &str, args: &[&str], at: &Path) -> Answer {
        let mut command = self.dressed(Command::new(Self::program()));
        command.args(args).current_dir(at).env("JIT_AGENT_ID", agent);
        Answer::from(command.output().unwrap())
    }

    pub(crate) fn jit(&self, args: &[&str]) -> Answer {
        self.run_at("agent:a", args, &self.repo())
    }

    /// What a command prints with `--json`.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.jit(&[&["--json"], args].concat()).ok().json()
    }

    pub(crate) fn issue(&self, title: &str) -> String {
        self.jit(&["-q", "issue", "create", "--title", title]).ok().stdout.trim().to_owned()
    }

    pub(crate) fn worktree(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        self.git(&["worktree", "add", "-q", path.to_str().unwrap()], &self.repo());
        path
    }

    /// The server's command line.
    pub(crate) fn server_command(&self, args: &[&str]) -> Command {
        let mut command = self.dressed(Command::new(SERVER));
        command.args(["--json", "--agent-id", "person:ann"]).args(args).current_dir(self.repo());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    pub(crate) fn serve_with(&self, args: &[&str]) -> Server {
        let mut child = self.server_command(args).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Ok(said) = serde_json::from_str::<Value>(&line) else {
            let output = child.wait_with_output().unwrap();
            panic!("{line}{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        };
        let text = |name: &str| said["server"][name].as_str().unwrap().to_owned();
        let token = text("url").split_once("#token=").unwrap().1.to_owned();
        let client = Client { address: text("address"), token };
        Server { child, client }
    }

    /// Everything that the tracker keeps, but for what a server writes when it starts.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        for folder in [self.repo().join(".jit"), self.repo().join(".git/jit")] {
            collect(&folder, &mut files);
        }
        files.sort();
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

impl Server {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// How much memory it has, in kilobytes.
    pub(crate) fn memory_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.client.get(path)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.client.post(path, body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(Some(status)) = self.child.try_wait() {
            println!("the server had ended before its test: {status}");
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
