//! `jit run`: names, flags and help.

use std::ffi::OsString;

use clap::Args;

use super::Filters;

/// Running a command under a claim.
#[derive(Args, Debug)]
pub struct Run {
    /// The issue; the best one that is available if not given
    pub issue: Option<String>,
    /// Which issues are wanted.
    #[command(flatten)]
    pub filters: Filters,
    /// How long the claim lasts between renewals, in seconds
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub ttl: Option<String>,
    /// In a worktree that is made for it, and removed afterwards unless something in it has not landed
    #[arg(long, conflicts_with = "here")]
    pub worktree: bool,
    /// Stay on the branch that this worktree is on
    #[arg(long)]
    pub here: bool,
    /// Give the issue back afterwards; what was done stays on its branch
    #[arg(long)]
    pub no_finish: bool,
    /// Give the command the briefing on its standard input
    #[arg(long)]
    pub stdin: bool,
    /// Keep the output in a log of the repository's own, instead of passing it through
    #[arg(long)]
    pub log: bool,
    /// After so many failed attempts, label the issue needs:attention
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: Option<u32>,
    /// Work for a pool: placeholders in the command, and one JSON line for each thing that happens
    #[arg(long, hide = true)]
    pub pooled: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Guarding a run.
#[derive(Args, Debug)]
pub struct Guardian {
    /// What marks the processes of the run
    pub mark: String,
    /// Finish this issue instead, and leave word of it
    #[arg(long, value_name = "ISSUE")]
    pub finish: Option<String>,
}
