//! Puts our hooks where git looks for them and takes them out again. A hook that was there is never lost: it
//! takes our lines, or it is kept beside and run from ours. At every moment there is one complete hook.

use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::{Kind, Sys};
use serde::Serialize;

use super::script::{Script, Without, kept_name, without};
use crate::durable;
use crate::error::{Error, Result};

/// The hooks of a worktree.
pub const WORKTREE: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "pre-push"];

/// The hooks of a server.
pub const SERVER: [&str; 1] = ["pre-receive"];

/// A longer file is no script that somebody wrote.
const LONGEST: usize = 64 << 20;

/// A directory of hooks.
pub struct Directory<'a> {
    /// The machine.
    pub sys: &'a Sys,
    /// Where it is.
    pub path: PathBuf,
    /// Where jit is, as hooks find it.
    pub program: Option<String>,
}

/// How it stands with a hook.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is there.
    Installed,
    /// It is there, with lines of another version.
    Outdated,
    /// It is there, but git does not run it.
    NotExecutable,
    /// It is not there.
    Missing,
}

/// A hook.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Hook {
    /// Its name.
    pub name: &'static str,
    /// How it stands with it.
    pub state: State,
    /// Whether there is a hook besides ours.
    pub other: bool,
}

/// What is at a hook's place.
enum There {
    Nothing,
    /// A script with our lines; what is left without them, and its bits.
    Ours(Without, Vec<u8>, u32),
    /// A hook that we have nothing to do with; its bytes, if lines can be added to them, and its bits.
    Other(Option<Vec<u8>>, u32),
}

impl Directory<'_> {
    /// Puts a hook in.
    ///
    /// # Errors
    /// When that is not possible; what was there is then still there.
    pub fn install(&self, name: &'static str) -> Result<()> {
        self.usable(durable::make_dirs(self.sys, &self.path, 0o755))?;
        let path = self.path.join(name);
        let script = self.script(name);
        let kept = self.is_there(&self.kept(name))?;
        match self.there(&path)? {
            There::Nothing if kept => self.put(&path, &script.wrapping(), 0o755),
            There::Nothing | There::Ours(Without::Nothing, ..) => self.put(&path, &script.made(), 0o755),
            There::Ours(left, ..) if kept && is_wrapping(&script, &left) => {
                self.put(&path, &script.wrapping(), 0o755)
            }
            There::Ours(..) | There::Other(..) if kept => Err(self.both(name)),
            There::Ours(Without::Hook(hook), _, mode) | There::Other(Some(hook), mode) => {
                match script.added(&hook) {
                    Some(with) => self.put(&path, &with, mode),
                    None => self.keep(name, &path),
                }
            }
            There::Ours(Without::NotOurs, ..) | There::Other(None, _) => self.keep(name, &path),
        }
    }

    /// Takes a hook out and puts back what was there.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn uninstall(&self, name: &'static str) -> Result<()> {
        let path = self.path.join(name);
        let There::Ours(left, _, mode) = self.there(&path)? else { return Ok(()) };
        if self.is_there(&self.kept(name))? {
            if !is_wrapping(&self.script(name), &left) {
                return Err(self.both(name));
            }
            self.usable(self.sys.files.rename(&self.kept(name), &path))?;
            return self.usable(self.sys.files.sync_dir(&self.path));
        }
        match left {
            Without::Hook(hook) => self.put(&path, &hook, mode),
            Without::Nothing | Without::NotOurs => {
                self.usable(self.sys.files.remove_file(&path))?;
                self.usable(self.sys.files.sync_dir(&self.path))
            }
        }
    }

    /// How it stands with a hook.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn status(&self, name: &'static str) -> Result<Hook> {
        let kept = self.is_there(&self.kept(name))?;
        let (state, other) = match self.there(&self.path.join(name))? {
            There::Nothing => (State::Missing, kept),
            There::Other(..) => (State::Missing, true),
            There::Ours(left, bytes, mode) => {
                let script = self.script(name);
                let wanted = match &left {
                    _ if kept => Some(script.wrapping()),
                    Without::Hook(hook) => script.added(hook),
                    Without::Nothing | Without::NotOurs => Some(script.made()),
                };
                let state = match (mode & 0o111, wanted) {
                    (0, _) => State::NotExecutable,
                    (_, Some(wanted)) if wanted == bytes => State::Installed,
                    _ => State::Outdated,
                };
                (state, kept || matches!(left, Without::Hook(_)))
            }
        };
        Ok(Hook { name, state, other })
    }

    /// Keeps the hook beside ours. It gets its second name before ours takes the first one.
    fn keep(&self, name: &'static str, path: &Path) -> Result<()> {
        let kept = self.kept(name);
        match self.sys.files.link(path, &kept) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(self.both(name)),
            linked => self.usable(linked)?,
        }
        self.usable(self.sys.files.sync_dir(&self.path))?;
        self.put(path, &self.script(name).wrapping(), 0o755)
    }

    /// Somebody wrote a hook while another one was kept: which of them counts is not ours to say.
    fn both(&self, name: &str) -> Error {
        let kept = kept_name(name);
        let why = format!("{name} was changed while {kept} is there, and only one can be kept: remove one");
        Error::NoHooks { directory: self.path.clone(), why }
    }

    fn put(&self, path: &Path, content: &[u8], mode: u32) -> Result<()> {
        self.usable(durable::replace(self.sys, path, content, mode))?;
        // Whatever this process masks, a hook has the bits that it had.
        self.usable(self.sys.files.admit(path, mode & 0o7777, None))
    }

    fn there(&self, path: &Path) -> Result<There> {
        let stat = match self.sys.files.stat(path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(There::Nothing);
            }
            stat => stat?,
        };
        if stat.kind != Kind::File {
            return Ok(There::Other(None, stat.mode));
        }
        let bytes = durable::read(self.sys, path, LONGEST)?.unwrap_or_default();
        Ok(match without(&bytes) {
            // One that git does not run must not begin to run because our lines are in it.
            Without::NotOurs if stat.mode & 0o111 == 0 => There::Other(None, stat.mode),
            Without::NotOurs => There::Other(Some(bytes), stat.mode),
            left => There::Ours(left, bytes, stat.mode),
        })
    }

    fn script<'b>(&'b self, name: &'b str) -> Script<'b> {
        Script { name, program: self.program.as_deref() }
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.path.join(kept_name(name))
    }

    fn is_there(&self, path: &Path) -> Result<bool> {
        match self.sys.files.stat(path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(false)
            }
            stat => Ok(stat.map(|_| true)?),
        }
    }

    /// A directory that cannot be written to is nothing to try again: it is said where it is and why.
    fn usable<T>(&self, done: holdfast_sys::Result<T>) -> Result<T> {
        use io::ErrorKind::{AlreadyExists, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
        done.map_err(|error| match error.kind() {
            AlreadyExists | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem => {
                Error::NoHooks { directory: self.path.clone(), why: error.source.to_string() }
            }
            _ => Error::Sys(error),
        })
    }
}

/// Whether what is left of a hook is what runs the one that is kept, and nothing of anybody else's.
fn is_wrapping(script: &Script<'_>, left: &Without) -> bool {
    without(&script.wrapping()) == *left
}
