//! What can be typed. Only names, flags and help: what they mean is in `commands`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Issues and claims for work in parallel git worktrees.
#[derive(Parser, Debug)]
#[command(name = "jit", version, propagate_version = true, disable_help_subcommand = true)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command understands.
#[derive(Args, Debug, Clone, Default)]
pub struct Global {
    /// Print one JSON document
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only what a script needs
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Act as this agent, `type:name`
    #[arg(long, value_name = "ID", global = true)]
    pub agent_id: Option<String>,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Start tracking issues here
    Init,
    /// Issues
    #[command(subcommand)]
    Issue(Issue),
    /// Claims on issues: who works on what
    #[command(subcommand)]
    Claim(Claim),
    /// Worktrees and their identities
    #[command(subcommand)]
    Worktree(Worktree),
    /// Signs of life for claims
    #[command(subcommand)]
    Heartbeat(Heartbeat),
    /// Settings: what holds, where it comes from, how to change it
    #[command(subcommand)]
    Config(Config),
    /// Put right what a crash or a bad disk left behind
    Recover {
        /// Only say what is wrong
        #[arg(long)]
        dry_run: bool,
    },
    /// Look for problems
    #[command(subcommand)]
    Validate(Validate),
}

/// Issues.
#[derive(Subcommand, Debug)]
pub enum Issue {
    /// Create an issue
    Create(CreateIssue),
    /// Show an issue
    Show {
        /// The issue
        id: String,
    },
    /// List issues
    List {
        /// Only issues in this state
        #[arg(long)]
        state: Option<String>,
    },
}

/// What an issue is created from.
#[derive(Args, Debug)]
pub struct CreateIssue {
    /// What it is about
    #[arg(long)]
    pub title: String,
    /// What there is to say about it
    #[arg(long)]
    pub description: Option<String>,
    /// critical, high, normal or low
    #[arg(long, default_value = "normal")]
    pub priority: String,
}

/// How a claim is asked for.
#[derive(Args, Debug, Default)]
pub struct Terms {
    /// How long the claim lasts, in seconds; 0 for no deadline, which needs a reason
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub ttl: Option<String>,
    /// Why it is claimed
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Claims.
#[derive(Subcommand, Debug)]
pub enum Claim {
    /// Claim an issue
    Acquire {
        /// The issue
        issue: String,
        /// How.
        #[command(flatten)]
        terms: Terms,
        /// Wait that long for it to become free, in seconds
        #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
        wait: Option<String>,
    },
    /// Claim the best issue that is available
    Next {
        /// How.
        #[command(flatten)]
        terms: Terms,
        /// Only issues of this priority
        #[arg(long)]
        priority: Option<String>,
        /// Go on with what this agent has claimed here already, if it has
        #[arg(long)]
        resume: bool,
    },
    /// Create an issue and claim it
    Create {
        /// The issue.
        #[command(flatten)]
        issue: CreateIssue,
        /// How.
        #[command(flatten)]
        terms: Terms,
    },
    /// Prolong a claim
    Renew {
        /// The lease, or the issue
        lease: String,
        /// How long from now on, in seconds; as long as before if not given
        #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
        ttl: Option<String>,
    },
    /// Give a sign of life for a claim without a deadline
    Heartbeat {
        /// The lease, or the issue
        lease: String,
    },
    /// Give a claim back
    Release {
        /// The lease, or the issue
        lease: String,
    },
    /// Hand a claim to another agent
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
    /// Take a claim away from its holder
    ForceEvict {
        /// The lease, or the issue
        lease: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Show who has claimed what
    Status {
        /// Only claims on this issue
        #[arg(long)]
        issue: Option<String>,
        /// Only claims of this agent
        #[arg(long)]
        agent: Option<String>,
    },
    /// List all claims
    List,
    /// Show everything that happened to claims
    History {
        /// Only to claims on this issue
        #[arg(long)]
        issue: Option<String>,
    },
}

/// Worktrees.
#[derive(Subcommand, Debug)]
pub enum Worktree {
    /// Show this worktree
    Info,
    /// List all worktrees
    List,
    /// Give this worktree an identity
    Init,
}

/// Signs of life.
#[derive(Subcommand, Debug)]
pub enum Heartbeat {
    /// Beat until the process that started this, or the last claim, is gone
    Run {
        /// Seconds between beats
        #[arg(long, value_name = "SECONDS")]
        interval: Option<u64>,
        /// Renew claims that are about to end
        #[arg(long)]
        auto_renew: bool,
        /// End with this process instead of the one that started this
        #[arg(long, value_name = "PID")]
        parent: Option<u32>,
    },
    /// Show who was heard of when
    Status,
}

/// Settings.
#[derive(Subcommand, Debug)]
pub enum Config {
    /// Show every key, its value and where it comes from
    Show,
    /// Print the value of one key
    #[command(
        after_help = "Examples:\n  jit config get worktree.mode\n  jit config get coordination.default_ttl_secs"
    )]
    Get {
        /// The key
        key: String,
    },
    /// Set a key in the repository's file, or in the user's
    #[command(after_help = "Examples:\n  jit config set worktree.enforce_leases strict\n  \
        jit config set coordination.kinds.ci.max_ttl_secs 300\n  \
        jit config set global_operations.allowed_branches main,develop\n  \
        jit config set --global agent.id agent:alice")]
    Set {
        /// For this user, in every repository
        #[arg(long)]
        global: bool,
        /// The key
        key: String,
        /// The value; a list as `a,b`
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a key from the repository's file, or from the user's
    #[command(after_help = "Examples:\n  jit config reset coordination.default_ttl_secs\n  \
        jit config reset --global agent.description")]
    Reset {
        /// For this user, in every repository
        #[arg(long)]
        global: bool,
        /// The key
        key: String,
    },
    /// Name everything that is wrong
    Validate,
    /// Show the types of issues, the widest first
    ShowHierarchy,
}

/// What to look at.
#[derive(Subcommand, Debug)]
pub enum Validate {
    /// The claims and their log
    Leases,
    /// The configuration
    Config,
}
