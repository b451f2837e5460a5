//! `jit dep` and `jit label`: names and help.

use clap::Subcommand;

/// What waits for what.
#[derive(Subcommand, Debug)]
pub enum Dep {
    /// Make an issue wait for others; needs a claim on the one that waits
    #[command(after_help = "Example:\n  jit dep add 01K8ZQ 01K8ZR    # 01K8ZQ can be done after 01K8ZR")]
    Add {
        /// The issue that waits
        from: String,
        /// What it waits for
        #[arg(required = true)]
        to: Vec<String>,
    },
    /// Let an issue no longer wait for others; needs a claim on it
    #[command(after_help = "Example:\n  jit dep rm 01K8ZQ 01K8ZR")]
    Rm {
        /// The issue that waits
        from: String,
        /// What it no longer waits for
        #[arg(required = true)]
        to: Vec<String>,
    },
}

/// Words on issues.
#[derive(Subcommand, Debug)]
pub enum Label {
    /// Add labels to an issue; needs a claim on it
    #[command(after_help = "Example:\n  jit label add 01K8ZQ ui urgent")]
    Add {
        /// The issue
        id: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
    },
    /// Remove labels from an issue; needs a claim on it
    #[command(after_help = "Example:\n  jit label rm 01K8ZQ urgent")]
    Rm {
        /// The issue
        id: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
    },
}
