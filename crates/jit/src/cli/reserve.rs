//! `jit reserve`: names, flags and help.

use clap::{Args, Subcommand};

/// Reserving paths.
#[derive(Args, Debug)]
pub struct AddReservation {
    /// What is reserved, from the root of the repository: `*` and `?` within a name, `**` for any depth
    #[arg(required = true, value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Let others reserve it too, if they share it
    #[arg(long)]
    pub shared: bool,
    /// How long it lasts, in seconds; as long as the claim that it belongs to if not given
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub ttl: Option<String>,
    /// The issue whose claim it belongs to and ends with; the one that this worktree holds if not given
    #[arg(long, value_name = "ISSUE")]
    pub issue: Option<String>,
    /// It belongs to no claim, also if this worktree holds one
    #[arg(long, conflicts_with = "issue")]
    pub alone: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Wait that long for it to become free, in seconds; as long as it takes if no number is given
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "forever", allow_negative_numbers = true)]
    pub wait: Option<String>,
}

/// Reservations.
#[derive(Subcommand, Debug)]
pub enum Reserve {
    /// Reserve paths: all of these patterns or none
    #[command(
        after_help = "Two reservations exclude each other if some path matches both, whether it exists or not. Quote \
        patterns, so that the shell leaves them alone.\n\nExamples:\n  jit reserve add 'src/auth/**'\n  jit reserve add \
        Cargo.lock --wait 60\n  jit reserve add 'docs/*.md' --shared --reason 'reading them'"
    )]
    Add(AddReservation),
    /// List what is reserved, and by whom
    #[command(after_help = "Examples:\n  jit reserve list\n  jit reserve list --mine --json")]
    List {
        /// Only what whoever asks has reserved here
        #[arg(long)]
        mine: bool,
    },
    /// Release reservations of this worktree
    #[command(after_help = "Examples:\n  jit reserve release 'src/auth/**'\n  jit reserve release --all")]
    Release {
        /// The patterns, as they were reserved
        #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "PATTERN")]
        patterns: Vec<String>,
        /// All that this worktree has reserved
        #[arg(long)]
        all: bool,
    },
    /// Check whether somebody else has reserved a path; exit code 4 if so
    #[command(
        after_help = "Paths are relative to the current directory, or absolute, and need not exist. A directory is \
        reserved if anything in it is.\n\nExamples:\n  jit reserve check src/auth/login.rs\n  jit reserve check \
        \"$FILE\" || exit 2"
    )]
    Check {
        /// The paths
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<String>,
    },
}
