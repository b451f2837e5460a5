//! What this clone has of what others have landed and pushed.

use std::path::{Path, PathBuf};

use holdfast_git::{Config as GitConfig, Git, ObjectId, Repository};
use holdfast_store::{Result, Trouble};

use super::chosen;
use super::shared::LIMIT;
use crate::caller::Caller;
use crate::config::Config;
use crate::durable;
use crate::reach;
use crate::target::{ORIGIN, Target};
use crate::workspace;

/// More than an object id is long.
const LONGEST: usize = 256;

/// The branches that are begun for issues.
const BRANCHES: &str = "jit/*";

/// What this clone has fetched.
pub(super) struct Fetched {
    caller: Caller,
    repository: Repository,
    config: Config,
    /// Says for which push all branches were fetched last. Whoever has lost it fetches once more.
    noted: PathBuf,
    mode: u32,
}

impl Fetched {
    /// What a repository has fetched; none if there is no branch that anything could land on.
    pub(super) fn of(
        caller: &Caller,
        repository: &Repository,
        config: &Config,
        control: &Path,
        mode: u32,
    ) -> Option<Self> {
        let noted = chosen::directory(control).join("fetched");
        let (caller, repository, config) = (caller.clone(), repository.clone(), config.clone());
        let fetched = Self { caller, repository, config, noted, mode };
        fetched.target().map(|_| fetched)
    }

    fn target(&self) -> Option<Target> {
        Target::find(&self.caller, &self.repository, &self.config).ok().flatten()
    }

    /// Whether the target has a commit, as far as this clone knows.
    pub(super) fn has_landed(&self, commit: &str) -> bool {
        let Some(target) = self.target() else { return true };
        let Some(commit) = ObjectId::from_hex(commit.as_bytes()) else { return false };
        let tips: Vec<ObjectId> = target.tips().collect();
        let objects = workspace::objects(&self.caller, &self.repository).ok();
        let git = Git::in_dir(self.repository.common_dir());
        let comes_before = |tip: &ObjectId| {
            match objects.as_ref().map(|objects| objects.is_ancestor(&commit, tip)) {
                Some(Ok(comes_before)) => comes_before,
                // What cannot be read here, or is not here at all, git may know of.
                Some(Err(_)) | None => {
                    let args = ["merge-base", "--is-ancestor", &commit.to_string(), &tip.to_string()];
                    git.ask(&args, &[]).is_ok_and(|said| said.code == Some(0))
                }
            }
        };
        tips.contains(&commit) || tips.iter().any(comes_before)
    }

    /// Whether all branches were fetched since a commit was pushed to one of them, and what they have was handed over. That
    /// the commit is here says nothing about those that were pushed before it.
    pub(super) fn has_pushed(&self, commit: &str) -> bool {
        let noted = durable::read(&self.caller.sys, &self.noted, LONGEST);
        noted.is_ok_and(|noted| noted.is_some_and(|noted| noted.trim_ascii() == commit.as_bytes()))
    }

    /// Notes that all branches are here as they were when this commit was pushed.
    pub(super) fn note_pushed(&self, commit: &str) -> Result<()> {
        Ok(durable::put(&self.caller.sys, &self.noted, format!("{commit}\n").as_bytes(), self.mode)?)
    }

    pub(super) fn fetch_target(&self, root: &Path, remote: &str) -> Result<()> {
        let Some(target) = self.target() else { return Ok(()) };
        self.fetch(root, remote, &target.branch, &[tracked(&target.branch, remote)])
    }

    /// Fetches the branches that this clone follows, the target, and all that are begun for issues.
    pub(super) fn fetch_branches(&self, root: &Path) -> Result<()> {
        let config = GitConfig::read(&*self.caller.sys.files, &self.caller.git, Some(&self.repository)).ok();
        let key = format!("remote.{ORIGIN}.fetch");
        let followed = config.iter().flat_map(|config| config.all(&key));
        let followed = followed.filter_map(|entry| String::from_utf8(entry.value.clone()?).ok());
        let mut refs: Vec<String> = followed.collect();
        refs.extend(self.target().map(|target| tracked(&target.branch, ORIGIN)));
        refs.push(tracked(BRANCHES, ORIGIN));
        self.fetch(root, ORIGIN, "what was pushed", &refs)
    }

    fn fetch(&self, root: &Path, remote: &str, what: &str, refs: &[String]) -> Result<()> {
        let git = reach::to(Git::in_dir(root), &self.caller, &self.repository, remote)?;
        let mut words = vec!["--no-tags", remote];
        words.extend(refs.iter().map(String::as_str));
        let sys = &self.caller.sys;
        reach::fetch(git, sys, Some(&self.repository), &words, Some(LIMIT)).map_err(|why| {
            Trouble::Unavailable.because(format!("{what} cannot be fetched from {remote}: {why}"))
        })
    }
}

/// Has a branch of a remote followed here.
fn tracked(branch: &str, remote: &str) -> String {
    format!("+refs/heads/{branch}:refs/remotes/{remote}/{branch}")
}
