//! What can be typed. Only names, flags and help, one file a noun: what they mean is in `commands`.

mod claim;
mod config;
mod heartbeat;
mod issue;
mod validate;
mod worktree;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use claim::{Claim, Terms};
pub use config::Config;
pub use heartbeat::Heartbeat;
pub use issue::{CreateIssue, Issue};
pub use validate::Validate;
pub use worktree::Worktree;

/// Issues and claims for work in parallel git worktrees.
#[derive(Parser, Debug)]
#[command(name = "jit", version, propagate_version = true, disable_help_subcommand = true)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command understands.
#[derive(Args, Debug, Clone, Default)]
pub struct Global {
    /// Print one JSON document
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only what a script needs
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Act as this agent, `type:name`
    #[arg(long, value_name = "ID", global = true)]
    pub agent_id: Option<String>,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Start tracking issues here
    Init,
    /// Issues
    #[command(subcommand)]
    Issue(Issue),
    /// Claims on issues: who works on what
    #[command(subcommand)]
    Claim(Claim),
    /// Worktrees and their identities
    #[command(subcommand)]
    Worktree(Worktree),
    /// Signs of life for claims
    #[command(subcommand)]
    Heartbeat(Heartbeat),
    /// Settings: what holds, where it comes from, how to change it
    #[command(subcommand)]
    Config(Config),
    /// Put right what a crash or a bad disk left behind
    Recover {
        /// Only say what is wrong
        #[arg(long)]
        dry_run: bool,
    },
    /// Look for problems
    #[command(subcommand)]
    Validate(Validate),
}
