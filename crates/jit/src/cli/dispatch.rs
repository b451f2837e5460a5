//! `jit dispatch`: names, flags and help.

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};

use super::Filters;

/// A pool of workers, and what can be asked about one.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Dispatch {
    /// What is asked about a pool.
    #[command(subcommand)]
    pub question: Option<AboutPool>,
    /// The pool.
    #[command(flatten)]
    pub pool: Pool,
}

/// A pool of workers.
#[derive(Args, Debug)]
pub struct Pool {
    /// How many commands run at once
    #[arg(short = 'n', long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub workers: u16,
    /// Which issues are wanted.
    #[command(flatten)]
    pub filters: Filters,
    /// What the pool is called; its workers are agent:NAME-1 and so on
    #[arg(long, value_name = "NAME", default_value = "pool")]
    pub name: String,
    /// How often a command may fail on an issue before that is left alone
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: u32,
    /// Begin nothing new after this time: 90s, 45m, 8h
    #[arg(long = "for", value_name = "TIME")]
    pub span: Option<String>,
    /// End when nothing is left that could be begun
    #[arg(long)]
    pub drain: bool,
    /// How long a claim lasts between renewals, in seconds
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub ttl: Option<String>,
    /// Give each command the briefing on its standard input
    #[arg(long)]
    pub stdin: bool,
    /// Run this coding agent without anybody at its terminal
    #[arg(long, value_enum, conflicts_with = "command")]
    pub agent: Option<Client>,
    /// More arguments for it, separated by spaces
    #[arg(long, value_name = "ARGS", requires = "agent", allow_hyphen_values = true)]
    pub agent_args: Vec<String>,
    /// The command; {id}, {handle}, {title}, {worktree} and {briefing} are filled in
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "agent")]
    pub command: Vec<OsString>,
}

/// Coding agents that can be run without a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Client {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Cursor's command line
    Cursor,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// Copilot CLI
    Copilot,
}

/// What is asked about a pool from elsewhere.
#[derive(Subcommand, Debug)]
pub enum AboutPool {
    /// Show pools and what their workers do
    Status,
    /// Let the running commands finish, and end the pool
    #[command(after_help = "Examples:\n  jit dispatch stop\n  jit dispatch stop --now --name night")]
    Stop {
        /// Which pool
        #[arg(long, value_name = "NAME", default_value = "pool")]
        name: String,
        /// Stop the running commands, too
        #[arg(long)]
        now: bool,
    },
    /// Show what a command wrote
    #[command(
        after_help = "What a terminal would act on is left out; the file, whose path -q prints, has every \
        byte.\n\nExamples:\n  jit dispatch logs 7k2f\n  less \"$(jit dispatch logs -q 7k2f)\""
    )]
    Logs {
        /// The issue
        issue: String,
    },
}
