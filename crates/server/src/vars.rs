//! The environment, read here and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_sys::Sys;
use holdfast_sys::os::effective_user;
use holdfast_tracker::error::Result;
use holdfast_tracker::{Caller, Silent};

use crate::cli::Cli;

/// Whoever asks where the server was started.
///
/// # Errors
/// When it cannot be told where that was.
pub(crate) fn caller(cli: &Cli) -> Result<Caller> {
    let given = cli.directory.clone().unwrap_or_default();
    let start = if given.is_absolute() { given } else { current()?.join(given) };
    let set = |name: &str| std::env::var_os(name);
    let mut caller = Caller::in_environment(Sys::os(), start, effective_user(), &set, Arc::new(Silent));
    caller.typed_agent = cli.agent_id.clone().map(Into::into);
    Ok(caller)
}

/// A path that was typed, from where the server was started.
///
/// # Errors
/// When it cannot be told where that was.
pub(crate) fn typed(path: &Path) -> Result<PathBuf> {
    if path.is_absolute() { Ok(path.to_path_buf()) } else { Ok(current()?.join(path)) }
}

fn current() -> Result<PathBuf> {
    let failed = |error| holdfast_sys::Error::new("find", Path::new("the current directory"), error);
    Ok(std::env::current_dir().map_err(failed)?)
}

/// What the user is called, if anybody says.
pub(crate) fn user() -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()))
}
