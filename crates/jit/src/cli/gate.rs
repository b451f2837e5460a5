//! `jit gate`: names, flags and help.

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

/// Gates.
#[derive(Subcommand, Debug)]
pub enum Gate {
    /// Define a gate for everybody
    #[command(after_help = "Examples:\n  jit gate define tests --command 'cargo test' --timeout 900\n  \
        jit gate define review --manual --title 'Somebody else has read it' --by 'person:*' --not-author")]
    Define(DefineGate),
    /// List the gates that are defined
    #[command(after_help = "Example:\n  jit gate list")]
    List,
    /// Show how a gate is defined
    #[command(after_help = "Example:\n  jit gate show tests")]
    Show {
        /// The gate
        key: String,
    },
    /// Require gates of an issue; needs a claim on it
    #[command(after_help = "Example:\n  jit gate add 01K8ZQ tests review")]
    Add {
        /// The issue
        id: String,
        /// The gates
        #[arg(required = true)]
        keys: Vec<String>,
    },
    /// No longer require a gate of an issue; needs a claim on it
    #[command(after_help = "Example:\n  jit gate remove 01K8ZQ review")]
    Remove {
        /// The issue
        id: String,
        /// The gate
        key: String,
    },
    /// Say that a gate is passed; needs a claim on the issue
    #[command(after_help = "Example:\n  jit gate pass 01K8ZQ review --note 'read by two people'")]
    Pass {
        /// The issue
        id: String,
        /// The gate
        key: String,
        /// What there is to say about it
        #[arg(long)]
        note: Option<String>,
    },
    /// Say that a gate is not passed; needs a claim on the issue
    #[command(after_help = "Example:\n  jit gate fail 01K8ZQ review --note 'the button is missing'")]
    Fail {
        /// The issue
        id: String,
        /// The gate
        key: String,
        /// What there is to say about it
        #[arg(long)]
        note: Option<String>,
    },
    /// Run the commands of an issue's gates and keep what came of them; exits with the verdict
    #[command(after_help = "Exits with 0 if every gate is passed, with 1 if one is not.\n\n\
        Examples:\n  jit gate check 01K8ZQ\n  jit gate check 01K8ZQ tests")]
    Check {
        /// The issue
        id: String,
        /// Only these gates
        keys: Vec<String>,
    },
    /// Keep what a check elsewhere said of a gate; `ci:*` needs no claim for that
    #[command(after_help = "Examples:\n  jit --agent-id ci:build gate report 7k2f tests --status passed\n  \
        jit --agent-id ci:build gate report 7k2f tests --status failed --exit-code 2 --note 'see the log'")]
    Report(ReportGate),
    /// Show how an issue's gates stand
    #[command(after_help = "Example:\n  jit gate status 01K8ZQ")]
    Status {
        /// The issue
        id: String,
    },
}

/// How a gate is defined.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("how").required(true).args(["manual", "command"])))]
pub struct DefineGate {
    /// What it is called: lower-case letters, digits, `.`, `-` and `_`
    pub key: String,
    /// A person or an agent decides whether it is passed
    #[arg(long)]
    pub manual: bool,
    /// A command for `sh` says whether it is passed, by exiting with 0
    #[arg(long, value_name = "COMMAND")]
    pub command: Option<String>,
    /// Seconds after which the command is stopped and has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "command")]
    pub timeout: u64,
    /// What it stands for
    #[arg(long)]
    pub title: Option<String>,
    /// Who may say whether it is passed: an agent, or a pattern such as `person:*`
    #[arg(long, value_name = "AGENT")]
    pub by: Option<String>,
    /// Whoever works on the issue may not say so
    #[arg(long)]
    pub not_author: bool,
    /// Put it in the place of a gate of that name
    #[arg(long)]
    pub replace: bool,
}

/// What a check elsewhere said of a gate.
#[derive(Args, Debug)]
pub struct ReportGate {
    /// The issue
    pub id: String,
    /// The gate
    pub key: String,
    /// passed or failed
    #[arg(long)]
    pub status: Said,
    /// The exit code of what was run
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub exit_code: Option<i32>,
    /// The tree that was judged
    #[arg(long, value_name = "TREE")]
    pub judged: Option<String>,
    /// What there is to say about it
    #[arg(long)]
    pub note: Option<String>,
}

/// What was said of a gate.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// It is passed
    Passed,
    /// It is not
    Failed,
}
