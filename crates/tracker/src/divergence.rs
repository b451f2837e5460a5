//! Changes that concern everybody who works in a repository are made where everybody sees them: on certain
//! branches, and on top of what the main branch has. The same gate stands before every such command, before
//! every commit of such a change, and behind `jit validate divergence`.

use holdfast_git::{Git, RefName, Repository};
use holdfast_sys::Files;

use crate::config::Error as ConfigError;
use crate::config::keys::GlobalOperations;
use crate::error::Result;

/// The main branch: the last that was seen of it elsewhere, else the one that is here.
const MAIN: [(&str, &str); 2] = [("refs/remotes/origin/main", "origin/main"), ("refs/heads/main", "main")];

/// Lets a change that concerns everybody pass on `branch`, or says why not. `heads` are the commits that it is
/// made on top of, as git understands them; several if it is made by a merge.
///
/// # Errors
/// The branch is not allowed, the main branch has gone on without it, or git failed.
pub fn pass(git: &Git, rules: &GlobalOperations, branch: &str, heads: &[String]) -> Result<()> {
    branch_passes(git, rules, branch)?;
    if rules.require_main_history { history_passes(git, heads) } else { Ok(()) }
}

/// Lets a change pass on `branch`, if that is one of those allowed or there is none of them.
///
/// # Errors
/// It is not, or git failed.
pub fn branch_passes(git: &Git, rules: &GlobalOperations, branch: &str) -> Result<()> {
    let allowed = &rules.allowed_branches;
    if allowed.iter().any(|name| name == branch) {
        return Ok(());
    }
    for name in allowed {
        if exists(git, &format!("refs/heads/{name}"))? {
            let branch = branch.to_owned();
            return Err(ConfigError::WrongBranch { branch, allowed: allowed.join(" or ") }.into());
        }
    }
    Ok(())
}

/// Lets a change pass that is made on top of everything that the main branch has; where there is no main
/// branch there is nothing to have.
///
/// # Errors
/// The main branch has more, or git failed.
pub fn history_passes(git: &Git, heads: &[String]) -> Result<()> {
    for (full, short) in MAIN {
        if !exists(git, full)? {
            continue;
        }
        for head in heads {
            if git.ask(&["merge-base", "--is-ancestor", full, head], b"")?.code == Some(0) {
                return Ok(());
            }
        }
        return Err(ConfigError::Behind { main: short.to_owned() }.into());
    }
    Ok(())
}

/// Whether the refs alone say that HEAD lacks nothing of the main branch: there is none, or HEAD is on its commit. Starts
/// no process; what it cannot tell, git can.
#[must_use]
pub fn is_level(files: &dyn Files, repository: &Repository) -> bool {
    let commit = |name: &str| repository.resolve(files, &RefName::new(name.as_bytes())?).ok();
    for (full, _) in MAIN {
        match commit(full) {
            None => return false,
            Some(None) => {}
            Some(main) => return repository.head_commit(files).is_ok_and(|head| head == main),
        }
    }
    true
}

fn exists(git: &Git, name: &str) -> Result<bool> {
    Ok(git.ask(&["rev-parse", "--quiet", "--verify", "--end-of-options", name], b"")?.code == Some(0))
}
