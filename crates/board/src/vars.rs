//! The environment, read here and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::path::Path;
use std::sync::Arc;

use holdfast_sys::Sys;
use holdfast_sys::os::effective_user;
use holdfast_tracker::agent::person;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::{Caller, Listener, Session};

use crate::cli::Cli;

/// Whoever asks where the program was started, and as whom.
///
/// # Errors
/// When it cannot be told where that was, or who.
pub(crate) fn caller(cli: &Cli, listener: Arc<dyn Listener>) -> Result<Caller> {
    let failed = |error| holdfast_sys::Error::new("find", Path::new("the current directory"), error);
    let given = cli.directory.clone().unwrap_or_default();
    let start =
        if given.is_absolute() { given } else { std::env::current_dir().map_err(failed)?.join(given) };
    let set = |name: &str| std::env::var_os(name);
    let mut caller = Caller::in_environment(Sys::os(), start, effective_user(), &set, listener);
    caller.typed_agent = cli.agent_id.clone().map(Into::into);
    match Session::open(&caller)?.agent() {
        Ok(_) => {}
        Err(Error::NoAgent) => caller.typed_agent = Some(person(user().as_deref()).into()),
        Err(error) => return Err(error),
    }
    Ok(caller)
}

/// What the user is called, if anybody says.
fn user() -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()))
}
