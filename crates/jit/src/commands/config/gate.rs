//! The gate before a change of the repository's configuration.

use holdfast_git::Git;

use crate::context::Context;
use holdfast_tracker::config::{Config, Error as ConfigError, Sources};
use holdfast_tracker::divergence;
use holdfast_tracker::error::Result;
use holdfast_tracker::workspace::Ground;

/// Lets a change of the repository's configuration pass, or says why not. A configuration that is wrong
/// can be mended anywhere.
pub(super) fn pass(context: &Context, ground: &Ground, sources: &Sources) -> Result<()> {
    let rules = match Config::load(&context.caller.sys, sources) {
        Ok(config) => config.global_operations.clone(),
        Err(ConfigError::Invalid(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let Some(branch) = ground.branch(&context.caller)? else { return Ok(()) };
    divergence::pass(&Git::in_dir(&context.caller.start), &rules, &branch, &["HEAD".to_owned()])
}
