//! `jit dep` and `jit label`: names and help.

use clap::Subcommand;

/// Dependencies.
#[derive(Subcommand, Debug)]
pub enum Dep {
    /// Add dependencies to an issue; needs a claim on it
    #[command(after_help = "Example:\n  jit dep add 01K8ZQ 01K8ZR    # 01K8ZQ can be done after 01K8ZR")]
    Add {
        /// The issue that depends on others
        from: String,
        /// The issues that it depends on
        #[arg(required = true)]
        to: Vec<String>,
    },
    /// Remove dependencies from an issue; needs a claim on it
    #[command(after_help = "Example:\n  jit dep rm 01K8ZQ 01K8ZR")]
    Rm {
        /// The issue that depends on others
        from: String,
        /// The issues that it no longer depends on
        #[arg(required = true)]
        to: Vec<String>,
    },
}

/// Labels.
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
