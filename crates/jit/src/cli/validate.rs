//! `jit validate`: names and help.

use clap::Subcommand;

/// What to look at.
#[derive(Subcommand, Debug)]
pub enum Validate {
    /// The claims and their log
    Leases,
    /// The configuration
    Config,
}
