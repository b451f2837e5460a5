//! `jit issue`: names, flags and help.

use clap::{Args, Subcommand};

use super::ListFilters;

/// Issues.
#[derive(Subcommand, Debug)]
pub enum Issue {
    /// Create an issue
    #[command(after_help = "Examples:\n  jit issue create 'Log in with a passkey' --priority high\n  \
        jit issue create --title 'Write the migration' --type task --label db --gate tests --depends-on 01K8ZQ\n  \
        jit issue create --title 'Fix the build' --claim")]
    Create {
        /// The issue.
        #[command(flatten)]
        issue: CreateIssue,
        /// Claim it at once
        #[arg(long)]
        claim: bool,
    },
    /// Show an issue
    Show {
        /// The issue
        id: String,
    },
    /// Change issues; needs a claim on each
    #[command(after_help = "Examples:\n  jit issue update 01K8ZQ --state in_progress\n  \
        jit issue update 01K8ZQ --label ui,urgent --remove-label later\n  \
        jit issue update 01K8ZQ 01K8ZR --priority low --unassign\n  \
        jit issue update 01K8ZQ --state done --strict")]
    Update(UpdateIssue),
    /// Delete an issue; those that depend on it no longer do
    #[command(after_help = "Example:\n  jit issue delete 01K8ZQ")]
    Delete {
        /// The issue
        id: String,
    },
    /// List the issues that can be seen from this worktree
    List(ListFilters),
}

/// What an issue is created from.
#[derive(Args, Debug)]
pub struct CreateIssue {
    /// What it is about
    #[arg(value_name = "TITLE", required_unless_present = "title", conflicts_with = "title")]
    pub about: Option<String>,
    /// What it is about
    #[arg(long)]
    pub title: Option<String>,
    /// What there is to say about it; `-` for standard input
    #[arg(long)]
    pub description: Option<String>,
    /// critical, high, normal or low
    #[arg(long, default_value = "normal")]
    pub priority: String,
    /// A label; several as `a,b` or given again
    #[arg(long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// A type of the hierarchy; the narrowest if not given
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// A gate that must be passed before it is done; several as `a,b`
    #[arg(long = "gate", value_name = "KEY", value_delimiter = ',')]
    pub gates: Vec<String>,
    /// An issue that must be done first; several as `a,b`
    #[arg(long = "depends-on", value_name = "ISSUE", value_delimiter = ',')]
    pub depends_on: Vec<String>,
}

/// What of issues is changed.
#[derive(Args, Debug, Default)]
pub struct UpdateIssue {
    /// The issues
    #[arg(required = true, value_name = "ISSUE")]
    pub ids: Vec<String>,
    /// What it is about
    #[arg(long)]
    pub title: Option<String>,
    /// What there is to say about it; `-` for standard input, empty for nothing
    #[arg(long)]
    pub description: Option<String>,
    /// backlog, ready, in_progress, gated, done, rejected or archived
    #[arg(long)]
    pub state: Option<String>,
    /// critical, high, normal or low
    #[arg(long)]
    pub priority: Option<String>,
    /// A type of the hierarchy
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Add a label; several as `a,b`
    #[arg(long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Remove a label; several as `a,b`
    #[arg(long = "remove-label", value_name = "LABEL", value_delimiter = ',')]
    pub remove_labels: Vec<String>,
    /// An issue that it has to do with; several as `a,b`
    #[arg(long, value_name = "ISSUE", value_delimiter = ',')]
    pub relates: Vec<String>,
    /// An issue that is about the same; several as `a,b`
    #[arg(long, value_name = "ISSUE", value_delimiter = ',')]
    pub duplicates: Vec<String>,
    /// An issue that it has nothing to do with any more, neither related nor a duplicate
    #[arg(long, value_name = "ISSUE", value_delimiter = ',')]
    pub unrelate: Vec<String>,
    /// Where its work is to be seen, `pull_request=https://…`; nothing behind the `=` removes it
    #[arg(long = "link", value_name = "WHAT=WHERE")]
    pub links: Vec<String>,
    /// Who is meant to do it
    #[arg(long, value_name = "NAME", conflicts_with = "unassign")]
    pub assignee: Option<String>,
    /// Nobody is meant to do it any more
    #[arg(long)]
    pub unassign: bool,
    /// Refuse what would only warn or be done by half: no claim, work on a blocked issue, `done` with an open gate
    #[arg(long)]
    pub strict: bool,
}
