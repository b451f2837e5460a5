//! Refs that are moved in this process, where that is beyond doubt what git would do: refs in files, no hook that wants to
//! know, nobody to share the files with. As git does it, a ref is locked by a file beside it that becomes the ref, and the
//! move is put into the logs of refs before that. What is not that easy is not begun: git can do it, or say why not.

use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::{Files, Handle, Kind, Open};

use crate::refs::{self, Content};
use crate::signature::{self, Role};
use crate::syntax::parse_bool;
use crate::{Config, Environment, ObjectId, RefName, Repository, Result, hooks};

/// The hook that is told of every ref that moves.
const HOOK: &str = "reference-transaction";

/// Which refs get a log of their moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Logged {
    /// HEAD, branches and what is like them.
    Usual,
    /// Those that have one.
    Known,
}

/// Whoever moves refs of a repository.
pub struct Mover<'a> {
    files: &'a dyn Files,
    repository: &'a Repository,
    logged: Logged,
    by: Vec<u8>,
    lasts: bool,
}

impl<'a> Mover<'a> {
    /// Whoever moves refs of this repository at a moment in seconds since 1970; none where git has to.
    ///
    /// # Errors
    /// When the configuration or the file system stands in the way.
    pub fn find(
        files: &'a dyn Files,
        repository: &'a Repository,
        env: &Environment,
        config: &Config,
        seconds: i64,
    ) -> Result<Option<Self>> {
        let says = |key: &str, words: &[&[u8]]| {
            let value = config.get(key).map(|entry| entry.value.clone().unwrap_or_default());
            value.is_none_or(|value| words.contains(&value.as_slice()))
        };
        let is_easy = !repository.has_reftable()
            && !repository.format.sha256
            && repository.work_tree().is_some()
            // Where a push is judged, git lets nobody move refs.
            && env.object_directory.is_none()
            && says("core.sharedrepository", &[b"false", b"umask", b"0"])
            && says("core.prefersymlinkrefs", &[b"false"])
            && !config.entries().iter().any(|entry| entry.key.starts_with(b"hook."));
        if !is_easy || files.stat(&hooks::directory(repository, config)?.join(HOOK)).is_ok() {
            return Ok(None);
        }
        let logged = match config.get("core.logallrefupdates") {
            None => Logged::Usual,
            Some(entry) => match parse_bool(entry.value.as_deref()) {
                Some(true) => Logged::Usual,
                Some(false) => Logged::Known,
                None => return Ok(None),
            },
        };
        let by = signature::of(files, env, config, Role::Committer, seconds);
        Ok(by.map(|by| Self { files, repository, logged, by, lasts: true }))
    }

    /// This one, for whoever flushes everything before anybody is told of it.
    #[must_use]
    pub fn unflushed(self) -> Self {
        Self { lasts: false, ..self }
    }

    /// The branch that HEAD of this worktree names, be there one or not; none if it is on a commit.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn own_branch(&self) -> Result<Option<RefName>> {
        match refs::read(self.files, &self.repository.git_dir().join("HEAD"))? {
            Content::Symbolic(name) => Ok(Some(name)),
            Content::Id(_) => Ok(None),
        }
    }

    /// Makes a branch where this worktree is, and has the worktree go to it. Says whether it did; if not, nothing has
    /// changed, and git can be asked.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn branch_off(&self, name: &RefName, at: &ObjectId, why: &str) -> Result<bool> {
        let (git_dir, common_dir) = (self.repository.git_dir(), self.repository.common_dir());
        if name.branch().is_none() || !self.is_free(name)? {
            return Ok(false);
        }
        make_dirs(self.files, common_dir, name.as_path())?;
        let Some(branch) = Lock::take(self.files, common_dir.join(name.as_path()))? else { return Ok(false) };
        let Some(head) = self.lock_head()? else { return Ok(false) };
        // Whoever was faster is seen now, and nobody can come any more.
        if !self.is_free(name)? || self.repository.head_commit(self.files)? != Some(*at) {
            return Ok(false);
        }
        branch.write(format!("{at}\n").as_bytes(), self.lasts)?;
        head.write(&[b"ref: ", name.as_bytes(), b"\n"].concat(), false)?;
        self.log(common_dir, name.as_path(), (&ObjectId::NULL, at), why)?;
        self.log(git_dir, Path::new("HEAD"), (at, at), why)?;
        branch.put()?;
        head.put()?;
        Ok(true)
    }

    /// Moves a branch from one commit to another, be it the branch of this worktree or not; no file follows it. Says
    /// whether it did; if not, nothing has changed, and git can be asked.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn advance(&self, name: &RefName, from: &ObjectId, to: &ObjectId, why: &str) -> Result<bool> {
        let (git_dir, common_dir) = (self.repository.git_dir(), self.repository.common_dir());
        if name.branch().is_none() {
            return Ok(false);
        }
        make_dirs(self.files, common_dir, name.as_path())?;
        let Some(branch) = Lock::take(self.files, common_dir.join(name.as_path()))? else { return Ok(false) };
        // A worktree whose branch moves has that in its own log, too.
        let is_here = self.own_branch()?.as_ref() == Some(name);
        let head = if is_here { self.lock_head()? } else { None };
        if head.is_some() != is_here || (self.own_branch()?.as_ref() == Some(name)) != is_here {
            return Ok(false);
        }
        let (end, now) = refs::follow(self.files, git_dir, common_dir, name)?;
        if end != *name || now != Some(*from) {
            return Ok(false);
        }
        branch.write(format!("{to}\n").as_bytes(), self.lasts)?;
        self.log(common_dir, name.as_path(), (from, to), why)?;
        if is_here {
            self.log(git_dir, Path::new("HEAD"), (from, to), why)?;
        }
        branch.put()?;
        Ok(true)
    }

    /// The lock of HEAD; none if somebody has it, or HEAD is a link as git made them once.
    fn lock_head(&self) -> Result<Option<Lock<'a>>> {
        let path = self.repository.git_dir().join("HEAD");
        if self.files.stat(&path)?.kind != Kind::File {
            return Ok(None);
        }
        Lock::take(self.files, path)
    }

    /// Whether there is no ref of this name, nor one that is a directory of it or in it.
    fn is_free(&self, name: &RefName) -> Result<bool> {
        let common_dir = self.repository.common_dir();
        let is_there = self.files.stat(&common_dir.join(name.as_path())).is_ok();
        Ok(!is_there && !refs::packed_meets(self.files, common_dir, name)?)
    }

    /// Puts a move into the log of a ref.
    fn log(&self, base: &Path, name: &Path, ids: (&ObjectId, &ObjectId), why: &str) -> Result<()> {
        let path = base.join("logs").join(name);
        if self.logged == Logged::Known && self.files.stat(&path).is_err() {
            return Ok(());
        }
        make_dirs(self.files, base, &Path::new("logs").join(name))?;
        let (old, new) = ids;
        let line = [format!("{old} {new} ").as_bytes(), &self.by, b"\t", why.as_bytes(), b"\n"].concat();
        let log = self.files.open(&path, Open::Append { mode: 0o666 })?;
        if log.append(&line)? == line.len() {
            return Ok(());
        }
        let short = io::Error::new(io::ErrorKind::WriteZero, "the line was cut");
        Err(holdfast_sys::Error::new("write to", &path, short).into())
    }
}

/// The lock of a ref. Unless it is put in the ref's place, dropping it leaves everything as it was.
struct Lock<'a> {
    files: &'a dyn Files,
    path: PathBuf,
    file: Box<dyn Handle>,
    is_put: bool,
}

impl<'a> Lock<'a> {
    /// Locks a ref; none if somebody else has, or there is no place for it.
    fn take(files: &'a dyn Files, path: PathBuf) -> Result<Option<Self>> {
        use io::ErrorKind::{AlreadyExists, NotADirectory, NotFound};
        match files.open(&lock_of(&path), Open::New { mode: 0o666 }) {
            Err(error) if matches!(error.kind(), AlreadyExists | NotADirectory | NotFound) => Ok(None),
            opened => Ok(Some(Self { files, path, file: opened?, is_put: false })),
        }
    }

    /// What the ref will hold.
    fn write(&self, content: &[u8], lasts: bool) -> Result<()> {
        self.file.write_all_at(content, 0)?;
        if lasts { Ok(self.file.sync()?) } else { Ok(()) }
    }

    fn put(mut self) -> Result<()> {
        self.files.rename(&lock_of(&self.path), &self.path)?;
        self.is_put = true;
        Ok(())
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if !self.is_put {
            // Whoever cannot remove it could not have locked it either; if that changed, git tells of the lock.
            let _ = self.files.remove_file(&lock_of(&self.path));
        }
    }
}

fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Makes the directories of a file below `base` that are missing.
fn make_dirs(files: &dyn Files, base: &Path, name: &Path) -> Result<()> {
    let missing: Vec<&Path> = name
        .ancestors()
        .skip(1)
        .filter(|part| !part.as_os_str().is_empty())
        .take_while(|part| files.stat(&base.join(part)).is_err())
        .collect();
    for part in missing.into_iter().rev() {
        match files.create_dir(&base.join(part), 0o777) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
    }
    Ok(())
}
