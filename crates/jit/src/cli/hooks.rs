//! Hooks, and what they and git call.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Hooks.
#[derive(Subcommand, Debug)]
pub enum Hooks {
    /// Have git ask jit before it commits and pushes, and merge issues with jit
    #[command(
        after_help = "Examples:\n  jit hooks install\n  jit hooks install --pre-receive /srv/git/project.git"
    )]
    Install {
        /// Have this bare repository ask jit before it accepts a push, instead
        #[arg(long, value_name = "BARE REPOSITORY")]
        pre_receive: Option<PathBuf>,
    },
    /// Put everything back as it was before
    #[command(after_help = "Examples:\n  jit hooks uninstall")]
    Uninstall {
        /// In this bare repository, instead
        #[arg(long, value_name = "BARE REPOSITORY")]
        pre_receive: Option<PathBuf>,
    },
    /// Show which hooks are there
    #[command(after_help = "Exits with 7 if one is missing.\n\nExample:\n  jit hooks status")]
    Status {
        /// In this bare repository, instead
        #[arg(long, value_name = "BARE REPOSITORY")]
        pre_receive: Option<PathBuf>,
    },
}

/// What git runs.
#[derive(Subcommand, Debug)]
pub enum Hook {
    /// Judge what is staged
    PreCommit,
    /// Name leases in a message that git prepared
    PrepareCommitMsg {
        /// The message
        file: PathBuf,
        /// Where it comes from
        source: Option<String>,
        /// The commit that it comes from
        commit: Option<String>,
    },
    /// Name leases in a message that a person finished
    CommitMsg {
        /// The message
        file: PathBuf,
    },
    /// Judge a push; the refs are read from stdin
    PrePush {
        /// The name of the remote, or its address
        remote: String,
        /// Its address
        url: Option<String>,
    },
    /// Judge a push that arrives; the refs are read from stdin
    PreReceive,
}

/// The files that git hands to a merge driver.
#[derive(Args, Debug)]
pub struct MergeDriver {
    /// What both sides began with
    pub base: PathBuf,
    /// Our version, which is overwritten with the result
    pub ours: PathBuf,
    /// Their version
    pub theirs: PathBuf,
    /// How long the marks of a conflict are
    #[arg(default_value_t = 7)]
    pub marker_size: usize,
    /// The file that is merged
    pub path: Option<OsString>,
}

/// What is handed to `git commit`.
#[derive(Args, Debug)]
pub struct Commit {
    /// Arguments of git commit
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS OF GIT COMMIT")]
    pub arguments: Vec<OsString>,
}
