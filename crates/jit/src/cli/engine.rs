//! `jit engine`: names, flags and help.

use clap::{Args, Subcommand};

/// Where claims are kept.
#[derive(Subcommand, Debug)]
pub enum Engine {
    /// Have the claims of all clones kept in one place from now on
    #[command(subcommand)]
    Init(InitEngine),
    /// Show where claims are kept, and how old what is known of them is
    #[command(after_help = "Examples:\n  jit engine status\n  jit engine status --fresh --json")]
    Status {
        /// Ask the server first
        #[arg(long)]
        fresh: bool,
    },
    /// Check that the place can be reached, written and trusted; changes nothing
    #[command(after_help = "Exits with 7 if there is a problem.\n\nExample:\n  jit engine check")]
    Check,
    /// Give this clone an id of its own, after its machine or directory was copied
    #[command(
        after_help = "What the original holds stays the original's: claim again what is worked on here.\n\nExample:\n  \
        jit engine join"
    )]
    Join,
}

/// The kinds of places.
#[derive(Subcommand, Debug)]
pub enum InitEngine {
    /// On a ref of the git server that everybody pushes to
    #[command(
        after_help = "It makes the ref and sets coordination.engine, remote, ref and counter in .jit/config.toml. \
        Commit and push that file: other clones find the claims by it. Killed at any moment, it can be typed \
        again.\n\nExamples:\n  jit engine init git\n  jit engine init git --remote upstream\n  \
        jit engine init git --ref refs/heads/jit/claims"
    )]
    Git(GitEngine),
}

/// Which ref of which server.
#[derive(Args, Debug)]
pub struct GitEngine {
    /// The remote
    #[arg(long, value_name = "REMOTE", default_value = "origin")]
    pub remote: String,
    /// The ref; one below refs/heads where the server takes only branches
    #[arg(long = "ref", value_name = "REF", default_value = "refs/jit/claims")]
    pub register: String,
}
