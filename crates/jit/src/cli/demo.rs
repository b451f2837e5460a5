//! `jit demo`: names, flags and help.

use clap::Args;

/// How the demonstration is run.
#[derive(Args, Debug)]
pub struct Demo {
    /// Keep the repository afterwards, to look around in it
    #[arg(long)]
    pub keep: bool,
}
