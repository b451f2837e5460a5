//! The environment, read once and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::path::PathBuf;

/// Tells a command that `ic lock run` starts by whom the locks around it are held, one name per line.
pub const WITHIN: &str = "IC_LOCK_WITHIN";

/// What the environment says.
#[derive(Debug, Default)]
pub struct Vars {
    /// `IC_LOCK_ROOT`.
    pub root: Option<PathBuf>,
    /// Where this was started; none if that is gone.
    pub directory: Option<PathBuf>,
    /// `IC_LOCK_WITHIN`: who holds the locks that this runs under, the innermost first.
    pub within: Vec<String>,
}

impl Vars {
    /// Reads the environment.
    #[must_use]
    pub fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let within = set(WITHIN).map_or_else(String::new, |names| names.to_string_lossy().into_owned());
        Self {
            root: set("IC_LOCK_ROOT").map(PathBuf::from),
            directory: std::env::current_dir().ok(),
            within: within.lines().map(str::to_owned).collect(),
        }
    }
}
