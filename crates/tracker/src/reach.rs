//! Git, for whatever reaches a remote: a login in its URL goes there by the environment, because the arguments of a
//! process can be read by everybody on the machine, and a path leads to the same place from every worktree.

use std::path::PathBuf;

use holdfast_git::run::Output;
use holdfast_git::{Config, Git, Repository};
use holdfast_remote::gitref::reaching;

use holdfast_store::{Result, Trouble};

use crate::caller::Caller;

/// This git, for a command that reaches `remote`.
///
/// # Errors
/// When its URL has a login that would stand in the arguments of git.
pub(crate) fn to(git: Git, caller: &Caller, repository: &Repository, remote: &str) -> Result<Git> {
    match Config::read(&*caller.sys.files, &caller.git, Some(repository)) {
        Ok(config) => reaching(git, &config, &caller.git, remote, &home(caller, repository))
            .map_err(|unreachable| Trouble::Unavailable.because(unreachable.0)),
        // Git says itself what is wrong with it.
        Err(_) => Ok(git),
    }
}

/// What a path in the place of a URL is relative to.
pub(crate) fn home(caller: &Caller, repository: &Repository) -> PathBuf {
    let main = repository.main_work_tree(&*caller.sys.files).ok().flatten();
    main.unwrap_or_else(|| repository.common_dir().to_path_buf())
}

/// What git said that did not do what it was asked to, on one line.
pub(crate) fn words(said: &Output) -> String {
    let text = String::from_utf8_lossy(&said.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "git said nothing".into() } else { lines.join("; ") }
}
