//! The branch that finished work lands on, and where its tips are: the local one, and what was last fetched of the
//! remote's. Reading them starts no process and writes nothing.

use std::path::{Path, PathBuf};

use holdfast_git::{Error as GitError, Git, Head, ObjectId, RefName, Repository};
use holdfast_sys::Sys;
use serde::Deserialize;

use crate::caller::Caller;
use crate::config::Config;
use crate::durable;
use crate::error::Result;

/// Where it is noted, in the control plane, that a worktree has to follow the target that it has checked out.
pub(crate) const NOTES: &str = "landing";

/// Whether a worktree has still to follow its branch: what is committed there would take back what has landed.
///
/// # Errors
/// When that cannot be told.
pub(crate) fn is_behind(sys: &Sys, control: &Path, root: &Path) -> Result<bool> {
    #[derive(Deserialize)]
    struct Note {
        root: PathBuf,
    }
    let directory = control.join(NOTES);
    let names = match sys.files.list(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        names => names?,
    };
    for name in names {
        let bytes = durable::read(sys, &directory.join(name), 1 << 16)?.unwrap_or_default();
        if serde_json::from_slice::<Note>(&bytes).is_ok_and(|note| note.root == root) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The remote that a clone is made from.
pub(crate) const ORIGIN: &str = "origin";

/// What the branch is called where nobody says.
const USUAL: [&str; 2] = ["main", "master"];

/// The branch that finished work lands on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Its name.
    pub branch: String,
    /// The commit that it is on here; none if there is no such branch.
    pub local: Option<ObjectId>,
    /// The commit that it was on at the remote when that was last asked; none if it never was.
    pub remote: Option<ObjectId>,
}

impl Target {
    /// The target of a repository: as configured, else as the remote has it, else what such a branch is usually
    /// called, else the branch of the main worktree. None where there is no branch at all.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn find(caller: &Caller, repository: &Repository, config: &Config) -> Result<Option<Self>> {
        let refs = Refs { caller, repository };
        let branch = match &config.landing.branch {
            Some(branch) => Some(branch.clone()),
            None => refs.default_branch()?,
        };
        let Some(branch) = branch else { return Ok(None) };
        let local = refs.commit(&format!("refs/heads/{branch}"))?;
        let remote = refs.commit(&format!("refs/remotes/{ORIGIN}/{branch}"))?;
        Ok(Some(Self { branch, local, remote }))
    }

    /// The tip that work is built on: the remote's, where it will be pushed, else the local one.
    #[must_use]
    pub fn onto(&self) -> Option<ObjectId> {
        self.remote.or(self.local)
    }

    /// What git calls the tip that work goes on top of.
    pub fn top(&self) -> String {
        match self.remote {
            Some(_) => format!("{ORIGIN}/{}", self.branch),
            None => self.branch.clone(),
        }
    }

    /// Its tips, the local one first, each once.
    pub fn tips(&self) -> impl Iterator<Item = ObjectId> {
        let remote = self.remote.filter(|remote| self.local != Some(*remote));
        self.local.into_iter().chain(remote)
    }
}

/// The refs of a repository.
struct Refs<'a> {
    caller: &'a Caller,
    repository: &'a Repository,
}

impl Refs<'_> {
    fn default_branch(&self) -> Result<Option<String>> {
        let origin = format!("refs/remotes/{ORIGIN}/");
        let head = self.symbolic(&format!("{origin}HEAD"))?;
        if let Some(branch) = head.as_deref().and_then(|head| head.strip_prefix(&origin)) {
            return Ok(Some(branch.to_owned()));
        }
        for branch in USUAL {
            let there = [format!("refs/heads/{branch}"), format!("{origin}{branch}")];
            for name in there {
                if self.commit(&name)?.is_some() {
                    return Ok(Some(branch.to_owned()));
                }
            }
        }
        self.main_branch()
    }

    /// The branch of the main worktree.
    fn main_branch(&self) -> Result<Option<String>> {
        let files = &*self.caller.sys.files;
        let head = match self.repository.main_head(files) {
            Err(GitError::Reftable { .. }) => Git::in_dir(self.repository.common_dir()).head(),
            head => head,
        };
        Ok(match head? {
            Head::Branch(name) => Some(name.to_string()),
            Head::Detached(_) => None,
        })
    }

    /// The commit that a ref is on; none if there is none of that name.
    fn commit(&self, name: &str) -> Result<Option<ObjectId>> {
        let Some(known) = RefName::new(name.as_bytes()) else { return Ok(None) };
        match self.repository.resolve(&*self.caller.sys.files, &known) {
            Err(GitError::Reftable { .. }) => {
                let commit = format!("{name}^{{commit}}");
                let said = self
                    .git()
                    .ask(&["rev-parse", "--quiet", "--verify", "--end-of-options", &commit], &[])?;
                Ok(ObjectId::from_hex(said.stdout.trim_ascii()))
            }
            commit => Ok(commit?),
        }
    }

    /// The ref that another one stands for.
    fn symbolic(&self, name: &str) -> Result<Option<String>> {
        let Some(known) = RefName::new(name.as_bytes()) else { return Ok(None) };
        match self.repository.stands_for(&*self.caller.sys.files, &known) {
            Err(GitError::Reftable { .. }) => {
                let said = self.git().ask(&["symbolic-ref", "--quiet", name], &[])?;
                let text = String::from_utf8_lossy(&said.stdout).trim().to_owned();
                Ok(Some(text).filter(|text| !text.is_empty()))
            }
            other => Ok(other?.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned())),
        }
    }

    fn git(&self) -> Git {
        Git::in_dir(self.repository.common_dir())
    }
}
