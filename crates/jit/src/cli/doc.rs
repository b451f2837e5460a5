//! `jit doc`, `jit import` and `jit export`: names, flags and help.

use clap::{Args, Subcommand};

/// Documents of issues.
#[derive(Subcommand, Debug)]
pub enum Doc {
    /// Attach a file of the worktree to an issue; needs a claim on it
    #[command(after_help = "Example:\n  jit doc add 01K8ZQ docs/login.md --label design")]
    Add {
        /// The issue
        id: String,
        /// The file
        path: String,
        /// What it is called
        #[arg(long)]
        label: Option<String>,
    },
    /// Take a document off an issue; the file stays. Needs a claim on the issue
    #[command(after_help = "Example:\n  jit doc remove 01K8ZQ docs/login.md")]
    Remove {
        /// The issue
        id: String,
        /// The file
        path: String,
    },
    /// List the documents of an issue
    #[command(after_help = "Example:\n  jit doc list 01K8ZQ")]
    List {
        /// The issue
        id: String,
    },
    /// Print a document
    #[command(after_help = "Example:\n  jit doc show 01K8ZQ docs/login.md")]
    Show {
        /// The issue
        id: String,
        /// The file
        path: String,
    },
    /// Show the commits that changed a document
    #[command(after_help = "Example:\n  jit doc history 01K8ZQ docs/login.md")]
    History {
        /// The issue
        id: String,
        /// The file
        path: String,
        /// At most so many, the latest first
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        limit: usize,
    },
}

/// What is read in.
#[derive(Args, Debug)]
pub struct Import {
    /// The file, one JSON object per line; `-` for standard input
    pub file: String,
}

/// What is written out.
#[derive(Args, Debug)]
pub struct Export {
    /// Only these issues
    #[arg(value_name = "ISSUE")]
    pub ids: Vec<String>,
}
