//! `jit dep` and `jit label`: names and help.

use clap::Subcommand;

/// Dependencies.
#[derive(Subcommand, Debug)]
pub enum Dep {
    /// Add dependencies to issues; needs a claim on each
    #[command(
        after_help = "Examples:\n  jit dep add 01K8ZQ 01K8ZR    # 01K8ZQ can be done after 01K8ZR\n  jit dep add 01K8ZQ,01K8ZS 01K8ZR    # so can 01K8ZS"
    )]
    Add {
        /// The issue that depends on others; several with commas between them
        from: String,
        /// The issues that it depends on
        #[arg(required = true)]
        to: Vec<String>,
    },
    /// Remove dependencies from issues; needs a claim on each
    #[command(after_help = "Example:\n  jit dep rm 01K8ZQ 01K8ZR")]
    Rm {
        /// The issue that depends on others; several with commas between them
        from: String,
        /// The issues that it no longer depends on
        #[arg(required = true)]
        to: Vec<String>,
    },
}

/// Labels.
#[derive(Subcommand, Debug)]
pub enum Label {
    /// Add labels to issues; needs a claim on each
    #[command(after_help = "Examples:\n  jit label add 01K8ZQ ui urgent\n  jit label add 01K8ZQ,01K8ZR ui")]
    Add {
        /// The issue; several with commas between them
        #[arg(value_name = "ID")]
        ids: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
    },
    /// Remove labels from issues; needs a claim on each
    #[command(after_help = "Example:\n  jit label rm 01K8ZQ urgent")]
    Rm {
        /// The issue; several with commas between them
        #[arg(value_name = "ID")]
        ids: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
    },
}
