//! `jit demo`: names, flags and help.

use clap::Args;

/// How the demonstration is run.
#[derive(Args, Debug)]
pub struct Demo {
    /// Keep the repository afterwards, to look around in it
    #[arg(long)]
    pub keep: bool,
    /// Play one agent, which first wants this issue
    #[arg(long, hide = true, value_name = "ISSUE")]
    pub act: Option<String>,
}
