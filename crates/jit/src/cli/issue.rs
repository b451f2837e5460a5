//! `jit issue`: names, flags and help.

use clap::{Args, Subcommand};

/// Issues.
#[derive(Subcommand, Debug)]
pub enum Issue {
    /// Create an issue
    Create(CreateIssue),
    /// Show an issue
    Show {
        /// The issue
        id: String,
    },
    /// List issues
    List {
        /// Only issues in this state
        #[arg(long)]
        state: Option<String>,
    },
}

/// What an issue is created from.
#[derive(Args, Debug)]
pub struct CreateIssue {
    /// What it is about
    #[arg(long)]
    pub title: String,
    /// What there is to say about it
    #[arg(long)]
    pub description: Option<String>,
    /// critical, high, normal or low
    #[arg(long, default_value = "normal")]
    pub priority: String,
}
