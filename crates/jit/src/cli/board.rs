//! `jit board`: names, flags and help.

use clap::Args;

/// The board in a terminal.
#[derive(Args, Debug)]
pub struct Board {
    /// Print how things stand, and end
    #[arg(long)]
    pub once: bool,
}
