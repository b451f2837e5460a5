//! `jit config`: names, flags and help.

use clap::Subcommand;

/// Settings.
#[derive(Subcommand, Debug)]
pub enum Config {
    /// Show every key, its value and where it comes from
    Show,
    /// Print the value of one key
    #[command(
        after_help = "Examples:\n  jit config get worktree.mode\n  jit config get coordination.default_ttl_secs"
    )]
    Get {
        /// The key
        key: String,
    },
    /// Set a key in the repository's file, or in the user's
    #[command(after_help = "Examples:\n  jit config set worktree.enforce_leases strict\n  \
        jit config set coordination.kinds.ci.max_ttl_secs 300\n  \
        jit config set global_operations.allowed_branches main,develop\n  \
        jit config set --global agent.id agent:alice")]
    Set {
        /// For this user, in every repository
        #[arg(long)]
        global: bool,
        /// The key
        key: String,
        /// The value; a list as `a,b`
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a key from the repository's file, or from the user's
    #[command(after_help = "Examples:\n  jit config reset coordination.default_ttl_secs\n  \
        jit config reset --global agent.description")]
    Reset {
        /// For this user, in every repository
        #[arg(long)]
        global: bool,
        /// The key
        key: String,
    },
    /// Name everything that is wrong
    Validate,
    /// Show the types of issues, the widest first
    ShowHierarchy,
}
