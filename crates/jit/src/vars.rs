//! The environment, read here and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::ffi::OsString;
use std::path::PathBuf;

use holdfast_sys::os::effective_user;

/// What a variable is set to.
pub type Lookup = fn(&str) -> Option<OsString>;

/// What the environment says.
pub struct Vars {
    /// Looks up what it says to the tracker.
    pub set: Lookup,
    /// The user.
    pub user: u32,
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
            set: |name| std::env::var_os(name),
            user: effective_user(),
            keeper: std::env::var_os("JIT_KEEPER_PID").filter(|value| !value.is_empty()),
            config_home: None,
            temporary: std::env::temp_dir(),
            directory: std::env::current_dir(),
        }
    }
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
