//! Runs a script: a session in a shell, in an empty directory, with an environment that nobody else has a say in.
//!
//! A line that begins with `$ ` is a command, `#` a remark. Below a command stand, indented, what it printed (`| `), what
//! it said on stderr (`! `) and its exit status unless that is 0 (`= exit 4`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdfast_trial::Answer;

use crate::stable::Stable;
use crate::{json, kept};

/// Issues whose ids are always the same, for every script.
pub(crate) const ISSUES: &str = include_str!("issues.jsonl");

/// Runs a script and compares what it says with what is kept.
pub(crate) fn check(name: &str) {
    let file = format!("scripts/{name}.txt");
    let script = kept::read(&file);
    assert!(!script.is_empty(), "there is no {file}");
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("home")).unwrap();
    std::fs::write(root.join("issues.jsonl"), ISSUES).unwrap();
    kept::compare(&file, &Session::new(&root, &script).run(&script));
}

/// The commands of a script that ended well.
pub(crate) fn done(script: &str) -> impl Iterator<Item = &str> {
    let blocks = script.split("\n$ ");
    blocks.filter(|block| !block.contains("\n  = exit ")).filter_map(|block| block.lines().next())
}

struct Session {
    root: PathBuf,
    at: PathBuf,
    stable: Stable,
}

impl Session {
    fn new(root: &Path, script: &str) -> Self {
        Self { root: root.to_owned(), at: root.to_owned(), stable: Stable::new(root, script) }
    }

    /// The script, with what its commands say today.
    fn run(mut self, script: &str) -> String {
        let mut text = String::new();
        for line in script.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                writeln!(text, "{line}").unwrap();
                self.step(command, &mut text);
            } else if line.is_empty() || line.starts_with('#') {
                writeln!(text, "{line}").unwrap();
            }
        }
        text
    }

    fn step(&mut self, command: &str, text: &mut String) {
        let command = self.stable.reveal(command);
        if let Some(directory) = command.strip_prefix("cd ")
            && !command.contains("&&")
        {
            self.at = self.at.join(directory).canonicalize().unwrap();
            return;
        }
        let answer = Answer::from(self.shell(&command).output().unwrap());
        let stdout = self.stable.hide(&answer.stdout);
        let squeeze = stdout != answer.stdout;
        for line in stdout.lines() {
            match json::laid_out(line) {
                Some(laid_out) => laid_out.lines().for_each(|line| show(text, '|', line)),
                None if squeeze => show(text, '|', &squeezed(line)),
                None => show(text, '|', line),
            }
        }
        if !stdout.is_empty() && !stdout.ends_with('\n') {
            show(text, '=', "no newline at the end");
        }
        self.stable.hide(&answer.stderr).lines().for_each(|line| show(text, '!', line));
        match answer.code {
            Some(0) => {}
            Some(code) => show(text, '=', &format!("exit {code}")),
            None => show(text, '=', "ended by a signal"),
        }
    }

    fn shell(&self, command: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(&self.at).stdin(Stdio::null()).env_clear();
        let programs = Path::new(env!("CARGO_BIN_EXE_jit")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap();
        let path = std::iter::once(programs).chain(std::env::split_paths(&path));
        shell.env("PATH", std::env::join_paths(path).unwrap());
        let home = self.root.join("home");
        shell
            .env("HOME", &home)
            .env("JIT_CONFIG_HOME", home.join(".config/jit"))
            .env("JIT_AGENT_ID", "agent:a");
        shell.env("TZ", "UTC").env("LC_ALL", "C").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_EDITOR", "true");
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "Ann").env(format!("GIT_{who}_EMAIL"), "ann@example.org");
            shell.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        shell
    }
}

fn show(text: &mut String, mark: char, line: &str) {
    let line = format!("  {mark} {line}");
    writeln!(text, "{}", line.trim_end()).unwrap();
}

/// Columns are as wide as what stands in them, which differs where placeholders stand.
fn squeezed(line: &str) -> String {
    let mut out = String::new();
    let mut spaces = 0;
    for c in line.chars() {
        spaces = if c == ' ' { spaces + 1 } else { 0 };
        if spaces < 3 {
            out.push(c);
        }
    }
    out
}

#[test]
fn columns_are_two_spaces_apart() {
    assert_eq!(squeezed("a     b  c d"), "a  b  c d");
}
