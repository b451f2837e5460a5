//! A repository in a temporary directory, and short ways to run the program in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use holdfast_trial::Answer;
use serde_json::Value;

/// The program.
pub(crate) const JVS: &str = env!("CARGO_BIN_EXE_jvs");

/// A repository.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

/// What every refusal of `jvs` has.
pub(crate) trait Refusal {
    /// This answer, if it was refused with this class, which is also what its document says.
    fn refused_as(self, class: &str) -> Self;
}

impl Refusal for Answer {
    fn refused_as(self, class: &str) -> Self {
        assert_eq!(self.code, Some(if class == "E_USAGE" { 2 } else { 1 }), "{self}");
        let document = self.json();
        assert_eq!(document["error"], class, "{self}");
        assert!(!document["message"].as_str().unwrap().is_empty(), "{self}");
        assert!(document.get("hint").is_some(), "{self}");
        self
    }
}

impl Bench {
    /// A repository, with a policy that can be waited for.
    pub(crate) fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        bench.run_at(bench.dir.path(), &["init", "r"]).ok();
        bench
    }

    /// A repository where a lease can be taken over as soon as it is over.
    pub(crate) fn impatient() -> Self {
        let bench = Self::new();
        bench.policy(&[("max_clock_skew_ms", 0), ("steal_grace_ms", 0)]);
        bench
    }

    /// Changes values of the policy.
    pub(crate) fn policy(&self, values: &[(&str, u64)]) {
        let path = self.control("config.json");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for (key, value) in values {
            config["policy"][key] = (*value).into();
        }
        std::fs::write(path, config.to_string()).unwrap();
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("r")
    }

    pub(crate) fn main(&self) -> PathBuf {
        self.root().join("main")
    }

    pub(crate) fn control(&self, name: &str) -> PathBuf {
        self.root().join(".jvs").join(name)
    }

    /// A command with an environment that nobody else has a say in.
    pub(crate) fn dressed(&self, mut command: Command, at: &Path) -> Command {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.dir.path());
        command.env("USER", "tester").current_dir(at).stdin(Stdio::null());
        command
    }

    /// The program. All commands of a test come from one shell: the test.
    pub(crate) fn command(&self, args: &[&str], at: &Path) -> Command {
        let mut command = self.dressed(Command::new(JVS), at);
        command.arg("--json").args(args);
        command
    }

    pub(crate) fn run_at(&self, at: &Path, args: &[&str]) -> Answer {
        Answer::from(self.command(args, at).output().unwrap())
    }

    pub(crate) fn jvs(&self, args: &[&str]) -> Answer {
        self.run_at(&self.main(), args)
    }

    /// The program as another session has it.
    pub(crate) fn other(&self, who: &str, args: &[&str]) -> Answer {
        let file = self.dir.path().join(format!("{who}.session"));
        let mut command = self.command(args, &self.main());
        Answer::from(command.env("JVS_SESSION_FILE", file).output().unwrap())
    }

    pub(crate) fn spawn(&self, who: &str, args: &[&str]) -> Child {
        let file = self.dir.path().join(format!("{who}.session"));
        let mut command = self.command(args, &self.main());
        command.env("JVS_SESSION_FILE", file).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Writes a file of the payload of main.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.main().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Takes the lock and a snapshot; gives its id.
    pub(crate) fn snapshot(&self) -> String {
        self.jvs(&["lock", "acquire"]).ok();
        id(&self.jvs(&["snapshot"]).ok())
    }

    /// The ids in the history of main, the newest first.
    pub(crate) fn history(&self) -> Vec<String> {
        let seen = self.jvs(&["history"]).ok().json();
        let text = |entry: &Value| entry["snapshot_id"].as_str().unwrap().to_owned();
        seen["snapshots"].as_array().unwrap().iter().map(text).collect()
    }

    /// The names of what the doctor finds.
    pub(crate) fn findings(&self) -> Vec<String> {
        let seen = self.jvs(&["doctor", "--strict"]).json();
        let text = |entry: &Value| entry["finding"].as_str().unwrap().to_owned();
        seen["findings"].as_array().unwrap().iter().map(text).collect()
    }

    /// The doctor clears what is left, has nothing to do the second time, and everything is whole then.
    pub(crate) fn heals(&self) {
        self.jvs(&["doctor", "--repair"]).ok();
        let again = self.jvs(&["doctor", "--repair"]).ok().json();
        assert_eq!(again["findings"], serde_json::json!([]));
        self.jvs(&["verify", "--all"]).ok();
    }
}

/// The id of the snapshot that was published.
pub(crate) fn id(answer: &Answer) -> String {
    answer.json()["snapshot"]["snapshot_id"].as_str().unwrap().to_owned()
}

/// Whether a process ends by itself within a while.
pub(crate) fn ends(child: &mut Child) -> bool {
    let start = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed().as_secs() >= 5 {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    true
}

/// Whether everything is tried that may take minutes.
pub(crate) fn long() -> bool {
    std::env::var_os("HOLDFAST_LONG").is_some()
}
