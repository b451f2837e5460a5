//! `jit claim`: names, flags and help.

use clap::{Args, Subcommand, ValueEnum};
use holdfast_tracker::claims::lease::Kind;

use super::{CreateIssue, Filters, Fresh};

/// How a claim is asked for.
#[derive(Args, Debug, Default)]
pub struct Terms {
    /// How long the claim lasts, in seconds; 0 for no deadline, which needs a reason
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub ttl: Option<String>,
    /// Why it is claimed
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// The process that stands for the agent; once it is gone, others need not wait for the deadline
    #[arg(long, value_name = "PID", allow_hyphen_values = true)]
    pub keeper: Option<String>,
}

/// What claims are on.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClaimKind {
    /// Issues
    #[default]
    Issue,
    /// Branches, held by whoever lands work on them
    Branch,
    /// Paths that are reserved
    Paths,
    /// Requests to end claims, and approvals of them
    Approval,
    /// What was escalated
    Escalation,
    /// All that there are
    All,
}

impl From<ClaimKind> for Kind {
    fn from(kind: ClaimKind) -> Self {
        match kind {
            ClaimKind::Issue => Self::Issue,
            ClaimKind::Branch => Self::Branch,
            ClaimKind::Paths => Self::Paths,
            ClaimKind::Approval => Self::Approval,
            ClaimKind::Escalation => Self::Escalation,
            ClaimKind::All => Self::All,
        }
    }
}

/// Claims.
#[derive(Subcommand, Debug)]
pub enum Claim {
    /// Claim an issue, or several: all of them or none
    #[command(
        after_help = "Examples:\n  jit claim acquire 01JAB\n  jit claim acquire 01JAB 01JAC --wait 60\n  jit claim acquire 01JAB --when-ready --wait\n  jit claim acquire 01JAB --ttl 1800 --reason \"large refactoring\"\n  jit claim acquire 01JAB --wait 60\n  jit claim acquire 01JAB --keeper $$"
    )]
    Acquire {
        /// The issue; of several, all are claimed or none
        #[arg(required = true, value_name = "ISSUE")]
        issues: Vec<String>,
        /// The terms of the claim.
        #[command(flatten)]
        terms: Terms,
        /// Only if everything that it depends on has landed; with --wait, as soon as it has
        #[arg(long)]
        when_ready: bool,
        /// Wait that long for it to become free, in seconds; as long as it takes if no number is given
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "forever", allow_negative_numbers = true)]
        wait: Option<String>,
    },
    /// Claim the best issue that is available
    #[command(after_help = "Examples:\n  jit claim next\n  jit claim next --priority high --ttl 1800")]
    Next {
        /// The terms of the claim.
        #[command(flatten)]
        terms: Terms,
        /// Which issues are wanted.
        #[command(flatten)]
        filters: Filters,
        /// Go on with what this agent has claimed here already, if it has
        #[arg(long)]
        resume: bool,
        /// Wait that long for one to become available, in seconds; as long as it takes if no number is given
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "forever", allow_negative_numbers = true)]
        wait: Option<String>,
    },
    /// Create an issue and claim it
    #[command(after_help = "Examples:\n  jit claim create --title \"Fix the login page\" --priority high")]
    Create {
        /// The issue.
        #[command(flatten)]
        issue: CreateIssue,
        /// The terms of the claim.
        #[command(flatten)]
        terms: Terms,
    },
    /// Renew a claim
    #[command(after_help = "Examples:\n  jit claim renew 01JAB\n  jit claim renew 01JAB --ttl 3600")]
    Renew {
        /// The lease, or the issue
        lease: String,
        /// How long from now on, in seconds; as long as before if not given
        #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
        ttl: Option<String>,
    },
    /// Send a heartbeat for a claim without a deadline
    #[command(after_help = "Examples:\n  jit claim heartbeat 01JAB")]
    Heartbeat {
        /// The lease, or the issue
        lease: String,
    },
    /// Release a claim
    #[command(after_help = "Examples:\n  jit claim release 01JAB")]
    Release {
        /// The lease, or the issue
        lease: String,
    },
    /// Transfer a claim to another agent
    #[command(
        after_help = "Examples:\n  jit claim transfer 01JAB --to-agent agent:bob --to-worktree wt:1a2b3c4d --reason \"end of shift\""
    )]
    Transfer {
        /// The lease, or the issue
        lease: String,
        /// Who gets it
        #[arg(long, value_name = "ID")]
        to_agent: String,
        /// The worktree it works in
        #[arg(long, value_name = "ID")]
        to_worktree: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Evict the holder of a claim, or ask for that where it needs approval
    #[command(after_help = "Examples:\n  jit claim force-evict 01JAB --reason \"its machine is gone\"")]
    ForceEvict {
        /// The lease, or the issue
        lease: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Approve the eviction of the holder of a claim
    #[command(
        after_help = "Where policy.force_evict is \"approved\", an eviction is asked for with jit claim force-evict and \
        happens with the last approval that it needs. Nobody approves what it asked for itself, and a person does it at \
        a terminal.\n\nExamples:\n  jit claim approve 01JAB\n  jit claim approve 01JAB --reason \"I saw that machine go\""
    )]
    Approve {
        /// The lease, or the issue
        lease: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// List the evictions that wait for approval
    #[command(after_help = "Examples:\n  jit claim requests\n  jit claim requests --fresh --json")]
    Requests(Fresh),
    /// Adopt a commit that was made without its claims, so that others can push what they built on it
    #[command(
        after_help = "A commit that changes issues without their claims is refused when it is pushed. Whoever made it \
        takes it back; once others have merged it, somebody adopts it. That needs every issue that it changes to be \
        free or held here, and the reason stands in the history of claims.\n\nExamples:\n  jit claim adopt 3f2a91c \
        --reason 'made on the web, without hooks'"
    )]
    Adopt {
        /// The commit
        commit: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Show who has claimed what
    #[command(
        after_help = "Examples:\n  jit claim status\n  jit claim status --issue 01JAB\n  jit claim status --agent agent:alice --json"
    )]
    Status {
        /// Only claims on this issue
        #[arg(long)]
        issue: Option<String>,
        /// Only claims of this agent
        #[arg(long)]
        agent: Option<String>,
        /// What they are on
        #[arg(long, value_enum, default_value_t)]
        kind: ClaimKind,
        #[command(flatten)]
        claims: Fresh,
    },
    /// List all claims
    #[command(after_help = "Examples:\n  jit claim list\n  jit claim list --kind branch")]
    List {
        /// What they are on
        #[arg(long, value_enum, default_value_t)]
        kind: ClaimKind,
        #[command(flatten)]
        claims: Fresh,
    },
    /// Show the history of claims
    #[command(after_help = "Examples:\n  jit claim history --issue 01JAB")]
    History {
        /// Only to claims on this issue
        #[arg(long)]
        issue: Option<String>,
    },
}
