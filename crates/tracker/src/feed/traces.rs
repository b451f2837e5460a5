//! What changes leave behind, to be looked at often and cheaply: whoever finds the same as before knows that nothing has
//! happened through the tracker or through git.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdfast_git::Repository;
use holdfast_sys::{Identity, Sys};

use crate::session::Session;

/// Files, and what was found of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traces {
    /// These are looked at.
    files: Vec<PathBuf>,
    /// Of these, whatever is in them, too.
    folders: Vec<PathBuf>,
    found: Vec<Option<(Identity, u64, i64)>>,
}

impl Traces {
    /// Where changes of a repository leave something.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let control = session.control();
        let mut files = vec![control.join("claims.jsonl")];
        let folders = ["events", "notes", "dispatch", "engine", "locks/wait"];
        let folders = folders.iter().map(|name| control.join(name)).collect();
        if let Some(repository) = session.repository() {
            files.extend(of_git(session.sys(), repository));
        }
        for data in session.data().into_iter().chain(session.main_data().ok().flatten()) {
            files.extend(["config.toml", "issues", "gates.json"].map(|name| data.join(name)));
        }
        Self { files, folders, found: Vec::new() }
    }

    /// The directories in which something changes when one of them does.
    #[must_use]
    pub fn places(&self) -> BTreeSet<&Path> {
        self.files
            .iter()
            .filter_map(|file| file.parent())
            .chain(self.folders.iter().map(PathBuf::as_path))
            .collect()
    }

    /// The same, looked at now. What cannot be seen is not there.
    #[must_use]
    pub fn taken(&self, sys: &Sys) -> Self {
        let mut found: Vec<_> = self.files.iter().map(|path| look(sys, path)).collect();
        for folder in &self.folders {
            found.push(look(sys, folder));
            let names = sys.files.list(folder).unwrap_or_default();
            found.extend(names.iter().map(|name| look(sys, &folder.join(name))));
        }
        Self { files: self.files.clone(), folders: self.folders.clone(), found }
    }
}

fn look(sys: &Sys, path: &Path) -> Option<(Identity, u64, i64)> {
    let stat = sys.files.stat(path).ok()?;
    Some((stat.identity, stat.len, stat.modified_ms))
}

/// What git writes when a worktree is at another commit, or a branch is.
fn of_git(sys: &Sys, repository: &Repository) -> Vec<PathBuf> {
    let common = repository.common_dir();
    let mut files = vec![common.join("packed-refs"), common.join("FETCH_HEAD"), common.join("worktrees")];
    files.extend(["refs/heads", "refs/heads/jit", "refs/remotes/origin"].map(|name| common.join(name)));
    let linked = sys.files.list(&common.join("worktrees")).unwrap_or_default();
    let linked = linked.iter().map(|name| common.join("worktrees").join(name));
    for folder in std::iter::once(common.to_path_buf()).chain(linked) {
        files.extend(["HEAD", "index", "logs/HEAD", "jit-worktree.json"].map(|name| folder.join(name)));
    }
    files
}
