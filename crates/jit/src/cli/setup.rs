//! `jit setup`: names, flags and help.

use clap::{Args, ValueEnum};

/// Setting up a coding client.
#[derive(Args, Debug)]
pub struct Setup {
    /// The client
    pub client: Client,
    /// Only say whether everything is in its place
    #[arg(long)]
    pub check: bool,
    /// Take out what was put in
    #[arg(long, conflicts_with = "check")]
    pub remove: bool,
    /// Only say what would be done
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// Print what belongs into which file, and touch nothing
    #[arg(long, conflicts_with_all = ["check", "remove", "dry_run"])]
    pub print: bool,
}

/// A coding client.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// opencode
    Opencode,
    /// Antigravity CLI
    Antigravity,
    /// Gemini CLI
    Gemini,
    /// Copilot
    Copilot,
    /// Any client that reads AGENTS.md
    AgentsMd,
}
