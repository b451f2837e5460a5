//! Git, for whatever reaches a remote: a login in its URL goes there by the environment, because the arguments of a
//! process can be read by everybody on the machine.

use holdfast_git::{Config, Git, Repository};
use holdfast_remote::gitref::discreet;

use holdfast_store::{Result, Trouble};

use crate::caller::Caller;

/// This git, for a command that reaches `remote`.
///
/// # Errors
/// When its URL has a login that would stand in the arguments of git.
pub(crate) fn to(git: Git, caller: &Caller, repository: Option<&Repository>, remote: &str) -> Result<Git> {
    match Config::read(&*caller.sys.files, &caller.git, repository) {
        Ok(config) => discreet(git, &config, &caller.git, remote)
            .map_err(|unreachable| Trouble::Unavailable.because(unreachable.0)),
        // Git says itself what is wrong with it.
        Err(_) => Ok(git),
    }
}
