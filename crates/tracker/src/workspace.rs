//! Where things are: the worktree's own `.jit/` and the control plane that all worktrees of a repository
//! share. Finding out starts no process and writes nothing.

use std::path::{Path, PathBuf};

use holdfast_git::{Error as GitError, Found, Git, Head, ObjectId, Objects, Repository, discover};

use crate::caller::Caller;
use crate::config::{Config, Places, Sources, WorktreeMode};
use crate::durable;
use crate::error::{Error, Result};

/// The directory that issues are kept in.
pub const DATA: &str = ".jit";

/// Where the machine's configuration is.
const SYSTEM_CONFIG: &str = "/etc/jit/config.toml";

/// Where things are.
pub struct Workspace {
    /// The repository; none outside of git.
    pub repository: Option<Repository>,
    /// The root of the worktree; none in a bare repository.
    pub root: Option<PathBuf>,
    /// The control plane.
    pub control: PathBuf,
    /// What is configured.
    pub config: Config,
}

impl Workspace {
    /// The workspace on this ground.
    ///
    /// # Errors
    /// When the configuration stands in the way.
    pub fn on(caller: &Caller, ground: Ground) -> Result<Self> {
        let config = Config::load(&caller.sys, &ground.sources(caller))?;
        let Ground { repository, root } = ground;
        let control = control(caller, &config, repository.as_ref(), root.as_deref())?;
        Ok(Self { repository, root, control, config })
    }

    /// Whether issues are tracked here.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn is_initialised(&self, caller: &Caller) -> Result<bool> {
        let there = |path: &Path| durable::is_dir(&caller.sys, path);
        if let Some(data) = self.data()
            && there(&data)?
        {
            return Ok(true);
        }
        if there(&self.control)? {
            return Ok(true);
        }
        Ok(match self.main_data(caller)? {
            Some(main) => there(&main)?,
            None => false,
        })
    }

    /// This worktree's `.jit/`; none without a worktree.
    #[must_use]
    pub fn data(&self) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join(DATA))
    }

    /// This worktree's `.jit/`.
    ///
    /// # Errors
    /// When there is no worktree.
    pub fn own_data(&self) -> Result<PathBuf> {
        self.data().ok_or_else(|| Error::NoWorktree(self.control.clone()))
    }

    /// The main worktree's `.jit/`, if this is not the main worktree.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn main_data(&self, caller: &Caller) -> Result<Option<PathBuf>> {
        let Some(repository) = self.repository.as_ref().filter(|repository| repository.is_linked()) else {
            return Ok(None);
        };
        Ok(repository.main_work_tree(&*caller.sys.files)?.map(|root| root.join(DATA)))
    }

    /// Where linked worktrees hand over what they have written; none where nothing is shared.
    #[must_use]
    pub fn shared_data(&self) -> Option<&Path> {
        Some(self.control.as_path()).filter(|control| !control.ends_with(DATA))
    }

    /// Whether this is a worktree beside the main one.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.repository.as_ref().is_some_and(Repository::is_linked)
    }

    /// The branch of this worktree: none outside of git, `HEAD` where there is no branch.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn branch(&self, caller: &Caller) -> Result<Option<String>> {
        branch(caller, self.repository.as_ref())
    }
}

/// Where the worktree is, whatever is configured there: also a configuration that is wrong can be found.
#[derive(Clone)]
pub struct Ground {
    /// The repository; none outside of git.
    pub repository: Option<Repository>,
    /// The root of the worktree; none in a bare repository.
    pub root: Option<PathBuf>,
}

impl Ground {
    /// The worktree that the caller is in.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn find(caller: &Caller) -> Result<Self> {
        let files = &*caller.sys.files;
        let repository = match discover(files, &caller.start, &caller.git)? {
            Found::Repository(repository) => Some(*repository),
            Found::Nothing { .. } => None,
        };
        let root = match &repository {
            Some(repository) => repository.work_tree().map(Path::to_path_buf),
            None => Some(outside_git(caller)?),
        };
        Ok(Self { repository, root })
    }

    /// The files that the configuration is made of.
    #[must_use]
    pub fn sources(&self, caller: &Caller) -> Sources {
        Sources {
            repository: self.root.as_ref().map(|root| root.join(DATA).join("config.toml")),
            user: caller.user_file("config.toml"),
            system: Some(SYSTEM_CONFIG.into()),
        }
    }

    /// Every file that settings can be in.
    #[must_use]
    pub fn places(&self, caller: &Caller) -> Places {
        Places { sources: self.sources(caller), agent: caller.user_file("agent.toml") }
    }

    /// The branch of the worktree: none outside of git, `HEAD` where there is no branch.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn branch(&self, caller: &Caller) -> Result<Option<String>> {
        branch(caller, self.repository.as_ref())
    }
}

/// The commit that HEAD of a worktree is on; none on a branch without one.
///
/// # Errors
/// When git stands in the way.
pub fn head_commit(caller: &Caller, repository: &Repository) -> holdfast_git::Result<Option<ObjectId>> {
    match repository.head_commit(&*caller.sys.files) {
        Err(GitError::Reftable { .. }) => Git::in_dir(repository.git_dir()).head_commit(),
        commit => commit,
    }
}

/// The objects of a repository, and those that the environment adds.
///
/// # Errors
/// When they cannot be read here.
pub fn objects<'a>(caller: &'a Caller, repository: &Repository) -> holdfast_git::Result<Objects<'a>> {
    Objects::open(&*caller.sys.files, repository, &caller.git, &caller.start)
}

fn branch(caller: &Caller, repository: Option<&Repository>) -> Result<Option<String>> {
    let Some(repository) = repository else { return Ok(None) };
    let head = match repository.head(&*caller.sys.files) {
        Err(GitError::Reftable { .. }) => Git::in_dir(repository.git_dir()).head(),
        head => head,
    };
    Ok(Some(match head? {
        Head::Branch(name) => name.to_string(),
        Head::Detached(_) => "HEAD".to_owned(),
    }))
}

/// Outside of git: the nearest directory that has a `.jit/`, else the one that was started in.
fn outside_git(caller: &Caller) -> Result<PathBuf> {
    // What is above `here/..` is not `here`.
    let start = holdfast_git::real_path(&*caller.sys.files, &caller.start)?;
    for directory in start.ancestors() {
        if durable::is_dir(&caller.sys, &directory.join(DATA))? {
            return Ok(directory.to_path_buf());
        }
    }
    Ok(start)
}

/// Where the claims are.
fn control(
    caller: &Caller,
    config: &Config,
    repository: Option<&Repository>,
    root: Option<&Path>,
) -> Result<PathBuf> {
    match (config.worktree.mode, repository, root) {
        (WorktreeMode::On, None, _) => Err(Error::NotInGit(caller.start.clone())),
        (WorktreeMode::Off, _, Some(root)) | (_, None, Some(root)) => Ok(root.join(DATA)),
        (_, Some(repository), _) => Ok(repository.common_dir().join("jit")),
        (_, None, None) => Err(Error::NotInitialised(caller.start.clone())),
    }
}
