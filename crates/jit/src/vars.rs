//! The environment, read here and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_sys::Sys;
use holdfast_sys::os::effective_user;
use holdfast_tracker::{Caller, Listener};

/// What the environment says to the door itself.
pub struct Vars {
    /// `JIT_KEEPER_PID`.
    pub keeper: Option<OsString>,
    /// Where the user's files are, in place of what the environment says.
    pub config_home: Option<PathBuf>,
    /// Where files go that nobody keeps.
    pub temporary: PathBuf,
    /// Where the program was started.
    pub directory: std::io::Result<PathBuf>,
}

impl Vars {
    /// Reads the environment.
    #[must_use]
    pub fn read() -> Self {
        Self {
            keeper: std::env::var_os("JIT_KEEPER_PID").filter(|value| !value.is_empty()),
            config_home: None,
            temporary: std::env::temp_dir(),
            directory: std::env::current_dir(),
        }
    }
}

/// Whoever asks in a directory, with what the environment says to the tracker.
#[must_use]
pub fn caller(sys: Sys, start: PathBuf, listener: Arc<dyn Listener>) -> Caller {
    Caller::in_environment(sys, start, effective_user(), &|name| std::env::var_os(name), listener)
}

/// Where the program itself is.
#[must_use]
pub fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// The editor that the user wants: `VISUAL`, else `EDITOR`.
#[must_use]
pub fn editor() -> Option<OsString> {
    ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}
