//! Worktrees: what is known of each. A worktree has an id for life; its name and its place may change, its
//! lock and its fence do not, because they go by the id.

use std::path::{Path, PathBuf};

use holdfast_kernel::LeaseId;
use holdfast_store::rfc3339;
use holdfast_sys::{Kind, Sys};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names::{MAIN, OpId, WorktreeName};
use crate::repo::{FORMAT, Repo, line, read_json, write_json};

/// Whether a worktree has one writer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// It has one, who holds the lock.
    Exclusive,
    /// Everybody writes; nobody is promised anything.
    Shared,
}

/// A worktree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worktree {
    /// The version of this file.
    pub format: u64,
    /// Its id, for life.
    pub worktree_id: String,
    /// Its name.
    pub name: WorktreeName,
    /// Whether it has one writer.
    pub isolation: Isolation,
    /// The snapshot that it was last the same as.
    pub head: Option<OpId>,
    /// When it was made.
    pub created_at: String,
}

/// All worktrees of a repository.
#[derive(Default)]
pub struct Survey {
    /// Those that can be read, by name.
    pub readable: Vec<Worktree>,
    /// The others.
    pub damaged: Vec<Damaged>,
}

/// A worktree that cannot be read.
pub struct Damaged {
    /// Its id.
    pub worktree_id: String,
    /// What is wrong.
    pub error: Error,
}

impl Worktree {
    /// A worktree with a fresh id.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    pub fn fresh(sys: &Sys, name: WorktreeName, isolation: Isolation, head: Option<OpId>) -> Result<Self> {
        let now = sys.clock.now()?;
        let worktree_id = LeaseId::from_parts(now.wall_ms(), sys.entropy.nonce()?).to_string();
        Ok(Self { format: FORMAT, worktree_id, name, isolation, head, created_at: rfc3339(&now) })
    }

    /// Where it is written down in a control directory.
    #[must_use]
    pub fn file(control: &Path, id: &str) -> PathBuf {
        control.join("worktrees").join(format!("{id}.json"))
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// When it has none, which would be a bug.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        line(self)
    }

    /// Writes it down, durably.
    ///
    /// # Errors
    /// When that failed.
    pub fn save(&self, repo: &Repo) -> Result<()> {
        write_json(&repo.sys, &repo.control("worktrees").join(format!("{}.json", self.worktree_id)), self)
    }

    /// The worktree with this id, if there is one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(repo: &Repo, id: &str) -> Result<Option<Self>> {
        let path = repo.control("worktrees").join(format!("{id}.json"));
        let Some(worktree) = read_json::<Self>(&repo.sys, &path)? else { return Ok(None) };
        if worktree.worktree_id != id || worktree.format != FORMAT {
            return Err(Error::corrupt(&path, "it is about another worktree, or in another format"));
        }
        Ok(Some(worktree))
    }

    /// The ids of all worktrees, whether or not they can be read.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn ids(repo: &Repo) -> Result<Vec<String>> {
        let names = repo.sys.files.list(&repo.control("worktrees"))?;
        let id = |name: &std::ffi::OsString| Some(name.to_str()?.strip_suffix(".json")?.to_owned());
        Ok(names.iter().filter_map(id).filter(|id| id.parse::<LeaseId>().is_ok()).collect())
    }

    /// All worktrees that can be read, by name, and what is wrong with the others.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn survey(repo: &Repo) -> Result<Survey> {
        let mut survey = Survey::default();
        for id in Self::ids(repo)? {
            match Self::load(repo, &id) {
                Ok(worktree) => survey.readable.extend(worktree),
                Err(error) => survey.damaged.push(Damaged { worktree_id: id, error }),
            }
        }
        survey.readable.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(survey)
    }

    /// All worktrees, by name, for whoever has to know every one of them.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn all(repo: &Repo) -> Result<Vec<Self>> {
        let Survey { readable, damaged } = Self::survey(repo)?;
        damaged.into_iter().next().map_or(Ok(readable), |one| Err(one.error))
    }

    /// The worktree with this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(repo: &Repo, name: &WorktreeName) -> Result<Self> {
        let Survey { readable, damaged } = Self::survey(repo)?;
        if let Some(found) = readable.into_iter().find(|worktree| worktree.name == *name) {
            return Ok(found);
        }
        let Some(one) = damaged.first() else {
            return Err(Error::not_found("worktree", name.as_str(), "`jvs worktree list` shows all of them"));
        };
        let said =
            format!("there is no worktree '{name}', unless it is one that cannot be read: {}", one.error);
        Err(Error::new(one.error.class(), said).hint("`jvs doctor` names the records that are damaged"))
    }

    /// The payload, which must be a directory and no symbolic link.
    ///
    /// # Errors
    /// When it is missing or something else.
    pub fn payload(&self, repo: &Repo) -> Result<PathBuf> {
        let path = repo.payload(&self.name);
        match repo.sys.files.stat(&path) {
            Ok(stat) if stat.kind == Kind::Directory => Ok(path),
            Ok(_) => Err(Error::path_escape(&path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Error::corrupt(&path, "the payload is missing")
                    .hint("if a restore was interrupted, `jvs doctor --repair` completes it"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The name of the worktree that a path below the root of a repository is in, if it is in one.
#[must_use]
pub fn containing(root: &Path, path: &Path) -> Option<WorktreeName> {
    let mut parts = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str());
    match parts.next()?? {
        MAIN => WorktreeName::new(MAIN).ok(),
        "worktrees" => WorktreeName::new(parts.next()??).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::containing;

    #[test]
    fn a_path_belongs_to_the_worktree_that_it_is_in() {
        let name = |path: &str| containing(Path::new("/r"), Path::new(path)).map(|name| name.to_string());
        assert_eq!(name("/r/main/src"), Some("main".into()));
        assert_eq!(name("/r/worktrees/x"), Some("x".into()));
        for other in ["/r", "/r/worktrees", "/r/.jvs/locks", "/elsewhere/main"] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
