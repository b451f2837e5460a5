//! What can be typed. `jit board` has the same flags and hands them on.

use std::path::PathBuf;

use clap::Parser;

/// Show in this terminal who works on what, and the issues by state.
#[derive(Parser, Debug)]
#[command(name = "jit-board", version, after_help = "Usually started by jit board.")]
pub(crate) struct Cli {
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Act as this agent; person:<user> if nobody says
    #[arg(long, value_name = "ID")]
    pub(crate) agent_id: Option<String>,
    /// Print one JSON object, and end
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how things stand, and end
    #[arg(long)]
    pub(crate) once: bool,
}
