//! The environment, read once and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::ffi::OsString;
use std::path::PathBuf;

use holdfast_git::Environment;
use holdfast_sys::os::effective_user;

/// What the environment says.
pub struct Vars {
    /// `JIT_AGENT_ID`.
    pub agent_id: Option<OsString>,
    /// `JIT_KEEPER_PID`.
    pub keeper: Option<OsString>,
    /// Whether `JIT_PUBLISHES` is set, which jit does for the hooks that it asks before it pushes under a claim.
    pub publishes: bool,
    /// `JIT_ETCD_PASSWORD`.
    pub etcd_password: Option<OsString>,
    /// Where the user's files are: `JIT_CONFIG_HOME`, else `jit` below the usual place.
    pub config_home: Option<PathBuf>,
    /// Where the user keeps what can be made again: `jit` below the usual place.
    pub cache_home: Option<PathBuf>,
    /// `GIT_AUTHOR_DATE`, which git sets for the hooks of a commit.
    pub author_date: Option<OsString>,
    /// What git takes from it.
    pub git: Environment,
    /// Where files go that nobody keeps.
    pub temporary: PathBuf,
    /// Where the program was started.
    pub directory: std::io::Result<PathBuf>,
}

impl Vars {
    /// Reads the environment.
    #[must_use]
    pub fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let xdg = || set("XDG_CONFIG_HOME").map(|home| PathBuf::from(home).join("jit"));
        let home = || set("HOME").map(|home| PathBuf::from(home).join(".config/jit"));
        let cache = || set("HOME").map(|home| PathBuf::from(home).join(".cache/jit"));
        let xdg_cache = set("XDG_CACHE_HOME").map(|home| PathBuf::from(home).join("jit"));
        Self {
            agent_id: set("JIT_AGENT_ID"),
            keeper: set("JIT_KEEPER_PID"),
            publishes: set("JIT_PUBLISHES").is_some(),
            etcd_password: set("JIT_ETCD_PASSWORD"),
            config_home: set("JIT_CONFIG_HOME").map(PathBuf::from).or_else(xdg).or_else(home),
            cache_home: xdg_cache.or_else(cache),
            author_date: set("GIT_AUTHOR_DATE"),
            git: Environment::read(effective_user(), |name| std::env::var_os(name)),
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
