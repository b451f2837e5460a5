//! A repository: where everything in it is, and the guard that keeps its shape.
//!
//! The guard is held shared by whatever only works on one lock, and alone by whatever publishes, renames or
//! removes. Nobody copies or hashes inside of it: long work has an intent instead. Whoever needs the guard of a
//! lock or of the audit log as well takes all of them at once, see [`crate::guards`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_kernel::LeaseId;
use holdfast_store::record::Paths;
use holdfast_store::{rfc3339, whole};
use holdfast_sys::{Kind, LockMode, Sys};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{Config, Policy};
use crate::error::{Class, Error, Result, TOO_OLD};
use crate::guards::{Waits, Wanted, enter, patient};
use crate::names::{OpId, WorktreeName};
use crate::payload::Trees;

/// The version of the format that is written and read.
pub const FORMAT: u64 = 1;
/// The directory that makes a directory a repository.
pub const CONTROL: &str = ".jvs";

/// The guard of the audit log, in its directory.
pub const AUDIT_GUARD: &str = "audit.guard";

/// The directories in it.
const DIRECTORIES: [&str; 8] =
    ["audit", "intents", "locks", "pins", "sessions", "snapshots", "staging", "worktrees"];

/// A repository.
#[derive(Clone)]
pub struct Repo {
    /// The machine.
    pub sys: Sys,
    /// How trees are copied and hashed here.
    pub trees: Arc<dyn Trees>,
    /// Where it is.
    pub root: PathBuf,
    /// What its configuration says.
    pub config: Config,
    /// Who works here.
    pub actor: Actor,
    /// How guards are waited for.
    pub waits: Waits,
}

/// Who works in a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// The name for the audit: `host:user:pid:start_time`.
    pub name: String,
    /// The number of the user.
    pub user: u32,
}

impl Repo {
    /// Opens the repository at `root`.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    pub fn open(
        sys: &Sys,
        trees: &Arc<dyn Trees>,
        root: &Path,
        actor: &Actor,
        waits: &Waits,
    ) -> Result<Self> {
        let control = root.join(CONTROL);
        let path = control.join("format_version");
        let version = whole::read(sys, &path)?.ok_or_else(|| Error::corrupt(&path, "it is missing"))?;
        match String::from_utf8_lossy(&version).trim().parse::<u64>() {
            Ok(FORMAT) => {}
            Ok(version) => {
                let said = format!("{} is in format {version}; this program knows {FORMAT}", root.display());
                let hint = if version > FORMAT { TOO_OLD } else { "use the version of jvs that made it" };
                return Err(Error::new(Class::FormatUnsupported, said).hint(hint));
            }
            Err(_) => return Err(Error::corrupt(&path, "it is no number")),
        }
        let path = control.join("config.json");
        let config: Config = read_json(sys, &path)?.ok_or_else(|| Error::corrupt(&path, "it is missing"))?;
        if let Some(problem) = config.policy.problem() {
            return Err(Error::corrupt(&path, problem));
        }
        let (sys, trees) = (patient(sys, waits), Arc::clone(trees));
        let (root, actor, waits) = (root.to_path_buf(), actor.clone(), waits.clone());
        Ok(Self { sys, trees, root, config, actor, waits })
    }

    /// The directory of the repository that `start` is in.
    ///
    /// # Errors
    /// When it is in none.
    pub fn discover(sys: &Sys, start: &Path) -> Result<PathBuf> {
        for directory in start.ancestors() {
            if sys.files.stat(&directory.join(CONTROL)).is_ok_and(|stat| stat.kind == Kind::Directory) {
                return Ok(directory.to_path_buf());
            }
        }
        let said = format!("{} is not in a jvs repository", start.display());
        Err(Error::new(Class::NotFound, said).hint("run `jvs init <name>` to make one"))
    }

    /// Makes a repository at `root`. Until it is complete there is none.
    ///
    /// # Errors
    /// When something is in the way.
    pub fn init(sys: &Sys, root: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<Config> {
        make_dir(sys, root)?;
        let (control, payload) = (root.join(CONTROL), root.join(crate::names::MAIN));
        if sys.files.stat(&control).is_ok() {
            return Err(Error::new(Class::Exists, format!("{} is a repository already", root.display())));
        }
        make_dir(sys, &payload)?;
        let making = root.join(format!("{CONTROL}.{:032x}.tmp", sys.entropy.nonce()?));
        sys.files.create_dir(&making, 0o777)?;
        for directory in DIRECTORIES {
            sys.files.create_dir(&making.join(directory), 0o777)?;
        }
        let now = sys.clock.now()?;
        let config = Config {
            format: FORMAT,
            repo_id: LeaseId::new(sys.entropy.nonce()?).to_string(),
            created_at: rfc3339(&now),
            policy: Policy::default(),
        };
        whole::replace(sys, &making.join("format_version"), format!("{FORMAT}\n").as_bytes(), 0o644)?;
        write_json(sys, &making.join("config.json"), &config)?;
        fill(&making)?;
        sys.files.sync_dir(&making)?;
        sys.files.rename_new(&making, &control)?;
        sys.files.sync_dir(root)?;
        Ok(config)
    }

    /// A path in the control directory.
    #[must_use]
    pub fn control(&self, name: &str) -> PathBuf {
        self.root.join(CONTROL).join(name)
    }

    /// Where the payload of a worktree is.
    #[must_use]
    pub fn payload(&self, name: &WorktreeName) -> PathBuf {
        if name.is_main() {
            self.root.join(name.as_str())
        } else {
            self.root.join("worktrees").join(name.as_str())
        }
    }

    /// Where a published snapshot is.
    #[must_use]
    pub fn snapshot(&self, id: OpId) -> PathBuf {
        self.control("snapshots").join(id.to_string())
    }

    /// Where an operation puts together what it will publish.
    #[must_use]
    pub fn staging(&self, id: OpId) -> PathBuf {
        self.control("staging").join(id.to_string())
    }

    /// Whether something is at a path. That it cannot be told is an error, never a no.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn is_there(&self, path: &Path) -> Result<bool> {
        match self.sys.files.stat(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            found => Ok(found.map(|_| true)?),
        }
    }

    /// Runs `act` while nobody changes the shape of the repository.
    ///
    /// # Errors
    /// What `act` fails with, or when the guard cannot be had.
    pub fn together<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        self.inside(&[self.own_guard(LockMode::Shared)], act)
    }

    /// Runs `act`, which works on the lock of a worktree, while nobody changes the shape of the repository.
    ///
    /// # Errors
    /// What `act` fails with, or when a guard cannot be had.
    pub fn on_lock<T>(&self, worktree_id: &str, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let lock = self.lock_guard(worktree_id, true);
        self.inside(&[self.own_guard(LockMode::Shared), lock, self.audit_guard()], act)
    }

    /// Runs `act`, which only reads what is there and what the audit says about it.
    ///
    /// # Errors
    /// What `act` fails with, or when a guard cannot be had.
    pub fn reading<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        // Whoever may only read makes nothing: where a guard is not there, nobody has been inside.
        let guards = [self.own_guard(LockMode::Shared), self.audit_guard()];
        self.inside(&guards.map(|guard| Wanted { make: false, ..guard }), act)
    }

    /// Runs `act`, which works on the lock of a worktree and on nothing else.
    ///
    /// # Errors
    /// What `act` fails with, or when a guard cannot be had.
    pub fn on_lock_only<T>(&self, worktree_id: &str, act: impl FnOnce() -> Result<T>) -> Result<T> {
        self.inside(&[self.lock_guard(worktree_id, true), self.audit_guard()], act)
    }

    /// Runs `act` while nobody else is inside. Nothing in it may touch a lock.
    ///
    /// # Errors
    /// What `act` fails with, or when a guard cannot be had.
    pub fn alone<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        self.alone_with(&[], act)
    }

    /// Runs `act`, which looks at the locks of these worktrees, while nobody else is inside.
    ///
    /// # Errors
    /// What `act` fails with, or when a guard cannot be had.
    pub fn alone_with<T>(&self, worktree_ids: &[&str], act: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut wanted = vec![self.own_guard(LockMode::Exclusive)];
        wanted.extend(worktree_ids.iter().map(|id| self.lock_guard(id, false)));
        wanted.push(self.audit_guard());
        self.inside(&wanted, act)
    }

    fn inside<T>(&self, wanted: &[Wanted], act: impl FnOnce() -> Result<T>) -> Result<T> {
        let _inside = enter(&self.sys, &self.waits, wanted)?;
        act()
    }

    fn own_guard(&self, mode: LockMode) -> Wanted {
        Wanted { path: self.control("repo.guard"), mode, make: true }
    }

    fn lock_guard(&self, worktree_id: &str, make: bool) -> Wanted {
        let path = Paths::new(&self.control("locks"), worktree_id).guard;
        Wanted { path, mode: LockMode::Exclusive, make }
    }

    fn audit_guard(&self) -> Wanted {
        Wanted { path: self.control("audit").join(AUDIT_GUARD), mode: LockMode::Exclusive, make: true }
    }

    /// The ids that entries of a control directory have as names, sorted.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn ids(&self, directory: &str) -> Result<Vec<OpId>> {
        let names = self.sys.files.list(&self.control(directory))?;
        let id = |name: &std::ffi::OsString| name.to_str()?.split('.').next()?.parse().ok();
        let mut ids: Vec<OpId> = names.iter().filter_map(id).collect();
        ids.sort();
        ids.dedup();
        Ok(ids)
    }
}

/// Makes a directory unless it is there, durably.
///
/// # Errors
/// When something else is in its place.
pub fn make_dir(sys: &Sys, path: &Path) -> Result<()> {
    match sys.files.create_dir(path, 0o777) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    if sys.files.stat(path)?.kind != Kind::Directory {
        return Err(Error::path_escape(path));
    }
    Ok(sys.files.sync_dir(whole::parent(path))?)
}

/// What a JSON file of ours holds; none if there is none.
///
/// # Errors
/// When it cannot be read, or holds something else.
pub fn read_json<T: DeserializeOwned>(sys: &Sys, path: &Path) -> Result<Option<T>> {
    let Some(bytes) = whole::read(sys, path)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::corrupt(path, error))
}

/// Puts a JSON file in its place, durably.
///
/// # Errors
/// When that failed.
pub fn write_json(sys: &Sys, path: &Path, value: &impl Serialize) -> Result<()> {
    Ok(whole::replace(sys, path, &line(value)?, 0o644)?)
}

/// A value as one line of JSON.
///
/// # Errors
/// When it has no such form, which would be a bug: these are types of ours, whose keys are text.
pub fn line(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value).map_err(|error| {
        Error::new(Class::Io, format!("a bug in jvs: a record has no JSON form: {error}"))
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}
