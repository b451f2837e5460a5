//! `jit validate`: names and help.

use clap::Subcommand;

/// What to look at.
#[derive(Subcommand, Debug)]
pub enum Validate {
    /// The claims and their log
    Leases,
    /// The configuration
    Config,
    /// Whether this branch has everything that the main branch has
    #[command(after_help = "Exits with 7 if it does not.\n\nExample:\n  jit validate divergence")]
    Divergence,
    /// Everything: issues, dependencies, gates, claims, configuration
    #[command(after_help = "Exits with 7 if there is a problem.\n\nExample:\n  jit --json validate all")]
    All,
}
