//! `jit note`: flags and help.

use clap::Args;

/// A note on an issue.
#[derive(Args, Debug)]
pub struct Note {
    /// The issue
    pub id: String,
    /// What it says; `-`, or nothing, for standard input
    pub text: Option<String>,
}
