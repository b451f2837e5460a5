//! The git program, for what git itself must do: commit, merge, push, set a configuration value. Arguments
//! go to it one by one, never through a shell. Never on the way of a command that only needs to know where
//! it is.
#![expect(clippy::disallowed_methods, reason = "this is the module that starts git")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Head, ObjectId, RefName, Result};

/// How to start git.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    dir: PathBuf,
    env: Vec<(OsString, Option<OsString>)>,
}

/// What git answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr.
    pub stderr: Vec<u8>,
}

impl Git {
    /// Git, started in `dir` with the environment of this process.
    #[must_use]
    pub fn in_dir(dir: &Path) -> Self {
        Self { program: "git".into(), dir: dir.to_path_buf(), env: Vec::new() }
    }

    /// This one, but another program.
    #[must_use]
    pub fn program(mut self, program: &Path) -> Self {
        self.program = program.to_path_buf();
        self
    }

    /// This one, with a variable set, or removed if there is no value.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: Option<OsString>) -> Self {
        self.env.push((name.into(), value));
        self
    }

    /// Runs git and returns what it answered, whatever that is. An argument that comes from a user belongs
    /// behind `--` or `--end-of-options`: git takes one that begins with a dash for an option.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn ask(&self, args: &[impl AsRef<OsStr>], input: &[u8]) -> Result<Output> {
        let failed = |source| Error::Start { program: self.program.clone(), source };
        let mut child = self.command(args).spawn().map_err(failed)?;
        let pipe = child.stdin.take();
        // Git may answer before it has read everything: who writes and who reads must not wait for each
        // other. That it stops reading is no failure; its exit code says what it thought.
        let output = thread::scope(|scope| {
            scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(input)));
            child.wait_with_output()
        });
        let output = output.map_err(failed)?;
        Ok(Output { code: output.status.code(), stdout: output.stdout, stderr: output.stderr })
    }

    /// As [`Git::ask`] with nothing on its stdin, but in a process group of its own, which is killed when it takes longer
    /// than `limit`: then there is no answer, and whatever git was about to do may have been done or not.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn ask_within(&self, args: &[impl AsRef<OsStr>], limit: Duration) -> Result<Option<Output>> {
        let failed = |source| Error::Start { program: self.program.clone(), source };
        let end = Instant::now() + limit;
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::null()).process_group(0).spawn().map_err(failed)?;
        // Whoever reads is not waited for: what git started may keep the pipes open.
        let (stdout, stderr) = (heard(child.stdout.take()), heard(child.stderr.take()));
        let said = |from: &mpsc::Receiver<Vec<u8>>| {
            from.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
        };
        let said = said(&stdout).zip(said(&stderr));
        if said.is_none() {
            holdfast_sys::os::kill_group(child.id());
        }
        let status = child.wait().map_err(failed)?;
        Ok(said.map(|(stdout, stderr)| Output { code: status.code(), stdout, stderr }))
    }

    /// Runs git and returns what it wrote to stdout.
    ///
    /// # Errors
    /// When git cannot be started or fails, in git's own words.
    pub fn run(&self, args: &[impl AsRef<OsStr>]) -> Result<Vec<u8>> {
        self.run_with(args, &[])
    }

    /// As [`Git::run`], with `input` on its stdin.
    ///
    /// # Errors
    /// As [`Git::run`].
    pub fn run_with(&self, args: &[impl AsRef<OsStr>], input: &[u8]) -> Result<Vec<u8>> {
        let output = self.ask(args, input)?;
        if output.code == Some(0) { Ok(output.stdout) } else { Err(self.failure(args, &output)) }
    }

    /// Runs git with the terminal of this process, for what a person has to see or to type; gives its exit
    /// code, none if a signal ended it.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn attended(&self, args: &[impl AsRef<OsStr>]) -> Result<Option<i32>> {
        let mut command = self.command(args);
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        let failed = |source| Error::Start { program: self.program.clone(), source };
        Ok(command.status().map_err(failed)?.code())
    }

    /// Where HEAD is, for repositories whose refs only git can read.
    ///
    /// # Errors
    /// When git fails, or answers what is no ref.
    pub fn head(&self) -> Result<Head> {
        let args = ["symbolic-ref", "--quiet", "HEAD"];
        let output = self.ask(&args, &[])?;
        let odd = || self.failure(&args, &output);
        match output.code {
            Some(0) => RefName::new(crate::paths::line(&output.stdout)).map(Head::Branch).ok_or_else(odd),
            Some(1) => self.head_commit()?.map(Head::Detached).ok_or_else(odd),
            _ => Err(odd()),
        }
    }

    /// The commit that HEAD is on, for repositories whose refs only git can read; none on a branch without
    /// one.
    ///
    /// # Errors
    /// When git fails, or answers what is no object.
    pub fn head_commit(&self) -> Result<Option<ObjectId>> {
        let args = ["rev-parse", "--quiet", "--verify", "HEAD^{commit}"];
        let output = self.ask(&args, &[])?;
        match output.code {
            Some(0) => {
                let id = ObjectId::from_hex(crate::paths::line(&output.stdout));
                id.map(Some).ok_or_else(|| self.failure(&args, &output))
            }
            Some(1) => Ok(None),
            _ => Err(self.failure(&args, &output)),
        }
    }

    /// Where HEAD of every worktree is, by its root, for repositories whose refs only git can read.
    ///
    /// # Errors
    /// When git fails.
    pub fn heads(&self) -> Result<BTreeMap<PathBuf, Head>> {
        let said = self.run(&["worktree", "list", "--porcelain", "-z"])?;
        let (mut heads, mut root, mut at) = (BTreeMap::new(), PathBuf::new(), None);
        for line in said.split(|byte| *byte == 0) {
            let (word, rest) =
                line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(line.len()));
            let rest = rest.get(1..).unwrap_or_default();
            let head = match word {
                b"worktree" => {
                    root = crate::paths::from_bytes(rest).to_path_buf();
                    None
                }
                b"HEAD" => {
                    at = ObjectId::from_hex(rest);
                    None
                }
                b"branch" => RefName::new(rest).map(Head::Branch),
                b"detached" => at.map(Head::Detached),
                _ => None,
            };
            heads.extend(head.map(|head| (root.clone(), head)));
        }
        Ok(heads)
    }

    fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&self.dir);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn failure(&self, args: &[impl AsRef<OsStr>], output: &Output) -> Error {
        let mut command = self.program.display().to_string();
        for arg in args {
            command.push(' ');
            command.push_str(&crate::error::quoted(Path::new(arg.as_ref())));
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Error::Failed { command, code: output.code, stderr }
    }
}

/// Where everything arrives that comes out of a pipe.
fn heard(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (told, heard) = mpsc::channel();
    thread::spawn(move || told.send(all(pipe)));
    heard
}

/// Everything that comes out of a pipe, up to where it breaks.
fn all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}
