//! `jit mcp`: names, flags and help.

use clap::Args;

/// Serving a coding client.
#[derive(Args, Debug)]
pub struct Mcp {
    /// Answer a call of `finish` within this time, also if landing still goes on
    #[arg(long, value_name = "SECONDS", default_value_t = 45, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub answer_within: u64,
}
