//! Changes that concern everybody who works in a repository are made where everybody sees them: on certain
//! branches, and on top of what the main branch has.

use holdfast_git::Git;

use crate::config::keys::GlobalOperations;
use crate::config::{Config, Error as ConfigError, Sources};
use crate::context::Context;
use crate::error::Result;
use crate::workspace::Ground;

/// What the main branch may be called, and what is the last that was seen of it elsewhere.
const MAIN: [&str; 4] = ["origin/main", "main", "origin/master", "master"];

/// Lets a change of the repository's configuration pass, or says why not. A configuration that is wrong
/// can be mended anywhere.
pub(super) fn pass(context: &Context, ground: &Ground, sources: &Sources) -> Result<()> {
    let rules = match Config::load(&context.sys, sources) {
        Ok(config) => config.global_operations.clone(),
        Err(ConfigError::Invalid(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let Some(branch) = ground.branch(context)? else { return Ok(()) };
    let git = Git::in_dir(&context.start);
    branch_passes(&git, &rules, branch)?;
    if rules.require_main_history { history_passes(&git) } else { Ok(()) }
}

fn branch_passes(git: &Git, rules: &GlobalOperations, branch: String) -> Result<()> {
    let allowed = &rules.allowed_branches;
    if allowed.contains(&branch) {
        return Ok(());
    }
    for name in allowed {
        if exists(git, &format!("refs/heads/{name}"))? {
            return Err(ConfigError::WrongBranch { branch, allowed: allowed.join(" or ") }.into());
        }
    }
    Ok(())
}

fn history_passes(git: &Git) -> Result<()> {
    for main in MAIN {
        let kind = if main.starts_with("origin/") { "refs/remotes" } else { "refs/heads" };
        let full = format!("{kind}/{main}");
        if exists(git, &full)? {
            let held = git.ask(&["merge-base", "--is-ancestor", &full, "HEAD"], b"")?.code == Some(0);
            return if held { Ok(()) } else { Err(ConfigError::Behind { main: main.to_owned() }.into()) };
        }
    }
    Ok(())
}

fn exists(git: &Git, name: &str) -> Result<bool> {
    Ok(git.ask(&["rev-parse", "--quiet", "--verify", "--end-of-options", name], b"")?.code == Some(0))
}
